// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Keeping both ends of relationships consistent.
extension ObjectContext {
  /// Updates the objects at the other ends of a new object's relationships.
  func linkTargets(of owner: any GraphObject, _ table: ObjectTable) {
    for relationship in table.relationships where relationship.inverse != nil {
      for target in relationship.targets(of: owner, in: self) {
        link(owner, relationship, target)
      }
    }
    for inverse in table.inverses {
      // Assigned while the object had no context.
      for other in inverse.cachedOwners(of: owner) {
        guard let ownerTable = adopt(other), let relationship = relationship(inverse, ownerTable)
        else { continue }
        add(owner, to: other, by: relationship)
      }
    }
  }

  /// Returns the table of an object, inserting the object if it has no context. Returns nil if it
  /// belongs to another context, which the save reports.
  private func adopt(_ object: any GraphObject) -> ObjectTable? {
    let table = table(for: type(of: object))
    if object._$object.table == nil, !object._$object.isDeleted {
      // The save reports an object that cannot be inserted.
      guard (try? table.requireInsertable(object)) != nil else { return nil }
      insertNew(object, table)
    }
    return object._$object.table === table ? table : nil
  }

  /// Updates the inverse after an owner was related to a target.
  func link(_ owner: any GraphObject, _ relationship: StoredRelationship, _ target: any GraphObject)
  {
    guard let table = adopt(target), let inverse = inverse(relationship, table) else { return }
    if !inverse.isToMany {
      // The target can have only one owner: its previous owner loses it.
      for former in inverse.everyOwner(of: target, in: self) where former !== owner {
        relationship.remove(from: former, in: self) { $0 === target }
      }
    }
    if inverse.isToMany {
      inverse.add(owner, to: target, in: self)
    } else {
      inverse.set([owner], of: target, in: self)
    }
  }

  /// Updates the inverse after a target was removed from an owner's relationship.
  func unlink(
    _ owner: any GraphObject, _ relationship: StoredRelationship, _ target: any GraphObject
  ) {
    guard let table = target._$object.table, let inverse = inverse(relationship, table) else {
      return
    }
    inverse.remove(owner, from: target, in: self)
  }

  private func inverse(
    _ relationship: StoredRelationship, _ table: ObjectTable
  ) -> InverseRelationship? {
    relationship.inverse.flatMap { name in table.inverses.first { $0.name == name } }
  }

  /// Returns the relationship of the owners' class that names an inverse. The owners can have others, to objects of
  /// other classes, whose inverses have the same name.
  func relationship(_ inverse: InverseRelationship, _ owners: ObjectTable) -> StoredRelationship? {
    owners.relationships.first { $0.inverse == inverse.name && $0.target == inverse.target }
  }

  // MARK: Owners

  /// Returns the objects that relate to an object: those that the store finds, by an index unless documents have had a
  /// former name of the relationship, and those with unsaved changes. Owners that cannot be read are reported and missing.
  func owners(of target: some GraphObject, by name: String) -> [any GraphObject] {
    owners(of: target, by: name) { didFailToLoad($0, $1) }
  }

  /// Returns the owners, and passes what cannot be read to a closure.
  func owners(
    of target: some GraphObject, by name: String,
    failed: (AnyObjectID, any Error) throws -> Void
  ) rethrows -> [any GraphObject] {
    guard let table = target._$object.table,
      let inverse = table.inverses.first(where: { $0.name == name })
    else { return [] }
    let ownerTable = self.table(for: inverse.owner)
    // If there is none, `GraphDefinitions` rejects the class.
    guard let relationship = relationship(inverse, ownerTable) else { return [] }
    var owners: [any GraphObject] = []
    // The document of a new object exists if an asynchronous save is not completed yet.
    let targetID = suspendedSave?.committedRowID(of: target) ?? target._$object.rowID
    if targetID > 0 {
      noteReadingOwners()
      var ids: [Int64] = []
      do {
        let former = try ownerTable.observedFormerNames(of: relationship)
        ids = try ownerTable.documents.find(
          relationship.condition(for: [targetID], in: table, formerNames: former)
        ).withoutFieldCheck.rowIDs()
      } catch {
        try failed(
          AnyObjectID(collection: table.documents.name, rowID: target._$object.rowID), error)
      }
      for id in ids {
        let owner: any GraphObject
        do {
          owner = try ownerTable.anyExistingObject(id)
        } catch {
          try failed(AnyObjectID(collection: ownerTable.documents.name, rowID: id), error)
          continue
        }
        // The relationships of new and changed objects are in memory.
        if owner._$object.flags.isDisjoint(with: [.inserted, .changed, .deleted]) {
          owners.append(owner)
        }
      }
    }
    owners += ownerTable.unsaved.filter { relationship.contains(target, of: $0, in: self) }
    return owners.sorted { $0.sortKey < $1.sortKey }
  }
}

extension GraphObject {
  /// The sort key of owners: by row ID, followed by new objects in insertion order.
  fileprivate var sortKey: UInt64 {
    let id = _$object.rowID
    return id > 0 ? UInt64(id) : UInt64(Int64.max) + id.magnitude
  }
}

