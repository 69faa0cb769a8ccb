// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

/// How a database keeps its texts.
enum TextEncoding {
  /// Asked once for a connection; a new database may still become UTF-16, so not before its first
  /// table is made.
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

  /// SQLite puts another character in place of U+FFFE and U+FFFF when it makes UTF-16 of UTF-8, so
  /// that a document with one of them would not come back as it was.
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
    .valueNotStorable, "A text holds a character that a UTF-16 database does not keep",
    [.actual: "U+FFFE or U+FFFF", .hint: "use a UTF-8 database, the default"])
}
