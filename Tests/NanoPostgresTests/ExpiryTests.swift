// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoPostgres
import NanoQuery
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@testable import NanoStoreCore

@Suite("Expiration on PostgreSQL", .postgres)
struct ExpiryTests {
  private static func engine(
    _ configuration: PostgresConfiguration, _ clock: ManualClock
  ) throws -> PostgresEngine {
    var configuration = configuration
    configuration.clock = clock
    return try TestDatabase.engine(.plain, configuration)
  }

  @Test(
    "Random writes, expirations, and sweeps give the results of the reference engine",
    arguments: 0..<6)
  func generated(part: UInt64) throws {
    let seed = PostgresComparisonTests.seed &+ part
    print("expiration: NANOSTORE_SEED=\(PostgresComparisonTests.seed) (part \(part))")
    let configuration = TestDatabase.configuration()
    try ExpiryComparison(
      reopen: { engine, clock in
        try engine.close()
        return try Self.engine(configuration, clock)
      }, { try Self.engine(configuration, $0) }
    ).run(seed: seed, steps: 120, uniqueIndex: part.isMultiple(of: 2))
  }

  @Test("In partitioned collections, results are those of the reference engine")
  func partitions() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .partitions(3)
    try ExpiryComparison { [configuration] in try Self.engine(configuration, $0) }
      .run(seed: PostgresComparisonTests.seed &+ 50, steps: 120)
  }

  private func insert(_ keys: [String], _ engine: any Engine) throws -> [Int64] {
    try engine.write(nil) { writer in
      try keys.map { key in
        try GeneratedDocument(["n": 1], key: DocumentKey(key)).new {
          try writer.insert($0, into: "c")
        }
      }
    }
  }

  @Test("A client that has cached a collection hides what another one lets expire")
  func cached() throws {
    let (configuration, clock) = (TestDatabase.configuration(), ManualClock())
    let (first, second) = (
      try Self.engine(configuration, clock), try Self.engine(configuration, clock)
    )
    let rowIDs = try insert(["a", "b"], first)
    let key = try DocumentKey("a")
    #expect(try second.get(.key(key), in: "c", nil) { _ in })

    try first.write(nil) { try $0.setExpirations([(rowIDs[0], clock.now())], in: "c") }

    #expect(try !second.get(.key(key), in: "c", nil) { _ in })
    var found = 0
    try second.get(keys: [key, DocumentKey("b")], in: "c", nil) { _ in found += 1 }
    #expect(found == 1)
    #expect(try second.read(.call, nil) { try $0.count(Query(), in: "c") } == 1)
    // Not in its own transaction, which would not delete the expired document.
    let stored = try GeneratedDocument(["n": 2], key: key).new {
      try second.put($0, newKey: key, replacing: true, into: "c", nil)
    }
    #expect(stored == nil)
  }

  @Test("Clients that sweep at the same time delete each document once")
  func concurrentSweeps() async throws {
    let (configuration, clock) = (TestDatabase.configuration(), ManualClock())
    let engines = try (0..<3).map { _ in try Self.engine(configuration, clock) }
    let rowIDs = try insert((0..<300).map { "k\($0)" }, engines[0])
    try engines[0].write(nil) { writer in
      try writer.setExpirations(rowIDs.map { ($0, clock.now()) }, in: "c")
    }

    let swept = try await withThrowingTaskGroup(of: [Identity].self) { group in
      for engine in engines {
        group.addTask {
          var swept: [Identity] = []
          for _ in 0..<40 {
            swept += try engine.write(nil) { writer in
              _ = try writer.sweepExpired(limit: 10, from: "c")
              return writer.expiry.swept.flatMap(\.documents)
            }
          }
          return swept
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }

    #expect(swept.count == 300)
    #expect(Set(swept).count == 300)
  }

  @Test("A client whose role may only read does not try again to delete expired documents")
  func readingRole() throws {
    let clock = ManualClock()
    let configuration = Faults.configuration { $0.clock = clock }
    let store = try TestDatabase.store(configuration)
    try store["items"].save(["n": 1], key: "a")
    try store["items"].setExpiration(
      Date(microsecondsSince1970: clock.now() + 1_000_000), of: "a")
    try store.close()
    clock.advance(by: .seconds(1))
    let schema = configuration.schema
    let role = "role_" + schema
    try Faults.server().psql(
      """
      CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role);
      GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)
      """)

    let url = try TestDatabase.url().replacing("postgres@", with: role + "@")
    let reader = try Store.postgres(url, engine: configuration)
    defer { try? reader.close() }
    reader.sweeper.drain()

    #expect(try reader["items"].count() == 0)
    #expect(clock.waitingCount == 0)
  }

  @Test("Ranks do not depend on documents that have expired and are not deleted yet")
  func ranks() throws {
    let clock = ManualClock()
    let engine = try Self.engine(TestDatabase.configuration(), clock)
    let rowIDs = try engine.write(nil) { writer -> [Int64] in
      try writer.createFullTextIndex(FullTextIndexDefinition(fields: ["t"]), in: "c")
      return try ["gin", "gin", "gin", "gin", "rum", "whisky"].map { text in
        try GeneratedDocument(["t": .string(text)], key: nil).new {
          try writer.insert($0, into: "c")
        }
      }
    }
    func found() throws -> [Double] {
      var ranks: [Double] = []
      let query = Query(.search("gin OR rum"), ranking: FullTextRanking())
      try engine.read(.call, nil) { reader in
        try reader.findRanked(query, in: "c") {
          ranks.append($1)
          return true
        }
      }
      return ranks
    }

    try engine.write(nil) { writer in
      try writer.setExpirations(rowIDs.prefix(3).map { ($0, clock.now()) }, in: "c")
    }
    let hidden = try found()
    try engine.write(nil) { writer in _ = try writer.sweepExpired(limit: 10, from: "c") }

    #expect(hidden.count == 2)
    #expect(hidden.allSatisfy { $0 > 0 })
    #expect(try found() == hidden)
  }
}
