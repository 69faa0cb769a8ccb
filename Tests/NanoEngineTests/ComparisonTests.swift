// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoSQLite
import NanoTesting
import Testing

/// Compares the engine with the reference semantics for random conditions and collections.
///
/// `NANOSTORE_SEED` repeats a run, `NANOSTORE_PAIRS` sets the number of condition and collection pairs that each case
/// compares.
@Suite("SQLite compared with the reference semantics")
struct ComparisonTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test("In memory, all results match", arguments: 0..<4)
  func memory(part: UInt64) throws {
    try compare(part) { try SQLiteEngine(.memory, SQLiteConfiguration()) }
  }

  @Test("With SQLite's built-in json_extract, all results match")
  func builtInFieldAccess() throws {
    var configuration = SQLiteConfiguration()
    configuration.usesFastFieldAccess = false
    try compare(4) { [configuration] in try SQLiteEngine(.memory, configuration) }
  }

  @Test("With UTF-16 text encoding, all results match")
  func utf16() throws {
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    // SQLite replaces this character when it converts between encodings.
    try compare(5, avoiding: ["\u{FFFF}"]) { [configuration] in
      try SQLiteEngine(.memory, configuration)
    }
  }

  @Test("In a file, read by connections other than the writer, all results match")
  func file() throws {
    let folder = try TemporaryFolder()
    var configuration = SQLiteConfiguration()
    configuration.durability = .fast
    try compare(6) { [configuration] in
      try SQLiteEngine(.file(folder.file(UUID().uuidString)), configuration)
    }
  }

  private func compare(
    _ part: UInt64, avoiding avoided: Set<String> = [], _ make: @escaping () throws -> any Engine
  ) throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (part \(part))")
    try EngineComparison(avoiding: avoided, make).run(seed: Self.seed &+ part, pairs: Self.pairs)
  }
}
