// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// A pooler with few server sessions, shared by these tests.
private enum Pooler {
  static let shared: Pgbouncer? = {
    guard let server = PostgresServer.shared else { return nil }
    return try? Pgbouncer(before: server, settings: ["default_pool_size": "3"])
  }()

  static func url() throws -> String { try #require(shared, "no pooler could be started").url() }
}

@Suite(
  "Transaction pooling", .postgres,
  .enabled(if: Pgbouncer.isInstalled, "pgbouncer is not installed"), .serialized)
struct PoolerTests {
  @Test("The engine conforms behind a pooler", arguments: EngineConformance.checks)
  func contract(check: EngineConformance.Check) throws {
    let configuration = Faults.configuration()
    let url = try Pooler.url()
    let open = { try PostgresEngine(url, configuration) }
    let reopen: (any Engine) throws -> any Engine = { engine in
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("Many more clients than sessions read and write correctly")
  func workload() throws {
    let configuration = Faults.configuration { $0.busyTimeout = .seconds(30) }
    let url = try Pooler.url()
    let stores = try (0..<3).map { _ in try Store.postgres(url, engine: configuration) }
    let counters = try CounterWorkload(stores[0])
    let wanted = 150 * Faults.rounds
    Faults.inThreads(9) { thread in
      let store = stores[thread % 3]
      if thread < 6 {
        counters.run(store, SplitMix(seed: Faults.seed &+ UInt64(thread))) {
          counters.acknowledged < wanted
        }
        return
      }
      for number in 0..<(40 * Faults.rounds) {
        do {
          let items = store["items \(number % 3)"]
          try items.save(["n": .int(Int64(number))], key: "\(thread) \(number)")
          _ = try items.find("[n] = ?", number).fetch()
          _ = try items.find("[n] BETWEEN ? AND ?", 0, number).count()
          let (all, some) = try store.read {
            (try items.count(), try items.find("[n] = 0").count())
          }
          #expect(all >= some)
        } catch {
          Issue.record(error)
        }
      }
    }
    try counters.check(stores[0])
    #expect(try stores[0].verify().isEmpty)
    for store in stores { try store.close() }
  }

  @Test("Settings of one client do not leak to another")
  func settings() throws {
    let server = try Faults.server()
    let pooler = try Pgbouncer(before: server, settings: ["default_pool_size": "1"])
    defer { pooler.stop() }
    let names = [
      "synchronous_commit", "lock_timeout", "search_path", "transaction_isolation",
      "transaction_read_only", "statement_timeout",
    ]
    let show = names.map { "SHOW \($0);" }.joined()
    let before = try server.psql(show, url: pooler.url())
    let store = try Store.postgres(
      pooler.url(), engine: Faults.configuration { $0.durability = .normal })
    let items = store["items"]
    for round in 0..<3 {
      try items.save(["n": 1], key: "a")
      #expect(try server.psql(show, url: pooler.url()) == before, "after a save, \(round)")
      _ = try store.sql("SELECT count(*) FROM items")
      #expect(try server.psql(show, url: pooler.url()) == before, "after a statement, \(round)")
      try? store.write {
        try items.save(["n": 2], key: "a")
        throw CancellationError()
      }
      #expect(try server.psql(show, url: pooler.url()) == before, "after a rollback, \(round)")
      _ = try store.read { try items.fetch() }
      #expect(try server.psql(show, url: pooler.url()) == before, "after a read, \(round)")
      _ = try items.insert((0..<150).map { ["n": .int($0)] as DocumentObject })
      #expect(try server.psql(show, url: pooler.url()) == before, "after a batch, \(round)")
      let prepared = try server.psql(
        "SELECT count(*) FROM pg_prepared_statements", url: pooler.url())
      #expect(prepared == "0")
    }
    try store.close()
  }

  @Test("A closed store leaves no open transaction in a session")
  func sessions() throws {
    let server = try Faults.server()
    let pooler = try Pgbouncer(before: server, settings: ["default_pool_size": "2"])
    defer { pooler.stop() }
    let configuration = Faults.configuration()
    for _ in 0..<5 {
      let store = try Store.postgres(pooler.url(), engine: configuration)
      _ = try? store.write {
        try store["items"].save(["n": 2], key: "a")
        _ = try store.sql("SELECT nothing FROM nowhere")
      }
      try store.close()
    }
    let store = try Store.postgres(pooler.url(), engine: configuration)
    #expect(try store["items"].count() == 0)
    try store["items"].save(["n": 1], key: "a")
    try store.close()
  }
}
