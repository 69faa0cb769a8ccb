// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Synchronization

/// Replicates a database with a peer, once or continuously, and again after errors that pass.
package final class Replication: Sendable {
  private let database: SyncDatabase
  private let makePeer: @Sendable () async throws -> any SyncPeer
  private let options: ReplicationOptions
  private let report: @Sendable ((inout SyncStatus) -> Void) -> Void
  private let retryNow = ChangeSignal()

  /// - Parameter report: Receives changes of the status.
  package convenience init(
    _ database: SyncDatabase, with peer: any SyncPeer, _ options: ReplicationOptions,
    report: @escaping @Sendable ((inout SyncStatus) -> Void) -> Void
  ) {
    self.init(database, options, makePeer: { peer }, report: report)
  }

  /// - Parameters:
  ///   - makePeer: Prepares both sides and returns the other one, at the beginning of each attempt.
  ///   - report: Receives changes of the status.
  package init(
    _ database: SyncDatabase, _ options: ReplicationOptions,
    makePeer: @escaping @Sendable () async throws -> any SyncPeer,
    report: @escaping @Sendable ((inout SyncStatus) -> Void) -> Void
  ) {
    self.database = database
    self.makePeer = makePeer
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
        // Something was transferred, and the next attempt begins after it: the next error is a new one.
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
    let peer = try await makePeer()
    _ = try await peer.open(creates: self.options.createsDatabase && self.options.pushes)
    report { $0.error = nil }
    var options = self.options
    if let make = options.makePushFilter {
      options.pushFilter = try await database.offThread { try make($0) }
    }
    let session = ReplicationSession(
      database: database, peer: peer, options: options,
      report: { [report] change in
        report { status in
          let before = status.pulled + status.pushed
          change(&status)
          if status.pulled + status.pushed > before { progressed() }
        }
      }, progressed: progressed)
    try await withThrowingTaskGroup(of: Void.self) { group in
      if session.options.pulls { group.addTask { try await Puller(session: session).run() } }
      if session.options.pushes { group.addTask { try await Pusher(session: session).run() } }
      guard session.options.isContinuous else { return try await group.waitForAll() }
      // An error of one direction ends the other one too, which would not end by itself: while there is nothing to push,
      // for example, a push does not notice that the peer is unreachable. `waitForAll` waits for it.
      while try await group.next() != nil {}
    }
    // What the pull resolved, the push may have missed.
    if session.options.pulls, session.options.pushes, !session.options.isContinuous {
      try await Pusher(session: session).run()
    }
  }
}
