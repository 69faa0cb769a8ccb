// SPDX-License-Identifier: MIT

/// What the property of an inverse relationship keeps: owners, once someone asked for them. Documents hold
/// none of it.
public protocol InverseStorage {
  static var owner: any GraphObject.Type { get }
  static var isToMany: Bool { get }
  /// When they were looked up, as ``ObjectContext`` counts; 0 for not yet.
  var loadedAt: Int { get set }
  var owners: [any GraphObject] { get }
  mutating func replace(with owners: [any GraphObject])
}

/// The objects that have this one in a relationship, by their row ids.
public struct InverseMany<Owner: GraphObject>: InverseStorage {
  public var _objects: [Owner] = []
  public var loadedAt = 0

  public init() {}
  public init(_ owners: [Owner]) { _objects = owners }

  public static var owner: any GraphObject.Type { Owner.self }
  public static var isToMany: Bool { true }
  public var owners: [any GraphObject] { _objects }
  public mutating func replace(with owners: [any GraphObject]) {
    _objects = owners.compactMap { $0 as? Owner }
  }

  /// The owners, without those that are deleted.
  public mutating func objects(of target: some GraphObject, _ name: String) -> [Owner] {
    if let context = target._$object.table?.context, context.isOutlived {
      return context.owners(of: target, by: name).compactMap { $0 as? Owner }
    }
    load(target, name)
    return _objects.filter { !$0.isDeleted }
  }

  /// Makes the owners ready to be changed in place.
  public mutating func beginChange(of target: some GraphObject, _ name: String) -> [Owner] {
    load(target, name)
    _objects.removeAll { $0.isDeleted }
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

/// The object that has this one in a relationship.
public struct InverseOne<Owner: GraphObject>: InverseStorage {
  public var _object: Owner?
  public var loadedAt = 0

  public init() {}
  public init(_ owner: Owner?) { _object = owner }

  public static var owner: any GraphObject.Type { Owner.self }
  public static var isToMany: Bool { false }
  public var owners: [any GraphObject] { _object.map { [$0] } ?? [] }
  public mutating func replace(with owners: [any GraphObject]) {
    _object = owners.lazy.compactMap { $0 as? Owner }.first
  }

  /// The owner, unless it is deleted.
  public mutating func object(of target: some GraphObject, _ name: String) -> Owner? {
    if let context = target._$object.table?.context, loadedAt != context.inverseEpoch {
      let owners = context.owners(of: target, by: name)
      if context.isOutlived { return owners.lazy.compactMap { $0 as? Owner }.first }
      replace(with: owners)
      loadedAt = context.inverseEpoch
    }
    guard let owner = _object, !owner.isDeleted else { return nil }
    return owner
  }

  /// Makes the owner ready to be replaced.
  public mutating func beginChange(of target: some GraphObject, _ name: String) -> [Owner] {
    object(of: target, name).map { [$0] } ?? []
  }
}

/// A relationship that another class keeps, as the class at its other end shows it.
public struct GraphInverse<Target: GraphObject> {
  let erased: InverseRelationship

  /// - Parameter name: The property.
  public init<Storage: InverseStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Target, Storage>,
    delete rule: DeleteRule = .nullify
  ) {
    erased = InverseRelationship(name, path, rule)
  }
}

/// The same for any class.
final class InverseRelationship {
  let name: String
  let owner: any GraphObject.Type
  let rule: DeleteRule
  let isToMany: Bool
  private let get: (any GraphObject) -> any InverseStorage
  private let change: (any GraphObject, (inout any InverseStorage) -> Void) -> Void

  init<Target: GraphObject, Storage: InverseStorage>(
    _ name: String, _ path: ReferenceWritableKeyPath<Target, Storage>, _ rule: DeleteRule
  ) {
    self.name = name
    self.rule = rule
    owner = Storage.owner
    isToMany = Storage.isToMany
    func at(_ object: any GraphObject) -> Target { unsafeDowncast(object, to: Target.self) }
    get = { at($0)[keyPath: path] }
    change = { object, change in
      var storage: any InverseStorage = at(object)[keyPath: path]
      change(&storage)
      if let storage = storage as? Storage { at(object)[keyPath: path] = storage }
    }
  }

  /// The owners that are known, whether they still count or not.
  func known(of target: any GraphObject) -> [any GraphObject] { get(target).owners }

  /// The owners, looked up if they are not known; also those that are one too many for what the property can
  /// hold.
  func everyOwner(
    of target: any GraphObject, in context: ObjectContext
  ) -> [any GraphObject] {
    guard get(target).loadedAt == context.inverseEpoch else {
      return context.owners(of: target, by: name)
    }
    return known(of: target).filter { !$0.isDeleted }
  }

  func set(
    _ owners: [any GraphObject], of target: any GraphObject, in context: ObjectContext
  ) {
    change(target) { storage in
      storage.replace(with: owners)
      storage.loadedAt = context.inverseEpoch
    }
  }

  /// One more owner has related to the object.
  func add(_ owner: any GraphObject, to target: any GraphObject, in context: ObjectContext) {
    guard get(target).loadedAt == context.inverseEpoch else { return }
    let known = get(target).owners
    guard !known.contains(where: { $0 === owner }) else { return }
    set(known + [owner], of: target, in: context)
  }

  /// An owner relates to the object no more.
  func remove(_ owner: any GraphObject, from target: any GraphObject, in context: ObjectContext) {
    guard get(target).loadedAt == context.inverseEpoch else { return }
    set(get(target).owners.filter { $0 !== owner }, of: target, in: context)
  }

  /// What is known counts from now on; for new objects, which nobody can relate to in the store.
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
