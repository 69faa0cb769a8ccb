// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// Sixteen clients of three stores, which append numbers to lists and read lists, while connections are terminated.
@Suite("Serializability of write blocks", .postgres, .timeLimit(.minutes(30)))
struct SerializabilityTests {
  private static let clients = 16
  private static let lists = 8

  /// The history of all clients.
  private final class Recorder: Sendable {
    private let transactions = Mutex<[ListHistory.Transaction]>([])
    private let numbers = Atomic(0)
    let running = Atomic(SerializabilityTests.clients)

    func number() -> Int { numbers.add(1, ordering: .relaxed).newValue }
    func record(_ operations: [ListHistory.Operation], _ outcome: ListHistory.Outcome) {
      transactions.withLock { $0.append(ListHistory.Transaction(operations, outcome)) }
    }
    var all: [ListHistory.Transaction] { transactions.withLock(\.self) }
  }

  private func history(_ isolation: Isolation, count: Int) async throws -> ListHistory {
    let configuration = Faults.configuration { $0.maximumConnections = 8 }
    let stores = try await Faults.onThread {
      try (0..<3).map { _ in try TestDatabase.store(configuration) }
    }
    // The collection exists, and its paths are known.
    try await stores[0]["lists"].save(["list": [0]], key: "first")
    let (recorder, seed) = (Recorder(), Faults.seed)
    return try await Faults.onThread {
      Faults.inThreads(Self.clients + 1) { client in
        var random = SplitMix(seed: seed &+ UInt64(client))
        if client == Self.clients { return Self.kill(configuration.schema, recorder, &random) }
        for _ in 0..<count / Self.clients {
          Self.transaction(stores[client % stores.count], isolation, recorder, &random)
        }
        recorder.running.subtract(1, ordering: .relaxed)
      }
      var lists: [Int: [Int]] = [:]
      for number in 0..<Self.lists {
        try Faults.wait(for: "a connection") {
          do {
            lists[number] = try Self.list(number, stores[0]["lists"])
            return true
          } catch let error as StoreError where error.isRetryable {
            return false
          }
        }
      }
      for store in stores { try store.close() }
      return ListHistory(recorder.all, final: lists)
    }
  }

  private static func list(_ number: Int, _ lists: DocumentCollection) throws -> [Int] {
    numbers(try lists.get("\(number)"))
  }

  private static func numbers(_ document: Document?) -> [Int] {
    document?["list"]?.array?.compactMap { $0.int.map { Int($0) } } ?? []
  }

  private static func transaction(
    _ store: Store, _ isolation: Isolation, _ recorder: Recorder, _ random: inout SplitMix
  ) {
    var operations: [ListHistory.Operation] = []
    do {
      if random.oneIn(4) {
        try store.read { operations = try read(store["lists"], &random) }
      } else {
        try store.write(isolation: isolation) {
          operations = []
          for _ in 0..<random.number(1...4) {
            try operate(store["lists"], recorder, &operations, &random)
          }
        }
      }
      recorder.record(operations, .committed)
    } catch let error as StoreError where error.code == .outcomeUnknown {
      recorder.record(operations, .unknown)
    } catch let error as StoreError where error.isRetryable {
      recorder.record(operations, .aborted)
    } catch {
      Issue.record(error)
    }
  }

  private static func read(
    _ lists: DocumentCollection, _ random: inout SplitMix
  ) throws -> [ListHistory.Operation] {
    if random.oneIn(3) {
      let found = try lists.find().fetch()
      return (0..<Self.lists).map { number in
        .read(list: number, numbers(found.first { $0.key == "\(number)" }))
      }
    }
    return try (0..<2).map { _ in
      let number = random.number(0...Self.lists - 1)
      return .read(list: number, try list(number, lists))
    }
  }

  /// Runs an operation. An append is recorded before it runs: an error does not tell whether it was executed.
  private static func operate(
    _ lists: DocumentCollection, _ recorder: Recorder,
    _ operations: inout [ListHistory.Operation], _ random: inout SplitMix
  ) throws {
    if random.oneIn(12) {
      operations += try read(lists, &random)
      return
    }
    let number = random.number(0...Self.lists - 1)
    var values = try list(number, lists)
    operations.append(.read(list: number, values))
    if random.oneIn(2) { return }
    let new = recorder.number()
    values.append(new)
    operations.append(.append(list: number, new))
    try lists.save(["list": .array(values.map { .int(Int64($0)) })], key: "\(number)")
  }

  private static func kill(_ schema: String, _ recorder: Recorder, _ random: inout SplitMix) {
    while recorder.running.load(ordering: .relaxed) > 0 {
      usleep(UInt32(random.number(20...120)) * 1_000)
      _ = try? Faults.server().psql(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"\(schema)"%' \
        AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1
        """)
    }
  }

  @Test("Blocks are serializable by default")
  func serializable() async throws {
    let history = try await history(.serializable, count: 800 * Faults.rounds)
    #expect(history.anomalies.isEmpty, "seed \(Faults.seed)")
    #expect(history.committedAppends > 80 * Faults.rounds)
  }

  @Test(
    "Blocks with isolation readCommitted lose appends, which shows that this test finds anomalies")
  func readCommitted() async throws {
    let history = try await history(.readCommitted, count: 800)
    #expect(!history.anomalies.isDisjoint(with: [.lostAppend, .incompatibleOrder]))
  }
}
