// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import NanoTesting
import Testing

/// Several replicas that write at random, and synchronize with a server through a faulty proxy and with each other.
///
/// The keys have classes: those with `k` are only written, those with `d` also deleted and inserted again, those with `e`
/// expire, those with `b` are written many at a time.
struct NetworkSchedule: Sendable {
  var random: SplitMix
  var ledger = WriteLedger()
  let replicas: [TrialReplica]
  /// The replica that the server serves, which never synchronizes by itself.
  var server: TrialReplica { replicas[0] }
  private let scratch: Scratch
  /// The number of documents with `e` so far.
  var expiring = 0

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    scratch = try Scratch()
    let count = random.number(3...5)
    var kinds: [TrialReplica.Kind] = [.file, .encrypted, .memory]
    while kinds.count < count { kinds.append(.file) }
    kinds.shuffle(using: &random)
    var replicas: [TrialReplica] = []
    for (index, kind) in kinds.enumerated() {
      replicas.append(
        try TrialReplica(kind, scratch.file("\(index).db"), hasRule: random.oneIn(4)))
    }
    self.replicas = replicas
  }

  mutating func run(steps: Int, through proxy: FaultyProxy) async throws {
    for _ in 0..<steps {
      let index = random.number(0...(replicas.count - 1))
      switch random.number(0...25) {
      case 24, 25: try count(index)
      case 0...6: try write(index)
      case 7: try writeMany(index)
      case 8, 9: try deleteOrRecreate(index)
      case 10, 11: try writeBySQL(index)
      case 12: try attach(index)
      case 13: try insertExpiring(index)
      case 14: try jump(index)
      case 15: try await restore(index, through: proxy)
      case 16: try await toggle(index, through: proxy)
      case 17: try await synchronizeDirectly(index)
      default: try await synchronize(index, through: proxy)
      }
    }
  }

  // MARK: Synchronization

  private mutating func options() -> SyncOptions {
    var options = Self.options
    options.batchDocuments = random.pick([1, 2, 5, 17, 500])
    options.batchBytes = random.pick([1, 300, 5_000, 4 << 20])
    options.requests = random.number(1...4)
    return options
  }

  static var options: SyncOptions {
    var options = SyncOptions()
    options.defaultRules.counters = ["n"]
    return options
  }

  private mutating func synchronize(_ index: Int, through proxy: FaultyProxy) async throws {
    guard index > 0, replicas[index].running == nil else { return }
    let direction = random.pick([SyncDirection.pull, .push, .both, .both])
    ledger.add("sync \(index) \(direction)")
    let sync = try replicas[index].store.replicate(
      ["films"], with: .url(proxy.url), direction: direction, mode: .once, options: options())
    try await finish(sync)
  }

  private mutating func synchronizeDirectly(_ index: Int) async throws {
    let other = (index + random.number(1...(replicas.count - 1))) % replicas.count
    ledger.add("sync \(index) with \(other)")
    let sync = try replicas[index].store.replicate(
      ["films"], with: .store(replicas[other].store), mode: .once, options: options())
    try await finish(sync)
  }

  /// Waits for the end of a synchronization, which tries again at once after each error. It may fail while the proxy does.
  private func finish(_ sync: Sync) async throws {
    let impatience = Task {
      for await status in sync.updates where status.phase == .offline { sync.retry() }
    }
    defer { impatience.cancel() }
    do {
      let status = try await sync.finish()
      let final = status.failures.filter { !$0.isRetried }
      #expect(final.isEmpty, "\(final) \(ledger.log)")
    } catch let error as SyncError {
      #expect([.unreachable, .unavailable].contains(error.kind), "\(error) \(ledger.log)")
    }
  }

  /// Starts or stops a synchronization that goes on beside the following steps.
  private mutating func toggle(_ index: Int, through proxy: FaultyProxy) async throws {
    guard index > 0 else { return }
    if let running = replicas[index].running {
      ledger.add("stop \(index)")
      await running.stop()
      replicas[index].running = nil
    } else {
      ledger.add("start \(index)")
      replicas[index].running = try replicas[index].store.replicate(
        ["films"], with: .url(proxy.url), options: options())
    }
  }

  private mutating func stopAll() async {
    for replica in replicas {
      await replica.running?.stop()
      replica.running = nil
    }
  }

  /// Backs a replica up, or restores its backup after everything else it has was sent.
  private mutating func restore(_ index: Int, through proxy: FaultyProxy) async throws {
    let replica = replicas[index]
    guard index > 0, replica.kind != .memory, replica.running == nil else { return }
    guard replica.hasBackup, !random.oneIn(3) else {
      let isCopied = Bool.random(using: &random)
      ledger.add("back up \(index) \(isCopied ? "by copying" : "")")
      return try replica.back(up: isCopied)
    }
    ledger.add("restore \(index)")
    let rate = proxy.rate
    proxy.rate = 0
    _ = try await replica.store.replicate(
      ["films"], with: .url(proxy.url), direction: .push, mode: .once, options: Self.options
    ).finish()
    proxy.rate = rate
    try replica.restore()
    // Expiration times that were set by calls are not replicated.
    if !replica.hasRule { ledger.forgetExpirations(by: index) }
  }

  // MARK: The end

  /// Synchronizes all replicas with the server, without faults, until nothing changes.
  mutating func settle(through proxy: FaultyProxy) async throws {
    proxy.rate = 0
    await stopAll()
    for replica in replicas {
      replica.clock.advance(by: .seconds(100 * 86_400))
      _ = try await replica.store.deleteExpired()
    }
    for round in 0..<12 {
      for replica in replicas.dropFirst() { try await settle(replica, through: proxy) }
      let states = try replicas.map { try $0.database.state() }
      let open = try replicas.map { try $0.database.conflictedIDs() }
      if states.allSatisfy({ $0 == states[0] }), open.allSatisfy(\.isEmpty) { break }
      try #require(
        round < 11, "The replicas do not settle: \(Self.differences(states)), \(open) \(ledger.log)"
      )
    }
    // What was pushed last comes back once; then the checkpoints say that there is nothing to look at.
    for replica in replicas.dropFirst() { try await settle(replica, through: proxy) }
    for (index, replica) in replicas.enumerated().dropFirst() {
      let status = try await settle(replica, through: proxy)
      #expect(
        (status.pulled, status.pushed, status.done) == (0, 0, 0), "\(index): \(ledger.log)")
    }
  }

  @discardableResult
  private func settle(
    _ replica: TrialReplica, through proxy: FaultyProxy
  ) async throws -> SyncStatus {
    let status = try await replica.store.replicate(
      ["films"], with: .url(proxy.url), mode: .once, options: Self.options
    ).finish()
    #expect(status.failures.isEmpty, "\(ledger.log)")
    return status
  }

  private static func differences(_ states: [[String: ReplicaState]]) -> [String] {
    Set(states.flatMap(\.keys)).sorted().filter { key in
      Set(states.map { $0[key] }).count > 1
    }.flatMap { key in states.map { "\(key): \($0[key].map { "\($0)" } ?? "none")" } }
  }

  func check() throws {
    for (index, replica) in replicas.enumerated() {
      try ledger.check(replica, index == 0 ? "the server" : "replica \(index)")
    }
  }
}
