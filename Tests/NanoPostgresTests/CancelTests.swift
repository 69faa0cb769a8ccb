// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Canceled calls", .postgres)
struct CancelTests {
  private struct MonitoredStore: Sendable {
    let store: Store
    let observer: Store
    let name: String

    init(connections: Int = 1) throws {
      let server = try Faults.server()
      let configuration = Faults.configuration { $0.maximumConnections = connections }
      name = configuration.schema
      store = try Store.postgres(
        server.url() + "?application_name=\(name)", engine: configuration)
      observer = try Store.postgres(server.url(), engine: configuration)
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

  private func cancel(
    _ monitored: MonitoredStore, _ work: @escaping @Sendable () async throws -> Void
  )
    async throws
  {
    let task = Task.detached { try await work() }
    try await Faults.wait(for: "the statement runs") { try await monitored.isActive() }
    task.cancel()
    await #expect(performing: { try await task.value }, throws: isCancellation)
    try await Faults.wait(for: "the statement ends") { try await !monitored.isActive() }
  }

  @Test("Canceling an SQL query ends it on the server")
  func statement() async throws {
    let monitored = try MonitoredStore()
    defer { try? monitored.close() }
    let store = monitored.store
    try await cancel(monitored) { _ = try await store.sql("SELECT pg_sleep(900)") }
    #expect(try await store.sql("SELECT 1 AS n").first?["n"] == 1)
  }

  @Test("Canceling a write transaction rolls it back, and the connection serves the next call")
  func block() async throws {
    let monitored = try MonitoredStore()
    defer { try? monitored.close() }
    let store = monitored.store
    try await store["items"].save(["n": 1], key: "a")
    try await cancel(monitored) {
      try await store.write {
        try store["items"].save(["n": 2], key: "a")
        _ = try store.sql("SELECT pg_sleep(900)")
      }
    }
    #expect(try await store["items"].get("a")?["n"] == 1)
    try await store["items"].save(["n": 3], key: "a")
  }

  @Test("A transaction that continues after it was canceled writes nothing")
  func caught() async throws {
    let monitored = try MonitoredStore()
    defer { try? monitored.close() }
    let store = monitored.store
    try await cancel(monitored) {
      try await store.write {
        try store["items"].save(["n": 2], key: "a")
        _ = try? store.sql("SELECT pg_sleep(900)")
        _ = try? store["items"].save(["n": 2], key: "b")
      }
    }
    #expect(try await store["items"].count() == 0)
  }

  @Test("Canceling ends waiting for a lock")
  func waiting() async throws {
    let monitored = try MonitoredStore(connections: 2)
    defer { try? monitored.close() }
    try await monitored.store["items"].save(["n": 1], key: "a")
    try await Faults.onThread { try cancelWhileLocked(monitored) }
    #expect(try await monitored.store["items"].get("a")?["n"] == 2)
  }

  private func cancelWhileLocked(_ monitored: MonitoredStore) throws {
    let (store, observer) = (monitored.store, monitored.observer)
    try observer.write {
      try observer["items"].save(["n": 2], key: "a")
      let task = Task.detached { try await store["items"].save(["n": 3], key: "a") }
      try Faults.wait(for: "the save waits for the lock") {
        try observer.sql(
          """
          SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
          AND wait_event_type = 'Lock'
          """, monitored.name
        ).first?["n"]?.int == 1
      }
      task.cancel()
      try Faults.wait(for: "the save stops waiting") {
        try observer.sql(
          """
          SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
          AND wait_event_type = 'Lock'
          """, monitored.name
        ).first?["n"]?.int == 0
      }
    }
  }

  @Test("A late cancel request does not affect a later statement")
  func late() async throws {
    let monitored = try MonitoredStore()
    defer { try? monitored.close() }
    let store = monitored.store
    try await store["items"].save(["n": 1], key: "a")
    var random = SplitMix(seed: Faults.seed)
    var canceled = 0
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
      // While the canceled call still runs, or after it ended.
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
        canceled += 1
        if !isCancellation(error) { Issue.record(error, "round \(round), seed \(Faults.seed)") }
      }
    }
    print("cancel: seed \(Faults.seed), \(canceled) calls ended early")
  }

  @Test("A cancel request that arrives just before a statement is not lost")
  func early() throws {
    let engine = try PostgresEngine(Faults.server().url(), Faults.configuration())
    defer { try? engine.close() }
    var random = SplitMix(seed: Faults.seed)
    for round in 0..<(200 * Faults.rounds) {
      let interruption = Interruption()
      let sending = DispatchSemaphore(value: 0)
      let delay = Duration.microseconds(random.number(0...400))
      Faults.inThreads(2) { number in
        guard number == 0 else {
          sending.wait()
          let end = ContinuousClock.now + delay
          while ContinuousClock.now < end {}
          return interruption.trigger()
        }
        defer { sending.signal() }
        let error = #expect(throws: StoreError.self, "round \(round), seed \(Faults.seed)") {
          try engine.read(.call, interruption) { reader in
            let reader = try #require(reader as? any SQLReader)
            sending.signal()
            // Without its cancel request, the statement returns a row.
            _ = try reader.sql("SELECT pg_sleep(600)", SQLArguments()) { _ in true }
          }
        }
        #expect(error?.code == .interrupted)
      }
    }
    #expect(throws: Never.self) { try engine.read(.call, nil) { _ = try $0.collections() } }
  }

  @Test("Canceling does not wait for a server that accepts no connections")
  func unresponsive() async throws {
    let server = try PostgresServer()
    defer { server.remove() }
    let file = try String(contentsOfFile: server.folder + "/data/postmaster.pid", encoding: .utf8)
    let postmaster = try #require(file.split(separator: "\n").first.flatMap { pid_t($0) })
    let engine = try PostgresEngine(server.url(), Faults.configuration())
    defer { try? engine.close() }
    let interruption = Interruption()
    async let call = Faults.onThread {
      Faults.code {
        try engine.read(.call, interruption) { reader in
          let reader = try #require(reader as? any SQLReader)
          _ = try reader.sql("SELECT pg_sleep(900)", SQLArguments()) { _ in true }
        }
      }
    }
    try Faults.wait(for: "the statement runs") {
      try server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    }

    let hasReturned = try await Faults.onThread { () -> Bool in
      let returned = DispatchSemaphore(value: 0)
      kill(postmaster, SIGSTOP)
      defer { kill(postmaster, SIGCONT) }
      Thread.detachNewThread {
        interruption.trigger()
        returned.signal()
      }
      // Otherwise it returns when the server continues.
      return returned.wait(timeout: .now() + 300) == .success
    }
    let code = try await call

    #expect(hasReturned)
    #expect(code == .interrupted)
  }

  @Test("Canceling a save does not roll back others in the same transaction")
  func shared() async throws {
    let monitored = try MonitoredStore()
    defer { try? monitored.close() }
    let store = monitored.store
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
    // The commit of a canceled save may have completed before its caller was notified.
    #expect(try await store.verify().isEmpty)
  }
}
