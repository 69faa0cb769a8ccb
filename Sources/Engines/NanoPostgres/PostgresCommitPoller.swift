// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoDocument
import NanoEngine
import Synchronization

/// Polls for commits by other engines while the store is observed.
///
/// A poll reads what transactions left behind that are visible to it and were not to the one before, so it misses no
/// commit, in whatever order they commit. `LISTEN`/`NOTIFY` would report commits sooner, but makes all commits of a database wait for each
/// other, and does not work through a pooler.
final class PostgresCommitPoller: Sendable {
  private struct State {
    /// The server's snapshot at the last poll.
    var snapshot: String?
    var polled = ContinuousClock.now
    var observers = 0
    var timer: Timer?
  }
  private let state = Mutex(State())
  private let core: PostgresCore
  /// One poll at a time.
  private let polling = NSLock()

  init(_ core: PostgresCore) { self.core = core }

  func start(_ commits: CommitBroadcast) throws {
    let isFirst = state.withLock { state in
      state.observers += 1
      return state.observers == 1
    }
    guard isFirst else { return }
    let snapshot: String
    do {
      snapshot = try core.pool.withConnection { connection in
        try connection.run(PostgresStatement("SELECT pg_current_snapshot()::text")).text(0, 0)
      }
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
      state.snapshot = snapshot
      state.polled = .now
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

  /// Posts the commits since the last poll. An unreachable server is polled again at the next interval.
  private func poll(_ commits: CommitBroadcast) {
    polling.withLock {
      let (snapshot, polled) = state.withLock { ($0.snapshot, $0.polled) }
      guard let snapshot else { return }
      let now = ContinuousClock.now
      guard let (next, found) = try? self.commits(since: snapshot) else { return }
      state.withLock { state in
        state.snapshot = next
        state.polled = now
      }
      // The rows are removed after an hour, which a machine may have slept.
      for commit in now - polled < Self.longestPause ? found : [.everything] {
        commits.post(commit)
      }
    }
    commits.deliver()
  }

  /// Half as long as the rows are kept.
  private static let longestPause = Duration.seconds(1_800)

  /// Returns the current snapshot, and the commits of other engines that it sees and the one before did not.
  private func commits(since snapshot: String) throws -> (snapshot: String, commits: [Commit]) {
    let writer = core.writer
    let changes = CommittedChanges(core: core, writer: writer, snapshot: snapshot)
    return try core.pool.withConnection { connection in
      let tracked = try changes.tracked(connection)
      let begin = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      do {
        let results = try connection.run(
          [begin, changes.transactions] + tracked.map(changes.rows) + [PostgresStatement("COMMIT")])
        // If the engine has another number by now, a commit with the former one may have been left out.
        let next = core.writer == writer ? results[1].text(0, 0) : snapshot
        return (next, changes.commits(results[1], tracked, results[2...]))
      } catch {
        // A tracked collection may have been dropped meanwhile.
        _ = try? connection.run(.once("ROLLBACK"))
        throw error
      }
    }
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
