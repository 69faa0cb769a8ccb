// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoStoreCore

/// Saving and going back to what is saved.
extension ObjectContext {
  /// Stores all changes in one transaction: all of them or none.
  ///
  /// New objects get their row ids, and objects that relationships reach are stored with those that reach them.
  /// If anything fails, the store and the context are what they were before, and saving may be tried again.
  ///
  /// - Throws: ``ObjectConflictError`` if objects were changed or deleted in the store since they were read, under
  ///   ``ConflictPolicy/fail``; ``StoreError`` with the collection of the
  ///   object at fault and its row id, or its place among the new ones of its class:
  ///   ``StoreError/Code/uniqueViolation``, ``StoreError/Code/duplicateKey``,
  ///   ``StoreError/Code/valueNotStorable`` and others; ``StoreError/Code/invalidArgument`` inside of a `write`
  ///   block of the store, which might undo what the context takes for saved.
  public func save() throws { try save { _ in } }

  /// Stores all changes together with what a block writes into the store, in one transaction. The block runs
  /// first: what it changes in the context is saved too, and new objects have no ids yet.
  ///
  /// ```swift
  /// try context.save { store in try store["log"].insert(["saved": true]) }
  /// ```
  public func save(with work: (Store) throws -> Void) throws {
    guard !store.isInTransaction else {
      throw StoreError(
        .invalidArgument, "A context saves in a transaction of its own",
        [.hint: "write what belongs to it in the block of save(with:)"])
    }
    let save = ObjectSave(self)
    do {
      try store.write {
        try work(store)
        try insertReachable()
        try save.run()
      }
    } catch {
      for table in allTables {
        table.takeRowIDsBack()
        table.takeRevisionsBack()
      }
      save.takeReferencesBack()
      throw error
    }
    save.settleUndo()
    for table in allTables { save.finish(table) }
    pendingDeletions = 0
    hasUndoneToGone = false
    namedChanges = [:]
    undoLog.didSave()
    tellSaved()
  }

  /// Inserts the objects that new and changed ones relate to and that have no context yet.
  func insertReachable() throws {
    for table in allTables where !table.relationships.isEmpty {
      for object in table.changed { try insertTargets(of: object, table) }
    }
    // Those that are inserted on the way are looked at too; they may be of any class, also of one that is new.
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
    guard !object.isDeleted else { return }
    for relationship in table.relationships {
      var new: [any GraphObject] = []
      var stranger: ObjectTable?
      relationship.forEachKnown(of: object) { target in
        if let known = target._$object.table {
          if known.context !== self { stranger = known }
        } else if !target.isDeleted {
          new.append(target)
        }
      }
      if let stranger {
        throw Self.otherContext(stranger.documents.name).adding(.field, relationship.name)
      }
      for target in new where target._$object.table == nil {
        let targets = self.table(for: type(of: target))
        try targets.requireInsertable(target)
        insertNew(target, targets)
      }
    }
  }

  /// Forgets all changes since the last save: changed objects have their stored content again, deleted ones are
  /// there, new ones know no context any more.
  public func rollback() {
    for table in allTables { table.rollback() }
    pendingDeletions = 0
    hasUndoneToGone = false
    namedChanges = [:]
    isInUndoGroup = false
    undoLog.rollback()
    inverseEpoch += 1
  }

  /// Forgets the content of an object without unsaved changes; it is loaded anew when it is looked at.
  public func refresh(_ object: some GraphObject) {
    object._$object.table?.makeFault(object)
    inverseEpoch += 1
  }

  /// Forgets the content of all objects without unsaved changes, as after others have written much.
  public func refreshAll() {
    for table in allTables {
      for object in table.allLive() { table.makeFault(object) }
    }
    inverseEpoch += 1
  }
}

extension ObjectTable {
  /// Forgets the content of an object that has it from the store alone.
  func makeFault(_ object: any GraphObject) {
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed, .deleted]) else { return }
    for relationship in relationships { relationship.dissolve(object) }
    object._$object.flags = [.fault, .watched]
  }

  func rollback() {
    for object in inserted {
      // It keeps what it relates to: it may be inserted again.
      for inverse in inverses { inverse.dissolve(object) }
      detach(object)
      object._$object.rowID = 0
      object._$object.flags = []
    }
    // Their numbers are given again.
    for index in rowIDsOfInserted.indices
    where rowIDsOfInserted[index] <= number(ofPlace: 0) {
      rowIDsOfInserted[index] = 0
    }
    let former = changed + deleted
    inserted = []
    changed = []
    deleted = []
    counts = PendingCounts()
    for object in former {
      object._$object.flags = []
      makeFault(object)
    }
  }

  /// Numbers of new objects of before are asked for no more.
  func forgetNumbers() {
    rowIDsOfInserted = []
    removed = []
    formerNew = [:]
    savedRevisions = [:]
  }
}
