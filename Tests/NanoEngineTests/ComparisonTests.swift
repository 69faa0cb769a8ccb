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
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test("In memory", arguments: 0..<4)
  func memory(part: UInt64) throws {
    try compare(part) { try SQLiteEngine(.memory, SQLiteConfiguration()) }
  }

  @Test("With SQLite's own json_extract")
  func builtInFieldAccess() throws {
    var configuration = SQLiteConfiguration()
    configuration.usesFastFieldAccess = false
    try compare(4) { [configuration] in try SQLiteEngine(.memory, configuration) }
  }

  @Test("With texts stored as UTF-16")
  func utf16() throws {
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    // SQLite replaces this one where it converts between its encodings.
    try compare(5, avoiding: ["\u{FFFF}"]) { [configuration] in
      try SQLiteEngine(.memory, configuration)
    }
  }

  @Test("In a file, read by other connections than the one that writes")
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
