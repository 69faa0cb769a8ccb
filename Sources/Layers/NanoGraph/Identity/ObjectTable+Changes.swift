// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel

/// Tracking the changes of objects until they are saved.
extension ObjectTable {
  /// Adds a new object to the context.
  func insert(_ object: any GraphObject) {
    object._$object.begin(in: self, number: number(at: inserted.count))
    inserted.append(object)
    context.changeCount &+= 1
    keepWatching(object)
    counts.inserted += 1
    for inverse in inverses { inverse.begin(object, in: context) }
  }

  /// Checks that a new object can be inserted.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the object cannot belong to the context, or
  ///   its class cannot be used in this store.
  func requireInsertable(_ object: any GraphObject) throws {
    if let failure = documents.failure { throw failure }
    guard object._$object.hasContent else { throw ObjectContext.noContent(documents.name) }
    for relationship in relationships where relationship.hasRowIDs(object) {
      throw StoreError(
        .invalidArgument, "An object has unresolved relationships from another source",
        [.collection: documents.name, .field: relationship.name])
    }
  }

  /// Prepares an object for a change: loads its content, records it for undo, and marks the object
  /// for saving.
  func willChange(_ object: any GraphObject) {
    if object.isFault { loadOrFail(object) }
    guard !context.isSuccessor else {
      object._$object.flags.remove(.watched)
      return
    }
    guard !object._$object.isDeleted else {
      // Not tracked. Restoring the object detects it.
      object._$object.flags.remove(.watched)
      return
    }
    guard !isRecorded(object) else { return }
    // Without loaded content there is nothing to restore. The save reports the object.
    if !object._$object.flags.contains(.failed) {
      context.undoLog.note(.updated, object, in: self)
    }
    noteChanged(object)
    keepWatching(object)
    context.noteStatus()
    context.notify(.willUpdate, object, self)
  }

