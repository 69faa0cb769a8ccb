// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
public import NanoStore
import NanoStorePostgres
import Synchronization
public import Testing

/// Returns a separate store for a test that works on any engine: in memory, or in a new schema on the test server if
/// NANOSTORE_TEST_ENGINE is `postgres`.
///
/// - Parameter clock: The clock by which documents expire.
package func anyStore(clock: any StoreClock) throws -> Store {
  guard TestEngine.isServer else {
    var configuration = SQLiteConfiguration()
    configuration.clock = clock
    return try Store(.memory, engine: configuration)
  }
  guard let url = TestEngine.url else {
    throw StoreError(.cannotOpen, "No server could be started for the tests")
  }
  var configuration = PostgresConfiguration()
  configuration.schema = TestEngine.schema()
  configuration.durability = .normal
  configuration.clock = clock
  // Only locks that are never released exceed it, on a busy machine too.
  configuration.busyTimeout = .seconds(600)
  configuration.connectTimeout = .seconds(600)
  // A store lives as long as its test, and many tests run at once.
  configuration.maximumConnections = 4
  return try Store.postgres(url, engine: configuration)
}

/// The same by the system's clock.
public func anyStore() throws -> Store { try anyStore(clock: SystemClock()) }

public enum TestEngine {
  /// Whether engine-independent tests run on a server.
  public static let isServer =
    ProcessInfo.processInfo.environment["NANOSTORE_TEST_ENGINE"] == "postgres"

  /// The URL of a running server, if NANOSTORE_TEST_POSTGRES is set.
  static var url: String? {
    ProcessInfo.processInfo.environment["NANOSTORE_TEST_POSTGRES"]
      ?? PostgresServer.shared?.url(.icu)
  }

  /// How many random trials a test makes: on a server, where each creates a schema, a fifth.
  public static func trials(_ count: Int) -> Int { isServer ? max(1, count / 5) : count }

  private static let last = Atomic(0)

  static func schema() -> String {
    "s\(getpid())_\(last.add(1, ordering: .relaxed).newValue)"
  }
}

extension Trait where Self == ConditionTrait {
  /// Restricts a test to SQLite. It is skipped if engine-independent tests run on a server.
  public static var sqlite: Self { .enabled(if: !TestEngine.isServer, "about SQLite") }
}
