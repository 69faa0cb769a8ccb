// SPDX-License-Identifier: MIT

/// A relationship that is kept in the documents of its owner's class.
public struct GraphRelationship<Owner: GraphObject> {
  let erased: StoredRelationship

  /// - Parameters:
  ///   - name: The field in documents.
  ///   - property: The property, if it has another name.
  ///   - inverse: The property of the other class that shows the owners.
  public init<Storage: RelationshipStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Owner, Storage>, property: String? = nil,
    inverse: String? = nil, delete rule: DeleteRule = .nullify
  ) {
    erased = StoredRelationship(name, property ?? name, path, inverse, rule)
  }
}

/// The same for any class.
final class StoredRelationship {
  let name: String
  let property: String
  /// Nil if it may be any.
  let target: (any GraphObject.Type)?
  let inverse: String?
  let rule: DeleteRule
  let isToMany: Bool

  private let resolve: (any GraphObject, ObjectContext) -> Void
  private let show: (any GraphObject, (any GraphObject) -> Void) -> Void
  private let take: (any GraphObject, (any GraphObject) -> Bool) -> Void
  private let put: (any GraphObject, any GraphObject) -> Void
  let dissolve: (any GraphObject) -> Void
  /// Whether an object has row ids there that are no objects yet.
  let hasRowIDs: (any GraphObject) -> Bool
  /// What gives an owner the relationship back that it has now.
  let restoring: (any GraphObject) -> () -> Void

  init<Owner: GraphObject, Storage: RelationshipStorage>(
    _ name: String, _ property: String, _ path: ReferenceWritableKeyPath<Owner, Storage>,
    _ inverse: String?, _ rule: DeleteRule
  ) {
    self.name = name
    self.property = property
    target = Storage.target
    self.inverse = inverse
    self.rule = rule
    isToMany = Storage.isToMany
    func at(_ object: any GraphObject) -> Owner { unsafeDowncast(object, to: Owner.self) }
    resolve = { at($0)[keyPath: path].resolve(in: $1) }
    show = { at($0)[keyPath: path].forEach($1) }
    take = { at($0)[keyPath: path].remove(where: $1) }
    put = { at($0)[keyPath: path].add($1) }
    dissolve = { at($0)[keyPath: path].dissolve() }
    hasRowIDs = { at($0)[keyPath: path].hasRowIDs }
    restoring = { object in
      let before = at(object)[keyPath: path]
      return { at(object)[keyPath: path] = before }
    }
  }

  /// The objects that an owner relates to, deleted ones too.
  func targets(of owner: any GraphObject, in context: ObjectContext) -> [any GraphObject] {
    if owner.isFault { owner._$load() }
    resolve(owner, context)
    var targets: [any GraphObject] = []
    show(owner) { targets.append($0) }
    return targets
  }

  /// Shows those of an owner's targets that are in memory as such, which new ones always are, and loads none.
  func forEachKnown(of owner: any GraphObject, _ body: (any GraphObject) -> Void) {
    show(owner, body)
  }

  /// Whether an owner relates to an object.
  func contains(
    _ target: any GraphObject, of owner: any GraphObject, in context: ObjectContext
  ) -> Bool {
    targets(of: owner, in: context).contains { $0 === target }
  }

  /// Takes objects out of an owner's relationship, if there are such, as a change of the owner.
  func remove(
    from owner: any GraphObject, in context: ObjectContext,
    where isGone: (any GraphObject) -> Bool
  ) {
    guard targets(of: owner, in: context).contains(where: isGone) else { return }
    if owner._$object.isWatched { owner._$willChange() }
    take(owner, isGone)
  }

  /// Puts an object at the end of an owner's relationship, as a change of the owner.
  func add(_ target: any GraphObject, to owner: any GraphObject, in context: ObjectContext) {
    if owner.isFault { owner._$load() }
    resolve(owner, context)
    if owner._$object.isWatched { owner._$willChange() }
    put(owner, target)
  }
}
