// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
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
        where error.isCertainToEnd || outcomeUnknown && error.code == .outcomeUnknown
      {
        let end = deadline ?? Date(timeIntervalSinceNow: Self.retryTime)
        deadline = end
        guard Date() < end, Interruption.current?.isTriggered != true else { throw error }
        Self.pause(&pause)
      }
    }
  }

  /// Runs a block, and runs it again after an error that is retryable.
  func retrying<Result>(
    atMost retries: Int, _ work: () throws -> Result
  ) throws -> Result {
    var pause = Self.firstPause
    var rest = retries
    while true {
      do {
        return try work()
      } catch let error as StoreError where error.isRetryable && rest > 0 {
        guard Interruption.current?.isTriggered != true else { throw error }
        rest -= 1
        Self.pause(&pause)
      }
    }
  }

  private static func pause(_ pause: inout Double) {
    // Jittered, so that calls that conflicted once do not conflict again.
    Thread.sleep(forTimeInterval: pause * .random(in: 0.5...1))
    pause = min(pause * 2, longestPause)
  }
}

extension StoreError {
  /// Whether nothing was written, and the same call or block may succeed when it runs again.
  ///
  /// That is the case for ``Code/locked``, when another transaction was in the way for too long or
  /// conflicted with this one, and for ``Code/connectionLost``.
  ///
  /// ```swift
  /// do { try store.write { try transfer() } } catch let error as StoreError where error.isRetryable {
  ///   try store.write { try transfer() }
  /// }
  /// ```
  public var isRetryable: Bool { code == .locked || code == .connectionLost }

  /// Whether another attempt does not wait for the same lock again: a connection lost before the
  /// commit, a server that is starting, a serialization failure or deadlock.
  fileprivate var isCertainToEnd: Bool {
    switch code {
    case .connectionLost: true
    case .locked: self[.engineCode] == "40001" || self[.engineCode] == "40P01"
    default: false
    }
  }
}
