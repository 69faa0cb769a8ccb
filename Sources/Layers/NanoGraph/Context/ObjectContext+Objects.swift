// SPDX-License-Identifier: MIT

import NanoDocument

/// Inserting and deleting.
extension ObjectContext {
  /// Makes a new object one of the context's, to be stored by the next save, and with it the objects that it
  /// relates to.
  ///
  /// An object that was deleted and is not saved yet is there again. Nothing happens to one that is there.
  ///
  /// - Returns: The object.
  /// - Throws: ``StoreError/Code/invalidArgument`` if it belongs to another context.
  @discardableResult
  public func insert<Object: GraphObject>(_ object: Object) throws -> Object {
    let table = table(Object.self)
    if let known = object._$object.table {
      guard known === table else { throw Self.otherContext(Object.collectionName) }
      if object.isGone {
        if object._$object.flags.contains(.removed) {
          table.insertAgain(object)
        } else {
          table.noteRestored(object)
        }
        undoLog.note(.inserted, object, in: table)
      }
      return object
    }
    insertNew(object, table)
    return object
  }

  func insertNew(_ object: any GraphObject, _ table: ObjectTable) {
    table.insert(object)
    undoLog.note(.inserted, object, in: table)
    tell(.willInsert, object, table)
    linkTargets(of: object, table)
  }

  static func otherContext(_ collection: String) -> StoreError {
    StoreError(
      .invalidArgument, "An object belongs to another context",
      [.collection: collection, .hint: "get it from this one by its objectID"])
  }

  /// Deletes an object with the next save, and what its delete rules say with it.
  ///
  /// It is gone from relationships at once, in memory, and from the documents of others with the save, also of
  /// those that are not in memory. Deleting it again does nothing.
  ///
  /// - Throws: ``StoreError/Code/deleteDenied`` with the relationship, if a rule is ``DeleteRule/deny`` and there
  ///   are objects; what ``GraphObject/prepareForDelete(in:)`` throws, after which the object stays, and what that
  ///   method changed stays changed; ``StoreError/Code/invalidArgument`` if the object belongs to no context or
  ///   another one.
  public func delete(_ object: some GraphObject) throws {
    guard let table = object._$object.table, table.context === self else {
      if object.isDeleted { return }
      throw StoreError(
        .invalidArgument, "An object that does not belong to the context cannot be deleted from it",
        [.collection: type(of: object).collectionName])
    }
    guard !object.isGone else { return }
    let all = try closure(of: object)
    for object in all {
      guard let table = object._$object.table else { continue }
      undoLog.note(.deleted, object, in: table)
      table.noteDeleted(object)
    }
    do {
      for object in all { try object.prepareForDelete(in: self) }
    } catch {
      for object in all {
        guard let table = object._$object.table else { continue }
        undoLog.note(.inserted, object, in: table)
        table.noteRestored(object)
      }
      throw error
    }
    for object in all { if let table = object._$object.table { tell(.willDelete, object, table) } }
  }

  /// An object and those that go with it, after looking whether a rule denies it.
  private func closure(of object: any GraphObject) throws -> [any GraphObject] {
    var all: [any GraphObject] = []
    var seen: Set<ObjectIdentifier> = []
    var denials: [(name: String, owner: any GraphObject, others: [any GraphObject])] = []
    var waiting = [object]
    while let next = waiting.popLast() {
      guard !next.isGone, seen.insert(ObjectIdentifier(next)).inserted,
        let table = next._$object.table
      else { continue }
      try next.load()
      all.append(next)
      for (name, rule, others) in ends(of: next, table) {
        switch rule {
        case .nullify: continue
        case .cascade: waiting += others
        case .deny: denials.append((name, next, others))
        }
      }
    }
    for denial in denials {
      guard let other = denial.others.first(where: { !seen.contains(ObjectIdentifier($0)) }) else {
        continue
      }
      throw StoreError(
        .deleteDenied, "An object is not deleted as long as a relationship leads to others",
        [
          .collection: type(of: denial.owner).collectionName, .field: denial.name,
          .rowID: "\(denial.owner._$object.rowID)", .actual: "\(type(of: other).collectionName)",
        ])
    }
    return all
  }

  /// The objects at the other ends of relationships whose rules ask for them.
  private func ends(
    of object: any GraphObject, _ table: ObjectTable
  ) -> [(name: String, rule: DeleteRule, others: [any GraphObject])] {
    table.relationships.filter { $0.rule != .nullify }.map {
      ($0.name, $0.rule, $0.targets(of: object, in: self).filter { !$0.isGone })
    }
      + table.inverses.filter { $0.rule != .nullify }.map {
        ($0.name, $0.rule, $0.owners(of: object, in: self))
      }
  }
}