extension StoredRelationship {
  /// Returns the condition that a document of the owners' class relates to one of the objects, under
  /// the current name of the field or a former one.
  ///
  /// - Parameter formerNames: Those that documents have had. A former name has no index, except one that an earlier
  ///   version of the program has created; without it, the query reads all documents.
  func condition(
    for ids: [Int64], in table: ObjectTable, formerNames: [String]
  ) -> Condition {
    var conditions = [condition(name, ids, table)]
    var absent = [Condition.not(.exists(FieldPath(components: [name])))]
    for name in formerNames {
      conditions.append(.all(absent + [condition(name, ids, table)]))
      absent.append(.not(.exists(FieldPath(components: [name]))))
    }
    return conditions.count == 1 ? conditions[0] : .any(conditions)
  }

  private func condition(_ name: String, _ ids: [Int64], _ table: ObjectTable) -> Condition {
    func isOne(of ids: [Int64], _ path: FieldPath) -> Condition {
      ids.count == 1
        ? .comparison(.field(path), .equal, .value(.int(ids[0])))
        : .membership(.field(path), ids.map { .value(.int($0)) })
    }
    let path = FieldPath(components: [name])
    guard target == nil else { return isOne(of: ids, path) }
    let collection = FieldPath(components: ["collection"])
    let matchesTarget = Condition.all([
      .comparison(.field(collection), .equal, .value(.string(table.documents.name))),
      isOne(of: ids, FieldPath(components: ["id"])),
    ])
    guard !isToMany else { return .element(path, matchesTarget) }
    return .all([
      .comparison(
        .field(FieldPath(components: [name, "collection"])), .equal,
        .value(.string(table.documents.name))),
      isOne(of: ids, FieldPath(components: [name, "id"])),
    ])
  }
}

extension GraphObject {
  /// Updates inverses after a relationship has changed. Called by generated property accessors.
  public func _$didChange<Target: GraphObject>(
    _ property: String, since before: [Target], to after: [Target]
  ) {
    // A successor has no saves, and nothing keeps new objects in it.
    guard let table = _$object.table, !table.context.isSuccessor,
      let relationship = table.relationships.first(where: { $0.property == property })
    else { return }
    let change = RelationshipDifference(from: before, to: after)
    guard !change.isEmpty else { return }
    table.context.updating {
      for target in change.removed { table.context.unlink(self, relationship, target) }
      for target in change.added { table.context.link(self, relationship, target) }
    }
  }

  /// Updates owners after an inverse has changed. Called by generated property accessors.
  public func _$didChangeInverse<Owner: GraphObject>(
    _ name: String, since before: [Owner], to after: [Owner]
  ) {
    guard let table = _$object.table, !table.context.isSuccessor else { return }
    let context = table.context
    guard let inverse = table.inverses.first(where: { $0.name == name }),
      let relationship = context.relationship(inverse, context.table(Owner.self))
    else { return }
    context.updating {
      for owner in before where !after.contains(where: { $0 === owner }) {
        relationship.remove(from: owner, in: context) { $0 === self }
      }
      for owner in after where !before.contains(where: { $0 === owner }) {
        context.relate(owner, to: self, by: relationship)
      }
    }
  }
}

extension ObjectContext {
  /// Adds an object to a relationship of an owner, which an inverse has gained.
  fileprivate func relate<Owner: GraphObject>(
    _ owner: Owner, to target: any GraphObject, by relationship: StoredRelationship
  ) {
    if owner._$object.isDeleted { return }
    if owner._$object.table == nil {
      let owners = table(Owner.self)
      guard (try? owners.requireInsertable(owner)) != nil else { return }
      insertNew(owner, owners)
    }
    add(target, to: owner, by: relationship)
  }

  /// Adds an object to a relationship of an owner. That of a to-one relationship replaces the former one.
  private func add(
    _ target: any GraphObject, to owner: any GraphObject, by relationship: StoredRelationship
  ) {
    if relationship.contains(target, of: owner, in: self) { return }
    if !relationship.isToMany {
      for former in relationship.targets(of: owner, in: self) {
        unlink(owner, relationship, former)
      }
    }
    relationship.add(target, to: owner, in: self)
  }
}

/// The objects that a change removed from and added to a relationship. Skips the common prefix and
/// suffix, so that appending to a long list is fast.
struct RelationshipDifference<Target: GraphObject> {
  private(set) var removed: [Target] = []
  private(set) var added: [Target] = []

  var isEmpty: Bool { removed.isEmpty && added.isEmpty }

  init(from before: [Target], to after: [Target]) {
    let common = min(before.count, after.count)
    var start = 0
    while start < common, before[start] === after[start] { start += 1 }
    var end = 0
    while end < common - start, before[before.count - 1 - end] === after[after.count - 1 - end] {
      end += 1
    }
    removed = Self.objects(in: before[start..<before.count - end], notIn: after)
    added = Self.objects(in: after[start..<after.count - end], notIn: before)
  }

  private static func objects(in some: ArraySlice<Target>, notIn others: [Target]) -> [Target] {
    guard !some.isEmpty else { return [] }
    if some.count <= linearSearchLimit {
      var found: [Target] = []
      for object in some where !others.contains(where: { $0 === object }) {
        if !found.contains(where: { $0 === object }) { found.append(object) }
      }
      return found
    }
    var seen = Set(others.map { ObjectIdentifier($0) })
    return some.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  /// Arbitrary: up to this number, objects are searched linearly.
  private static var linearSearchLimit: Int { 4 }
}
