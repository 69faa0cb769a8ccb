// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Synchronization

/// Replicates a database with a peer, once or continuously, and again after errors that pass.
package final class Replication: Sendable {
  private let database: SyncDatabase
  private let peer: any SyncPeer
  private let options: ReplicationOptions
  private let report: @Sendable ((inout SyncStatus) -> Void) -> Void
  private let retryNow = ChangeSignal()

  /// - Parameter report: Receives changes of the status.
  package init(
    _ database: SyncDatabase, with peer: any SyncPeer, _ options: ReplicationOptions,
    report: @escaping @Sendable ((inout SyncStatus) -> Void) -> Void
  ) {
    self.database = database
    self.peer = peer
    self.options = options
    self.report = report
  }

  /// How often a one-shot replication tries again. As CouchDB's does for a request.
  private static let attempts = 5

  /// Runs until everything is transferred, or the task is canceled if the replication is continuous.
  ///
  /// - Throws: ``SyncError`` that does not pass; `CancellationError`.
  package func run() async throws {
    var (backoff, attempts) = (Backoff(), 0)
    var random = SystemRandomNumberGenerator()
    while true {
      let progress = Mutex(false)
      do {
        try await attempt { progress.withLock { $0 = true } }
        return
      } catch {
        if Task.isCancelled || error is CancellationError { throw CancellationError() }
        // Something was transferred: the next error is a new one.
        if progress.withLock({ $0 }) { (backoff, attempts) = (Backoff(), 0) }
        attempts += 1
        guard Self.passes(error), options.isContinuous || attempts < Self.attempts else {
          throw SyncError(error)
        }
        let failure = SyncError(error)
        // Before the report, whose reader may demand a retry at once.
        let wakes = retryNow.changes()
        report {
          $0.phase = .offline
          $0.error = failure
        }
        var seconds = backoff.next(using: &random)
        if let asked = (error as? PeerError)?.retryAfter {
          seconds = max(seconds, Double(asked.components.seconds))
        }
        await Self.wait(seconds, wakes)
      }
    }
  }

  /// Ends the pause before the next attempt.
  package func retry() { retryNow.send() }

  private static func passes(_ error: any Error) -> Bool {
    switch error {
    case let error as PeerError: error.isTransient
    case let error as StoreError:
      [.locked, .connectionLost, .outcomeUnknown].contains(error.code)
    default: false
    }
  }

  private static func wait(_ seconds: Double, _ wakes: AsyncStream<Void>) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in wakes { return } }
      group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
      await group.next()
      group.cancelAll()
    }
  }

  private func attempt(_ progressed: @escaping @Sendable () -> Void) async throws {
    report { $0.phase = .connecting }
    _ = try await peer.open(creates: options.createsDatabase && options.pushes)
    report { $0.error = nil }
    let session = ReplicationSession(
      database: database, peer: peer, options: options,
      report: { [report] change in
        report { status in
          let before = status.done
          change(&status)
          if status.done > before { progressed() }
        }
      })
    let idle = IdleDirections(count: (options.pulls ? 1 : 0) + (options.pushes ? 1 : 0))
    let whenIdle: @Sendable (SyncFailure.Direction) -> Void = { [report] direction in
      guard idle.add(direction) else { return }
      report { status in
        status.phase = .idle
        status.total = status.done
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      if options.pulls {
        group.addTask { try await Puller(session: session).run { whenIdle(.pull) } }
      }
      if options.pushes {
        group.addTask { try await Pusher(session: session).run { whenIdle(.push) } }
      }
      try await group.waitForAll()
    }
    // What the pull resolved, the push may have missed.
    if options.pulls, options.pushes, !options.isContinuous {
      try await Pusher(session: session).run {}
    }
  }
}

/// Which directions have nothing left to transfer.
private final class IdleDirections: Sendable {
  private let idle = Mutex<Set<SyncFailure.Direction>>([])
  private let count: Int

  init(count: Int) { self.count = count }

  /// Returns whether all directions are idle.
  func add(_ direction: SyncFailure.Direction) -> Bool {
    idle.withLock { idle in
      idle.insert(direction)
      return idle.count == count
    }
  }
}
