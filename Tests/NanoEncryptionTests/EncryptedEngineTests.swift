// SPDX-License-Identifier: MIT

import Foundation
import NanoEncryption
import NanoEngine
import NanoSQLite
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Sealed documents keep the engine contract")
struct SealedEngineTests {
  /// Making a blind index writes documents anew, which observers are told of.
  static let checks = EngineConformance.checks.filter {
    $0.name != "Operations that change no document are not reported"
  }

  @Test("In memory", arguments: checks)
  func memory(check: EngineConformance.Check) throws {
    try EngineConformance {
      try EncryptedEngine(SQLiteEngine(.memory, SQLiteConfiguration()), .test(indexes: .blind))
    }.run(check)
  }

  @Test("In a file", arguments: checks)
  func file(check: EngineConformance.Check) throws {
    let scratch = try Scratch()
    func open() throws -> any Engine {
      var configuration = SQLiteConfiguration()
      configuration.durability = .fast
      return try EncryptedEngine(
        SQLiteEngine(.file(scratch.file("a.db")), configuration), .test(indexes: .blind))
    }
    func reopen(_ engine: any Engine) throws -> any Engine {
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("On the reference engine", arguments: checks)
  func reference(check: EngineConformance.Check) throws {
    try EngineConformance { try EncryptedEngine(ReferenceEngine(), .test(indexes: .blind)) }.run(
      check)
  }

  @Test("Where other collections are sealed", arguments: EngineConformance.checks)
  func plain(check: EngineConformance.Check) throws {
    try EngineConformance {
      try EncryptedEngine(
        ReferenceEngine(), .test(sealing: .only(["other things"]), indexes: .blind))
    }.run(check)
  }
}

/// `NANOSTORE_SEED` repeats a run, `NANOSTORE_PAIRS` sets how many pairs of a condition and a
/// collection each case compares.
@Suite("Sealed documents compared with the definition")
struct SealedComparisonTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test("With blind indexes", arguments: 0..<2)
  func blind(part: UInt64) throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (part \(part))")
    try EngineComparison(comparesRevisions: false) {
      try EncryptedEngine(SQLiteEngine(.memory, SQLiteConfiguration()), .test(indexes: .blind))
    }.run(seed: Self.seed &+ part, pairs: Self.pairs)
  }

  @Test("With texts stored as UTF-16")
  func utf16() throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (UTF-16)")
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    // SQLite replaces this one where it converts between its encodings.
    try EngineComparison(avoiding: ["\u{FFFF}"], comparesRevisions: false) { [configuration] in
      try EncryptedEngine(SQLiteEngine(.memory, configuration), .test(indexes: .blind))
    }.run(seed: Self.seed &+ 2, pairs: Self.pairs)
  }
}
