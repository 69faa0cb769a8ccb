// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// What a file keeps when another program changes documents.
@Suite("Previous bodies in files")
struct PreviousBodyTests {
  private let folder: TemporaryFolder
  private let engine: SQLiteEngine
  private let foreign: PlainSQLite

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    foreign = try PlainSQLite(folder.file())
    try engine.write(nil) { writer in
      for number in 1...3 as ClosedRange<Int64> {
        let key = try DocumentKey("\(number)")
        _ = try GeneratedDocument(["n": .int(number)], key: key).new {
          try writer.insert($0, into: "films")
        }
      }
      try writer.setKeepsPreviousBodies(true, of: "films")
    }
  }

  /// Returns a kept body as its key, revision and text.
  private func kept(_ rowID: Int64, _ engine: SQLiteEngine? = nil) throws -> String? {
    var found: String?
    try (engine ?? self.engine).read(.snapshot, nil) { reader in
      _ = try reader.previousBody(ofRow: rowID, in: "films") { document in
        let revision = document.revision.map { "\($0)" } ?? "-"
        let body = String(decoding: document.body, as: UTF8.self)
        found = "\(document.key?.description ?? "-") \(revision) \(body)"
      }
    }
    return found
  }

  private func save(_ object: DocumentObject, _ key: String) throws {
    let document = GeneratedDocument(object, key: try DocumentKey(key))
    try engine.write(nil) { writer in
      _ = try document.new { try writer.save($0, into: "films") }
    }
  }

  private func remove(_ rowIDs: Int64...) throws {
    try engine.write(nil) { try $0.removePreviousBodies(ofRows: rowIDs, in: "films") }
  }

  @Test(
    "SQL of every kind that changes a document keeps the one before",
    arguments: [
      "UPDATE films SET body = '{\"n\":9}' WHERE id = 1",
      "UPDATE films SET body = json_set(body, '$.m', 9)",
      "UPDATE films SET key = 'renamed' WHERE id = 1",
      "UPDATE films SET type = 'Film' WHERE id = 1",
      "UPDATE films SET version = 2 WHERE id = 1",
      "UPDATE OR REPLACE films SET key = '2' WHERE id = 1",
      "UPDATE OR IGNORE films SET body = '{}' WHERE id = 1",
      "INSERT INTO films(key, body) VALUES ('1', '{}') ON CONFLICT (key) WHERE key IS NOT NULL "
        + "DO UPDATE SET body = excluded.body",
      "UPDATE films SET body = CAST(body AS BLOB) WHERE id = 1",
    ])
  func statements(sql: String) throws {
    try foreign.run(sql)
    #expect(try kept(1) == "1 1 {\"n\":1}")
    try foreign.run("UPDATE films SET body = '{\"n\":10}' WHERE id = 1")
    try foreign.run("UPDATE OR REPLACE films SET body = '{\"n\":11}' WHERE id = 1")
    #expect(try kept(1) == "1 1 {\"n\":1}")
    #expect(try foreign.integrity() == "ok")
    #expect(try engine.verify().filter { $0.message.contains("previous") } == [])
  }

  @Test(
    "A statement that changes nothing of a document keeps nothing",
    arguments: [
      "UPDATE films SET body = body, key = key, type = type, version = version",
      "UPDATE films SET added = 5", "UPDATE films SET revision = 7",
      "UPDATE films SET body = '{}' WHERE key = 'missing'",
      "INSERT INTO films(key, body) VALUES ('new', '{}')",
      "INSERT OR IGNORE INTO films(key, body) VALUES ('1', '{}')",
      "BEGIN; UPDATE films SET body = '{}'; ROLLBACK",
    ])
  func unchanged(sql: String) throws {
    for statement in sql.split(separator: ";") { try foreign.run(String(statement)) }
    #expect(try foreign.run("SELECT count(*) FROM nano_previous_films") == [["0"]])
  }

  @Test("Adoption keeps nothing, although it rewrites what another program wrote")
  func adoption() throws {
    try foreign.run(#"INSERT INTO films(key, body) VALUES (4711, '{ "n" : 5 }')"#)
    try foreign.run(#"UPDATE films SET body = '{ "n" : 6 }' WHERE id = 2"#)
    try save(["n": 1], "other")
    #expect(
      try foreign.run("SELECT typeof(key), body FROM films WHERE id = 4") == [
        ["text", "{\"n\":5}"]
      ])
    #expect(try kept(4) == nil)
    #expect(try kept(2) == "2 1 {\"n\":2}")
    try foreign.run(#"UPDATE films SET body = '{ "n" : 7 }' WHERE id = 4"#)
    #expect(try kept(4)?.hasSuffix(" {\"n\":5}") == true)
    try engine.write(nil) { try $0.rebuildIndexes(in: "films", nil) }
    #expect(try kept(2) == "2 1 {\"n\":2}")
    #expect(try kept(1) == nil)
    #expect(try engine.verify() == [])
  }

  @Test("After the removal, the next update keeps the body of its time")
  func removal() throws {
    try foreign.run("UPDATE films SET body = '{\"n\":9}' WHERE id = 1")
    try save(["n": 10], "1")
    try remove(1, 2)
    #expect(try kept(1) == nil)
    try foreign.run("UPDATE films SET body = '{\"n\":11}' WHERE id = 1")
    #expect(try kept(1)?.hasSuffix(" {\"n\":10}") == true)
    try foreign.run("DELETE FROM films WHERE id = 1")
    #expect(try kept(1)?.hasSuffix(" {\"n\":10}") == true)
    try foreign.run("INSERT INTO films(id, body) VALUES (1, '{\"n\":12}')")
    #expect(try kept(1) == nil)
    try foreign.run("UPDATE films SET body = '{\"n\":13}' WHERE id = 1")
    #expect(try kept(1) == "- - {\"n\":12}")
    try foreign.run("UPDATE films SET id = 20 WHERE id = 1")
    #expect(try kept(1) == "- - {\"n\":12}")
    #expect(try kept(20) == nil)
  }

  @Test("A trigger of another program that updates the row again does not hide the first update")
  func otherTrigger() throws {
    try foreign.run(
      """
      CREATE TRIGGER modified AFTER UPDATE OF body ON films WHEN NEW.body ->> '$.at' IS NULL BEGIN
        UPDATE films SET body = json_set(body, '$.at', 1) WHERE id = NEW.id;
      END
      """)
    try save(["n": 9], "1")
    #expect(try kept(1) == "1 1 {\"n\":1}")
    try foreign.run("UPDATE films SET body = '{}' WHERE id = 2")
    #expect(try kept(2) == "2 1 {\"n\":2}")
  }

  @Test("They are in a reopened file, a backup and a compacted file, whose format is 3")
  func files() throws {
    try save(["n": 9], "1")
    try engine.compact()
    try engine.backup(to: BackupDestination(path: folder.file("backup.db")), progress: nil)
    try engine.close()
    for name in ["store.db", "backup.db"] {
      let again = try SQLiteEngine(.file(folder.file(name)), SQLiteConfiguration())
      #expect(try kept(1, again) == "1 1 {\"n\":1}")
      #expect(try again.read(.call, nil) { try $0.keepsPreviousBodies(in: "films") })
      #expect(try again.verify() == [])
      #expect(try again.statistics().settings["user_version"] == "3")
      try again.close()
    }
  }

  @Test("A file without them has no trace of them, also after they were turned off")
  func absent() throws {
    try engine.write(nil) { try $0.setKeepsPreviousBodies(false, of: "films") }
    let found = try foreign.run("SELECT name FROM sqlite_schema WHERE name LIKE 'nano_previous%'")
    #expect(found == [])
    let other = try SQLiteEngine(.file(folder.file("other.db")), SQLiteConfiguration())
    try other.write(nil) { writer in
      _ = try GeneratedDocument([:]).new { try writer.insert($0, into: "films") }
      try writer.setKeepsPreviousBodies(false, of: "films")
    }
    #expect(try other.statistics().settings["user_version"] == "1")
    #expect(try other.verify() == [])
    try other.close()
  }

  @Test("Verification reports a missing trigger, table and leftover, which turning it on repairs")
  func verification() throws {
    try save(["n": 9], "1")
    #expect(try engine.verify() == [])
    for (sql, message) in [
      (
        "DROP TRIGGER nano_previous_films_update",
        "the trigger nano_previous_films_update is missing"
      ),
      (
        "DROP TRIGGER nano_previous_films_delete",
        "the trigger nano_previous_films_delete is missing"
      ),
    ] {
      try foreign.run(sql)
      #expect(
        try engine.verify() == [VerificationProblem(subject: "films", message: message)])
      try engine.write(nil) {
        try $0.setKeepsPreviousBodies(false, of: "films")
        try $0.setKeepsPreviousBodies(true, of: "films")
      }
      #expect(try engine.verify() == [])
    }
    for sql in ["DROP TRIGGER nano_previous_films_update", "DROP TABLE nano_former_films"] {
      try foreign.run(sql)
      // Nothing is kept anymore, so that a reader must not rely on it.
      let other = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
      #expect(try !other.read(.call, nil) { try $0.keepsPreviousBodies(in: "films") })
      try other.write(nil) { try $0.setKeepsPreviousBodies(true, of: "films") }
      try other.close()
    }
    #expect(try engine.verify() == [])
    try save(["n": 10], "2")
    #expect(try kept(2) == "2 1 {\"n\":2}")
    _ = try engine.write(nil) { try $0.dropCollection("films") }
    #expect(try engine.verify() == [])
    #expect(try foreign.run("SELECT * FROM sqlite_schema WHERE name LIKE 'nano_previous%'") == [])
  }

  @Test("User-supplied SQL keeps them, and cannot change them")
  func userSQL() throws {
    func run(_ sql: String) throws {
      try engine.write(nil) { writer in
        _ = try (writer as? any SQLReader)?.sql(sql, SQLArguments([])) { _ in true }
      }
    }
    try run("UPDATE films SET body = '{\"n\":9}' WHERE id = 1")
    #expect(try kept(1) == "1 1 {\"n\":1}")
    #expect(throws: StoreError.self) { try run("DELETE FROM nano_previous_films") }
    #expect(try kept(1) == "1 1 {\"n\":1}")
  }

  @Test("A recovery does not mistake them for documents")
  func recovery() throws {
    for number in 1...3 as ClosedRange<Int64> {
      try save(
        ["n": .int(10 + number), "text": .string(.init(repeating: "x", count: 5_000))], "\(number)")
    }
    try save(["n": 20], "1")
    try engine.close()
    let recovered = folder.file("recovered.db")
    let report = try SQLiteEngine.recover(
      from: folder.file(), to: BackupDestination(path: recovered))
    #expect(report.saved == 3 && report.losses.isEmpty)
    let again = try SQLiteEngine(.file(recovered), SQLiteConfiguration())
    #expect(try again.read(.call, nil) { try $0.count(Query(), in: "films") } == 3)
    #expect(try again.read(.call, nil) { try $0.collections().map(\.name) } == ["films"])
    #expect(try !again.read(.call, nil) { try $0.keepsPreviousBodies(in: "films") })
    #expect(try again.verify() == [])
    try again.close()
  }

  @Test(
    "Whatever programs do, the body before the first change is kept, in the log or in the table",
    arguments: 0..<30)
  func programs(seed: Int) throws {
    var random = SplitMix(seed: UInt64(seed))
    var documents: [Int64: Int64] = [1: 1, 2: 2, 3: 3]
    var kept: [Int64: (n: Int64, isDeleted: Bool)] = [:]
    var next: Int64 = 4
    func body(_ n: Int64) -> String { "'{\"n\":\(n)}'" }
    for step in 0..<120 {
      let id = Int64(random.number(1...6))
      next += 1
      switch random.number(0...9) {
      case 0...3:
        try foreign.run("UPDATE films SET body = \(body(next)) WHERE id = \(id)")
        guard let old = documents[id] else { break }
        if kept[id]?.isDeleted ?? true { kept[id] = (old, false) }
        documents[id] = next
      case 4:
        try foreign.run("DELETE FROM films WHERE id = \(id)")
        if documents.removeValue(forKey: id) != nil { kept[id]?.isDeleted = true }
      case 5...6 where documents[id] == nil:
        try foreign.run("INSERT INTO films(id, body) VALUES (\(id), \(body(next)))")
        documents[id] = next
      case 7:
        let other = Int64(random.number(1...6))
        guard let moved = documents[id], documents[other] == nil else { break }
        try foreign.run("UPDATE films SET id = \(other) WHERE id = \(id)")
        documents[id] = nil
        documents[other] = moved
        kept[id]?.isDeleted = true
      case 8:
        try remove(id)
        kept[id] = nil
      default:
        // A transaction that writes moves the log.
        try engine.write(nil) { _ = try $0.previousBody(ofRow: id, in: "films") { _ in } }
      }
      var all: [Int64: String] = [:]
      try engine.read(.snapshot, nil) { reader in
        var last: Int64?
        while true {
          let count = all.count
          try reader.previousBodies(after: last, limit: 2, in: "films") {
            last = $0.rowID
            all[$0.rowID] = String(decoding: $0.body, as: UTF8.self)
          }
          if all.count == count { break }
        }
      }
      #expect(all == kept.mapValues { "{\"n\":\($0.n)}" }, "seed \(seed), step \(step)")
      for id in 1...6 as ClosedRange<Int64> {
        let isVisible = kept[id].map { !$0.isDeleted || documents[id] == nil } ?? false
        let found = try self.kept(id)?.split(separator: " ").last.map(String.init)
        #expect(found == (isVisible ? all[id] : nil), "seed \(seed), step \(step), row \(id)")
      }
    }
    #expect(try foreign.integrity() == "ok")
  }

  @Test("The log of a collection that is never synchronized stays short")
  func longLog() throws {
    try engine.write(nil) { try $0.setTracking(FeedState(timeline: 7), of: "films") }
    for number in 2...2_500 as ClosedRange<Int64> { try save(["n": .int(number)], "1") }
    let text = DocumentValue.string(String(repeating: "x", count: 300_000))
    for _ in 1...8 { try save(["text": text], "2") }
    let count = try foreign.run(
      "SELECT count(*) < 1000, coalesce(sum(length(body)), 0) < 2000000 FROM nano_former_films")
    #expect(count == [["1", "1"]])
    #expect(try kept(1) == "1 1 {\"n\":1}")
    #expect(try kept(2) == "2 1 {\"n\":2}")
    #expect(try engine.verify() == [])
  }
}
