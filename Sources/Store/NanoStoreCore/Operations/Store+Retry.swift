// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

extension Store {
  /// The duration and pauses of retries, in seconds. Arbitrary: long enough for a server to
  /// restart.
  private static let retryTime = 8.0
  private static let firstPause = 0.005
  private static let longestPause = 0.5

  /// Runs an atomic call, and retries it if it is certain that nothing was applied and another
  /// attempt may succeed.
  ///
  /// - Parameter outcomeUnknown: Whether to also retry a call that may have been applied, because
  ///   it is idempotent.
  func retrying<Result>(
    outcomeUnknown: Bool = false, _ work: () throws -> Result
  ) throws -> Result {
    var pause = Self.firstPause
    var deadline: Date?
    while true {
      do {
        return try work()
      } catch let error as StoreError
        where error.isWorthRetrying || outcomeUnknown && error.code == .outcomeUnknown
      {
        let end = deadline ?? Date(timeIntervalSinceNow: Self.retryTime)
        deadline = end
        guard Date() < end, Interruption.current?.isTriggered != true else { throw error }
        // Jittered, so that calls that conflicted once do not conflict again.
        Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }
}

extension StoreError {
  /// Whether nothing was applied and the same call may succeed a moment later: a connection lost
  /// before the commit, a server that is starting, a serialization failure or deadlock.
  fileprivate var isWorthRetrying: Bool {
    switch code {
    case .connectionLost: true
    case .locked: self[.engineCode] == "40001" || self[.engineCode] == "40P01"
    default: false
    }
  }
}
