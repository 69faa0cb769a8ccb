// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@testable import NanoStoreCore

@Suite("Lost connections", .postgres)
struct LostConnectionTests {
  /// A writing call and the number of documents that it creates.
  enum Write: String, CaseIterable, CustomTestStringConvertible {
    case save, insert, few, many, block, apply

    var testDescription: String { rawValue }
    var documents: Int { [.few: 5, .many: 120, .block: 3].first { $0.key == self }?.value ?? 1 }

    func run(_ store: Store, _ run: String, _ operation: UUID) throws {
      let items = store["items"]
      func objects(_ count: Int) -> [DocumentObject] {
        (0..<count).map { ["run": .string(run), "number": .int(Int64($0))] }
      }
      switch self {
      case .save: try items.save(objects(1)[0], key: run)
      case .insert: try items.insert(objects(1)[0])
      case .few: _ = try items.insert(objects(5))
      case .many: _ = try items.insert(objects(120))
      case .block:
        try store.write {
          try items.insert(objects(1)[0])
          _ = try items.insert(objects(2))
        }
      case .apply: try items.apply([.insert(objects(1)[0])], operation: operation)
      }
    }
  }

  /// - Returns: Whether the call succeeded.
  @discardableResult
  private func check(_ write: Write, _ stores: CutStore, _ run: String) throws -> Bool {
    let operation = UUID()
    let code = Faults.code { try write.run(stores.cut, run, operation) }
    stores.proxy.cut(afterBytesToServer: nil)
    stores.proxy.cut(afterBytesToClient: nil)
    stores.proxy.refuseNew = false
    let found = { try stores.direct["items"].find("[run] = ?", run).count() }
    switch code {
    case nil: #expect(try found() == write.documents, "\(write) \(run)")
    case .connectionLost: #expect(try found() == 0, "\(write) \(run)")
    case .outcomeUnknown:
      // The server may not have noticed yet that the connection is lost.
      #expect(try [0, write.documents].contains(found()), "\(write) \(run)")
    default: Issue.record("\(write) \(run) threw \(String(describing: code))")
    }
    if write == .save, let saved = try stores.direct["items"].get(run) {
      #expect(saved.revision == 1, "\(run) was saved twice")
    }
    if write == .apply {
      let again = try stores.direct["items"].apply(
        [.insert(["run": .string(run)])], operation: operation)
      #expect(code != nil || again.wasApplied, "\(run)")
      #expect(try found() == 1, "\(run)")
      let third = try stores.direct["items"].apply(
        [.insert(["run": .string(run)])], operation: operation)
      #expect(third.wasApplied)
    }
    return code == nil
  }

  @Test(
    "A write is atomic, and its error reports whether it was committed", arguments: Write.allCases,
    [true, false])
  func everyPoint(write: Write, keeps: Bool) throws {
    let stores = try CutStore { $0.keepsStatements = keeps }
    defer { try? stores.close() }
    // The first call of each kind sends more bytes than later ones.
    for number in 0..<2 { try write.run(stores.cut, "before\(number)", UUID()) }
    for direction in CuttingProxy.Direction.allCases {
      let before = stores.proxy.bytes(direction)
      try write.run(stores.cut, "measured \(direction)", UUID())
      let bytes = stores.proxy.bytes(direction) - before
      let points = (direction == .toServer ? 24 : 12) * Faults.rounds
      for point in 0..<points {
        let at = bytes * point / points
        if direction == .toServer {
          stores.proxy.cut(afterBytesToServer: at)
        } else {
          stores.proxy.cut(afterBytesToClient: at)
        }
        try check(write, stores, "\(direction) \(at) \(point)")
      }
    }
    #expect(try stores.direct.verify().isEmpty)
  }

  @Test("A rejected insert with a duplicate key is never reported as committed")
  func taken() throws {
    let stores = try CutStore()
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try items.insert(["n": 1], key: "a")
    #expect(Faults.code { try items.insert(["n": 2], key: "a") } == .duplicateKey)
    for bytes in 0..<(30 * Faults.rounds) {
      stores.proxy.cut(afterBytesToClient: bytes * 10)
      #expect(Faults.code { try items.insert(["n": 2], key: "a") } != nil)
      stores.proxy.cut(afterBytesToClient: nil)
    }
    #expect(try items.get("a")?["n"] == 1)
    #expect(try items.count() == 1)
  }

