// SPDX-License-Identifier: MIT

import NanoEngine

/// Actions that restore objects in memory when a transaction rolls back: a bag saved in a
/// transaction that fails has its unsaved changes again.
///
/// Confined to the thread of its transaction.
package final class RollbackActions {
  private var actions: [() -> Void] = []
  private var endActions: [() -> Void] = []
  private let onRollback: () -> Void

  /// - Parameter onRollback: Called after each rollback.
  init(_ onRollback: @escaping () -> Void) { self.onRollback = onRollback }

  package func append(_ action: @escaping () -> Void) { actions.append(action) }

  /// Adds an action that runs when the transaction ends, whether it commits or rolls back.
  package func onEnd(_ action: @escaping () -> Void) { endActions.append(action) }

  /// Runs a whole transaction including its commit.
  func runTransaction<Result>(_ work: () throws -> Result) rethrows -> Result {
    defer { for ending in endActions { ending() } }
    return try runNested(work)
  }

  /// Runs a block; if it throws, runs the actions added in it, in reverse order.
  func runNested<Result>(_ work: () throws -> Result) rethrows -> Result {
    let count = actions.count
    do {
      return try work()
    } catch {
      while actions.count > count { actions.removeLast()() }
      onRollback()
      throw error
    }
  }
}

extension Store {
  /// The rollback actions of the running transaction; nil outside of write blocks.
  package var rollbackActions: RollbackActions? {
    TransactionContext.current(of: self)?.rollbackActions
  }
}

extension TransactionContext {
  /// Runs a block in a savepoint.
  ///
  /// - Parameter insertions: The expected number of documents, if the block only inserts documents.
  func nested<Result>(
    _ writer: any EngineWriter, insertions: (count: Int, collection: String)? = nil,
    _ work: () throws -> Result
  ) throws -> Result {
    func run() throws -> Result {
      guard let (count, collection) = insertions else { return try writer.savepoint(work) }
      return try writer.insertAtomically(count, into: collection, work)
    }
    guard let rollbackActions else { return try run() }
    let known = hasReferences
    do {
      return try rollbackActions.runNested(run)
    } catch {
      // A server has released the locks without which another transaction may create the first reference.
      hasReferences = known
      throw error
    }
  }
}
