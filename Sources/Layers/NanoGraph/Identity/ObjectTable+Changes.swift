// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel

/// What becomes of objects until they are saved.
extension ObjectTable {
  /// Makes a new object one of the context's.
  func insert(_ object: any GraphObject) {
    object._$object.table = self
    inserted.append(object)
    object._$object.rowID = number(ofPlace: inserted.count - 1)
    object._$object.flags = .inserted
    counts.inserted += 1
    for inverse in inverses { inverse.begin(object, in: context) }
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` for a new object that cannot be one of the context's, and for one
  ///   of a class that cannot be used in this store.
  func requireInsertable(_ object: any GraphObject) throws {
    if let failure = documents.failure { throw failure }
    guard !object.isFault else { throw ObjectContext.noContent(documents.name) }
    for relationship in relationships where relationship.hasRowIDs(object) {
      throw StoreError(
        .invalidArgument, "An object has relationships that were read elsewhere",
        [.collection: documents.name, .field: relationship.name])
    }
  }

  /// An object is about to change: its content is loaded and noted for undoing, and it will be saved.
  func willChange(_ object: any GraphObject) {
    if object.isFault { loadOrFail(object) }
    guard !context.isOutlived else {
      object._$object.flags.remove(.watched)
      return
    }
    // What is deleted may change as it likes.
    guard !object._$object.flags.contains(.deleted) else { return }
    // Without content there is nothing to go back to. The save reports the object.
    if !object._$object.flags.contains(.failed) {
      context.undoLog.note(.updated, object, in: self)
    }
    noteChanged(object)
    context.tell(.willUpdate, object, self)
  }

  func noteChanged(_ object: any GraphObject) {
    object._$object.flags.remove(.watched)
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed]) else { return }
    object._$object.flags.insert(.changed)
    changed.append(object)
    counts.changed += 1
  }

  /// A snapshot of before the last save takes the place of what others may have written since: then the save is
  /// to find the conflict.
  ///
  /// - Parameter first: The revision of an object that was saved only once, if it is known.
  func noteRevisionForUndo(_ object: any GraphObject, first: Int64? = nil) {
    guard object._$object.flags.isDisjoint(with: [.inserted, .changed]),
      let saved = savedRevisions[object._$object.rowID] ?? first
    else { return }
    object._$object.revision = saved
  }

  /// The opposite of ``noteChanged(_:)``, for a change that was taken back.
  func forgetChange(of object: any GraphObject) {
    guard object._$object.flags.contains(.changed) else { return }
    object._$object.flags.remove(.changed)
    object._$object.flags.insert(.watched)
    changed.removeAll { $0 === object }
    counts.changed -= 1
  }

  /// Takes an object away, with nothing that follows from it.
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
    object._$object.flags.remove(.watched)
    context.pendingDeletions += 1
  }

  /// Removes an object whose document others have deleted. What relates to it shows it no more.
  func noteGone(_ object: any GraphObject, isLoaded: Bool) {
    let id = object._$object.rowID
    for relationship in relationships { relationship.dissolve(object) }
    // Without content it cannot be inserted again.
    object._$object.flags = isLoaded ? [.deleted, .removed] : [.fault, .deleted, .removed]
    if context.undoLog.isEnabled {
      removed.insert(id)
      savedRevisions[id] = nil
    }
    context.hasLostObjects = true
  }

  /// The opposite of ``noteDeleted(_:)``, before it is saved.
  func noteRestored(_ object: any GraphObject) {
    object._$object.flags.remove(.deleted)
    object._$object.flags.insert(.watched)
    context.pendingDeletions -= 1
    if object._$object.flags.contains(.inserted) {
      counts.inserted += 1
    } else {
      deleted.removeAll { $0 === object }
      counts.deleted -= 1
      if object._$object.flags.contains(.changed) { counts.changed += 1 }
    }
  }

  /// Brings back an object whose deletion was saved, or a new one that was never saved, under an id that it
  /// had before.
  func bringBack(_ id: Int64, _ snapshot: UnsafeRawBufferPointer, _ newerVersion: Int64?) throws
    -> any GraphObject
  {
    let object = live(id) ?? type.init(_$fault: ())
    func open<Object: GraphObject>(_ object: Object) throws {
      if currentID(id) > 0 {
        if live(id) == nil { add(object, currentID(id), []) }
        if try documents.contentVersion(rowID: currentID(id)) != nil {
          // Another context brought it back: the save finds the conflict.
          object._$object.flags = []
          object._$object.revision = -1
          noteChanged(object)
        } else {
          insertAgain(object)
        }
      } else {
        object._$object.flags = []
        insert(object)
        // Whoever wrote the old number down finds the object by the new one.
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

  /// Makes an object whose deletion was saved one that is stored again, under its row id.
  func insertAgain(_ object: any GraphObject) {
    object._$object.flags = .inserted
    object._$object.revision = 0
    inserted.append(object)
    counts.inserted += 1
  }

  /// Gives an object the content of a snapshot.
  func fill(
    _ object: any GraphObject, snapshot: UnsafeRawBufferPointer, _ newerVersion: Int64?
  ) throws {
    var reader = JSONReader(snapshot)
    try object._$fill(&reader, .none)
    if let newerVersion { object._$unknownFields.keep(newerVersion: newerVersion) }
    object._$object.flags.remove([.fault, .failed])
    // Numbers of new objects mean nothing later, so they become objects while they do.
    for relationship in relationships
    where relationship.targets(of: object, in: context).contains(where: { $0.isDeleted }) {
      context.hasUndoneToGone = true
    }
  }

  /// New and changed objects, without deleted ones.
  var unsaved: [any GraphObject] {
    inserted.filter { !$0.isDeleted } + changed.filter { !$0.isDeleted }
  }

  /// The context is to be told of the next change of each object that has unsaved ones.
  func watchUnsaved() {
    for object in inserted where !object.isDeleted { object._$object.flags.insert(.watched) }
    for object in changed where !object.isDeleted { object._$object.flags.insert(.watched) }
  }
}
