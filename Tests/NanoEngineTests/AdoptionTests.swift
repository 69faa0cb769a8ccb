// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Synchronization
import Testing

/// The clock of the system, which runs blocks when it is read.
private final class InterposingClock: StoreClock {
  private let blocks = Mutex<[@Sendable () -> Void]>([])

  /// Runs one of the blocks each time the clock is read, in order.
  func run(_ blocks: [@Sendable () -> Void]) { self.blocks.withLock { $0 = blocks } }

  func now() -> Int64 {
    let block: (@Sendable () -> Void)? = blocks.withLock { blocks in
      blocks.isEmpty ? nil : blocks.removeFirst()
    }
    block?()
    return SystemClock().now()
  }

  func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup {
    SystemClock().wake(at: time, handler)
  }
}

/// What a writer changes in rows of other programs, and what it leaves unchanged.
@Suite("Adoption of externally written rows")
struct AdoptionTests {
  private let folder: TemporaryFolder
  private let engine: SQLiteEngine
  private let foreign: PlainSQLite

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    foreign = try PlainSQLite(folder.file())
  }

  private func insert(_ object: DocumentObject) throws {
    let document = GeneratedDocument(object)
    try engine.write(nil) { writer in
      _ = try document.new { try writer.insert($0, into: "c") }
    }
  }

  private func insertForeign(_ bodies: String...) throws {
    for body in bodies { try foreign.run("INSERT INTO c(body) VALUES (?)", body) }
  }

  @Test("Statements for many documents keep no value of the documents before")
  func batches() throws {
    try engine.write(nil) { writer in
      try writer.createCollection(CollectionDescription(name: "c", identity: .rowID))
      for batch in 0..<3 {
        let body = Array(#"{"n":1}"#.utf8)
        try body.withUnsafeBytes { body in
          let documents = (0..<NewDocument.batchSize).map { row in
            NewDocument(
              key: nil, version: batch == 0 ? 2 : nil, added: 1,
              rowID: Int64(1_000 * batch + 10 * row + 1), body: body)
          }
          var rowIDs: [Int64] = []
          try writer.insert(documents, into: "c", &rowIDs)
        }
      }
    }
    var versions: [Int64?] = []
    try engine.read(.snapshot, nil) { reader in
      try reader.find(Query(orderings: [Ordering(.attribute(.rowID))]), in: "c") { stored in
        versions.append(stored.version)
        return true
      }
    }
    #expect(versions == Array(repeating: 2, count: 20) + Array(repeating: nil, count: 40))
  }

  private func found(_ condition: Condition) throws -> [Int64] {
    try engine.read(.snapshot, nil) { try $0.rowIDs(Query(condition), in: "c").rowIDs }
  }

  private func found(_ path: FieldPath, _ value: DocumentValue) throws -> [Int64] {
    try found(.comparison(.field(path), .equal, .value(value)))
  }

  private func searched(_ text: String) throws -> [Int64] {
    var query = Query(.search(text))
    query.ranking = FullTextRanking()
    var rows: [Int64] = []
    try engine.read(.snapshot, nil) { reader in
      try reader.findRanked(query, in: "c") { row, _ in
        rows.append(row.rowID)
        return true
      }
    }
    return rows
  }

  @Test("A document is found by its key while it is adopted")
  func getDuringAdoption() throws {
    let clock = InterposingClock()
    var configuration = SQLiteConfiguration()
    configuration.clock = clock
    let path = folder.file("b.db")
    let engine = try SQLiteEngine(.file(path), configuration)
    let foreign = try PlainSQLite(path)
    try engine.write(nil) { writer in
      let rowID = try GeneratedDocument(["n": 1]).new { try writer.insert($0, into: "c") }
      // Where documents may expire, each statement that looks for a document reads the clock.
      try writer.setExpirations([(rowID, Int64.max)], in: "c")
    }
    let text = "0199a1b2-0000-7000-8000-000000000001"
    let key = Identity.key(try DocumentKey(text))
    func isFound() throws -> Bool { try engine.get(key, in: "c", nil) { _ in } }
    #expect(try !isFound())
    try foreign.run("INSERT INTO c(key, body) VALUES (?, '{}')", text)

    // Between the statement for keys in stored form and the one for other forms.
    clock.run([{}, { _ = try? engine.write(nil) { try $0.nextRowID(in: "c") } }])

    #expect(try isFound())
    #expect(
      try foreign.run("SELECT typeof(key) FROM c WHERE id = 2 AND revision IS NOT NULL")
        == [["blob"]])
  }

  @Test("An index on elements is not begun while a body does not decode")
  func beginIndex() throws {
    try insert(["tags": ["a"]])
    try insertForeign("not json")

    let error = #expect(throws: StoreError.self) {
      try engine.write(nil) { writer in
        let index = IndexDefinition(columns: [.init("tags")], kind: .elements)
        _ = try writer.beginIndex(index, in: "c")
      }
    }

    #expect(error?.code == .corruptDocument)
    #expect(error?[.rowID] == "2")
    #expect(try engine.read(.call, nil) { try $0.unfinishedIndexes() }.isEmpty)
  }

  @Test("Escaped names are found before and after adoption, with every kind of index")
  func escapedNames() throws {
    try insert(["größe": 5, "läng": "gin", "täg": ["a"]])
    try engine.write(nil) { writer in
      try writer.createIndex(IndexDefinition(columns: [.init("größe")]), in: "c")
      try writer.createIndex(IndexDefinition(columns: [.init("täg")], kind: .elements), in: "c")
      try writer.createFullTextIndex(FullTextIndexDefinition(fields: ["läng"]), in: "c")
      try writer.setIndexing(.everything, in: "c", nil)
    }
    try insertForeign(#"{"gr\u00f6\u00dfe":5,"l\u00e4ng":"gin tonic","t\u00e4g":["a","b"]}"#)

    func check() throws {
      #expect(try found("größe", 5) == [1, 2])
      #expect(try found("täg", "b") == [2])
      #expect(try found("täg", "a") == [1, 2])
      #expect(try searched("gin").sorted() == [1, 2])
      #expect(try searched("tonic") == [2])
      #expect(try found(.leaf(.comparison(.field(.element), .equal, .value("b")))) == [2])
      #expect(try engine.verify() == [])
    }
    try check()
    try insert([:])
    try check()
    #expect(
      try foreign.run("SELECT body FROM c WHERE id = 2")
        == [[#"{"größe":5,"läng":"gin tonic","täg":["a","b"]}"#]])
    try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
    try check()
  }

  @Test("A unique index ignores JSON formatting, and a violation does not fail an unrelated write")
  func unique() throws {
    try insert(["ä": 1])
    try insertForeign(#"{"\u00e4":1}"#, #"{"\u00e4":2}"#)
    let index = Self.uniqueIndex
    #expect(throws: StoreError.self) {
      try engine.write(nil) { try $0.createIndex(index, in: "c") }
    }
    try foreign.run("DELETE FROM c WHERE id = 2")
    try engine.write(nil) { try $0.createIndex(index, in: "c") }

    try insertForeign(#"{"\u00e4":2}"#, #"{"\u00e4":3}"#)
    #expect(try engine.verify().map(\.message) == [Self.refusal(4)])
    try insert(["x": 1])

    #expect(try found("ä", 2) == [3, 4])
    #expect(try foreign.run("SELECT id FROM c WHERE revision IS NULL") == [["4"]])
    #expect(try engine.verify().map(\.message) == [Self.refusal(4)])
    try foreign.run("UPDATE c SET body = '{}' WHERE id = 3")
    try insert([:])
    #expect(try foreign.run("SELECT id FROM c WHERE revision IS NULL") == [])
    #expect(try engine.verify() == [])
  }

  private static let uniqueIndex = IndexDefinition(columns: [.init("ä")], isUnique: true)

  private static func refusal(_ id: Int64) -> String {
    "document \(id) cannot be adopted: the unique index \(uniqueIndex.name) already has its value"
  }

  @Test("A row without a stored form is left unchanged, found by every query, and reported")
  func lossy() throws {
    try engine.write(nil) { writer in
      try writer.createIndex(IndexDefinition(columns: [.init("ä")]), in: "c")
      try writer.createIndex(IndexDefinition(columns: [.init("n")], kind: .elements), in: "c")
      try writer.createFullTextIndex(FullTextIndexDefinition(fields: ["t"]), in: "c")
      try writer.setIndexing(.everything, in: "c", nil)
    }
    try insert(["ä": 1, "n": [1], "t": "gin", "s": 5])
    let body =
      #"{"\u00e4":1,"n":[1],"\u006e":[2],"\u0074":"gin","t":"rum","s":12345678901234567890}"#
    try insertForeign(body)
    for _ in 0..<2 {
      try insert(["s": 7])
      #expect(try foreign.run("SELECT body FROM c WHERE id = 2 AND revision IS NULL") == [[body]])
      #expect(try found("ä", 1) == [1, 2])
      #expect(try found("n", 1) == [1, 2])
      #expect(try found("n", 2) == [])
      #expect(try searched("gin") == [1, 2])
      #expect(try searched("rum") == [])
      #expect(try found(.leaf(.comparison(.field(.element), .equal, .value("gin")))) == [1, 2])
      let sorted = try engine.read(.call, nil) { reader in
        try reader.rowIDs(
          Query(.exists("s"), orderings: [Ordering(.field("s"), descending: true)]), in: "c"
        ).rowIDs
      }
      #expect(sorted.first == 2)
      let values = try engine.read(.call, nil) { try $0.distinct("ä", Query(), in: "c") }
      #expect(values == [1])
      let problems = try engine.verify().map(\.message)
      #expect(
        problems.count == 1
          && problems[0].hasPrefix("document 2 cannot be exported unchanged"), "\(problems)")
    }
  }

  @Test(
    "Keys that are numbers or UUID strings are found, and are converted to their stored form")
  func keys() throws {
    let uuid = "0199a1b2-0000-7000-8000-000000000001"
    try insert([:])
    try foreign.run("INSERT INTO c(key, body) VALUES (7, '{}')")
    try foreign.run("INSERT INTO c(key, body) VALUES (?, '{}')", uuid)
    func check() throws {
      for (key, id) in [("7", Int64(2)), (uuid, 3)] {
        var rows: [Int64] = []
        try engine.read(.call, nil) { reader in
          let key = try DocumentKey(key)
          try reader.get(.key(key), in: "c") { rows = [$0.key == key ? $0.rowID : 0] }
        }
        #expect(rows == [id], "\(key)")
        #expect(
          try found(.comparison(.attribute(.key), .equal, .value(.string(key)))) == [id], "\(key)")
      }
      #expect(try engine.verify() == [])
    }
    try check()
    try insert([:])
    try check()
    #expect(
      try foreign.run("SELECT typeof(key) FROM c WHERE id IN (2, 3)") == [["text"], ["blob"]])
  }

  @Test("A date or version that is not an integer reads as nil, and is reported")
  func columns() throws {
    try insert([:])
    try foreign.run("INSERT INTO c(added, version, body) VALUES ('2026-11-20', 'x', '{}')")
    try insert([:])
    _ = try engine.read(.call, nil) { reader in
      try reader.get(.rowID(2), in: "c") { row in
        #expect(row.added == nil && row.version == nil)
      }
    }
    #expect(try found(.isNull(.attribute(.added))) == [2])
    #expect(
      try engine.verify().map(\.message) == [
        "document 2 has a version that is not an integer",
        "document 2 has a creation date that is not an integer",
      ])
  }

  @Test("Adoption of a row is not reported as a change")
  func notReported() throws {
    try insert(["n": 1])
    try insertForeign(#" {"n":2}"#)
    let commits = Mutex<[Commit]>([])
    let observation = try engine.observeCommits { commit in commits.withLock { $0.append(commit) } }
    defer { observation.cancel() }

    try insert(["n": 3])

    #expect(commits.withLock { $0 } == [Commit([Change("c", [3: .inserted])])])
    #expect(try foreign.run("SELECT count(*) FROM c WHERE revision IS NULL") == [["0"]])
  }

  @Test(
    "Rows adopted without conversion to stored form are reported, and rebuilding the indexes repairs them"
  )
  func formerAdoption() throws {
    try insert([:])
    try engine.write(nil) { writer in
      try writer.createIndex(IndexDefinition(columns: [.init("ä")]), in: "c")
      try writer.createFullTextIndex(
        FullTextIndexDefinition(fields: ["ä"], tokens: .words), in: "c")
    }
    try insertForeign(#"{"\u00e4":"gin"}"#, #"{"b": 1}"#)
    try foreign.run("UPDATE c SET revision = 1")
    // The paths of the row, as an earlier version of adoption recorded them.
    try insert(["ä": "rum", "b": 1])

    let problems = try engine.verify().map(\.message)
    #expect(
      problems == [
        "document 2 is not in stored form, and index ä has different values for it",
        "document 2 is not in stored form, and index ä_text has different values for it",
      ])
    try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
    #expect(try engine.verify() == [])
    #expect(try found("ä", "gin") == [2])
    #expect(try foreign.run("SELECT body FROM c WHERE id = 3") == [[#"{"b":1}"#]])
  }

  @Test("An index over a row that SQLite cannot parse is rejected with the row ID")
  func undecodable() throws {
    try insert([:])
    try insertForeign(#"{"a":1"#)
    let error = #expect(throws: StoreError.self) {
      try engine.write(nil) {
        try $0.createIndex(IndexDefinition(columns: [.init("a")]), in: "c")
      }
    }
    #expect(error?.code == .corruptDocument && error?[.rowID] == "2")
  }
}
