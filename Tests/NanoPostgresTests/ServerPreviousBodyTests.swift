// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoPostgres
import NanoQuery
import NanoServerSupport
import NanoTesting
import Synchronization
import Testing

/// What a server keeps when another program changes documents.
@Suite("Previous bodies on a server", .postgres)
struct ServerPreviousBodyTests {
  private let engine: PostgresEngine
  private let schema: String

  init() throws {
    let configuration = TestDatabase.configuration()
    schema = configuration.schema
    engine = try TestDatabase.engine(.plain, configuration)
    try Self.fill(engine)
  }

  private static func fill(_ engine: PostgresEngine) throws {
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
  private func kept(_ rowID: Int64, _ engine: PostgresEngine? = nil) throws -> String? {
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

  private func run(_ sql: String, url: String? = nil) throws {
    try Faults.server().psql(
      "SET search_path = \(schema), public;\n" + sql, url: url ?? TestDatabase.url())
  }

  private func save(_ object: DocumentObject, _ key: String, _ engine: PostgresEngine) throws {
    let document = GeneratedDocument(object, key: try DocumentKey(key))
    try engine.write(nil) { writer in
      _ = try document.new { try writer.save($0, into: "films") }
    }
  }

  @Test(
    "SQL of every kind that changes a document keeps the one before",
    arguments: [
      "UPDATE films SET body = '{\"n\": 9}', source = NULL WHERE id = 1",
      "UPDATE films SET body = body || '{\"m\": 9}', source = NULL",
      "UPDATE films SET source = '{ \"n\":1}' WHERE id = 1",
      "UPDATE films SET key = 'renamed' WHERE id = 1",
      "UPDATE films SET type = 'Film' WHERE id = 1",
      "UPDATE films SET version = 2 WHERE id = 1",
      "INSERT INTO films (key, added, revision, body) VALUES ('1', 0, 1, '{}') "
        + "ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET body = excluded.body, source = NULL",
      "SET session_replication_role = replica; UPDATE films SET body = '{}', source = NULL",
    ])
  func statements(sql: String) throws {
    defer { try? engine.close() }
    try run(sql)
    #expect(try kept(1) == "1 1 {\"n\":1}")
    try run(
      "UPDATE films SET body = '{\"n\": 10}', source = NULL, revision = revision + 1 WHERE id = 1")
    try save(["n": 11], "1", engine)
    #expect(try kept(1) == "1 1 {\"n\":1}")
    #expect(try engine.verify().filter { $0.message.contains("previous") } == [])
  }

  @Test("A statement that changes nothing of a document keeps nothing, except for 1 and 1.0")
  func unchanged() throws {
    defer { try? engine.close() }
    for sql in [
      "UPDATE films SET body = body, source = source, key = key, type = type, version = version",
      "UPDATE films SET added = 5", "UPDATE films SET revision = 7",
      "INSERT INTO films (key, added, revision, body) VALUES ('1', 0, 1, '{}') ON CONFLICT DO NOTHING",
      "BEGIN; UPDATE films SET body = '{}', source = NULL; ROLLBACK",
    ] {
      try run(sql)
      for id in 1...3 as ClosedRange<Int64> { #expect(try kept(id) == nil, "\(sql)") }
    }
    try run("UPDATE films SET source = NULL")
    try engine.write(nil) { try $0.removePreviousBodies(ofRows: [1, 2, 3], in: "films") }
    try run("UPDATE films SET body = '{\"n\": 1.0}' WHERE id = 1")
    #expect(try kept(1) == "1 7 {\"n\":1}")
  }

  @Test(
    "Deletions by any statement keep the body, which a new document with the row ID does not have")
  func deletions() throws {
    defer { try? engine.close() }
    for sql in ["DELETE FROM films", "TRUNCATE films", "UPDATE films SET id = id + 100"] {
      try run("UPDATE films SET body = '{}', source = NULL WHERE id = 1")
      let before = try #require(try kept(1))
      try run(sql)
      #expect(try kept(1) == before)
      try run(
        "INSERT INTO films (id, key, added, revision, body) VALUES (1, 'again', 0, 1, '{\"n\": 5}')"
      )
      #expect(try kept(1) == nil)
      try run("UPDATE films SET body = '{\"n\": 6}' WHERE id = 1")
      #expect(try kept(1) == "again 1 {\"n\":5}")
      try run("DELETE FROM films WHERE id = 1")
      try engine.write(nil) { try $0.removePreviousBodies(ofRows: [1], in: "films") }
      try run(
        "INSERT INTO films (id, added, revision, body) VALUES (1, 0, 1, '{\"n\": 1}')")
    }
  }

  @Test("A role without rights on the kept bodies can update documents")
  func role() throws {
    defer { try? engine.close() }
    let role = "role_" + schema
    try run(
      """
      CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role);
      GRANT SELECT, UPDATE, DELETE ON films TO \(role)
      """)
    let url = try TestDatabase.url().replacing("postgres@", with: role + "@")
    try run("UPDATE films SET body = '{}', source = NULL WHERE id = 1", url: url)
    try run("DELETE FROM films WHERE id = 1", url: url)
    #expect(try kept(1) == "1 1 {\"n\":1}")
  }

  @Test("Concurrent writers and removals of bodies keep the first body of each document")
  func concurrency() async throws {
    let engine = engine
    defer { try? engine.close() }
    let failures = Mutex<[String]>([])
    try await Faults.onThread {
      Faults.inThreads(6) { number in
        do {
          for round in 0..<20 as Range<Int64> {
            let key = "\(Int(round) % 3 + 1)"
            let document = GeneratedDocument(
              ["n": .int(100 * Int64(number) + round)], key: try DocumentKey(key))
            try engine.write(nil) { writer in
              _ = try document.new { try writer.save($0, into: "films") }
            }
            if number == 5, round == 10 {
              try engine.write(nil) { try $0.removePreviousBodies(ofRows: [2], in: "films") }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try kept(1) == "1 1 {\"n\":1}")
    #expect(try kept(3) == "3 1 {\"n\":3}")
    #expect(try kept(2)?.hasPrefix("2 1 ") == false)
    #expect(try engine.verify() == [])
  }

  @Test("With partitions and without the text as written, bodies are kept as they were")
  func layouts() throws {
    try? engine.close()
    for change: (inout PostgresConfiguration) -> Void in [
      { $0.layout = .partitions(3) }, { $0.fieldOrder = .any },
    ] {
      var configuration = TestDatabase.configuration()
      change(&configuration)
      let engine = try TestDatabase.engine(.plain, configuration)
      defer { try? engine.close() }
      try Self.fill(engine)
      try save(["n": 1.0], "1", engine)
      try save(["n": 9], "1", engine)
      #expect(try kept(1, engine) == "1 1 {\"n\":1}")
      #expect(try engine.verify() == [])
    }
  }

  @Test("Verification reports a missing trigger; dropping the collection leaves nothing")
  func verification() throws {
    defer { try? engine.close() }
    for trigger in ["update", "delete", "truncate"] {
      try run("DROP TRIGGER nano_previous_\(trigger) ON films")
      #expect(
        try engine.verify().map(\.message) == ["a trigger that keeps previous bodies is missing"])
      try engine.write(nil) {
        try $0.setKeepsPreviousBodies(false, of: "films")
        try $0.setKeepsPreviousBodies(true, of: "films")
      }
      #expect(try engine.verify() == [])
    }
    try run("ALTER TABLE films DISABLE TRIGGER nano_previous_update")
    #expect(try !engine.read(.call, nil) { try $0.keepsPreviousBodies(in: "films") })
    try engine.write(nil) { try $0.setKeepsPreviousBodies(true, of: "films") }
    #expect(try engine.verify() == [])
    _ = try engine.write(nil) { try $0.dropCollection("films") }
    try run(
      """
      DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE nspname = '\(schema)' AND relname LIKE 'nano_previous%'); ASSERT NOT EXISTS (SELECT FROM pg_proc AS p
      JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE nspname = '\(schema)' AND proname LIKE 'nano_keep%');
      ASSERT (SELECT version FROM nano_format) = 3; END $$
      """)
  }
}
