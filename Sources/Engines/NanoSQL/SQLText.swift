// SPDX-License-Identifier: MIT

package import NanoDocument

/// What can be seen of a statement before SQLite parses it.
///
/// By bytes, as SQLite reads it: a combining mark after a hyphen makes another character of it for `String`.
package struct SQLText {
  /// From the first byte that counts.
  private let rest: Substring.UTF8View

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

  /// What SQLite passes over before a statement, an empty statement among it.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: ";")
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  package var isEmpty: Bool { rest.isEmpty }

  /// Its first word, in capitals.
  private var word: String {
    let letters = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) }
    return String(decoding: letters, as: UTF8.self).uppercased()
  }

  /// Transactions belong to blocks; one that a statement began would stay open behind them, one that
  /// it ended would leave half of a block written.
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
