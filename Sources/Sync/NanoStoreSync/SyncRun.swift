// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore
import NanoSync
import Synchronization

/// Runs the replication of one collection, from setting it up to its end.
struct SyncRun: Sendable {
  let connection: SyncConnection
  let retries: ChangeSignal
  let report: @Sendable ((inout SyncStatus) -> Void) -> Void

  func run() async -> Result<Void, SyncError> {
    do {
      let (database, makePeer) = (connection.database, connection.makePeer)
      // Once: a collection that is dropped meanwhile ends the run.
      let isEnabled = Mutex(false)
      let replication = Replication(
        database, connection.options,
        makePeer: {
          if !isEnabled.withLock(\.self) {
            try await database.store.onWriterAlone { try database.enable() }
            isEnabled.withLock { $0 = true }
          }
          return try await makePeer()
        }, report: report)
      let demands = retries.changes()
      let listener = Task {
        for await _ in demands { replication.retry() }
      }
      defer { listener.cancel() }
      try await replication.run()
      report { $0.phase = .stopped }
      return .success(())
    } catch {
      guard !(error is CancellationError), !Task.isCancelled else {
        report { $0.phase = .stopped }
        return .success(())
      }
      let failure = SyncError(error)
      report {
        $0.phase = .stopped
        $0.error = failure
      }
      return .failure(failure)
    }
  }
}

extension SyncStatus {
  /// Combines the states of several collections.
  init(merging statuses: [SyncStatus]) {
    self.init()
    for status in statuses {
      pulled += status.pulled
      pushed += status.pushed
      done += status.done
      total += status.total
      bytes += status.bytes
      resolved += status.resolved
      error = error ?? status.error
      failures += status.failures
      overridden += status.overridden
    }
    failures = failures.suffix(Self.maximumFailures)
    overridden = overridden.suffix(Self.maximumFailures)
    // What a person would be told first.
    let order: [Phase] = [.offline, .connecting, .busy, .idle, .stopped]
    phase = order.first { phase in statuses.contains { $0.phase == phase } } ?? .stopped
  }
}
