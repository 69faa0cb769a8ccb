// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoModel
import NanoStoreCore

/// What saving does with the objects of a class as a whole.
extension ObjectTable {
  /// Makes the collection, and the indexes that the class and its relationships ask for.
  func prepare() throws {
    let drops = context.store.droppedDefinitions
    guard preparedAt != drops else { return }
    let former = try formerRevision()
    do {
      // Objects are known by their row ids; keys beside them would cost a second index.
      if !hasKey { try context.store.createCollection(documents.name, identity: .rowID) }
    } catch let error as StoreError where error.code == .alreadyExists {
      // Made by documents with keys, which stay.
    }
    func open<Object: GraphObject>(_ type: Object.Type) throws {
      try ModelCollection<Object>(documents).prepare()
    }
    try open(self.type)
    for relationship in relationships
    where relationship.inverse != nil && relationship.target != nil {
      let index = IndexDefinition(
        columns: [IndexDefinition.Column(FieldPath(components: [relationship.name]))],
        isUnique: false, kind: relationship.isToMany ? .elements : .fields)
      do {
        try documents.createIndex(index)
      } catch let error as StoreError where error.code == .unsupported {
        // As by sealed documents. Owners are found without it, only slower.
      }
    }
    if let former { try raiseRevisions(since: former) }
    preparedAt = drops
  }

  private typealias StoredRevision = (rowID: Int64, revision: Int64)

  /// The revision of some document of the class; nil if no object in memory knows one.
  private func formerRevision() throws -> StoredRevision? {
    guard map.count > 0, let id = try documents.find().limit(1).rowIDs().first else { return nil }
    return try documents.contentVersion(rowID: id).map { (id, $0.revision) }
  }

  /// A blind index on sealed documents writes each of them anew, with the content that it had: objects that were
  /// loaded before are none the staler for that.
  private func raiseRevisions(since former: StoredRevision) throws {
    let revision = try documents.contentVersion(rowID: former.rowID)?.revision ?? former.revision
    raisedRevisions = revision - former.revision
    raiseRevisions(by: raisedRevisions)
  }

  private func raiseRevisions(by difference: Int64) {
    guard difference != 0 else { return }
    for object in allLive() where object._$object.revision != 0 {
      object._$object.revision += difference
    }
  }

  /// Undoes what ``prepare()`` did to objects, if the save fails.
  func takeRevisionsBack() {
    raiseRevisions(by: -raisedRevisions)
    raisedRevisions = 0
  }

  /// Gives new objects the row ids that they will have, so that others can be written that relate to them.
  func giveRowIDs() throws {
    var next = try documents.nextRowID()
    for object in inserted where object._$object.rowID < 0 && !object.isDeleted {
      // Someone may hold a fault for an id that no document has yet; it is never that document.
      while map[next] != nil { next += 1 }
      object._$object.rowID = next
      next += 1
    }
  }

  /// The opposite, if the save fails.
  func takeRowIDsBack() {
    for (place, object) in inserted.enumerated()
    where object._$object.flags.contains(.inserted) && !isInMap(object) {
      object._$object.rowID = number(ofPlace: place)
    }
  }

  func isInMap(_ object: any GraphObject) -> Bool {
    object._$object.rowID > 0
      && map[object._$object.rowID] == object.address
  }

  /// All is stored: objects are kept alive no more, and found by their row ids.
  func didSave() {
    if context.undoLog.isEnabled { noteNumbers() }
    let count = inserted.count
    func open<Object: GraphObject>(_ type: Object.Type) {
      // Taken out one by one, to see who is held by nobody else.
      while let last = inserted.popLast() {
        var object = unsafeDowncast(last, to: type)
        settleInserted(&object)
      }
    }
    open(self.type)
    for object in changed where !object.isDeleted { object._$object.flags = .watched }
    insertedBefore += count
    raisedRevisions = 0
    changed = []
    deleted = []
    counts = PendingCounts()
  }

  private func settleInserted<Object: GraphObject>(_ object: inout Object) {
    let isKnown = isInMap(object)
    if object.isDeleted {
      object._$object.flags = [.deleted, .removed]
      // Who is not in the map is not found when the context goes.
      if !isKnown { object._$object.table = nil }
      return
    }
    object._$object.flags = .watched
    removed.remove(object._$object.rowID)
    if isKnown {
      // One that had been deleted: its revision does not count from 1.
      let version = try? documents.contentVersion(rowID: object._$object.rowID)
      object._$object.revision = version?.revision ?? 0
    } else if isKnownUniquelyReferenced(&object) {
      // It goes now.
      object._$object.table = nil
    } else {
      object._$object.revision = 1
      map.insert(object._$object.rowID, object.address)
    }
  }

  /// The row ids of new objects, for snapshots that know them by their numbers.
  private func noteNumbers() {
    // Without undoing, numbers were not noted.
    while rowIDsOfInserted.count < insertedBefore { rowIDsOfInserted.append(0) }
    for object in inserted {
      rowIDsOfInserted.append(object.isDeleted ? 0 : object._$object.rowID)
      if object.isDeleted { formerNew[object._$object.rowID] = WeakObject(object) }
    }
  }
}
