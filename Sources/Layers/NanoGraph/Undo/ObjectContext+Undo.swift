// SPDX-License-Identifier: MIT

import NanoDocument

/// Undo and redo.
///
/// Changes are collected in a group until it is closed: by ``undoGroup(named:_:)``, a save, undo or
/// redo. Groups persist across saves: undoing saved changes restores the objects in memory, and the
/// next save stores them.
extension ObjectContext {
  /// Groups the changes of a block, so that they are undone together.
  ///
  /// ```swift
  /// try context.undoGroup(named: "Rename") { song.title = "Gin" }
  /// context.undoName                         // "Rename"
  /// try context.undo()
  /// ```
  ///
  /// A nested group becomes part of the outer group. Changes before the block form a separate
  /// group, as do those before and after a save in the block; both have the name.
  @discardableResult
  public func undoGroup<Result>(
    named name: String? = nil, _ work: () throws -> Result
  ) throws -> Result {
    guard !isInUndoGroup else { return try work() }
    defer { noteStatus() }
    try closeUndoGroup()
    isInUndoGroup = true
    undoLog.name = name
    defer {
      isInUndoGroup = false
      undoLog.name = nil
    }
    let result = Swift.Result { try work() }
    isInUndoGroup = false
    try closeUndoGroup()
    return try result.get()
  }

  /// Closes the current group, so that later changes are undone separately. Without changes, this
  /// has no effect.
  public func closeUndoGroup() throws {
    if !isInUndoGroup { try closeOpenGroup() }
  }

  /// Closes the current group, also within ``undoGroup(named:_:)``.
  private func closeOpenGroup() throws {
    guard undoLog.isEnabled else { return }
    try insertReachable()
    guard !undoLog.open.records.isEmpty else { return }
    undoLog.close()
    for table in allTables { table.watchUnsaved() }
    noteStatus()
  }

  /// Undoes the last group of changes, and returns whether there was one.
  ///
  /// Objects have their previous content, relationships and positions in lists. Deleted objects are
  /// restored, and inserted objects are deleted. The store is unchanged until the next save. An
  /// unchanged object whose deletion is not saved has what others have stored in the meantime.
  ///
  /// If a changed object had a value that cannot be stored, its property is then nil or has its initial value.
  ///
  /// - Throws: ``StoreError`` if an object that undo needs cannot be loaded;
  ///   ``StoreError/Code/valueNotStorable`` if a deleted object had a value that cannot be stored, or a changed one
  ///   cannot be restored without the value, or without losing others. The changes undone before the error are redone.
  @discardableResult
  public func undo() throws -> Bool {
    try updating {
      try closeOpenGroup()
      guard let group = undoLog.lastDone() else { return false }
      do {
        undoLog.push(undone: try revert(group))
      } catch {
        undoLog.push(done: group)
        throw error
      }
      return true
    }
  }

  /// Redoes the last group of changes that was undone, and returns whether there was one.
  ///
  /// - Throws: The errors of ``undo()``.
  @discardableResult
  public func redo() throws -> Bool {
    try updating {
      try closeOpenGroup()
      guard let group = undoLog.lastUndone() else { return false }
      do {
        undoLog.push(done: try revert(group))
      } catch {
        undoLog.push(undone: group)
        throw error
      }
      return true
    }
  }

  /// Discards the undo and redo history.
  public func removeAllUndoActions() throws {
    try closeUndoGroup()
    undoLog.removeAll()
    for table in allTables { table.forgetNumbers() }
    noteStatus()
  }

  /// Reverts the changes of a group.
  ///
  /// - Returns: The changes made by this method.
  private func revert(_ group: UndoGroup) throws -> UndoGroup {
    let opposite = UndoGroup()
    opposite.name = group.name
    // Before any object changes.
    for index in group.failedUpdates {
      let object = group.table(at: index).live(group.records[index].id)
      guard object?._$object.flags.contains(.removed) != true else { continue }
      try group.requireFilling(at: index)
    }
    defer { inverseEpoch += 1 }
    do {
      for index in group.records.indices.reversed() { try revert(index, of: group, opposite) }
    } catch {
      let back = UndoGroup()
      for index in opposite.records.indices.reversed() {
        try? revert(index, of: opposite, back, isTakenBack: true)
      }
      for table in allTables { table.watchUnsaved() }
      throw error
    }
    for table in allTables { table.watchUnsaved() }
    for (index, record) in opposite.records.enumerated() {
      let table = opposite.table(at: index)
      if let object = table.live(record.id) { notify(.didChange, object, table) }
    }
    return opposite
  }

  /// - Parameter isTakenBack: Whether this reverts what an undo has just done that failed then, perhaps because the store
  ///   cannot be read.
  private func revert(
    _ index: Int, of group: UndoGroup, _ opposite: UndoGroup, isTakenBack: Bool = false
  ) throws {
    let record = group.records[index]
    let table = group.table(at: index)
    switch record.kind {
    case .inserted:
      let object = table.anyObject(record.id)
      // Others deleted the document.
      guard !object._$object.flags.contains(.removed) else { return }
      guard try table.documentExists(object) else {
        table.forgetChange(of: object)
        return table.noteDeletedByOthers(object, isLoaded: false)
      }
      opposite.add(.deleted, object, table)
      table.setRevisionForUndo(of: object, base: record.base)
      table.noteDeleted(object)
    case .updated:
      let object = table.anyObject(record.id)
      // Others deleted the document, and a save accepted the deletion.
      guard !object._$object.flags.contains(.removed) else { return }
      // Checked before the object changes: a missing value may be one that its property requires.
      try group.requireFilling(at: index)
      try object.load()
      opposite.add(.updated, object, table)
      table.setRevisionForUndo(of: object, base: record.base)
      table.noteChanged(object)
      try group.withSnapshot(at: index) { try table.fill(object, snapshot: $0, $1) }
    case .deleted:
      let object: any GraphObject
      if let existing = table.live(record.id), existing._$object.table != nil,
        existing._$object.isDeleted,
        !existing._$object.flags.contains(.removed)
      {
        let isChanged = table.isChangedSinceDeletion(existing)
        if isChanged { try group.requireSnapshot(at: index) }
        do {
          try table.restore(existing)
        } catch {
          guard isTakenBack, !isChanged else { throw error }
          table.noteRestored(existing)
        }
        if existing._$object.flags.contains(.changed) {
          table.setRevisionForUndo(of: existing, base: record.base)
        }
        if isChanged, !existing._$object.flags.isDisjoint(with: [.inserted, .changed]) {
          try group.withSnapshot(at: index) { try table.fill(existing, snapshot: $0, $1) }
        }
        object = existing
      } else {
        try group.requireSnapshot(at: index)
        object = try group.withSnapshot(at: index) { try table.restoreDeleted(record.id, $0, $1) }
      }
      opposite.add(.inserted, object, table)
    }
  }
}
