// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// Combines writes of single documents that wait for others to be committed: those that have waited are written by one
/// statement, as the group commit of database logs combines commits.
final class WriteGroups: Sendable {
  /// The number of statements that run at the same time. Arbitrary: with two, one is prepared while the other waits for
  /// the disk.
  private static let statements = 2
  /// The number of documents in one statement. Arbitrary.
  private static let documents = 64

  private struct State {
    var running = 0
    var waiting: [Member] = []
  }
  private let state = Mutex(State())

  /// A write of one document, which other threads may run.
  final class Member: @unchecked Sendable {
    // @unchecked: used by one thread at a time; its own waits while another one leads its group.
    let write: GroupedWrite
    fileprivate var group: [Member] = []
    fileprivate var outcome: Outcome?
    fileprivate let wakes = DispatchSemaphore(value: 0)

    init(_ write: GroupedWrite) { self.write = write }
  }

  enum Outcome {
    case stored(SingleWriteResult)
    case committed(stamp: Int64)
    /// Nothing was written; the write must run on its own.
    case alone
    case failed(any Error)
  }

  /// Writes a document.
  ///
  /// - Parameters:
  ///   - write: The write; `nil` if it cannot be combined with others.
  ///   - alone: Writes it on its own.
  func run(
    _ write: GroupedWrite?, _ core: PostgresCore, alone: () throws -> SingleWriteOutcome
  ) throws -> SingleWriteOutcome {
    guard let write, write.canBeCombined else { return try alone() }
    let member = Member(write)
    let leads = state.withLock { state in
      guard state.running < Self.statements else {
        state.waiting.append(member)
        return false
      }
      state.running += 1
      return true
    }
    if !leads { member.wakes.wait() }
    if member.outcome == nil {
      defer { handOn() }
      guard !member.group.isEmpty else { return try alone() }
      lead(member, core)
    }
    switch member.outcome {
    case .stored(let result): return .stored(result)
    case .committed(let stamp): return .committed(stamp: stamp)
    case .failed(let error): throw error
    case .alone, nil: return try alone()
    }
  }

  /// Runs the statement of a group, and wakes its members.
  private func lead(_ leader: Member, _ core: PostgresCore) {
    let members = [leader] + leader.group
    let outcomes = GroupStatement(core, members.map(\.write)).run()
    for (member, outcome) in zip(members, outcomes) { member.outcome = outcome }
    for member in leader.group { member.wakes.signal() }
  }

  /// Lets the first member that waits lead those that can be written with it.
  private func handOn() {
    let next: Member? = state.withLock { state in
      guard let leader = state.waiting.first else {
        state.running -= 1
        return nil
      }
      var keys: Set = [leader.write.key]
      var others: [Member] = []
      for member in state.waiting.dropFirst() {
        // One statement cannot write a document twice.
        if leader.group.count < Self.documents - 1, member.write.matches(leader.write),
          keys.insert(member.write.key).inserted
        {
          leader.group.append(member)
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
