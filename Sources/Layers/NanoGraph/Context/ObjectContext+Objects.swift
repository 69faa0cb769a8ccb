// SPDX-License-Identifier: MIT

import NanoDocument

/// Inserting and deleting objects.
extension ObjectContext {
  /// Inserts a new object and the objects that it relates to. The next save stores them.
  ///
  /// A deleted object is restored, whether or not its deletion is saved. Before the save, an object
  /// without unsaved changes when it was deleted then has what is stored by now. After the save, it has its
  /// own content; if others have restored it in the store too, the next save detects a conflict. Inserting an
  /// object that already belongs to the context has no effect.
  ///
  /// - Returns: The object.
  /// - Throws: ``StoreError/Code/invalidArgument`` if the object belongs to another context, has no
  ///   content, or has unresolved relationships from another source, whose row IDs have no meaning
  ///   in this context.
  @discardableResult
  public func insert<Object: GraphObject>(_ object: Object) throws -> Object {
    try updating { try inserted(object) }
  }

  private func inserted<Object: GraphObject>(_ object: Object) throws -> Object {
    let table = table(Object.self)
    if let current = object._$object.table {
      guard current === table else { throw Self.otherContext(Object.collectionName) }
      if object._$object.isDeleted {
        guard object._$object.hasContent else { throw Self.noContent(Object.collectionName) }
        inverseEpoch += 1
        if object._$object.flags.contains(.removed) {
          for relationship in table.relationships {
            _ = relationship.targets(of: object, in: self)
          }
          // Related objects may have been deleted since.
          restoredReferenceToDeleted = true
          try table.insertAgain(object)
        } else {
          try table.restore(object)
        }
        undoLog.note(.inserted, object, in: table)
      }
      return object
    }
    try table.requireInsertable(object)
    insertNew(object, table)
    return object
  }

  func insertNew(_ object: any GraphObject, _ table: ObjectTable) {
    table.insert(object)
    undoLog.note(.inserted, object, in: table)
    notify(.willInsert, object, table)
    guard !table.relationships.isEmpty || !table.inverses.isEmpty else { return }
    // A queue instead of recursion: a chain of new objects can be longer than the stack is deep.
    linkQueue.append((object, table))
    guard linkQueue.count == 1 else { return }
    var next = 0
    while next < linkQueue.count {
      linkTargets(of: linkQueue[next].0, linkQueue[next].1)
      next += 1
    }
    linkQueue.removeAll()
  }

  static func noContent(_ collection: String) -> StoreError {
    StoreError(
      .invalidArgument, "An object without content cannot be inserted",
      [.collection: collection, .hint: "load it in its own context first"])
  }

  static func otherContext(_ collection: String) -> StoreError {
    StoreError(
      .invalidArgument, "An object belongs to another context",
      [.collection: collection, .hint: "get it from this context by its objectID"])
  }

  /// Marks an object for deletion by the next save, and applies its delete rules.
  ///
  /// The object disappears from relationships in memory immediately. The save removes it from the
  /// relationships of stored documents, including those that are not in memory, if the context has
  /// registered their classes; see ``register(_:)``. Deleting a deleted object has no effect.
  /// Deleting an object whose document no longer exists removes it from relationships.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied`` with the relationship if its rule is
  ///   ``DeleteRule/deny`` and there are related objects; ``StoreError/Code/invalidArgument`` if
  ///   the object belongs to no context or to another one; and errors of
  ///   ``GraphObject/prepareForDelete(in:)``, after which the object is kept, as are the changes
  ///   that the method made to other objects. Those that it made to an object without other unsaved
  ///   changes that was to be deleted are discarded.
  public func delete(_ object: some GraphObject) throws {
    guard let table = object._$object.table, table.context === self else {
      if object._$object.isDeleted { return }
      throw StoreError(
        .invalidArgument, "An object that does not belong to the context cannot be deleted",
        [.collection: type(of: object).collectionName])
    }
    guard !object._$object.isDeleted else { return }
    try updating { try delete(object, table) }
  }

  private func delete(_ object: some GraphObject, _ table: ObjectTable) throws {
    guard try table.documentExists(object) else {
      // The document is already deleted; the save removes it from the relationships of other
      // objects.
      return table.noteDeleted(object)
    }
    let all = try deletionClosure(of: object)
    for object in all {
      guard let table = object._$object.table else { continue }
      undoLog.note(.deleted, object, in: table)
      table.noteDeleted(object)
    }
    do {
      for object in all { try object.prepareForDelete(in: self) }
    } catch {
      for object in all {
        // The method may have restored objects itself, or saved their deletion.
        guard let table = object._$object.table, object._$object.isDeleted,
          !object._$object.flags.contains(.removed)
        else { continue }
        undoLog.note(.inserted, object, in: table)
        let isChanged = table.isChangedSinceDeletion(object)
        table.noteRestored(object)
        if isChanged { table.makeFault(object) }
      }
      inverseEpoch += 1
      throw error
    }
    for object in all {
      if let table = object._$object.table { notify(.willDelete, object, table) }
    }
  }

  /// Returns an object and the objects that cascade rules delete with it, unless a rule denies the
  /// deletion.
  private func deletionClosure(of object: any GraphObject) throws -> [any GraphObject] {
    var all: [any GraphObject] = []
    var seen: Set<ObjectIdentifier> = []
    var denials: [(name: String, owner: any GraphObject, others: [any GraphObject])] = []
    var pending = [object]
    // A rule must not miss an owner that others have just stored under a former name.
    expireFormerNames()
    while let next = pending.popLast() {
      guard !next._$object.isDeleted, seen.insert(ObjectIdentifier(next)).inserted,
        let table = next._$object.table, try table.documentExists(next)
      else { continue }
      all.append(next)
      for (name, rule, others) in try ends(of: next, table) {
        switch rule {
        case .nullify: continue
        case .cascade: pending += others
        case .deny: denials.append((name, next, others))
        }
      }
    }
    for denial in denials {
      guard let other = denial.others.first(where: { !seen.contains(ObjectIdentifier($0)) }) else {
        continue
      }
      throw Self.deletionDenied(by: denial.name, of: denial.owner, other)
    }
    return all
  }

  static func deletionDenied(
    by name: String, of object: any GraphObject, _ related: any GraphObject
  ) -> StoreError {
    StoreError(
      .deleteDenied, "A delete rule denies deleting an object with related objects",
      [
        .collection: type(of: object).collectionName, .field: name,
        .rowID: "\(object._$object.rowID)", .actual: "\(type(of: related).collectionName)",
      ])
  }

  /// Returns the related objects of each relationship whose rule is not `nullify`.
  private func ends(
    of object: any GraphObject, _ table: ObjectTable
  ) throws -> [(name: String, rule: DeleteRule, others: [any GraphObject])] {
    var ends = table.relationships.filter { $0.rule != .nullify }.map {
      ($0.name, $0.rule, $0.targets(of: object, in: self).filter(documentExists))
    }
    for inverse in table.inverses where inverse.rule != .nullify {
      let owners = try owners(of: object, by: inverse.name) { throw $1 }
      ends.append((inverse.name, inverse.rule, owners.filter { !$0._$object.isDeleted }))
    }
    return ends
  }

  private func documentExists(_ object: any GraphObject) -> Bool {
    !object._$object.isDeleted && (try? object._$object.table?.documentExists(object)) ?? true
  }
}
