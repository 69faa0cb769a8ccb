// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Synchronization
import Testing

/// Creates stores and engines in separate schemas of the shared test server.
enum TestDatabase {
  private static let last = Atomic(0)

  /// The databases in which tests run. Each has a different default collation.
  static let databases: [PostgresServer.Database] = [.plain, .icu]

  static func schema() -> String {
    "t\(getpid())_\(last.add(1, ordering: .relaxed).newValue)"
  }

  /// - Throws: If there is no server.
  static func url(_ database: PostgresServer.Database = .plain) throws -> String {
    if let url = ProcessInfo.processInfo.environment["NANOSTORE_TEST_POSTGRES"] { return url }
    return try #require(PostgresServer.shared, "no server could be started").url(database)
  }

  static func configuration() -> PostgresConfiguration {
    var configuration = PostgresConfiguration()
    configuration.schema = schema()
    configuration.durability = .normal
    // Only what never ends exceeds them, on a busy machine too.
    configuration.busyTimeout = .seconds(600)
    configuration.connectTimeout = .seconds(600)
    return configuration
  }

  static func engine(
    _ database: PostgresServer.Database = .plain,
    _ configuration: PostgresConfiguration = configuration()
  ) throws -> PostgresEngine {
    try PostgresEngine(url(database), configuration)
  }

  static func store(
    _ configuration: PostgresConfiguration = configuration()
  ) throws -> Store {
    try Store.postgres(url(), engine: configuration)
  }
}
