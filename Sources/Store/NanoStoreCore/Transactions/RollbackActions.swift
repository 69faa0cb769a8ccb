// SPDX-License-Identifier: MIT

import NanoEngine

/// What brings objects in memory back to where they were when the writes that they took part in are
/// undone: a bag that was saved in a transaction that fails has its changes again.
///
/// Confined to the thread of its transaction.
final class RollbackActions {
  private var steps: [() -> Void] = []
  private var endings: [() -> Void] = []
  private let undone: () -> Void

  /// - Parameter undone: Called whenever something was undone.
  init(_ undone: @escaping () -> Void) { self.undone = undone }

  func append(_ step: @escaping () -> Void) { steps.append(step) }

  /// Adds what is done when the transaction is over, be it committed or undone.
  func atEnd(_ step: @escaping () -> Void) { endings.append(step) }

  /// Runs a whole transaction, its commit included.
  func settling<Result>(_ work: () throws -> Result) rethrows -> Result {
    defer { for ending in endings { ending() } }
    return try undoing(work)
  }

  /// Runs a block, and if it throws, what was added in it, last first.
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
