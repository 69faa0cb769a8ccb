// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// How much the random tests try: little in `make test`, more in `make sync-schedules`, which sets the variables.
enum TrialLimits {
  private static let environment = ProcessInfo.processInfo.environment
  static let schedules = environment["NANOSTORE_SYNC_SCHEDULES"].flatMap { Int($0) } ?? 4
  static let kills = environment["NANOSTORE_SYNC_KILLS"].flatMap { Int($0) } ?? 3
  /// The first seed, so that several runs try different schedules.
  static let seed = environment["NANOSTORE_SYNC_SEED"].flatMap { UInt64($0) } ?? 0
  /// When nothing more begins; nil for never.
  private static let end = environment["NANOSTORE_SYNC_SECONDS"].flatMap { Double($0) }
    .map { ContinuousClock.now + .seconds($0) }

  static var isOver: Bool { end.map { ContinuousClock.now > $0 } ?? false }
}

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
