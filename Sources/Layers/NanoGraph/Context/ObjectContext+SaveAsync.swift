// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// Saving without blocking.
extension ObjectContext {
  /// The asynchronous form of ``save()``, which does not block the calling thread while it waits
  /// for other writes, writes and syncs.
  ///
  /// ```swift
  /// song.title = "Gin"
  /// try await context.save()                 // the actor runs other tasks in the meantime
  /// ```
  ///
  /// The save stores the objects as they are when the writes are prepared. Objects that are changed
  /// or deleted while the save is suspended have unsaved changes afterward, which the next save
  /// stores; undo reverts these changes separately, also after a failure. A second save starts after
  /// the first. ``rollback()``, ``close()`` and a synchronous save during the suspension take the
  /// place of a save that has not begun to write, and wait for one that has.
  ///
  /// The following saves block like ``save()``, because they evaluate objects in memory while they
  /// write: those with deletions, with inserted objects whose deletion was saved before, with
  /// objects whose content could not be loaded, and those that encounter a conflict.
  ///
  /// Canceling the task interrupts the save: nothing is stored, and the context is unchanged. A
  /// save that fails can leave the collections and indexes that its new objects need.
  ///
  /// - Throws: The errors of ``save()``; `CancellationError` or ``StoreError/Code/interrupted`` if
  ///   the task was canceled before the commit.
  public func save(isolation: isolated (any Actor)? = #isolation) async throws {
    let rollbacks = rollbackCount
    await enterSave()
    defer { leaveSave() }
    for attempt in 0... {
      try Task.checkCancellation()
      // A rollback or a synchronous save took the place of this one. What was changed since is not to be saved.
      if rollbackCount != rollbacks || attempt > 0 && !hasUnsavedChanges { return }
      try insertReachable()
      // Also if the save fails, the changes that follow belong to a group of their own.
      try closeUndoGroup()
      guard attempt < Self.attempts, !requiresBlockingSave else { return try saveBlocking() }
      let next = try await prepareCollections()
      guard rollbackCount == rollbacks, !requiresBlockingSave else { continue }
      try insertReachable()
      try closeUndoGroup()
      let suspended: SuspendedSave
      do {
        suspended = try SuspendedSave(self, next: next)
      } catch is SavePlan.Outdated {
        // A class received its first new object in the meantime.
        continue
      }
      if try await run(suspended, rollbacks) { return }
    }
  }

  /// Arbitrary: each attempt after the first follows a change by another writer or by this context.
  private static var attempts: Int { 3 }

  /// Runs the transaction of a save.
  ///
  /// - Parameter rollbacks: The number of rollbacks when the save was called.
  /// - Returns: False if the save must be prepared again.
  private func run(
    _ suspended: SuspendedSave, _ rollbacks: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Bool {
    let (store, plan, progress) = (store, suspended.plan, suspended.progress)
    let collections = collectionsToSave
    suspended.begin()
    suspendedSave = suspended
    var failure: (any Error)?
    do {
      try await store.onWriterAlone {
        do {
          let revisions = try store.write {
            try store.prepareToUse(collections)
            try progress.begin()
            return try plan.write(to: store)
          }
          progress.finish(revisions)
        } catch {
          progress.finish(nil)
          throw error
        }
      }
    } catch {
      failure = error
    }
    if suspendedSave === suspended { settleSave() }
    if progress.committed != nil { return true }
    guard let failure else { return true }
    guard failure is SavePlan.Outdated else { throw failure }
    if progress.isWithdrawn { return false }
    if rollbackCount != rollbacks { return true }
    // Resolves the conflict by the policy, whose closure belongs to the actor.
    try saveBlocking()
    return true
  }

  private func saveBlocking() throws { try save() }

  /// Ends a suspended save, so that the context can be saved or rolled back: withdraws it, or
  /// completes it if it has stored the objects.
  func settleSave() {
    guard let suspended = suspendedSave else { return }
    suspended.progress.settle()
    suspendedSave = nil
    if let revisions = suspended.progress.committed {
      suspended.complete(revisions)
    } else {
      suspended.cancel()
    }
  }

  /// Whether the save must evaluate objects in memory while it writes.
  private var requiresBlockingSave: Bool {
    hasPendingDeletions || (hasLostObjects && refersToDeleted)
      || allTables.contains { table in
        table.counts.deleted > 0 || table.inserted.contains { $0._$object.rowID > 0 }
          || table.changed.contains { $0._$object.flags.contains(.failed) }
      }
  }

  /// Whether new or changed objects refer to deleted ones.
  private var refersToDeleted: Bool {
    var isFound = false
    for table in allTables where !table.relationships.isEmpty {
      for object in table.unsaved {
        for relationship in table.relationships {
          relationship.forEachResolved(of: object) { isFound = isFound || $0._$object.isDeleted }
        }
      }
    }
    return isFound
  }

  /// Creates the collections and indexes of new and changed objects, and returns the next row IDs
  /// of collections with new objects.
  private func prepareCollections(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ExactName: Int64] {
    let tables = allTables.filter { $0.counts.hasContent }
    let work = tables.map {
      (documents: $0.documents, preparation: $0.preparation, isNew: $0.counts.inserted > 0)
    }
    guard work.contains(where: { $0.preparation != nil || $0.isNew }) else { return [:] }
    let store = store
    let results = try await store.onWriterAlone {
      try store.write {
        try store.prepareToUse(work.map(\.documents.name))
        return try work.map { part in
          (
            raised: try part.preparation?.run() ?? 0,
            next: part.isNew ? try part.documents.nextRowID() : nil
          )
        }
      }
    }
    var next: [ExactName: Int64] = [:]
    for index in tables.indices {
      tables[index].raiseRevisions(by: results[index].raised)
      if let preparation = work[index].preparation {
        tables[index].preparedEpoch = preparation.epoch
      }
      // Several classes can have the same collection.
      if let first = results[index].next { next[tables[index].documents.name.folded] = first }
    }
    return next
  }

  private func enterSave(isolation: isolated (any Actor)? = #isolation) async {
    guard saveTurns.isTaken else {
      saveTurns.isTaken = true
      return
    }
    await withCheckedContinuation(isolation: isolation) { saveTurns.waiting.append($0) }
  }

  private func leaveSave() {
    guard !saveTurns.waiting.isEmpty else {
      saveTurns.isTaken = false
      return
    }
    saveTurns.waiting.removeFirst().resume()
  }
}

/// The asynchronous saves of a context, which run one at a time.
struct SaveTurns {
  var isTaken = false
  var waiting: [CheckedContinuation<Void, Never>] = []
}
