// SPDX-License-Identifier: MIT

/// Removing references to objects that the save deletes.
extension ObjectSave {
  func removeReferences(_ tables: [ObjectTable]) throws {
    // A context that does not follow the store does not notice the first document with a former name.
    context.expireFormerNames()
    for owners in tables where !owners.relationships.isEmpty {
      for object in owners.unsaved {
        for relationship in owners.relationships {
          if deletedIDs.canBeTargets(of: relationship),
            deletedIDs.isReferred(to: relationship, of: object)
          {
            _ = relationship.targets(of: object, in: context)
          }
          removeDeleted(from: object, relationship, owners)
        }
      }
    }
    for targets in tables where !targets.deleted.isEmpty {
      let ids = targets.deleted.filter { !kept.contains(ObjectIdentifier($0)) }
        .map { $0._$object.rowID }
      for owners in tables {
        for relationship in owners.relationships
        where relationship.target == nil || relationship.target == targets.type {
          try removeStored(ids, of: targets, relationship, owners)
        }
      }
    }
  }

  private func removeDeleted(
    from owner: any GraphObject, _ relationship: StoredRelationship, _ owners: ObjectTable
  ) {
    let kept = kept
    func isGone(_ target: any GraphObject) -> Bool {
      target._$object.isDeleted && !kept.contains(ObjectIdentifier(target))
    }
    var containsDeleted = false
    relationship.forEachResolved(of: owner) { if isGone($0) { containsDeleted = true } }
    guard containsDeleted else { return }
    references.note(owner, relationship, owners)
    relationship.remove(from: owner, in: context, where: isGone)
  }

  /// Removes references from stored documents, including those of objects that are not in memory.
  private func removeStored(
    _ ids: [Int64], of targets: ObjectTable, _ relationship: StoredRelationship,
    _ owners: ObjectTable
  ) throws {
    let former = try owners.observedFormerNames(of: relationship)
    for start in stride(from: 0, to: ids.count, by: Self.idsPerQuery) {
      let some = Array(ids[start..<min(start + Self.idsPerQuery, ids.count)])
      let found = try owners.documents.find(
        relationship.condition(for: some, in: targets, formerNames: former)
      ).withoutFieldCheck.rowIDs()
      // Unchanged objects are reloaded too, since their documents may have changed in the store.
      let alive = try found.map { try owners.anyExistingObject($0) }
      let clean = alive.filter {
        $0._$object.flags.isDisjoint(with: [.inserted, .changed, .deleted])
      }
      try owners.load(clean.map { $0._$object.rowID })
      try checkRule(relationship, of: clean, targets)
      for owner in alive where !owner._$object.isDeleted {
        _ = relationship.targets(of: owner, in: context)
        removeDeleted(from: owner, relationship, owners)
      }
    }
  }

  /// Checks that others have not related an object to a deleted one whose rule denies that.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied``.
  private func checkRule(
    _ relationship: StoredRelationship, of owners: [any GraphObject], _ targets: ObjectTable
  ) throws {
    guard let name = relationship.inverse,
      let inverse = targets.inverses.first(where: { $0.name == name }), inverse.rule == .deny
    else { return }
    for owner in owners where !owner._$object.isDeleted {
      let denied = relationship.targets(of: owner, in: context).first {
        deletedDocuments.contains(ObjectIdentifier($0))
      }
      guard let denied else { continue }
      throw ObjectContext.deletionDenied(by: name, of: denied, owner)
    }
  }

  /// Arbitrary: keeps statements short.
  private static let idsPerQuery = 500

  /// Restores relationships after a failed save.
  func restoreReferences() { references.takeBack(in: context) }

  /// Merges the changes that the save made into the undo group of the deletions that caused them.
  func finishUndo() {
    guard context.undoLog.isEnabled else { return }
    if references.isUndoneAlone { context.undoLog.mergeOpen() }
    context.undoLog.close()
  }
}

/// The relationship changes of a save that removed references to deleted objects.
struct RemovedReferences {
  private struct Change {
    let owner: any GraphObject
    let table: ObjectTable
    let flags: ObjectState.Flags
    let restoreRelationship: () -> Void
  }
  private var changes: [Change] = []
  /// The number of changes in the current undo group before those of the save; nil if it has made
  /// none.
  private var recordCount: Int?

  /// Whether the current undo group contains no other changes.
  var isUndoneAlone: Bool { recordCount == 0 }

  mutating func begin(in context: ObjectContext) {
    recordCount = context.undoLog.open.records.count
  }

  /// Records an owner's relationship before references are removed.
  mutating func note(
    _ owner: any GraphObject, _ relationship: StoredRelationship, _ table: ObjectTable
  ) {
    changes.append(
      Change(
        owner: owner, table: table, flags: owner._$object.flags,
        restoreRelationship: relationship.restoring(owner)))
  }

  /// Restores relationships, and whether the next change of their owners is recorded for undo.
  mutating func takeBack(in context: ObjectContext) {
    for change in changes.reversed() {
      change.restoreRelationship()
      if change.flags.isDisjoint(with: [.inserted, .changed]) {
        change.table.forgetChange(of: change.owner)
      }
      change.owner._$object.flags = change.flags
      // Content that the save has read may have been rolled back.
      if LoadedContent.isHash(change.owner._$object.revision) {
        change.table.makeFault(change.owner)
      }
    }
    if let recordCount { context.undoLog.open.removeRecords(after: recordCount) }
    self = RemovedReferences()
  }
}
