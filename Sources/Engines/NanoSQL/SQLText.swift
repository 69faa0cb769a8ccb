// SPDX-License-Identifier: MIT

package import NanoDocument

/// A lightweight check of a statement's text before SQLite parses it.
///
/// Works on bytes, as SQLite does: for `String`, a combining mark after a hyphen makes it a different character.
package struct SQLText {
  /// The text from the first significant byte on.
  let rest: Substring.UTF8View

  package init(_ text: String) {
    var rest = text[...].utf8
    while true {
      rest = rest.drop(while: Self.isSpace)
      if rest.starts(with: Self.byteOrderMark) {
        rest = rest.dropFirst(Self.byteOrderMark.count)
      } else if rest.starts(with: "--".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if rest.starts(with: "/*".utf8) {
        let comment = rest.dropFirst(2)
        rest =
          comment.firstRange(of: "*/".utf8).map { comment[$0.upperBound...] } ?? comment.suffix(0)
      } else {
        break
      }
    }
    self.rest = rest
  }

  /// Whether SQLite skips this byte before a statement, including the semicolons of empty statements.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: ";")
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  package var isEmpty: Bool { rest.isEmpty }

  /// The first word in uppercase.
  private var word: String {
    let letters = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) }
    return String(decoding: letters, as: UTF8.self).uppercased()
  }

  /// Rejects transaction control statements. Transactions belong to blocks: one begun by a statement would stay
  /// open after the block, and one ended by it would leave the block half committed.
  package func refuseTransactionControl() throws(StoreError) {
    let word = word
    guard Self.control.contains(word) else { return }
    throw StoreError(
      .invalidArgument, "A statement cannot begin or end a transaction",
      [.actual: word, .hint: "use write and read blocks, one inside another for a savepoint"])
  }

  package var isReading: Bool { word == "SELECT" }

  private static let control: Set<String> = [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE",
  ]
}
