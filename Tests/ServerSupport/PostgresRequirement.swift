// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
public import Testing

/// Runs a test only if a PostgreSQL server is installed, and explains the errors of the engine that end it.
public struct PostgresRequirement: TestTrait, SuiteTrait, TestScoping {
  /// True if a server is installed. With NANOSTORE_REQUIRE_POSTGRES, the tests always run, and fail if there is no
  /// server.
  public static var isMet: Bool {
    ProcessInfo.processInfo.environment["NANOSTORE_REQUIRE_POSTGRES"] != nil
      || PostgresServer.installation != nil
  }

  public var isRecursive: Bool { true }

  public func prepare(for test: Test) async throws {
    let condition = ConditionTrait.enabled(
      if: Self.isMet, "no PostgreSQL server is installed")
    try await condition.prepare(for: test)
  }

  /// Adds what the description of an error omits: the server's message, and the end of its log.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    do {
      try await function()
    } catch let error as StoreError {
      Issue.record(
        """
        The engine's message: \(error[.engineMessage] ?? "none"); the log of the server:
        \(PostgresServer.shared?.endOfLog ?? "")
        """)
      throw error
    }
  }
}

extension PostgresServer {
  fileprivate var endOfLog: Substring {
    (try? String(contentsOfFile: log, encoding: .utf8))?.suffix(3_000) ?? ""
  }
}

extension Trait where Self == PostgresRequirement {
  /// Enables a test only if a PostgreSQL server is installed.
  ///
  /// ```swift
  /// @Suite(.postgres) struct SavingTests {
  /// ```
  public static var postgres: Self { PostgresRequirement() }
}
