// SPDX-License-Identifier: MIT

import Foundation
public import Testing

/// Whether tests that require a server run.
public enum PostgresRequirement {
  /// True if a server is installed. With NANOSTORE_REQUIRE_POSTGRES, the tests always run, and fail if there is no
  /// server.
  public static var isMet: Bool {
    ProcessInfo.processInfo.environment["NANOSTORE_REQUIRE_POSTGRES"] != nil
      || PostgresServer.installation != nil
  }
}

extension Trait where Self == ConditionTrait {
  /// Enables a test only if a PostgreSQL server is installed.
  ///
  /// ```swift
  /// @Suite(.postgres) struct SavingTests {
  /// ```
  public static var postgres: Self {
    .enabled(if: PostgresRequirement.isMet, "no PostgreSQL server is installed")
  }
}
