// SPDX-License-Identifier: MIT

package import NanoDocument

/// What can be seen of a statement before SQLite parses it.
package struct SQLText {
  /// From the first character that counts.
  private let text: Substring

  package init(_ text: String) {
    var rest = text[...]
    while true {
      rest = rest.drop { $0.isWhitespace }
      if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        rest =
          rest.range(of: "*/", range: rest.index(rest.startIndex, offsetBy: 2)..<rest.endIndex)
          .map { rest[$0.upperBound...] } ?? ""
      } else {
        break
      }
    }
    self.text = rest
  }

  package var isEmpty: Bool { text.isEmpty }

  /// Transactions belong to blocks; one that a statement began would stay open behind them, one that
  /// it ended would leave half of a block written.
  package func refuseTransactionControl() throws(StoreError) {
    let word = text.prefix { $0.isLetter }.uppercased()
    guard Self.control.contains(word) else { return }
    throw StoreError(
      .invalidArgument, "A statement cannot begin or end a transaction",
      [.actual: word, .hint: "use write and read blocks, one inside another for a savepoint"])
  }

  package var isReading: Bool { text.prefix { $0.isLetter }.uppercased() == "SELECT" }

  private static let control: Set<String> = [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE",
  ]
}
