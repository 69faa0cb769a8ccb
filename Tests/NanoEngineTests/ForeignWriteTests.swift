// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// Random documents written alternately by the engine and by plain SQLite.
@Suite("Writes by other programs compared with the reference semantics")
struct ForeignWriteTests {
  private static let indexes = [
    IndexDefinition(columns: [.init("a")]), IndexDefinition(columns: [.init("a.b")]),
    IndexDefinition(columns: [.init("b", descending: true), .init("name")]),
    IndexDefinition(columns: [.init("list")], kind: .elements),
    IndexDefinition(columns: [.init("list.name")], kind: .elements),
    IndexDefinition(columns: [.init("é")]),
    IndexDefinition(columns: [.init("ünique")], isUnique: true),
    IndexDefinition(columns: [.init("ünique")], isUnique: true, kind: .elements),
  ]
  private static let textIndex = FullTextIndexDefinition(fields: ["é", "name"])

  @Test(
    "Query results are correct, and plain SQLite finds its indexes consistent", arguments: 0..<10)
  func turns(part: UInt64) throws {
    let seed = ComparisonTests.seed &+ part
    print("foreign writes: NANOSTORE_SEED=\(ComparisonTests.seed) (part \(part))")
    var random = SplitMix(seed: seed)
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    let foreign = try PlainSQLite(folder.file())
    var documents = DocumentGenerator(random: random.split(), isUniform: random.oneIn(2))
    var conditions = ConditionGenerator(random: random.split())
    conditions.preferredPaths = ["a", "a.b", "b", "name", "list", "list.name", "é", "ünique"]
    try engine.write(nil) { writer in
      for index in Self.indexes { try writer.createIndex(index, in: "c") }
      try writer.createFullTextIndex(Self.textIndex, in: "c")
      if random.oneIn(2) { try writer.setIndexing(.everything, in: "c", nil) }
    }

    var number: Int64 = 0
    func document() -> GeneratedDocument {
      var object = documents.document().object
      number += 1
      object["ünique"] = .int(number)
      return GeneratedDocument(object)
    }
    for round in 0..<6 {
      if round == 3 { documents.change() }
      if random.oneIn(6) {
        let policy = random.pick(IndexingPolicy.allCases)
        try engine.write(nil) { try $0.setIndexing(policy, in: "c", nil) }
      }
      for _ in 0..<random.number(0...4) {
        let document = document()
        conditions.documents.append(document.object)
        try engine.write(nil) { writer in
          _ = try document.new { try writer.insert($0, into: "c") }
        }
      }
      try compareQueries(engine, foreign, &conditions, seed)
      for _ in 0..<random.number(1...4) {
        let document = document()
        conditions.documents.append(document.object)
        let text = try document.new { String(decoding: $0.body, as: UTF8.self) }
        try Self.write(ForeignFormatter.format(text, &random), foreign, &random)
      }
      try compareQueries(engine, foreign, &conditions, seed)
      guard random.oneIn(4) else { continue }
      try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
      try compareQueries(engine, foreign, &conditions, seed)
    }
    #expect(try engine.verify() == [], "seed \(seed)")
    // Any write adopts the remaining rows.
    try engine.write(nil) { _ = try $0.nextRowID(in: "c") }
    try compareQueries(engine, foreign, &conditions, seed)
    for row in try foreign.run("SELECT body, revision FROM c") {
      var body = row[0] ?? ""
      #expect(row[1] != nil, "seed \(seed): \(body)")
      let rewritten = try body.withUTF8 { try CanonicalBody.rewritten(UnsafeRawBufferPointer($0)) }
      #expect(rewritten == nil, "seed \(seed): \(body)")
    }
    #expect(try engine.verify() == [], "seed \(seed)")
    #expect(try foreign.integrity() == "ok", "seed \(seed)")
  }

  private static func write(
    _ body: String, _ foreign: PlainSQLite, _ random: inout SplitMix
  ) throws {
    let id = "\(random.number(1...20))"
    switch random.number(0...5) {
    case 0...2: try foreign.run("INSERT INTO c(body) VALUES (?)", body)
    case 3: try foreign.run("UPDATE c SET body = ? WHERE id = ?", body, id)
    case 4: try foreign.run("INSERT OR REPLACE INTO c(id, body) VALUES (?, ?)", id, body)
    default: try foreign.run("DELETE FROM c WHERE id = ?", id)
    }
  }

  private func compareQueries(
    _ engine: SQLiteEngine, _ foreign: PlainSQLite, _ conditions: inout ConditionGenerator,
    _ seed: UInt64
  ) throws {
    let rows = try foreign.run("SELECT id, body FROM c ORDER BY id").map { row in
      let id = row[0].flatMap { Int64($0) } ?? 0
      let bytes = Array((row[1] ?? "").utf8)
      return try bytes.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        return DocumentSubject(try reader.object(), rowID: id)
      }
    }
    for turn in 0..<12 {
      let condition =
        turn < 2
        ? Self.search(rows, &conditions.values.random)
        : conditions.values.random.oneIn(2)
          ? conditions.condition(2) : conditions.simpleCondition()
      // Attributes are compared elsewhere; these rows have none.
      let text = condition.queryText.replacing("__leafpath__", with: "")
      guard !text.contains("__"), !condition.queryText.contains("REGEXP") else {
        continue
      }
      let expected = try rows.filter { try Evaluator($0).holds(condition) }.map(\.rowID)
      var actual: [Int64] = []
      try engine.read(.snapshot, nil) { reader in
        try reader.find(Query(condition), in: "c") {
          actual.append($0.rowID)
          return true
        }
      }
      guard expected != actual else { continue }
      let plan = try engine.read(.call, nil) { try $0.explain(Query(condition), in: "c") }
      let bodies = try foreign.run("SELECT id, revision, body FROM c ORDER BY id")
      Issue.record(
        "seed \(seed): \(condition.queryText): expected \(expected), got \(actual)\n\(plan)\n\(bodies)"
      )
      return
    }
  }

  /// Returns a full-text search for a word in a random document.
  private static func search(
    _ rows: [DocumentSubject], _ random: inout SplitMix
  ) -> Condition {
    let words = rows.flatMap { $0.texts(at: "é") + $0.texts(at: "name") }
      .flatMap { $0.split { !$0.isLetter } }
    let word = words.isEmpty ? "gin" : String(random.pick(words))
    return .search(FullTextSearch(FullTextQuery(word), scope: textIndex.scope))
  }
}
