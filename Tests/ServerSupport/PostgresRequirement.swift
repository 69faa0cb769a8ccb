// SPDX-License-Identifier: MIT

import Foundation
public import Testing

/// Whether tests that need a server run.
public enum PostgresRequirement {
  /// With NANOSTORE_REQUIRE_POSTGRES they run, and fail, where there is no server.
  public static var isMet: Bool {
    ProcessInfo.processInfo.environment["NANOSTORE_REQUIRE_POSTGRES"] != nil
      || PostgresServer.installation != nil
  }
}

extension Trait where Self == ConditionTrait {
  /// Only where a PostgreSQL server is installed.
  ///
  /// ```swift
  /// @Suite(.postgres) struct SavingTests {
  /// ```
  public static var postgres: Self {
    .enabled(if: PostgresRequirement.isMet, "no PostgreSQL server is installed")
  }
}
