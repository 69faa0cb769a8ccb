// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Stores on a server that are opened read-only", .postgres)
struct ReadOnlyTests {
  private func code(_ work: () throws -> some Any) -> StoreError.Code? {
    do { _ = try work() } catch { return (error as? StoreError)?.code }
    return nil
  }

  private func open(_ configuration: PostgresConfiguration, isReadOnly: Bool) throws -> Store {
    var configuration = configuration
    configuration.isReadOnly = isReadOnly
    return try TestDatabase.store(configuration)
  }

  @Test("Every read works, every write throws, and nothing changes")
  func writes() throws {
    let clock = ManualClock()
    var configuration = TestDatabase.configuration()
    configuration.clock = clock
    let store = try open(configuration, isReadOnly: false)
    try store["films"].save(["title": "Alien", "n": 1], key: "alien")
    try store["films"].save(["title": "Ran", "n": 2], key: "ran")
    try store["films"].createIndex("n")
    try store["films"].createFullTextIndex(fields: ["title"])
    try store["films"].setChangeTracking(.on)
    try store["films"].setExpiration(Date(timeIntervalSince1970: 0), of: "ran")
    func rows() throws -> DocumentValue? {
      try store.sql("SELECT count(*) AS n FROM nano_collections")[0]["n"]
    }
    let before = try rows()

    let reader = try open(configuration, isReadOnly: true)
    let films = reader["films"]
    #expect(try films.count() == 1)
    #expect(try films.get("alien")?["n"] == 1)
    #expect(try films.find("[n] = 1").keys() == ["alien"])
    #expect(try films.search("alien").results().count == 1)
    guard case .entries(let entries, _, _) = try films.changes(since: nil) else {
      Issue.record("the feed was reset")
      return
    }
    #expect(!entries.isEmpty)
    #expect(try reader.statistics().collections.first?.documents == 1)
    #expect(try reader.sql("SELECT 1 AS one")[0]["one"] == 1)
    #expect(try reader.verify().isEmpty)

    #expect(code { try films.insert(["n": 3]) } == .readOnly)
    #expect(code { try films.save(["n": 3], key: "alien") } == .readOnly)
    #expect(code { try films.update("alien", .increment("n")) } == .readOnly)
    #expect(code { try films.delete("alien") } == .readOnly)
    #expect(code { try films.createIndex("title") } == .readOnly)
    #expect(code { try reader["new"].insert([:]) } == .readOnly)
    #expect(code { try reader.execute("CREATE TABLE x()") } == .readOnly)
    #expect(code { try reader.write { try films.delete("alien") } } == .readOnly)
    #expect(code { try reader.compact() } == .readOnly)
    #expect(code { try reader.deleteExpired() } == .readOnly)
    #expect(code { try reader.addAttachment(.data(Data([1]))) } == .readOnly)
    try reader.close()
    #expect(try store["films"].get("alien")?["n"] == 1)
    #expect(try rows() == before)
    try store.close()
  }

  @Test("A database without a store is not changed")
  func empty() throws {
    let configuration = TestDatabase.configuration()
    #expect(code { try open(configuration, isReadOnly: true) } == .cannotOpen)
    let other = try TestDatabase.store()
    let found = try other.sql(
      "SELECT count(*) AS n FROM pg_namespace WHERE nspname = ?", configuration.schema)
    #expect(found[0]["n"] == 0)
    try other.close()
  }
}
