// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import Synchronization
import Testing

/// A schema of its own for each test.
enum TestDatabase {
  private static let last = Atomic(0)

  static func schema() -> String {
    "t\(getpid())_\(last.add(1, ordering: .relaxed).newValue)"
  }

  static func configuration() -> PostgresConfiguration {
    var configuration = PostgresConfiguration()
    configuration.schema = schema()
    configuration.durability = .normal
    return configuration
  }

  static let url = ProcessInfo.processInfo.environment["NANOSTORE_TEST_POSTGRES"] ?? ""

  static func engine(_ url: String = url) throws -> PostgresEngine {
    try PostgresEngine(url, configuration())
  }
}
