// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Periodically removes transaction tokens that are no longer needed.
final class TokenCleanup: Sendable {
  private let commits = Atomic(0)
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
    }
  }

  /// The number of rows that one cleanup examines: twice as many as are added before the next one, at most.
  private static let oldest = 2 * interval
}
