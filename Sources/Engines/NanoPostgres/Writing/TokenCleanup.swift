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
      _ = try? core.pool.withConnection { connection in
        try connection.run(
          PostgresStatement(
            "DELETE FROM \(core.names.qualified("nano_transactions")) "
              + "WHERE applied < now() - interval '1 hour'"))
      }
    }
  }
}
