// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

@Suite("SQLite full-text search compared with the reference semantics")
struct FullTextComparisonTests {
  @Test(
    "After any writes, inside and outside a transaction, matches and ranks are the same",
    arguments: 1...30)
  func writes(seed: UInt64) throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    #expect(try FullTextComparison(seed: seed).difference(on: engine) == nil, "seed \(seed)")
    #expect(try engine.verify() == [], "seed \(seed)")
  }

  @Test("After writes by another program, matches and ranks are the same", arguments: 1...20)
  func foreignWrites(seed: UInt64) throws {
    var made = FullTextGenerator(seed)
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    try made.makeIndexes([engine])
    let foreign = try PlainSQLite(folder.file())
    try foreign.run("PRAGMA recursive_triggers = \(made.random.oneIn(2) ? "ON" : "OFF")")

    for round in 0..<10 {
      let step = made.step()
      try engine.write(nil) { try step.run($0) }
      for _ in 0..<made.random.number(1...4) { try write(foreign, &made) }
      let queries = (0..<10).map { _ in made.query() }
      let actual = try engine.read(.snapshot, nil) { try FullTextResults(queries, $0) }
      let reference = ReferenceEngine()
      try made.makeIndexes([reference])
      let ids = try copy(foreign, to: reference)
      let expected = try reference.read(.snapshot, nil) { try FullTextResults(queries, $0) }
        .with(rowIDs: ids)
      if let difference = expected.difference(from: actual, queries) {
        Issue.record("seed \(seed), round \(round): \(difference)")
        return
      }
    }

    #expect(try engine.verify() == [], "seed \(seed)")
    #expect(try foreign.integrity() == "ok", "seed \(seed)")
  }

  private func write(_ foreign: PlainSQLite, _ made: inout FullTextGenerator) throws {
    let body = made.document().jsonString()
    let id = "\(made.random.number(1...12))"
    switch made.random.number(0...6) {
    case 0, 1: try foreign.run("INSERT INTO c(body) VALUES (?)", body)
    case 2: try foreign.run("UPDATE c SET body = ? WHERE id = ?", body, id)
    case 3: try foreign.run("INSERT OR REPLACE INTO c(id, body) VALUES (?, ?)", id, body)
    case 4: try foreign.run("INSERT OR IGNORE INTO c(id, body) VALUES (?, ?)", id, body)
    case 5:
      let policy = made.random.pick(["IGNORE", "REPLACE"])
      try foreign.run("UPDATE OR \(policy) c SET id = id + 3 WHERE id = ?", id)
    default: try foreign.run("DELETE FROM c WHERE id = ?", id)
    }
  }

  /// Copies all rows to the reference engine.
  ///
  /// - Returns: The row IDs of the copied rows in the file.
  private func copy(_ foreign: PlainSQLite, to engine: ReferenceEngine) throws -> [Int64] {
    let rows = try foreign.run("SELECT id, body FROM c ORDER BY id")
    try engine.write(nil) { writer in
      for row in rows {
        let object = try DocumentObject(json: row[1] ?? "")
        _ = try GeneratedDocument(object, key: nil).new { try writer.insert($0, into: "c") }
      }
    }
    return rows.compactMap { $0[0].flatMap { Int64($0) } }
  }
}
