// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

extension Store {
  /// How long and how often a call is tried again. Arbitrary: a server that restarts is back within.
  private static let retryTime = 8.0
  private static let firstPause = 0.005
  private static let longestPause = 0.5

  /// Runs a call that happens wholly or not at all, again where it is known that nothing was applied and that
  /// another attempt may succeed.
  ///
  /// - Parameter outcomeUnknown: Whether a call that may have been applied is repeated too, because doing so
  ///   has no effect then.
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
        // Jittered, so that those who met once do not meet again.
        Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }
}

extension StoreError {
  /// Whether nothing was applied, and the same call may succeed a moment later: a connection that was lost
  /// before the commit, a server that is starting, a transaction that stood in the way of another one.
  fileprivate var isWorthRetrying: Bool {
    switch code {
    case .connectionLost: true
    case .locked: self[.engineCode] == "40001" || self[.engineCode] == "40P01"
    default: false
    }
  }
}
