// SPDX-License-Identifier: MIT

import NanoTestSupport
import Synchronization

/// Counts what was tried, and prints it when all of it has ended.
final class TrialCount: Sendable {
  private let name: String
  private let total: Int
  private let counts = Mutex((ended: 0, done: 0))

  init(_ name: String, of total: Int) {
    self.name = name
    self.total = total
  }

  /// Runs one of the trials, unless the time is over.
  func run(_ trial: () async throws -> Void) async throws {
    let isOver = TrialLimits.isOver
    defer {
      let (ended, done) = counts.withLock { counts in
        counts.ended += 1
        counts.done += isOver ? 0 : 1
        return counts
      }
      if ended == total || done % 100 == 0, !isOver || ended == total { print("\(done) \(name)") }
    }
    if !isOver { try await trial() }
  }
}
