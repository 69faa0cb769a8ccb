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

  /// Rejects documents with characters that a UTF-16 database does not preserve. SQLite replaces U+FFFE and
  /// U+FFFF when it converts UTF-8 to UTF-16.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``.
  static func requireUTF16(_ document: NewDocument) throws(StoreError) {
    try requireUTF16(document.body)
    let texts = [document.key?.description, document.type].compactMap(\.self)
    for text in texts {
      guard !text.unicodeScalars.contains(where: { $0.value & ~1 == 0xFFFE }) else { throw refusal }
    }
  }

  private static func requireUTF16(_ text: UnsafeRawBufferPointer) throws(StoreError) {
    for (index, byte) in text.enumerated().dropFirst(2)
    where byte >= 0xBE && text[index - 1] == 0xBF && text[index - 2] == 0xEF { throw refusal }
  }

  private static let refusal = StoreError(
    .valueNotStorable, "A string contains a character that a UTF-16 database does not preserve",
    [.actual: "U+FFFE or U+FFFF", .hint: "use a UTF-8 database, the default"])
}
