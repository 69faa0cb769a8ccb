// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoTesting
import Testing

@Suite("Engine conformance on PostgreSQL", .postgres)
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

  @Test("Conforms in a database with code point collation", arguments: EngineConformance.checks)
  func plain(checked: EngineConformance.Check) throws { try check(checked) }

  @Test("Conforms in a database with a language collation", arguments: EngineConformance.checks)
  func language(checked: EngineConformance.Check) throws { try check(checked, .icu) }

  @Test("Conforms with partitions by key", arguments: EngineConformance.checks)
  func partitions(checked: EngineConformance.Check) throws {
    try check(checked) { $0.layout = .partitions(3) }
  }

  @Test("Conforms without prepared statements", arguments: EngineConformance.checks)
  func unprepared(checked: EngineConformance.Check) throws {
    try check(checked) { $0.keepsStatements = false }
  }
}

@Suite("PostgreSQL compared with the reference semantics", .postgres)
struct PostgresComparisonTests {
  private static let environment = ProcessInfo.processInfo.environment
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)
  static let pairs = environment["NANOSTORE_PAIRS"].flatMap { Int($0) } ?? 500

  @Test(
    "In either database, all results match", arguments: TestDatabase.databases,
    0..<2 as Range<UInt64>)
  func generated(database: PostgresServer.Database, part: UInt64) throws {
    try compare(part) { try TestDatabase.engine(database) }
  }

  @Test("With partitions and without prepared statements, all results match")
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
