// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoModel
import NanoStoreCore

/// The parts of a save that concern all objects of a class.
extension ObjectTable {
  /// Creates the collection, and the indexes that the class and its relationships need.
  func prepare() throws {
    guard let preparation else { return }
    raisedRevisions = try preparation.run()
    raiseRevisions(by: raisedRevisions)
    preparedEpoch = preparation.epoch
  }

  /// What must be created before the next write; nil if everything exists.
  var preparation: CollectionPreparation? {
    let drops = context.store.droppedDefinitions
    guard preparedEpoch != drops else { return nil }
    let indexes = relationships.filter { $0.inverse != nil && $0.target != nil }
      .map { relationship in
        IndexDefinition(
          columns: [IndexDefinition.Column(FieldPath(components: [relationship.name]))],
          isUnique: false, kind: relationship.isToMany ? .elements : .fields)
      }
    func open<Object: GraphObject>(_ type: Object.Type) -> CollectionPreparation {
      let models = ModelCollection<Object>(documents)
      return CollectionPreparation(
        documents: documents, hasKey: hasKey, hasLoadedObjects: map.count > 0, indexes: indexes,
        epoch: drops, prepareModel: { try models.prepare() })
    }
    return open(self.type)
  }

  /// Reverts the effect of ``prepare()`` on objects after a failed save.
  func revertRevisions() {
    raiseRevisions(by: -raisedRevisions)
    raisedRevisions = 0
  }

  /// Assigns row IDs to new objects, so that documents can refer to them.
  ///
  /// - Returns: The next row ID.
  func assignRowIDs(from first: Int64) throws -> Int64 {
    // Other programs may have inserted only documents with negative row IDs.
    var next = max(first, 1)
    hasReinserted = false
    for object in inserted {
      // A fault can exist for an id without a document; it must not become this document's object.
      while map[next] != nil { next &+= 1 }
      let id = object._$object.assignRowID(next)
      guard id >= 0 else {
        throw StoreError(
          .database, "A collection has run out of row IDs", [.collection: documents.name])
      }
      // Negative after the last one.
      if id == next { next &+= 1 } else if id > 0 { hasReinserted = true }
    }
    return next
  }

  /// Reverts the assignment of row IDs after a failed save.
  func revertRowIDs() {
    for (position, object) in inserted.enumerated()
    where object._$object.flags.contains(.inserted) && !isInMap(object) {
      object._$object.rowID = number(at: position)
    }
  }

  func isInMap(_ object: any GraphObject) -> Bool {
    object._$object.rowID > 0
      && map[object._$object.rowID] == object.address
  }

  /// Completes a save: objects are no longer retained, and are found by their row IDs.
  func didSave() {
    if context.undoLog.isEnabled { noteNumbers() }
    let count = inserted.count
    func open<Object: GraphObject>(_ type: Object.Type) {
      // Removed one by one, to detect objects without other references.
      while let last = inserted.popLast() {
        var object: Object = Self.downcast(last)
        finishInserted(&object)
      }
    }
    open(self.type)
    for object in changed where object._$object.watchUnlessDeleted() {
      noteGeneratedKey(of: object)
    }
    insertedBefore += count
    raisedRevisions = 0
    changed = []
    deleted = []
    counts = PendingCounts()
  }

  private func finishInserted<Object: GraphObject>(_ object: inout Object) {
    let id = object._$object.rowID
    let isInMap = id > 0 && map[id] == object.address
    if object._$object.isDeleted {
      object._$object.flags = [.deleted, .removed]
      // An object that is not in the map would not be detached when the context is deallocated.
      if !isInMap {
        // The object can be inserted again, without the owners that it had.
        for inverse in inverses { inverse.dissolve(object) }
        object._$object.table = nil
      }
      return
    }
    object._$object.flags = .watched
    if !removed.isEmpty { removed.remove(id) }
    // The save has set the revision of an object whose deletion had been saved before.
    if !isInMap {
      guard !isKnownUniquelyReferenced(&object) else {
        // The object is deallocated now.
        object._$object.table = nil
        return
      }
      object._$object.revision = 1
      map.insert(id, object.address)
    }
    noteGeneratedKey(of: object)
  }

  /// Notes a saved object without a key, for whose document the store has generated one.
  func noteGeneratedKey(of object: some GraphObject) {
    if hasKey, (try? object.documentKey) == nil { keyless.append(object) }
  }

  /// Reads the documents of the objects without a key.
  func readGeneratedKeys() {
    guard !keyless.isEmpty else { return }
    let objects = keyless
    keyless = []
    for object in objects { makeFault(object) }
    // If it fails, they remain faults, and the next read of a property reports the error.
    try? documents.store.read {
      for object in objects where object._$object.isFault { try loadContent(of: object) }
    }
  }

  /// Records the row IDs of new objects, for snapshots that refer to them by number.
  private func noteNumbers() {
    // While undo is disabled, numbers are not recorded.
    while rowIDsOfInserted.count < insertedBefore { rowIDsOfInserted.append(0) }
    for object in inserted {
      rowIDsOfInserted.append(object._$object.isDeleted ? 0 : object._$object.rowID)
      if object._$object.isDeleted { formerNew[object._$object.rowID] = WeakObject(object) }
    }
  }
}
