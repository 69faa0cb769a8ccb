// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoSQLite
import NanoTesting
import Testing

/// The engine and the definition give one answer to every question that we can think of.
///
/// `NANOSTORE_SEED` repeats a run, `NANOSTORE_PAIRS` sets how many pairs of a condition and a
/// collection each case compares.
@Suite("SQLite compared with the definition")
struct ComparisonTests {
  static let seed =
    ProcessInfo.processInfo.environment["NANOSTORE_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: .min ... .max)
  static let pairs =
    ProcessInfo.processInfo.environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 800

  @Test("In memory", arguments: 0..<2)
  func memory(part: UInt64) throws {
    try compare(part) { try SQLiteEngine(.memory, SQLiteConfiguration()) }
  }

  private func compare(_ part: UInt64, _ make: @escaping () throws -> any Engine) throws {
    let seed = Self.seed &+ part
    print("comparison: NANOSTORE_SEED=\(Self.seed), part \(part)")
    try EngineComparison(make).run(seed: seed, pairs: Self.pairs)
  }
}
