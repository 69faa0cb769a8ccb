// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEngine
import Synchronization

/// Looks for what others have committed, as long as somebody observes.
///
/// The number of a collection's writes goes up with each transaction that writes to it, under the
/// collection's lock: so asking for all of them misses nothing. A notification of the server would come
/// sooner, but makes all commits of a database wait for each other, and does not pass a pooler.
final class PostgresCommitPoller: Sendable {
  private struct State {
    var known: [ExactName: Int64] = [:]
    var observers = 0
    var timer: Timer?
  }
  private let state = Mutex(State())
  private let order = NSLock()
  private let core: PostgresCore

  init(_ core: PostgresCore) { self.core = core }

  /// Runs a commit and what tells of it, one after the other.
  func ordering<Result>(_ work: () throws -> Result) rethrows -> Result {
    try order.withLock(work)
  }

  /// These writes are ours.
  func note(_ changes: [ExactName: Int64]) {
    state.withLock { $0.known.merge(changes) { max($0, $1) } }
  }

  /// A single write to a collection is ours.
  func noteOwn(_ folded: ExactName) {
    state.withLock { state in
      if let count = state.known[folded] { state.known[folded] = count + 1 }
    }
  }

  func start(_ commits: CommitBroadcast) throws {
    let isFirst = state.withLock { state in
      state.observers += 1
      return state.observers == 1
    }
    guard isFirst else { return }
    let known = try order.withLock { try counts() }
    let interval = Double(max(10, core.configuration.changeInterval.milliseconds)) / 1_000
    let timer = Timer(every: interval) { [weak self, weak commits] in
      guard let self, let commits else { return }
      self.look(commits)
    }
    state.withLock { state in
      state.known = known
      state.timer = timer
    }
  }

  func stop() {
    state.withLock { state in
      state.observers = max(0, state.observers - 1)
      if state.observers == 0 { state.timer = nil }
    }
  }

  func end() { state.withLock { $0.timer = nil } }

  /// A server that cannot be reached is asked again the next time.
  private func look(_ commits: CommitBroadcast) {
    order.lock()
    if let counts = try? counts() {
      let changed = state.withLock { state -> [String] in
        let names = Set(counts.keys).union(state.known.keys)
        defer { state.known = counts }
        return names.filter { counts[$0] != state.known[$0] }.map(\.text).sorted {
          $0.isBefore($1)
        }
      }
      commits.post(Commit(changed.map { Change($0, nil) }))
    }
    order.unlock()
    commits.deliver()
  }

  /// The number of writes of each collection. One that was dropped and made again has another number.
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

// @unchecked: the source is never changed; Dispatch documents cancelling as safe from any thread.
/// Calls a closure again and again, until it is let go of.
private final class Timer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(every interval: Double, _ work: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "NanoStore.watch"))
    source.schedule(deadline: .now() + interval, repeating: interval)
    source.setEventHandler(handler: work)
    source.resume()
  }

  deinit { source.cancel() }
}
