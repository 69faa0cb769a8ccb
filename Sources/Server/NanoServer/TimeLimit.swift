// SPDX-License-Identifier: MIT

/// The error of an operation that took too long.
package struct TimeLimitExceeded: Error {
  package let limit: Duration
}

/// Runs an operation and cancels it when a time limit is exceeded.
///
/// - Throws: ``TimeLimitExceeded``, or the operation's error.
package func withTimeLimit<Result: Sendable>(
  _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await operation() }
    group.addTask {
      try await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    // One of the two tasks ends first: the other is canceled, and awaited by the group.
    guard let first = try await group.next(), let result = first else {
      throw TimeLimitExceeded(limit: limit)
    }
    return result
  }
}
