// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Calls that are cancelled", .postgres)
struct CancelTests {
  private struct Watched: Sendable {
    let store: Store
    let observer: Store
    let name: String

    init(connections: Int = 1) throws {
      let server = try Faults.server()
      var configuration = Faults.configuration()
      configuration.maximumConnections = connections
      name = configuration.schema
      store = try Store.postgres(
        server.url() + "?application_name=\(name)", configuration: configuration)
      observer = try Store.postgres(server.url(), configuration: configuration)
    }

    func isActive() async throws -> Bool {
      let rows = try await observer.sql(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? AND state = 'active'",
        SQLArguments([.string(name)]))
      return rows.first?["n"]?.int != 0
    }

    func close() throws {
      try store.close()
      try observer.close()
    }
  }

  private func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || (error as? StoreError)?.code == .interrupted
  }

  private func cancel(_ watched: Watched, _ work: @escaping @Sendable () async throws -> Void)
    async throws
  {
    let task = Task.detached { try await work() }
    try await Faults.wait(for: "the statement runs") { try await watched.isActive() }
    task.cancel()
    await #expect(performing: { try await task.value }, throws: isCancellation)
    try await Faults.wait(for: "the statement ends") { try await !watched.isActive() }
  }

  @Test("A statement of the caller's own ends on the server")
  func statement() async throws {
    let watched = try Watched()
    defer { try? watched.close() }
    let store = watched.store
    try await cancel(watched) { _ = try await store.sql("SELECT pg_sleep(900)") }
    #expect(try await store.sql("SELECT 1 AS n").first?["n"] == 1)
  }

  @Test("A block that writes is undone, and the connection serves the next call")
  func block() async throws {
    let watched = try Watched()
    defer { try? watched.close() }
    let store = watched.store
    try await store["items"].save(["n": 1], key: "a")
    try await cancel(watched) {
      try await store.write {
        try store["items"].save(["n": 2], key: "a")
        _ = try store.sql("SELECT pg_sleep(900)")
      }
    }
    #expect(try await store["items"].get("a")?["n"] == 1)
    try await store["items"].save(["n": 3], key: "a")
  }

  @Test("A block that goes on after it was cancelled writes nothing")
  func caught() async throws {
    let watched = try Watched()
    defer { try? watched.close() }
    let store = watched.store
    try await cancel(watched) {
      try await store.write {
        try store["items"].save(["n": 2], key: "a")
        _ = try? store.sql("SELECT pg_sleep(900)")
        _ = try? store["items"].save(["n": 2], key: "b")
      }
    }
    #expect(try await store["items"].count() == 0)
  }

  @Test("Waiting for a lock ends too")
  func waiting() async throws {
    let watched = try Watched(connections: 2)
    defer { try? watched.close() }
    try await watched.store["items"].save(["n": 1], key: "a")
    try await Faults.onThread { try cancelWhileLocked(watched) }
    #expect(try await watched.store["items"].get("a")?["n"] == 2)
  }

  private func cancelWhileLocked(_ watched: Watched) throws {
    let (store, observer) = (watched.store, watched.observer)
    try observer.write {
      try observer["items"].save(["n": 2], key: "a")
      let task = Task.detached { try await store["items"].save(["n": 3], key: "a") }
      try Faults.wait(for: "the save waits for the lock") {
        try observer.sql(
          """
          SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
          AND wait_event_type = 'Lock'
          """, watched.name
        ).first?["n"]?.int == 1
      }
      task.cancel()
      try Faults.wait(for: "the save waits no more") {
        try observer.sql(
          """
          SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
          AND wait_event_type = 'Lock'
          """, watched.name
        ).first?["n"]?.int == 0
      }
    }
  }

  @Test("A request that comes late hits no later statement")
  func late() async throws {
    let watched = try Watched()
    defer { try? watched.close() }
    let store = watched.store
    try await store["items"].save(["n": 1], key: "a")
    var random = SplitMix(seed: Faults.seed)
    var cancelled = 0
    for round in 0..<(150 * Faults.rounds) {
      let kind = random.number(0...2)
      let task = Task.detached {
        switch kind {
        case 0: _ = try await store.sql("SELECT pg_sleep(0.001)")
        case 1: _ = try await store["items"].find("[n] > ?", 0).count()
        default: _ = try await store["items"].save(["n": 1], key: "a")
        }
      }
      usleep(UInt32(random.number(0...2_500)))
      task.cancel()
      // Both while the cancelled call still runs and after it.
      if random.oneIn(2) { _ = await task.result }
      do {
        #expect(try await store.sql("SELECT 1 AS n, pg_sleep(0.001)").first?["n"] == 1)
        try await store["items"].save(["n": 1], key: "a")
        #expect(try await store["items"].count() == 1)
      } catch {
        Issue.record(error, "round \(round), seed \(Faults.seed)")
      }
      switch await task.result {
      case .success: break
      case .failure(let error):
        cancelled += 1
        if !isCancellation(error) { Issue.record(error, "round \(round), seed \(Faults.seed)") }
      }
    }
    print("cancel: seed \(Faults.seed), \(cancelled) calls ended early")
  }

  @Test("A cancelled save undoes none of those that it shares a transaction with")
  func shared() async throws {
    let watched = try Watched()
    defer { try? watched.close() }
    let store = watched.store
    let seed = Faults.seed
    let stored = await withTaskGroup(of: String?.self) { group in
      for number in 0..<(200 * Faults.rounds) {
        group.addTask {
          var random = SplitMix(seed: seed &+ UInt64(number))
          let save = Task.detached {
            try await store["items"].save(["n": .int(Int64(number))], key: "\(number)")
          }
          if random.oneIn(3) {
            try? await Task.sleep(for: .microseconds(random.number(0...20_000)))
            save.cancel()
          }
          return (try? await save.value) == nil ? nil : "\(number)"
        }
      }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1.map { [$0] } ?? []) }
    }
    let found = Set(try await store["items"].find().keys())
    #expect(found.isSuperset(of: stored), "seed \(seed)")
    // A commit may have been done by the time that its caller was told that it is cancelled.
    #expect(try await store.verify().isEmpty)
  }
}
