// SPDX-License-Identifier: MIT

import NanoDocument

/// Undoing and redoing.
///
/// Changes gather in a group until it is closed: by ``undoGroup(named:_:)``, by saving, by undoing or redoing.
/// Groups last across saves: undoing what was saved changes the objects back, and the next save stores that.
extension ObjectContext {
  /// Makes one group of the changes in a block.
  ///
  /// ```swift
  /// try context.undoGroup(named: "Rename") { song.title = "Gin" }
  /// context.undoName                         // "Rename"
  /// try context.undo()
  /// ```
  ///
  /// A group in another one is a part of it. Changes from before the block become a group of their own.
  @discardableResult
  public func undoGroup<Result>(
    named name: String? = nil, _ work: () throws -> Result
  ) throws -> Result {
    guard !isInUndoGroup else { return try work() }
    try closeUndoGroup()
    isInUndoGroup = true
    defer { isInUndoGroup = false }
    let result = Swift.Result { try work() }
    undoLog.open.name = name
    isInUndoGroup = false
    try closeUndoGroup()
    return try result.get()
  }

  /// Closes the group of changes, so that those to come are undone on their own. Does nothing without changes.
  public func closeUndoGroup() throws {
    guard undoLog.isEnabled, !isInUndoGroup else { return }
    try insertReachable()
    guard !undoLog.open.records.isEmpty else { return }
    undoLog.close()
    for table in allTables { table.watchUnsaved() }
  }

  /// Whether there is anything to undo.
  public var canUndo: Bool { !undoLog.open.records.isEmpty || !undoLog.done.isEmpty }
  /// Whether there is anything to redo.
  public var canRedo: Bool { undoLog.open.records.isEmpty && !undoLog.undone.isEmpty }
  /// The name of the group that would be undone.
  public var undoName: String? {
    undoLog.open.records.isEmpty ? undoLog.done.last?.name : undoLog.open.name
  }
  /// The name of the group that would be redone.
  public var redoName: String? { canRedo ? undoLog.undone.last?.name : nil }

  /// Takes the last group of changes back and says whether there was one.
  ///
  /// Objects have their content, relationships and places in lists of before, deleted ones are there again,
  /// inserted ones are gone. Nothing is stored before the next save.
  ///
  /// - Throws: ``StoreError`` if an object that has to be looked at cannot be loaded. What was undone until
  ///   then is redone.
  @discardableResult
  public func undo() throws -> Bool {
    try closeUndoGroup()
    guard let group = undoLog.lastDone() else { return false }
    do {
      undoLog.push(undone: try revert(group))
    } catch {
      undoLog.push(done: group)
      throw error
    }
    return true
  }

  /// Makes the last group of changes again that was undone, and says whether there was one.
  ///
  /// - Throws: As ``undo()``.
  @discardableResult
  public func redo() throws -> Bool {
    try closeUndoGroup()
    guard let group = undoLog.lastUndone() else { return false }
    do {
      undoLog.push(done: try revert(group))
    } catch {
      undoLog.push(undone: group)
      throw error
    }
    return true
  }

  /// Forgets everything that could be undone or redone.
  public func forgetUndo() throws {
    try closeUndoGroup()
    undoLog.removeAll()
    for table in allTables { table.forgetNumbers() }
  }

  /// Takes the changes of a group back.
  ///
  /// - Returns: The changes that this made.
  private func revert(_ group: UndoGroup) throws -> UndoGroup {
    let opposite = UndoGroup()
    opposite.name = group.name
    defer { inverseEpoch += 1 }
    do {
      for index in group.records.indices.reversed() { try revert(index, of: group, opposite) }
    } catch {
      let back = UndoGroup()
      for index in opposite.records.indices.reversed() { try? revert(index, of: opposite, back) }
      throw error
    }
    for table in allTables { table.watchUnsaved() }
    for (index, record) in opposite.records.enumerated() {
      let table = opposite.table(at: index)
      if let object = table.live(record.id) { tell(.didChange, object, table) }
    }
    return opposite
  }

  private func revert(_ index: Int, of group: UndoGroup, _ opposite: UndoGroup) throws {
    let record = group.records[index]
    let table = group.table(at: index)
    switch record.kind {
    case .inserted:
      let object = table.anyObject(record.id)
      try object.load()
      // New objects begin with this revision.
      table.noteRevisionForUndo(object, first: record.id < 0 ? 1 : nil)
      opposite.add(.deleted, object, table)
      table.noteDeleted(object)
    case .updated:
      let object = table.anyObject(record.id)
      // Others deleted it, and a save left it at that.
      guard !object._$object.flags.contains(.removed) else { return }
      try object.load()
      table.noteRevisionForUndo(object)
      opposite.add(.updated, object, table)
      table.noteChanged(object)
      try group.withSnapshot(at: index) { try table.fill(object, snapshot: $0, $1) }
    case .deleted:
      let object: any GraphObject
      if let known = table.live(record.id), known._$object.table != nil, known.isDeleted,
        !known._$object.flags.contains(.removed)
      {
        table.noteRestored(known)
        object = known
      } else {
        object = try group.withSnapshot(at: index) { try table.bringBack(record.id, $0, $1) }
      }
      opposite.add(.inserted, object, table)
    }
  }
}
