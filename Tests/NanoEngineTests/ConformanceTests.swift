// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoSQLite
import NanoTesting
import Testing

@Suite("Engine conformance")
struct ConformanceTests {
  @Test("The reference engine conforms", arguments: EngineConformance.checks)
  func reference(check: EngineConformance.Check) throws {
    try EngineConformance { ReferenceEngine() }.run(check)
  }

  @Test("SQLite in memory conforms", arguments: EngineConformance.checks)
  func memory(check: EngineConformance.Check) throws {
    try EngineConformance { try SQLiteEngine(.memory, SQLiteConfiguration()) }.run(check)
  }

  @Test("SQLite in a file conforms", arguments: EngineConformance.checks)
  func file(check: EngineConformance.Check) throws {
    let folder = try TemporaryFolder()
    func open() throws -> any Engine {
      try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    }
    func reopen(_ engine: any Engine) throws -> any Engine {
      try engine.close()
      return try open()
    }
    try EngineConformance(reopen: reopen, open).run(check)
  }

  @Test("A failing engine without failures conforms", arguments: EngineConformance.checks)
  func failing(check: EngineConformance.Check) throws {
    try EngineConformance { FailingEngine(ReferenceEngine()) }.run(check)
  }
}
