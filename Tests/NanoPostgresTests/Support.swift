// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Synchronization
import Testing

/// Stores and engines in schemas of their own on the one server of the tests.
enum TestDatabase {
  private static let last = Atomic(0)

  /// The databases in which tests run: the server's own order of texts is another one in each.
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
    try Store.postgres(url(), configuration: configuration)
  }
}
