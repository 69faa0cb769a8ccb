// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// Combines calls of one kind that wait for each other: those that have waited are executed by one statement, like
/// group commit in database logs.
///
/// A call that has waited for too long, because earlier statements wait for a lock or for the network, runs
/// concurrently with them.
final class CallGroups<Call, Outcome>: Sendable {
  /// The number of statements that run at the same time. Arbitrary: with two, one is prepared while the other waits for
  /// the disk.
  private static var statements: Int { 2 }

  // @unchecked: used by one thread at a time; its own waits while another one leads its group.
  /// A call, which other threads may execute.
  private final class Member: @unchecked Sendable {
    let call: Call
    var group: [Member] = []
    var outcome: Outcome?
    let wakes = DispatchSemaphore(value: 0)

    init(_ call: Call) { self.call = call }
  }

  private struct State {
    var running = 0
    var waiting: [Member] = []
  }
  private let state = Mutex(State())
  private let maximum: Int
  private let patience: DispatchTimeInterval
  private let joins: @Sendable (Call, [Call]) -> Bool

  /// - Parameters:
  ///   - maximum: The largest number of calls in one statement.
  ///   - patience: How long a call waits for others.
  ///   - joins: Returns whether one statement can execute a call together with others.
  init(
    maximum: Int, patience: DispatchTimeInterval,
    joins: @escaping @Sendable (Call, [Call]) -> Bool
  ) {
    self.maximum = maximum
    self.patience = patience
    self.joins = joins
  }

  /// Executes a call.
  ///
  /// - Parameters:
  ///   - together: Executes several calls, and returns their outcomes.
  ///   - finish: Returns the result of a call from its outcome; executes it on its own if that is `nil`.
  func run<Result>(
    _ call: Call, together: ([Call]) -> [Outcome], _ finish: (Outcome?) throws -> Result
  ) rethrows -> Result {
    let member = Member(call)
    let leads = state.withLock { state in
      guard state.running < Self.statements else {
        state.waiting.append(member)
        return false
      }
      state.running += 1
      return true
    }
    if !leads, !wait(member) { return try finish(nil) }
    if member.outcome == nil {
      defer { handOn() }
      guard !member.group.isEmpty else { return try finish(nil) }
      lead(member, together)
    }
    return try finish(member.outcome)
  }

  /// Waits until another thread has executed the call, or lets it lead a group.
  ///
  /// - Returns: False if it has waited for too long, and has been removed from the waiting calls.
  private func wait(_ member: Member) -> Bool {
    if member.wakes.wait(timeout: .now() + patience) == .success { return true }
    let isWithdrawn = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0 === member }) else { return false }
      state.waiting.remove(at: index)
      return true
    }
    if !isWithdrawn { member.wakes.wait() }
    return !isWithdrawn
  }

  /// Executes the calls of a group, and wakes its members.
  private func lead(_ leader: Member, _ together: ([Call]) -> [Outcome]) {
    let members = [leader] + leader.group
    for (member, outcome) in zip(members, together(members.map(\.call))) {
      member.outcome = outcome
    }
    for member in leader.group { member.wakes.signal() }
  }

  /// Lets the first member that waits lead those that can be executed with it.
  private func handOn() {
    let next: Member? = state.withLock { state in
      guard let leader = state.waiting.first else {
        state.running -= 1
        return nil
      }
      var calls = [leader.call]
      var others: [Member] = []
      for member in state.waiting.dropFirst() {
        if calls.count < maximum, joins(member.call, calls) {
          leader.group.append(member)
          calls.append(member.call)
        } else {
          others.append(member)
        }
      }
      state.waiting = others
      return leader
    }
    next?.wakes.signal()
  }
}
