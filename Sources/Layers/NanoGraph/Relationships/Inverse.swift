// SPDX-License-Identifier: MIT

/// The storage of an inverse relationship: a cache of the owners. It is not stored in documents.
///
/// Only generated code uses it.
public protocol InverseStorage {
  /// The class of the owners.
  static var owner: any GraphObject.Type { get }
  /// Whether there can be several owners.
  static var isToMany: Bool { get }
  /// The epoch of the ``ObjectContext`` in which the owners were loaded; 0 if they are not loaded.
  var loadedAt: Int { get set }
  /// The cached owners.
  var owners: [any GraphObject] { get }
  /// Replaces the cached owners.
  mutating func replace(with owners: [any GraphObject])
}

extension InverseStorage {
  /// Whether another storage has the same owners that are not deleted. Called by generated property accessors.
  public func hasSameObjects(as other: Self) -> Bool {
    let some = owners.filter { !$0._$object.isDeleted }
    let others = other.owners.filter { !$0._$object.isDeleted }
    return some.count == others.count && zip(some, others).allSatisfy { $0 === $1 }
  }
}

/// The objects that relate to this one, ordered by row ID.
public struct InverseMany<Owner: GraphObject>: InverseStorage {
  /// The cached owners.
  public var _objects: [Owner] = []
  /// The epoch of the context in which the owners were loaded; 0 if they are not loaded.
  public var loadedAt = 0

  /// Creates storage without owners.
  public init() {}
  /// Creates storage with owners that an object without a context is assigned.
  public init(_ owners: [Owner]) { _objects = owners }

  /// The class of the owners.
  public static var owner: any GraphObject.Type { Owner.self }
  /// True, since there can be several owners.
  public static var isToMany: Bool { true }
  /// The cached owners.
  public var owners: [any GraphObject] { _objects }
  /// Replaces the cached owners.
  public mutating func replace(with owners: [any GraphObject]) {
    _objects = owners.compactMap { $0 as? Owner }
  }

  /// Returns the owners that are not deleted. Called by generated property accessors.
  public mutating func objects(of target: some GraphObject, _ name: String) -> [Owner] {
    if let context = target._$object.table?.context, context.isSuccessor {
      return context.owners(of: target, by: name).compactMap { $0 as? Owner }
    }
    load(target, name)
    return _objects.filter { !$0._$object.isDeleted }
  }

  /// Prepares the owners for a change in place. Called by generated property accessors.
  public mutating func beginChange(of target: some GraphObject, _ name: String) -> [Owner] {
    load(target, name)
    _objects.removeAll { $0._$object.isDeleted }
    return _objects
  }

  private mutating func load(_ target: some GraphObject, _ name: String) {
    guard let context = target._$object.table?.context, loadedAt != context.inverseEpoch else {
      return
    }
    replace(with: context.owners(of: target, by: name))
    loadedAt = context.inverseEpoch
  }
}

/// The object that relates to this one, or nil.
public struct InverseOne<Owner: GraphObject>: InverseStorage {
  /// The cached owner.
  public var _object: Owner?
  /// The epoch of the context in which the owner was loaded; 0 if it is not loaded.
  public var loadedAt = 0

  /// Creates storage without an owner.
  public init() {}
  /// Creates storage with the owner that an object without a context is assigned.
  public init(_ owner: Owner?) { _object = owner }

  /// The class of the owner.
  public static var owner: any GraphObject.Type { Owner.self }
  /// False, since there is at most one owner.
  public static var isToMany: Bool { false }
  /// The cached owner, as an array.
  public var owners: [any GraphObject] { _object.map { [$0] } ?? [] }
  /// Replaces the cached owner by the first of the given owners.
  public mutating func replace(with owners: [any GraphObject]) {
    _object = owners.lazy.compactMap { $0 as? Owner }.first
  }

  /// Returns the owner unless it is deleted. Called by generated property accessors.
  public mutating func object(of target: some GraphObject, _ name: String) -> Owner? {
    if let context = target._$object.table?.context, loadedAt != context.inverseEpoch {
      let owners = context.owners(of: target, by: name)
      if context.isSuccessor { return owners.lazy.compactMap { $0 as? Owner }.first }
      replace(with: owners)
      loadedAt = context.inverseEpoch
    }
    guard let owner = _object, !owner._$object.isDeleted else { return nil }
    return owner
  }

