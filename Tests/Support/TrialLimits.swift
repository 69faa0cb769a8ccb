// SPDX-License-Identifier: MIT

import Foundation

/// How much the random tests of synchronization try: little in `make test`, more in `make sync-schedules`, which sets
/// the variables.
///
/// One type for all of them: a deadline that each suite counts from its own first test would let a suite begin when
/// another one has ended.
public enum TrialLimits {
  private static let environment = ProcessInfo.processInfo.environment
  /// The number of random schedules; nil for the short form.
  public static let schedules = environment["NANOSTORE_SYNC_SCHEDULES"].flatMap { Int($0) }
  public static let kills = environment["NANOSTORE_SYNC_KILLS"].flatMap { Int($0) } ?? 3
  /// The first seed, so that several runs try different schedules.
  public static let seed = environment["NANOSTORE_SYNC_SEED"].flatMap { UInt64($0) } ?? 0
  /// When nothing more begins; nil for never.
  private static let end = environment["NANOSTORE_SYNC_SECONDS"].flatMap { Double($0) }
    .map { ContinuousClock.now + .seconds($0) }

  public static var isOver: Bool { end.map { ContinuousClock.now > $0 } ?? false }
}