  @Test(
    "While the server is unreachable, a commit has an unknown outcome or wrote nothing")
  func unreachable() throws {
    let stores = try CutStore { $0.busyTimeout = .milliseconds(60) }
    defer { try? stores.close() }
    try Write.block.run(stores.cut, "before", UUID())
    for direction in CuttingProxy.Direction.allCases {
      let before = stores.proxy.bytes(direction)
      try Write.block.run(stores.cut, "measured \(direction)", UUID())
      let bytes = stores.proxy.bytes(direction) - before
      for point in 0..<(12 * Faults.rounds) {
        // Ensures a live connection, so that only the transaction can fail.
        _ = try stores.cut["items"].count()
        stores.proxy.refuseNew = true
        let at = bytes * point / (12 * Faults.rounds)
        if direction == .toServer {
          stores.proxy.cut(afterBytesToServer: at)
        } else {
          stores.proxy.cut(afterBytesToClient: at)
        }
        try check(.block, stores, "refused \(direction) \(at)")
      }
    }
    #expect(try stores.direct.verify().isEmpty)
  }

  @Test("Later statements in a transaction throw the same error as the first one after the loss")
  func insideBlock() throws {
    let stores = try CutStore()
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try items.save(["n": 1], key: "a")

    let code = Faults.code {
      try stores.cut.write {
        try items.save(["n": 2], key: "a")
        stores.proxy.cutAll()
        #expect(Faults.code { try items.save(["n": 3], key: "b") } == .connectionLost)
        #expect(Faults.code { _ = try items.count() } == .connectionLost)
      }
    }

    #expect(code == .connectionLost)
    #expect(try items.get("a")?["n"] == 1)
    #expect(try items.count() == 1)
  }

  @Test("A connection lost while idle is replaced without an error")
  func stale() throws {
    let stores = try CutStore()
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try items.save(["n": 1], key: "a")
    for ending in [CuttingProxy.Ending.finished, .reset] {
      for _ in 0..<10 {
        stores.proxy.cutAll(ending)
        #expect(try items.count() == 1)
        stores.proxy.cutAll(ending)
        #expect(try items.get("a")?["n"] == 1)
        stores.proxy.cutAll(ending)
        #expect(try stores.cut.read { try items.count() } == 1)
        stores.proxy.cutAll(ending)
        _ = try stores.cut.write { try items.save(["n": 1], key: "a") }
        stores.proxy.cutAll(ending)
        #expect(try stores.cut.sql("SELECT 1 AS n").first?["n"] == 1)
        stores.proxy.cutAll(ending)
        #expect(try stores.cut.verify().isEmpty)
      }
    }
  }

  @Test("Connections terminated by the server are replaced without an error")
  func terminated() throws {
    let stores = try CutStore()
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try items.save(["n": 1], key: "a")
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?"
    for _ in 0..<20 {
      _ = try stores.direct.sql(end, stores.name)
      #expect(try items.count() == 1)
      _ = try stores.direct.sql(end, stores.name)
      #expect(try items.get("a")?["n"] == 1)
      _ = try stores.direct.sql(end, stores.name)
      try items.save(["n": 1], key: "a")
    }
  }

  @Test("A read that continues after a loss throws, and the store reconnects")
  func readInTheMiddle() throws {
    let stores = try CutStore()
    defer { try? stores.close() }
    let items = stores.cut["items"]
    _ = try items.insert((0..<2_500).map { ["n": .int(Int64($0))] as DocumentObject })

    let inBlock = Faults.code {
      try stores.cut.read {
        _ = try items.count()
        stores.proxy.cutAll()
        #expect(Faults.code { _ = try items.count() } == .connectionLost)
        _ = try items.fetch()
      }
    }
    var yielded = 0
    let inStream = Faults.code {
      try items.find().each { _ in
        yielded += 1
        if yielded == 1 { stores.proxy.cutAll() }
      }
    }

    #expect(inBlock == .connectionLost)
    #expect(inStream == .connectionLost)
    #expect(yielded < 2_500)
    #expect(try items.count() == 2_500)
  }

  @Test("A live query continues after its connection was lost")
  func liveQuery() async throws {
    let stores = try CutStore { $0.changeInterval = .milliseconds(10) }
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try await items.save(["n": 1], key: "a")
    var counts = items.find().countUpdates().makeAsyncIterator()
    #expect(try await counts.next() == 1)
    for number in 2...6 {
      stores.proxy.cutAll()
      try await stores.direct["items"].save(["n": 1], key: "\(number)")
      #expect(try await counts.next() == number)
    }
  }

