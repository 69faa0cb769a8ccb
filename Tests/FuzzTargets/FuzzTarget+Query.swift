// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting

extension FuzzTarget {
  /// Query text. A parsed query must round-trip, and SQLite must return the same result as the reference semantics.
  static let query = FuzzTarget("query", maximumLength: 200) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    _ = try? QueryText.orderings(text)
    let query: QueryText
    do throws(StoreError) {
      query = try QueryText(text)
    } catch {
      try require(
        error.code == .invalidQuery || error.code == .invalidPath,
        "Query text is rejected with an unexpected error: \(error.debugDescription)")
      return
    }
    let printed = query.description
    let again: QueryText
    do throws(StoreError) {
      again = try QueryText(printed)
    } catch {
      throw Finding(
        description: "\(printed) was printed and is rejected: \(error.debugDescription)")
    }
    try require(again.description == printed, "\(printed) parses to \(again.description)")
    try require(
      again.condition == query.condition && again.orderings == query.orderings,
      "\(printed) was printed and parses to a different tree")
    try expectSameResult(query)
  }

  private static func expectSameResult(_ text: QueryText) throws {
    // The number of a parameter is unbounded, and filling the gaps with arguments would take too long.
    guard text.positionCount <= 4 else { return }
    let values: [DocumentValue] = [7, "Ada", 2.5, nil]
    let names = Dictionary(uniqueKeysWithValues: text.names.map { ($0, DocumentValue.int(7)) })
    guard let query = try? text.query(Array(values.prefix(text.positionCount)), named: names),
      (try? query.validate()) != nil
    else { return }
    let request = EngineRequest.find(query)
    let expected = try Sample.shared.reference.read(.snapshot, nil) {
      try request.execute($0, Sample.collection)
    }
    let actual = try Sample.shared.engine.read(.snapshot, nil) {
      try request.execute($0, Sample.collection)
    }
    // Whether an invalid regular expression is evaluated depends on the engine.
    for result in [expected, actual] {
      if case .failed(.invalidArgument) = result { return }
    }
    try require(
      try expected.agrees(with: actual, for: request, Sample.shared.reference),
      "\(text): expected \(expected), SQLite returns \(actual)")
  }
}

/// Sample documents of all kinds in SQLite and in the reference engine.
private struct Sample: Sendable {
  static let collection = "things"
  static let shared = Result { try Sample() }
  let reference = ReferenceEngine()
  let engine: SQLiteEngine

  init() throws {
    engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    for engine in [reference, engine] as [any Engine] {
      try engine.write(nil) { writer in
        try writer.createCollection(CollectionDescription(name: Self.collection, identity: .key))
        for (number, text) in Self.documents.enumerated() {
          let document = GeneratedDocument(
            try DocumentObject(json: text), key: try DocumentKey("k\(number)"))
          _ = try document.new { try writer.insert($0, into: Self.collection) }
        }
        try writer.createIndex(
          IndexDefinition(name: "a", columns: [IndexDefinition.Column("a")]), in: Self.collection)
        try writer.createFullTextIndex(
          FullTextIndexDefinition(name: "t", fields: ["name"]), in: Self.collection)
      }
    }
  }

  private static let documents = [
    #"{"a":1,"b":"x","name":"Ada Lovelace","list":[1,2,3],"o":{"a":"in","b":[true]}}"#,
    #"{"a":2.5,"b":null,"name":"Grace","list":["x","Y",{"a":1}],"o":{"a":7}}"#,
    #"{"a":"7","b":"X%_","name":"","list":[],"o":[]}"#,
    #"{"a":{"$date":"1815-12-10T00:00:00Z"},"b":false,"name":"e\u0301t\u00e9 \ud83d\ude00","list":[[1],[null]]}"#,
    #"{"a":-9223372036854775808,"b":9223372036854775807,"name":"O'Hara \"q\" \\ [x]","o":null}"#,
    #"{"a":{"$numberDouble":"NaN"},"b":{"$binary":{"base64":"AQID","subType":"00"}},"name":7}"#,
    #"{"a":[1,{"a":2}],"b":1e300,"name":"ada","$$d":1,"x.y":"dot","é":2,"":0}"#,
    #"{}"#,
  ]
}

extension Result where Success == Sample {
  fileprivate var reference: ReferenceEngine { get throws { try get().reference } }
  fileprivate var engine: SQLiteEngine { get throws { try get().engine } }
}
