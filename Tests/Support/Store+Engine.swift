// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
public import NanoStore
import NanoStorePostgres
import Synchronization
public import Testing

/// A store of its own for a test that works on any engine: in memory, or in a schema of its own on the tests'
/// server where NANOSTORE_TEST_ENGINE is `postgres`.
public func anyStore() throws -> Store {
  guard TestEngine.isServer else { return try Store(.memory) }
  guard let url = TestEngine.url else {
    throw StoreError(.cannotOpen, "No server could be started for the tests")
  }
  var configuration = PostgresConfiguration()
  configuration.schema = TestEngine.schema()
  configuration.durability = .normal
  // A store is held for as long as its test; there are many at once.
  configuration.maximumConnections = 4
  return try Store.postgres(url, configuration: configuration)
}

public enum TestEngine {
  /// Whether tests on any engine run on a server.
  public static let isServer =
    ProcessInfo.processInfo.environment["NANOSTORE_TEST_ENGINE"] == "postgres"

  /// Of a server that runs already, where NANOSTORE_TEST_POSTGRES names one.
  static var url: String? {
    ProcessInfo.processInfo.environment["NANOSTORE_TEST_POSTGRES"]
      ?? PostgresServer.shared?.url(.icu)
  }

  private static let last = Atomic(0)

  static func schema() -> String {
    "s\(getpid())_\(last.add(1, ordering: .relaxed).newValue)"
  }
}

extension Trait where Self == ConditionTrait {
  /// About what is SQLite's own, or its statements: not where tests on any engine run on a server.
  public static var sqlite: Self { .enabled(if: !TestEngine.isServer, "about SQLite") }
}
