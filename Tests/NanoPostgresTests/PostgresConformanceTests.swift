// SPDX-License-Identifier: MIT

import NanoEngine
import NanoPostgres
import NanoTesting
import Testing

@Suite("The engine contract, on PostgreSQL")
struct PostgresConformanceTests {
  private func check(_ check: EngineConformance.Check, _ url: String) throws {
    let configuration = TestDatabase.configuration()
    let open = { try PostgresEngine(url, configuration) }
    let reopen: (any Engine) throws -> any Engine = { engine in
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("A database in the order of code points keeps it", arguments: EngineConformance.checks)
  func plain(checked: EngineConformance.Check) throws {
    try check(checked, TestDatabase.url)
  }
}

@Suite("Queries on PostgreSQL mean what the evaluator means")
struct PostgresComparisonTests {
  @Test("Of generated collections and conditions", arguments: 1...4)
  func generated(seed: Int) throws {
    try EngineComparison { try TestDatabase.engine() }.run(seed: UInt64(seed), pairs: 500)
  }
}
