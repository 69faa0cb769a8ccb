// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel

/// A relationship that is stored in the documents of its owner's class.
public struct GraphRelationship<Owner: GraphObject> {
  let erased: StoredRelationship

  /// Describes a relationship. Called by generated code.
  ///
  /// - Parameters:
  ///   - name: The field in documents.
  ///   - property: The property, if its name differs from the field.
  ///   - inverse: The property of the target class that contains the owners.
  public init<Storage: RelationshipStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Owner, Storage>, property: String? = nil,
    inverse: String? = nil, delete rule: DeleteRule = .nullify
  ) {
    erased = StoredRelationship(name, property ?? name, path, inverse, rule)
  }
}

/// A type-erased relationship.
final class StoredRelationship: RelationshipEnd {
  let name: String
  let path: AnyKeyPath
  let property: String
  /// The target class; nil for objects of any class.
  let target: (any GraphObject.Type)?
  let inverse: String?
  let rule: DeleteRule
  let isToMany: Bool
  /// The names of the field in older documents, most recent first.
  private(set) lazy var formerNames: [String] = findFormerNames()

  private let findFormerNames: () -> [String]
  /// The row IDs that are not resolved to objects, if these are of one class.
  let unresolvedIDs: (any GraphObject) -> [Int64]
  /// The references that are not resolved to objects, if these are of any class.
  let unresolvedReferences: (any GraphObject) -> [MixedReference]
  private let resolve: (any GraphObject, ObjectContext) -> Void
  private let forEachTarget: (any GraphObject, (any GraphObject) -> Void) -> Void
  private let removeTargets: (any GraphObject, (any GraphObject) -> Bool) -> Void
  private let appendTarget: (any GraphObject, any GraphObject) -> Void
  let dissolve: (any GraphObject) -> Void
  private let notifyObservers: (any GraphObject) -> Void
  /// Returns whether an object has row IDs in the relationship that are not resolved to objects.
  let hasRowIDs: (any GraphObject) -> Bool
  /// Returns the row IDs of a to-many relationship to objects of a class; empty if they are resolved to objects. This
  /// is a read of the property: it loads the owner, and is reported to the observer that reads it, if any.
  let readRowIDs: (any GraphObject) -> [Int64]
  /// Returns a closure that restores the current relationship of an owner.
  let restoring: (any GraphObject) -> () -> Void

  init<Owner: GraphObject, Storage: RelationshipStorage>(
    _ name: String, _ property: String, _ path: ReferenceWritableKeyPath<Owner, Storage>,
    _ inverse: String?, _ rule: DeleteRule
  ) {
    self.name = name
    self.path = path
    self.property = property
    target = Storage.target
    self.inverse = inverse
    self.rule = rule
    isToMany = Storage.isToMany
    findFormerNames = {
      Owner.modelFields.first { $0.name.hasSameBytes(as: name) }?.formerNames ?? []
    }
    // The table that calls this holds objects of the declaring class.
    func at(_ object: any GraphObject) -> Owner { ObjectTable.downcast(object) }
    resolve = { at($0)[keyPath: path].resolve(in: $1) }
    forEachTarget = { at($0)[keyPath: path].forEach($1) }
    removeTargets = { at($0)[keyPath: path].remove(where: $1) }
    appendTarget = { at($0)[keyPath: path].add($1) }
    notifyObservers = { at($0)._$notify(path) }
    dissolve = { at($0)[keyPath: path].dissolve() }
    unresolvedIDs = { at($0)[keyPath: path].rowIDs }
    unresolvedReferences = {
      (at($0)[keyPath: path] as? any MixedRelationshipStorage)?.unresolved ?? []
    }
    hasRowIDs = { at($0)[keyPath: path].hasRowIDs }
    readRowIDs = {
      let owner = at($0)
      if owner._$object.interceptsReads { owner._$willRead(path) }
      return owner[keyPath: path].rowIDs
    }
    restoring = { object in
      let before = at(object)[keyPath: path]
      return { at(object)[keyPath: path] = before }
    }
  }

  /// Returns the objects that an owner relates to, including deleted ones.
  func targets(of owner: any GraphObject, in context: ObjectContext) -> [any GraphObject] {
    if owner.isFault { owner._$load() }
    resolve(owner, context)
    var targets: [any GraphObject] = []
    forEachTarget(owner) { targets.append($0) }
    return targets
  }

  /// Passes the resolved targets of an owner to a closure, without loading any. New objects are
  /// always resolved.
  func forEachResolved(of owner: any GraphObject, _ body: (any GraphObject) -> Void) {
    forEachTarget(owner, body)
  }

  /// Returns whether an owner relates to an object.
  func contains(
    _ target: any GraphObject, of owner: any GraphObject, in context: ObjectContext
  ) -> Bool {
    targets(of: owner, in: context).contains { $0 === target }
  }

  /// Removes objects from an owner's relationship that are expected there, as a change of the owner.
  func remove(
    from owner: any GraphObject, in context: ObjectContext,
    where isGone: (any GraphObject) -> Bool
  ) {
    if !targets(of: owner, in: context).contains(where: isGone) {
      // The store has found an owner whose content in memory is older than what others have stored.
      guard owner._$object.isClean, let table = owner._$object.table else { return }
      table.makeFault(owner)
      context.inverseEpoch += 1
      guard targets(of: owner, in: context).contains(where: isGone) else { return }
    }
    if owner._$object.isWatched { owner._$willChange() }
    context.updating {
      context.updates.note(self, of: owner)
      removeTargets(owner, isGone)
    }
  }

  /// Appends an object to an owner's relationship, as a change of the owner.
  func add(_ target: any GraphObject, to owner: any GraphObject, in context: ObjectContext) {
    if owner.isFault { owner._$load() }
    resolve(owner, context)
    if owner._$object.isWatched { owner._$willChange() }
    context.updating {
      context.updates.note(self, of: owner)
      appendTarget(owner, target)
    }
  }

  /// Notifies the observers of an owner's relationship.
  func notify(_ owner: any GraphObject) { notifyObservers(owner) }

  func members(of owner: any GraphObject) -> [any GraphObject] {
    if let context = owner._$object.table?.context, !owner.isFault { resolve(owner, context) }
    var targets: [any GraphObject] = []
    forEachTarget(owner) { targets.append($0) }
    return targets
  }
}
