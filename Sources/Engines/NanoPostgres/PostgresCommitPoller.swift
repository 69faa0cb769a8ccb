// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEngine
import Synchronization

/// Polls for commits by other connections while the store is observed.
///
/// Each transaction that writes to a collection increments the collection's change counter, under the
/// collection's lock, so polling the counters misses no commit. `LISTEN`/`NOTIFY` would report commits sooner,
/// but makes all commits of a database wait for each other, and does not work through a pooler.
final class PostgresCommitPoller: Sendable {
  private struct State {
    var lastCounts: [ExactName: Int64] = [:]
    var observers = 0
    var timer: Timer?
  }
  private let state = Mutex(State())
  private let order = NSLock()
  private let core: PostgresCore

  init(_ core: PostgresCore) { self.core = core }

  /// Serializes a commit with the notification of its observers.
  func serialized<Result>(_ work: () throws -> Result) rethrows -> Result {
    try order.withLock(work)
  }

  /// Records commits of this engine, so that polling does not report them again.
  func recordOwnWrites(_ changes: [ExactName: Int64]) {
    state.withLock { $0.lastCounts.merge(changes) { max($0, $1) } }
  }

  /// Records a single write of this engine to a collection.
  func recordOwnWrite(_ folded: ExactName) {
    state.withLock { state in
      if let count = state.lastCounts[folded] { state.lastCounts[folded] = count + 1 }
    }
  }

  func start(_ commits: CommitBroadcast) throws {
    let isFirst = state.withLock { state in
      state.observers += 1
      return state.observers == 1
    }
    guard isFirst else { return }
    let lastCounts: [ExactName: Int64]
    do {
      lastCounts = try order.withLock { try counts() }
    } catch {
      // The next observer tries again.
      stop()
      throw error
    }
    let interval = max(.milliseconds(10), core.configuration.changeInterval).inSeconds
    let timer = Timer(every: interval) { [weak self, weak commits] in
      guard let self, let commits else { return }
      self.poll(commits)
    }
    state.withLock { state in
      state.lastCounts = lastCounts
      state.timer = timer
    }
  }

  func stop() {
    state.withLock { state in
      state.observers = max(0, state.observers - 1)
      if state.observers == 0 { state.timer = nil }
    }
  }

  func invalidate() { state.withLock { $0.timer = nil } }

  /// Posts the collections that changed since the last poll. An unreachable server is polled again at the next
  /// interval.
  private func poll(_ commits: CommitBroadcast) {
    order.lock()
    if let counts = try? counts() {
      let changed = state.withLock { state -> [String] in
        let names = Set(counts.keys).union(state.lastCounts.keys)
        defer { state.lastCounts = counts }
        return names.filter { counts[$0] != state.lastCounts[$0] }.map(\.text).sorted {
          $0.isBefore($1)
        }
      }
      commits.post(Commit(changed.map { Change($0, nil) }))
    }
    order.unlock()
    commits.deliver()
  }

  /// The change counter of each collection. A collection that was dropped and created again has a different
  /// counter.
  private func counts() throws -> [ExactName: Int64] {
    let rows = try core.pool.withConnection { connection in
      try connection.run(
        PostgresStatement(
          "SELECT folded, changes FROM \(core.names.qualified("nano_collections"))"))
    }
    var counts: [ExactName: Int64] = [:]
    for row in 0..<rows.count { counts[ExactName(rows.text(row, 0))] = rows.int(row, 1) }
    return counts
  }
}

// @unchecked: the source never changes; Dispatch documents cancellation as safe from any thread.
/// A repeating timer that is canceled when it is deallocated.
private final class Timer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(every interval: Double, _ work: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "NanoStore.poller"))
    source.schedule(deadline: .now() + interval, repeating: interval)
    source.setEventHandler(handler: work)
    source.resume()
  }

  deinit { source.cancel() }
}
