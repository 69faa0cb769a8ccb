// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoTesting
import Testing

@Suite("The engine contract, on PostgreSQL", .postgres)
struct PostgresConformanceTests {
  private func check(
    _ check: EngineConformance.Check, _ database: PostgresServer.Database = .plain,
    _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = TestDatabase.configuration()
    change(&configuration)
    let open = { [configuration] in try TestDatabase.engine(database, configuration) }
    let reopen: (any Engine) throws -> any Engine = { engine in
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("In a database with the order of code points", arguments: EngineConformance.checks)
  func plain(checked: EngineConformance.Check) throws { try check(checked) }

  @Test("In a database with the order of a language", arguments: EngineConformance.checks)
  func language(checked: EngineConformance.Check) throws { try check(checked, .icu) }

  @Test("With partitions by key", arguments: EngineConformance.checks)
  func partitions(checked: EngineConformance.Check) throws {
    try check(checked) { $0.layout = .partitions(3) }
  }

  @Test("Where statements are not kept", arguments: EngineConformance.checks)
  func unprepared(checked: EngineConformance.Check) throws {
    try check(checked) { $0.keepsStatements = false }
  }
}

@Suite("PostgreSQL compared with the definition", .postgres)
struct PostgresComparisonTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test("In either database", arguments: TestDatabase.databases, 0..<2 as Range<UInt64>)
  func generated(database: PostgresServer.Database, part: UInt64) throws {
    try compare(part) { try TestDatabase.engine(database) }
  }

  @Test("With partitions, and where statements are not kept")
  func partitions() throws {
    var configuration = TestDatabase.configuration()
    configuration.layout = .partitions(2)
    configuration.keepsStatements = false
    try compare(4, uniqueIndexes: false) { [configuration] in
      var own = configuration
      own.schema = TestDatabase.schema()
      return try TestDatabase.engine(.icu, own)
    }
  }

  private func compare(
    _ part: UInt64, uniqueIndexes: Bool = true, _ make: @escaping () throws -> any Engine
  ) throws {
    print("comparison: NANOSTORE_SEED=\(Self.seed) (part \(part))")
    try EngineComparison(uniqueIndexes: uniqueIndexes, make)
      .run(seed: Self.seed &+ part, pairs: Self.pairs)
  }
}
