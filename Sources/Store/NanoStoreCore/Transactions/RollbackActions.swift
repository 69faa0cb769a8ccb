// SPDX-License-Identifier: MIT

import NanoEngine

/// Actions that restore objects in memory when a transaction rolls back: a bag saved in a
/// transaction that fails has its unsaved changes again.
///
/// Confined to the thread of its transaction.
final class RollbackActions {
  private var steps: [() -> Void] = []
  private var endings: [() -> Void] = []
  private let undone: () -> Void

  /// - Parameter undone: Called after each rollback.
  init(_ undone: @escaping () -> Void) { self.undone = undone }

  func append(_ step: @escaping () -> Void) { steps.append(step) }

  /// Adds an action that runs when the transaction ends, whether it commits or rolls back.
  func atEnd(_ step: @escaping () -> Void) { endings.append(step) }

  /// Runs a whole transaction including its commit.
  func settling<Result>(_ work: () throws -> Result) rethrows -> Result {
    defer { for ending in endings { ending() } }
    return try undoing(work)
  }

  /// Runs a block; if it throws, runs the actions added in it, in reverse order.
  func undoing<Result>(_ work: () throws -> Result) rethrows -> Result {
    let count = steps.count
    do {
      return try work()
    } catch {
      while steps.count > count { steps.removeLast()() }
      undone()
      throw error
    }
  }
}

extension TransactionContext {
  /// Runs a block in a savepoint.
  func nested<Result>(
    _ writer: any EngineWriter, _ work: () throws -> Result
  ) throws -> Result {
    guard let compensations else { return try writer.savepoint(work) }
    return try compensations.undoing { try writer.savepoint(work) }
  }
}
