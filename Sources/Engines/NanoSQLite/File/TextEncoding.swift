// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

/// The text encoding of a database.
enum TextEncoding {
  /// Returns whether the encoding is UTF-8. Checked once per connection, and not before the first table is
  /// created, because a new database may still become UTF-16.
  static func isUTF8(_ handle: OpaquePointer) -> Bool {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "PRAGMA encoding", -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW, let name = sqlite3_column_text(statement, 0)
    else {
      sqlite3_finalize(statement)
      return false
    }
    defer { sqlite3_finalize(statement) }
    return String(cString: name) == "UTF-8"
  }

  /// Returns whether a UTF-16 database preserves a text. SQLite replaces U+FFFE and U+FFFF when it converts UTF-8 to
  /// UTF-16.
  static func preserves(_ text: String) -> Bool {
    !text.unicodeScalars.contains { $0.value & ~1 == 0xFFFE }
  }

  /// Rejects documents with characters that a UTF-16 database does not preserve.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``.
  static func requireUTF16(_ document: NewDocument) throws(StoreError) {
    try requireUTF16(document.body)
    for text in [document.key?.description, document.type].compactMap(\.self) {
      try requireUTF16(text)
    }
  }

  /// The same for other text.
  static func requireUTF16(_ text: String) throws(StoreError) {
    guard preserves(text) else { throw refusal }
  }

  /// The same for a name.
  ///
  /// - Throws: ``StoreError/Code/invalidName``.
  static func requireUTF16(name: String) throws(StoreError) {
    guard preserves(name) else {
      throw StoreError(
        .invalidName, "The name contains a character that a UTF-16 database does not preserve",
        details)
    }
  }

  private static func requireUTF16(_ text: UnsafeRawBufferPointer) throws(StoreError) {
    for (index, byte) in text.enumerated().dropFirst(2)
    where byte >= 0xBE && text[index - 1] == 0xBF && text[index - 2] == 0xEF { throw refusal }
  }

  private static let refusal = StoreError(
    .valueNotStorable, "A string contains a character that a UTF-16 database does not preserve",
    details)

  private static var details: KeyValuePairs<StoreError.Detail, String> {
    [.actual: "U+FFFE or U+FFFF", .hint: "use a UTF-8 database, the default"]
  }
}
