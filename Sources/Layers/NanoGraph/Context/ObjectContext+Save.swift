// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoStoreCore

/// Saving and rolling back.
extension ObjectContext {
  /// Stores all changes in one transaction.
  ///
  /// New objects receive their row IDs, and objects that are reachable through relationships are
  /// stored too. If the save fails, the store and the context are unchanged, and you can save
  /// again.
  ///
  /// - Throws: ``ObjectConflictError`` if objects were changed or deleted in the store since they
  ///   were read, under ``ConflictPolicy/fail``. ``StoreError`` with the collection and the row ID
  ///   of the object, or its position among the new objects of its class:
  ///   ``StoreError/Code/uniqueViolation``, ``StoreError/Code/duplicateKey``,
  ///   ``StoreError/Code/valueNotStorable`` and others. ``StoreError/Code/deleteDenied`` if others have related an object
  ///   to one that the save deletes and whose rule denies that. ``StoreError/Code/invalidArgument`` within
  ///   a `write` block of the store, whose rollback would undo a save that the context considers
  ///   complete; and if the closure of a conflict policy changes objects, or an observer deletes them
  ///   during the save.
  public func save() throws { try save { _ in } }

  /// Stores all changes together with the writes of a block, in one transaction.
  ///
  /// The block runs first: its changes to the context are saved too, and new objects have no ids
  /// yet.
  ///
  /// ```swift
  /// try context.save { store in try store["log"].insert(["saved": true]) }
  /// ```
  public func save(with work: (Store) throws -> Void) throws {
    guard !store.isInTransaction else {
      throw StoreError(
        .invalidArgument, "A context cannot be saved within a transaction",
        [.hint: "write related documents in the block of save(with:)"])
    }
    settleSave()
    try updating { try saveAll(with: work) }
    notifySaved()
  }

  private func saveAll(with work: (Store) throws -> Void) throws {
    let save = ObjectSave(self)
    do {
      try store.write {
        try store.prepareToUse(collectionsToSave)
        try work(store)
        try insertReachable()
        try save.run()
      }
    } catch {
      for table in allTables {
        table.revertRowIDs()
        table.revertRevisions()
      }
      save.restoreReferences()
      throw error
    }
    save.finishUndo()
    let deleted = save.deletedIDs
    let removed = deleted.isEmpty ? [] : save.removedObjects
    save.finish()
    // Those that the store no longer referred to, because others have changed it, are still in memory.
    if !deleted.isEmpty {
      discardContent(where: deleted.canBeTargets, containsID: deleted.isReferred) {
        removed.contains(ObjectIdentifier($0))
      }
    }
    pendingDeletions = 0
    restoredReferenceToDeleted = false
    namedChanges = [:]
    undoLog.didSave()
    saveCount += 1
  }

  /// The collections that a save reads and writes. A deletion also changes objects that refer to the
  /// deleted one.
  var collectionsToSave: [String] {
    let deletes = mayContainDeleted || allTables.contains { $0.counts.deleted > 0 }
    return allTables.filter { deletes || !$0.counts.isEmpty }.map(\.documents.name)
  }

  /// Inserts the objects without a context that new and changed objects relate to.
  func insertReachable() throws {
    for table in allTables where !table.relationships.isEmpty {
      for object in table.changed { try insertTargets(of: object, table) }
    }
    // Objects inserted by this loop are checked too; they can be of any class, including one that
    // is registered by the loop.
    var seen: [Int] = []
    var isDone = false
    while !isDone {
      isDone = true
      var index = 0
      while index < allTables.count {
        if index == seen.count { seen.append(0) }
        let table = allTables[index]
        while !table.relationships.isEmpty, seen[index] < table.inserted.count {
          try insertTargets(of: table.inserted[seen[index]], table)
          seen[index] += 1
          isDone = false
        }
        index += 1
      }
    }
  }