  func noteChanged(_ object: any GraphObject) {
    object._$object.flags.remove(.watched)
    context.changeCount &+= 1
    context.suspendedSave?.noteChanged(object)
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed]) else { return }
    object._$object.flags.insert(.changed)
    changed.append(object)
    counts.changed += 1
  }

  /// Reverts ``noteChanged(_:)`` for a change that was undone.
  func forgetChange(of object: any GraphObject) {
    guard object._$object.flags.contains(.changed) else { return }
    object._$object.flags.remove(.changed)
    object._$object.flags.rearm()
    changed.removeAll { $0 === object }
    counts.changed -= 1
  }

  /// Marks an object as deleted, without applying delete rules.
  func noteDeleted(_ object: any GraphObject) {
    let flags = object._$object.flags
    if flags.contains(.inserted) {
      counts.inserted -= 1
    } else {
      if flags.contains(.changed) { counts.changed -= 1 }
      deleted.append(object)
      counts.deleted += 1
    }
    object._$object.flags.insert(.deleted)
    object._$object.flags.rearm()
    context.changeCount &+= 1
    context.pendingDeletions += 1
    context.updates.noteDeletion(of: object, wasDeleted: false)
  }

  /// Returns whether a deleted object was changed after ``noteDeleted(_:)``, which such a change does not record.
  func isChangedSinceDeletion(_ object: any GraphObject) -> Bool {
    !object._$object.isWatched
  }

  /// Removes an object whose document was deleted by others. Relationships no longer contain it.
  func noteDeletedByOthers(_ object: any GraphObject, isLoaded: Bool) {
    let id = object._$object.rowID
    let wasDeleted = object._$object.isDeleted
    for relationship in relationships { relationship.dissolve(object) }
    // An object without content cannot be inserted again.
    object._$object.flags = isLoaded ? [.deleted, .removed] : .removedFault
    noteUncommittedLoss(of: id)
    if context.undoLog.isEnabled {
      removed.insert(id)
      ownRevisions[id] = nil
    }
    context.hasLostObjects = true
    context.updates.noteDeletion(of: object, wasDeleted: wasDeleted)
  }

  /// Reverts ``noteDeleted(_:)`` before it is saved.
  func noteRestored(_ object: any GraphObject) {
    // A save that was encoded before does not contain the change.
    if isChangedSinceDeletion(object) { context.suspendedSave?.noteChanged(object) }
    object._$object.flags.remove(.deleted)
    object._$object.flags.rearm()
    context.changeCount &+= 1
    context.pendingDeletions -= 1
    context.updates.noteDeletion(of: object, wasDeleted: true)
    if object._$object.flags.contains(.inserted) {
      counts.inserted += 1
    } else {
      deleted.removeAll { $0 === object }
      counts.deleted -= 1
      if object._$object.flags.contains(.changed) { counts.changed += 1 }
    }
  }

  /// Restores an object whose deletion is not saved, as it is stored by now: the context does not
  /// follow deleted objects.
  func restore(_ object: any GraphObject) throws {
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed]) else {
      // A save detects what others have changed.
      return noteRestored(object)
    }
    let stored = try documents.get(rowID: object._$object.rowID)
    let isChanged = isChangedSinceDeletion(object)
    noteRestored(object)
    // A document that another program has changed has no revision.
    if stored == nil {
      reinsert(object)
    } else if isChanged || stored?.revision != object._$object.revision {
      makeFault(object)
      // On which redoing the deletion is based.
      if let revision = stored?.revision {
        object._$object.revision = revision
      } else {
        try? loadContent(of: object)
      }
    }
  }

  /// Restores an object whose deletion was saved, or a new object that was never saved, under a
  /// previous id.
  func restoreDeleted(_ id: Int64, _ snapshot: UnsafeRawBufferPointer, _ newerVersion: Int64?)
    throws
    -> any GraphObject
  {
    let object = live(id) ?? type.init(_$fault: ())
    func open<Object: GraphObject>(_ object: Object) throws {
      if currentID(id) > 0 {
        if live(id) == nil { add(object, currentID(id), []) }
        try insertAgain(object)
      } else {
        object._$object.flags = []
        insert(object)
        // Snapshots that contain the old number resolve to the new one.
        let index = Self.index(id)
        if rowIDsOfInserted.indices.contains(index) {
          rowIDsOfInserted[index] = object._$object.rowID
        }
      }
    }
    try open(object)
    try fill(object, snapshot: snapshot, newerVersion)
    return object
  }

  /// Restores an object whose deletion was saved, and whose document others may have restored.
  func insertAgain(_ object: any GraphObject) throws {
    let id = object._$object.rowID
    // If the object has returned to the context already, it can be among the changed ones.
    guard try documents.exists(rowID: id) else {
      forgetChange(of: object)
      return reinsert(object)
    }
    removed.remove(id)
    object._$object.flags.formIntersection(.changed)
    // Of no document, so that the save detects the conflict.
    object._$object.revision = LoadedContent.missing
    noteChanged(object)
    keepWatching(object)
    context.updates.noteDeletion(of: object, wasDeleted: true)
  }

  /// Makes a removed object, whose document others have restored, a fault.
  func noteRestoredByOthers(_ object: any GraphObject) {
    context.updating {
      discardContent(of: object)
      context.inverseEpoch += 1
    }
  }

  /// Reinserts an object whose deletion was saved, with the same row ID.
  func reinsert(_ object: any GraphObject) {
    object._$object.flags = .inserted
    keepWatching(object)
    object._$object.revision = 0
    inserted.append(object)
    counts.inserted += 1
    context.updates.noteDeletion(of: object, wasDeleted: true)
  }

  /// Fills an object with the content of a snapshot.
  func fill(
    _ object: any GraphObject, snapshot: UnsafeRawBufferPointer, _ newerVersion: Int64?
  ) throws {
    var reader = JSONReader(snapshot)
    try object._$fill(&reader, .none)
    if let newerVersion { object._$unknownFields.keep(version: newerVersion) }
    object._$object.flags.remove([.fault, .failed])
    // Resolved immediately, since the numbers of new objects are only valid now.
    for relationship in relationships
    where relationship.targets(of: object, in: context).contains(where: { $0._$object.isDeleted }) {
      context.restoredReferenceToDeleted = true
    }
  }

  /// The new and changed objects that are not deleted.
  var unsaved: [any GraphObject] {
    inserted.filter { !$0._$object.isDeleted } + changed.filter { !$0._$object.isDeleted }
  }

  /// Requests a notification before the next change of each unsaved object.
  func watchUnsaved() {
    for object in inserted where !object._$object.isDeleted { object._$object.flags.rearm() }
    for object in changed where !object._$object.isDeleted { object._$object.flags.rearm() }
  }
}