  @Test("After an observation that could not start, the next one sees the commits of others")
  func failedObservation() async throws {
    let stores = try CutStore { $0.changeInterval = .milliseconds(10) }
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try await items.save(["n": 1], key: "a")
    stores.proxy.refuseNew = true
    stores.proxy.cutAll()
    var failed = items.find().countUpdates().makeAsyncIterator()
    await #expect(throws: StoreError.self) { try await failed.next() }
    stores.proxy.refuseNew = false
    var counts = items.find().countUpdates().makeAsyncIterator()
    #expect(try await counts.next() == 1)
    try await stores.direct["items"].save(["n": 1], key: "b")
    #expect(try await counts.next() == 2)
  }

  @Test(
    "Observers are notified of a commit whose outcome is unknown", arguments: [true, false])
  func unknownOutcome(inBlock: Bool) async throws {
    let stores = try CutStore {
      $0.busyTimeout = .milliseconds(60)
      // Polling would use up what is cut.
      $0.changeInterval = .seconds(3_600)
    }
    defer { try? stores.close() }
    let (items, proxy) = (stores.cut["items"], stores.proxy)
    // The next save is then a single statement.
    for number in 0..<3 as Range<Int64> {
      try await items.save(["n": .int(number)], key: "a")
    }
    var changes = items.changes().makeAsyncIterator()
    // The look for expirations at the beginning of an observation would use up what is cut, and so would the response to
    // the end of its transaction, which the next read of the connection waits for.
    stores.cut.sweeper.drain()
    for _ in 0..<3 { _ = try await items.get("a") }

    let code = try await Faults.onThread { () -> StoreError.Code? in
      @Sendable func loseResponse() {
        proxy.refuseNew = true
        proxy.cut(afterBytesToClient: 0)
      }
      return Faults.code {
        guard inBlock else {
          loseResponse()
          try items.save(["n": 4], key: "a")
          return
        }
        try stores.cut.write {
          try items.save(["n": 4], key: "a")
          loseResponse()
        }
      }
    }
    proxy.refuseNew = false
    try await items.save(["n": 5], key: "b")

    #expect(code == .outcomeUnknown)
    let change = try #require(try await changes.next())
    #expect(change.rows == nil)
  }

  @Test("A session that the server ends during a transaction is a lost connection")
  func idleInTransaction() throws {
    let server = try Faults.server()
    let configuration = Faults.configuration { $0.maximumConnections = 1 }
    let observer = try Store.postgres(server.url(), engine: configuration)
    let name = configuration.schema
    let store = try Store.postgres(
      server.url() + "?application_name=\(name)", engine: configuration)
    defer { for each in [store, observer] { try? each.close() } }
    let items = store["items"]
    try observer["items"].save(["n": 1], key: "a")

    let code = Faults.code {
      try store.write {
        try items.save(["n": 2], key: "a")
        _ = try store.sql("SELECT set_config('idle_in_transaction_session_timeout', '100', true)")
        try Faults.wait(for: "the server ends the session") {
          try observer.sql(
            "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ?", name
          ).first?["n"]?.int == 0
        }
        try items.save(["n": 3], key: "a")
      }
    }

    #expect(code == .connectionLost)
    #expect(try items.get("a")?["n"] == 1)
  }

  @Test("Lost connections are released on the server")
  func noLeak() throws {
    let stores = try CutStore { $0.maximumConnections = 4 }
    defer { try? stores.close() }
    let items = stores.cut["items"]
    try items.save(["n": 1], key: "a")
    Faults.inThreads(4) { thread in
      var random = SplitMix(seed: Faults.seed &+ UInt64(thread))
      for number in 0..<(30 * Faults.rounds) {
        if random.oneIn(5) { stores.proxy.cutAll(random.oneIn(2) ? .reset : .finished) }
        _ = try? items.save(["n": 1], key: "\(thread) \(number)")
        _ = try? items.count()
      }
    }
    _ = try items.count()
    try Faults.wait(for: "the server to close connections beyond the pool's maximum") {
      try stores.connections() <= 4
    }
    try stores.cut.close()
    try Faults.wait(for: "the server to close the connections of the closed store") {
      try stores.connections() == 0
    }
  }
}