  private func insertTargets(of object: any GraphObject, _ table: ObjectTable) throws {
    guard !object._$object.isDeleted else { return }
    for relationship in table.relationships {
      var new: [any GraphObject] = []
      var foreignTable: ObjectTable?
      relationship.forEachResolved(of: object) { target in
        // It may have been added after its deletion was saved.
        if target._$object.isDeleted,
          target._$object.table == nil || target._$object.flags.contains(.removed)
        {
          restoredReferenceToDeleted = true
        }
        if let targetTable = target._$object.table {
          if targetTable.context !== self { foreignTable = targetTable }
        } else if !target._$object.isDeleted {
          new.append(target)
        }
      }
      if let foreignTable {
        throw Self.otherContext(foreignTable.documents.name).adding(.field, relationship.name)
      }
      for target in new where target._$object.table == nil {
        let targets = self.table(for: type(of: target))
        try targets.requireInsertable(target)
        insertNew(target, targets)
      }
    }
  }

  /// Discards the content of objects without unsaved changes whose relationships contain certain objects.
  ///
  /// - Parameters:
  ///   - canContain: Whether a relationship can contain any of them.
  ///   - containsID: Whether a relationship of an object contains the row ID of one of them.
  func discardContent(
    where canContain: (StoredRelationship) -> Bool,
    containsID: (StoredRelationship, any GraphObject) -> Bool = { _, _ in false },
    orObject isContained: (any GraphObject) -> Bool
  ) {
    for table in allTables {
      let relationships = table.relationships.filter(canContain)
      guard !relationships.isEmpty else { continue }
      for object in table.allLive() {
        var refers = false
        for relationship in relationships {
          relationship.forEachResolved(of: object) { if isContained($0) { refers = true } }
          refers = refers || containsID(relationship, object)
        }
        guard refers else { continue }
        table.makeFault(object)
        inverseEpoch += 1
      }
    }
  }

  /// Discards all changes since the last save. Changed objects are reloaded from the store, deleted
  /// objects are restored, and new objects leave the context.
  public func rollback() {
    settleSave()
    rollbackCount += 1
    updating {
      for table in allTables { table.rollback() }
      pendingDeletions = 0
      restoredReferenceToDeleted = false
      namedChanges = [:]
      isInUndoGroup = false
      undoLog.rollback()
      inverseEpoch += 1
    }
  }

  /// Discards the content of an object without unsaved changes. The next access reloads it, and this call does if it
  /// has observers, who are notified of what is different.
  public func refresh(_ object: some GraphObject) {
    updating {
      object._$object.table?.makeFault(object)
      inverseEpoch += 1
    }
  }

  /// Discards the content of all objects without unsaved changes, as ``refresh(_:)`` does, for example after large
  /// changes by other connections in a context that does not follow the store.
  public func refreshAll() {
    updating {
      for table in allTables {
        for object in table.allLive() { table.makeFault(object) }
      }
      inverseEpoch += 1
    }
  }
}

extension ObjectTable {
  /// Discards the content of an object without unsaved changes.
  func makeFault(_ object: any GraphObject) {
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed, .deleted]) else { return }
    discardContent(of: object)
  }

  /// Discards the content of an object, with its unsaved changes.
  func discardContent(of object: any GraphObject) {
    if object._$object.isDeleted { context.updates.noteDeletion(of: object, wasDeleted: true) }
    if object._$object.isObserved {
      // Reloaded once the operation is finished.
      context.updating {
        let hadContent = object._$object.hasContent
        object._$object.flags = [.fault, .watched]
        context.updates.discarded.append((object, hadContent))
      }
    } else {
      for relationship in relationships { relationship.dissolve(object) }
      object._$object.flags = [.fault, .watched]
    }
  }

  func rollback() {
    for object in inserted {
      // The object keeps its relationships, since it can be inserted again.
      for inverse in inverses { inverse.dissolve(object) }
      detach(object)
      object._$object.rowID = 0
      object._$object.flags = []
    }
    // The numbers are reused.
    for index in rowIDsOfInserted.indices
    where rowIDsOfInserted[index] <= number(at: 0) {
      rowIDsOfInserted[index] = 0
    }
    let former = changed + deleted
    rolledBackContent = [:]
    inserted = []
    changed = []
    deleted = []
    counts = PendingCounts()
    for object in former { discardContent(of: object) }
  }

  /// Discards the numbers of previously new objects, which are no longer needed.
  func forgetNumbers() {
    rowIDsOfInserted = []
    removed = []
    formerNew = [:]
    ownRevisions = [:]
    rolledBackContent = [:]
  }
}
