// SPDX-License-Identifier: MIT

/// The pauses between attempts to read from a server that cannot be reached, each twice as long as the one before.
package struct RetryPause: Sendable {
  private var next = Duration.milliseconds(16)

  package init() {}

  package mutating func wait() async throws {
    try await Task.sleep(for: next)
    // Arbitrary: far less than a server takes to start.
    next = min(next * 2, .seconds(1))
  }
}
