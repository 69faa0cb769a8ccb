// SPDX-License-Identifier: MIT

import NanoSync
import Synchronization

/// Ends an exchange in which nothing happens.
///
/// Only the time in which the peer has to act counts: a store that waits for a lock does not make the peer unreachable.
final class ProgressWatch: Sendable {
  private struct State {
    var deadline: ContinuousClock.Instant?
    var patience: Duration = .zero
    /// When waiting for news ends, although the peer is alive.
    var end: ContinuousClock.Instant?
  }
  private let state = Mutex(State())

  /// How often the state is looked at while the peer has nothing to do. Arbitrary.
  private static let interval = Duration.milliseconds(500)

  /// The peer was alive, but had no news.
  struct Ended: Error {}

  private init() {}

  /// Starts to wait for the peer.
  func wait(atMost patience: Duration) {
    state.withLock {
      $0.deadline = .now + patience
      $0.patience = patience
    }
  }

  /// The peer did what it was to do.
  func stop() { state.withLock { $0.deadline = nil } }

  /// Ends the exchange with ``Ended`` after a time, whatever happens; nil for never.
  func end(after duration: Duration?) {
    state.withLock { $0.end = duration.map { .now + $0 } }
  }

  private func run() async throws {
    while true {
      let now = ContinuousClock.now
      let next = try state.withLock { state in
        if let deadline = state.deadline, deadline <= now {
          throw PeerError(.unreachable, "The peer sent nothing for \(state.patience)")
        }
        if let end = state.end, end <= now { throw Ended() }
        return min(now + Self.interval, state.deadline ?? .now + Self.interval)
      }
      try await Task.sleep(until: next, clock: .continuous)
    }
  }

  /// Runs an exchange, and cancels it when the watch ends.
  static func watching<Result: Sendable>(
    _ work: @escaping @Sendable (ProgressWatch) async throws -> Result
  ) async throws -> Result {
    let watch = ProgressWatch()
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await work(watch) }
      group.addTask {
        try await watch.run()
        return nil
      }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}
