// SPDX-License-Identifier: MIT

package import NanoDocument

/// A lightweight check of a statement's text before the database parses it.
///
/// Works on bytes, as databases do: for `String`, a combining mark after a hyphen makes it a different character.
package struct SQLText {
  /// The database that parses the text.
  package enum Dialect {
    case sqlite
    /// Comments nest, and a carriage return ends a line.
    case postgres
  }

  private let dialect: Dialect
  private let text: String
  /// The text from the first significant byte on.
  let rest: Substring.UTF8View

  package init(_ text: String, _ dialect: Dialect = .sqlite) {
    self.dialect = dialect
    var rest = text[...].utf8
    while true {
      rest = rest.drop(while: Self.isSpace)
      if rest.starts(with: Self.byteOrderMark) {
        rest = rest.dropFirst(Self.byteOrderMark.count)
      } else if rest.starts(with: "--".utf8) {
        rest = rest.drop { !Self.endsLine($0, dialect) }
      } else if rest.starts(with: "/*".utf8) {
        rest = Self.afterComment(rest, dialect)
      } else {
        break
      }
    }
    self.rest = rest
    self.text = text
  }

  /// Whether the database skips this byte before a statement, including the semicolons of empty statements.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: ";")
  }

  private static func endsLine(_ byte: UInt8, _ dialect: Dialect) -> Bool {
    byte == UInt8(ascii: "\n") || (dialect == .postgres && byte == UInt8(ascii: "\r"))
  }

  /// Returns what follows the `/*` comment at the start of a text; nothing if the comment has no end.
  package static func afterComment(
    _ text: Substring.UTF8View, _ dialect: Dialect
  ) -> Substring.UTF8View {
    var rest = text.dropFirst(2)
    var depth = 1
    while depth > 0, let byte = rest.popFirst() {
      if byte == UInt8(ascii: "*"), rest.first == UInt8(ascii: "/") {
        depth -= 1
      } else if dialect == .postgres, byte == UInt8(ascii: "/"), rest.first == UInt8(ascii: "*") {
        depth += 1
      } else {
        continue
      }
      rest = rest.dropFirst()
    }
    return rest
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  package var isEmpty: Bool { rest.isEmpty }

  /// The first word in uppercase.
  private var word: String {
    let letters = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) }
    return String(decoding: letters, as: UTF8.self).uppercased()
  }

  /// The text after the first word.
  private var afterWord: SQLText {
    SQLText(String(decoding: rest.dropFirst(word.utf8.count), as: UTF8.self), dialect)
  }

  /// Rejects text that the database would not read to its end, and transaction control statements.
  ///
  /// Transactions belong to blocks: one begun by a statement would stay open after the block, and one ended by it would
  /// leave the block half committed.
  package func refuseTransactionControl() throws(StoreError) {
    guard !text.utf8.contains(0) else {
      throw StoreError(
        .invalidArgument, "A statement contains a NUL character, at which the database would end it"
      )
    }
    let word = word
    // Alone, PREPARE only names a statement.
    guard
      Self.control.contains(word) || (word == "PREPARE" && afterWord.word == "TRANSACTION")
    else { return }
    throw StoreError(
      .invalidArgument, "A statement cannot begin or end a transaction",
      [.actual: word, .hint: "use write and read blocks, one inside another for a savepoint"])
  }

  package var isReading: Bool { word == "SELECT" }
  package var isAlteration: Bool { word == "ALTER" }

  private static let control: Set<String> = [
    "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE",
  ]
}
