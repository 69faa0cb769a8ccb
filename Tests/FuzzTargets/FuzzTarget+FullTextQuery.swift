// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting

extension FuzzTarget {
  /// User input in a search field. Every text is a valid query, and FTS5 returns the same result as the reference
  /// semantics. The first byte selects how the text is parsed, from 0 to 5.
  static let textQuery = FuzzTarget("text-query", maximumLength: 120) { bytes in
    guard let form = bytes.first else { return }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    let query: FullTextQuery =
      switch form % 6 {
      case 0: FullTextQuery(text, fields: ["title", "body.en"])
      case 1: FullTextQuery(bnrExpression: text)
      case 2: .phrase(text)
      case 3: .prefix(text)
      case 4: .near([text, "gin"], distance: 3)
      default: .part(text, TextPosition.allCases[text.utf8.count % TextPosition.allCases.count])
      }
    if (try? query.validate()) != nil {
      for index in ["words", "substrings"] { try expectSameResult(query, index) }
    }
    let scope = FullTextScope(["title"])
    let highlighter = FullTextHighlighter(query, in: scope, field: "title")
    for text in ["Sloe gin fizz, été", text] {
      let marked = highlighter.highlighted(text, "", "")
      try require(
        marked.utf8.elementsEqual(text.utf8), "A text without highlights is not the original text")
      _ = highlighter.snippet(text, words: 2, "<", ">", ellipsis: "…")
    }
  }

  private static func expectSameResult(_ query: FullTextQuery, _ index: String) throws {
    let request = EngineRequest.find(Query(.search(query, in: index)))
    let expected = try Texts.shared.get().reference.read(.snapshot, nil) {
      try request.execute($0, Texts.collection)
    }
    let actual = try Texts.shared.get().engine.read(.snapshot, nil) {
      try request.execute($0, Texts.collection)
    }
    try require(
      expected == actual, "\(query) in \(index): expected \(expected), SQLite returns \(actual)")
  }
}

/// Sample texts in SQLite and in the reference engine.
private struct Texts: Sendable {
  static let collection = "texts"
  static let shared = Result { try Texts() }
  let reference = ReferenceEngine()
  let engine: SQLiteEngine

  init() throws {
    engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    for engine in [reference, engine] as [any Engine] {
      try engine.write(nil) { writer in
        for (name, tokens) in [("words", Tokenizer.words), ("substrings", .substrings)] {
          try writer.createFullTextIndex(
            FullTextIndexDefinition(name: name, fields: ["title", "body.en"], tokens: tokens),
            in: Self.collection)
        }
        for text in Self.documents {
          let document = GeneratedDocument(try DocumentObject(json: text))
          _ = try document.new { try writer.insert($0, into: Self.collection) }
        }
      }
    }
  }

  private static let documents = [
    #"{"title":"Gin and tonic","body":{"en":"Ginger, ton* \"quoted\" x-ray don't"}}"#,
    #"{"title":["Sloe gin","fizz"],"body":[{"en":"AND OR NOT NEAR"},{"en":"a:b (c) {d} ^e +f"}]}"#,
    #"{"title":"cre\u0300me été ΣΟΦΟΣ İstanbul STRASSE 日本語 🍸","body":{"en":""}}"#,
    #"{"title":7,"body":{"en":"rum\u0000gin 2 20 C++ \\ ' % _"}}"#,
  ]
}