  /// Prepares the owner for a change. Called by generated property accessors.
  public mutating func beginChange(of target: some GraphObject, _ name: String) -> [Owner] {
    object(of: target, name).map { [$0] } ?? []
  }
}

/// The inverse of a relationship that another class stores.
public struct GraphInverse<Target: GraphObject> {
  let erased: InverseRelationship

  /// Describes an inverse relationship. Called by generated code.
  ///
  /// - Parameter name: The property.
  public init<Storage: InverseStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Target, Storage>,
    delete rule: DeleteRule = .nullify
  ) {
    erased = InverseRelationship(name, path, rule)
  }
}

/// A type-erased inverse relationship.
final class InverseRelationship: RelationshipEnd {
  let name: String
  let path: AnyKeyPath
  /// The class that declares the inverse.
  let target: any GraphObject.Type
  let owner: any GraphObject.Type
  let rule: DeleteRule
  let isToMany: Bool
  private let get: (any GraphObject) -> any InverseStorage
  private let put: (any InverseStorage, any GraphObject) -> Void
  private let notifyObservers: (any GraphObject) -> Void

  init<Target: GraphObject, Storage: InverseStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Target, Storage>, _ rule: DeleteRule
  ) {
    self.name = name
    self.path = path
    self.rule = rule
    target = Target.self
    owner = Storage.owner
    isToMany = Storage.isToMany
    // The table that calls this holds objects of the declaring class.
    func at(_ object: any GraphObject) -> Target { ObjectTable.downcast(object) }
    get = { at($0)[keyPath: path] }
    put = { storage, object in
      if let storage = storage as? Storage { at(object)[keyPath: path] = storage }
    }
    notifyObservers = { at($0)._$notify(path) }
  }

  /// Changes the cached owners, and notifies observers if they are others.
  private func change(
    _ target: any GraphObject, _ change: (inout any InverseStorage) -> Void
  ) {
    var storage = get(target)
    change(&storage)
    guard target._$object.isObserved, let context = target._$object.table?.context else {
      return put(storage, target)
    }
    context.updating {
      context.updates.note(self, of: target)
      put(storage, target)
    }
  }

  /// Notifies the observers of a target's inverse relationship.
  func notify(_ target: any GraphObject) { notifyObservers(target) }

  func members(of target: any GraphObject) -> [any GraphObject] { get(target).owners }

  /// Returns the cached owners, which can be out of date.
  func cachedOwners(of target: any GraphObject) -> [any GraphObject] { get(target).owners }

  /// Returns all owners, loading them if the cache is out of date. Includes owners in excess of
  /// what a to-one property can hold.
  func everyOwner(
    of target: any GraphObject, in context: ObjectContext
  ) -> [any GraphObject] {
    guard get(target).loadedAt == context.inverseEpoch else {
      return context.owners(of: target, by: name)
    }
    return cachedOwners(of: target).filter { !$0._$object.isDeleted }
  }

  func set(
    _ owners: [any GraphObject], of target: any GraphObject, in context: ObjectContext
  ) {
    change(target) { storage in
      storage.replace(with: owners)
      storage.loadedAt = context.inverseEpoch
    }
  }

  /// Reads the owners again if they have been read before.
  func reload(_ target: any GraphObject, in context: ObjectContext) {
    guard get(target).loadedAt != 0 else { return }
    set(context.owners(of: target, by: name), of: target, in: context)
  }

  /// Adds an owner to the cache.
  func add(_ owner: any GraphObject, to target: any GraphObject, in context: ObjectContext) {
    guard get(target).loadedAt == context.inverseEpoch else { return }
    let owners = get(target).owners
    guard !owners.contains(where: { $0 === owner }) else { return }
    set(owners + [owner], of: target, in: context)
  }

  /// Removes an owner from the cache.
  func remove(_ owner: any GraphObject, from target: any GraphObject, in context: ObjectContext) {
    guard get(target).loadedAt == context.inverseEpoch else { return }
    set(get(target).owners.filter { $0 !== owner }, of: target, in: context)
  }

  /// Marks the cache of a new object as current, since no stored object can relate to it.
  func begin(_ target: any GraphObject, in context: ObjectContext) {
    change(target) { $0.loadedAt = context.inverseEpoch }
  }

  func dissolve(_ target: any GraphObject) {
    change(target) { storage in
      storage.replace(with: [])
      storage.loadedAt = 0
    }
  }
}
