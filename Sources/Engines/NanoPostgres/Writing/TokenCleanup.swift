// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Periodically removes transaction tokens that are no longer needed, and merges the statistics of full-text indexes.
final class TokenCleanup: Sendable {
  private let commits = Atomic(0)
  private let mergesStatistics = Atomic(true)
  private static let interval = 1_000

  func noteCommit(_ core: PostgresCore) {
    let count = commits.add(1, ordering: .relaxed).newValue
    guard count % Self.interval == 0 else { return }
    DispatchQueue.global(qos: .utility).async {
      // A failure is ignored, since the next cleanup removes the rest. One hour is longer than any call waits.
      let table = core.names.qualified("nano_transactions")
      _ = try? core.pool.withConnection { connection in
        try connection.run(
          PostgresStatement(
            "DELETE FROM \(table) WHERE applied < now() - interval '1 hour' AND id IN "
              + "(SELECT id FROM \(table) ORDER BY xid LIMIT \(Self.oldest))"))
      }
      Self.mergeStatistics(core)
    }
  }

  /// Merges statistics of which a search has read many rows: programs that end before their next cleanup have added
  /// them.
  func noteStatistics(rows: Int64, _ core: PostgresCore) {
    guard rows > Self.oldest, !core.configuration.isReadOnly,
      mergesStatistics.compareExchange(expected: true, desired: false, ordering: .relaxed).exchanged
    else { return }
    DispatchQueue.global(qos: .utility).async {
      // Not tried again by a role that may only read, nor on a standby.
      if Self.mergeStatistics(core) { self.mergesStatistics.store(true, ordering: .relaxed) }
    }
  }

  /// - Returns: Whether all were merged.
  @discardableResult
  private static func mergeStatistics(_ core: PostgresCore) -> Bool {
    let isDone: Void? = try? core.pool.withConnection { connection in
      let tables = try connection.run(TextStatistics.tables(core.names))
      for row in 0..<tables.count {
        _ = try connection.run(TextStatistics.merging(core.names.qualified(tables.text(row, 0))))
      }
    }
    return isDone != nil
  }

  /// The number of rows that one cleanup examines: twice as many as are added before the next one, at most.
  private static let oldest = 2 * interval
}
