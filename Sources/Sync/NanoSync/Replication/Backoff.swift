// SPDX-License-Identifier: MIT

/// The pauses between attempts: each up to twice as long as the one before.
package struct Backoff: Sendable {
  private var longest = Self.firstPause

  /// The first pause and the longest one, in seconds. Arbitrary: the first after a moment, as when a server restarts, the
  /// longest short enough to notice that a network is back.
  private static let firstPause = 0.25
  private static let longestPause = 60.0

  package init() {}

  /// Returns the next pause in seconds: random, so that many devices do not come back to a server at the same time.
  package mutating func next(using random: inout some RandomNumberGenerator) -> Double {
    defer { longest = min(longest * 2, Self.longestPause) }
    return longest * .random(in: 0.5...1, using: &random)
  }
}
