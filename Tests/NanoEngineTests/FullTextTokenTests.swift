// SPDX-License-Identifier: MIT

import NanoQuery
import NanoTesting
import Testing

@Suite("Full-text tokens")
struct FullTextTokenTests {
  /// Returns the tokens of SQLite's tokenizer, in order.
  private static func tokens(
    _ tokens: Tokenizer, _ texts: [String]
  ) throws -> [Int: [String]] {
    let sqlite = try PlainSQLite(":memory:")
    let tokenizer =
      tokens == .words ? "unicode61 remove_diacritics 2" : "trigram case_sensitive 0"
    try sqlite.run("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = '\(tokenizer)')")
    try sqlite.run("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    try sqlite.run("BEGIN")
    for (number, text) in texts.enumerated() {
      try sqlite.run("INSERT INTO t(rowid, x) VALUES (?, ?)", "\(number)", text)
    }
    try sqlite.run("COMMIT")
    var found: [Int: [String]] = [:]
    for row in try sqlite.run("SELECT doc, term FROM v ORDER BY doc, \"offset\"") {
      found[row[0].flatMap { Int($0) } ?? -1, default: []].append(row[1] ?? "")
    }
    return found
  }

  @Test(
    "Every character has the same class as in SQLite's tokenizer", arguments: Tokenizer.allCases)
  func characters(tokens: Tokenizer) throws {
    let scalars = (1..<0x20000 as Range<UInt32>).compactMap { Unicode.Scalar($0) }
    let texts = scalars.map { "q\($0)z" }
    let found = try Self.tokens(tokens, texts)

    var different: [String] = []
    for (number, text) in texts.enumerated() {
      let ours = tokens.tokens(of: text).map(\.text)
      let theirs = found[number] ?? []
      if !ours.elementsEqual(theirs, by: { $0.unicodeScalars.elementsEqual($1.unicodeScalars) }) {
        different.append("\(String(scalars[number].value, radix: 16)) \(ours) \(theirs)")
      }
    }

    #expect(different == [])
  }
}
