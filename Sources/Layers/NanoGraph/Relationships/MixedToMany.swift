// SPDX-License-Identifier: MIT

public import NanoDocument

/// An ordered to-many relationship to objects of any class, stored as an array of collections and
/// row IDs. Only generated code uses it.
public struct MixedToMany: RelationshipStorage {
  private var references: [MixedReference] = []
  /// The references to objects of classes that are not registered. They are kept behind the others: ignoring
  /// them would lose them with the next save.
  private var unknown: [MixedReference] = []
  /// The resolved objects.
  public var _objects: [any GraphObject] = []

  /// Creates an empty relationship.
  public init() {}
  /// Creates a relationship to objects.
  public init(_ objects: [any GraphObject]) { _objects = objects }

  /// Nil, since the objects can be of any class.
  public static var target: (any GraphObject.Type)? { nil }
  /// True, since there can be several objects.
  public static var isToMany: Bool { true }
  /// Whether there are references that are not resolved to objects.
  public var hasRowIDs: Bool { !references.isEmpty }

  /// Returns the objects that are not deleted. Called by generated property accessors.
  public mutating func objects<Element>(of owner: some GraphObject, as type: Element.Type)
    -> [Element]
  {
    guard let context = owner._$object.table?.context else {
      return _objects.compactMap { $0 as? Element }
    }
    if context.isSuccessor {
      return references.compactMap { $0.object(in: context) }.compactMap { $0 as? Element }
    }
    resolve(in: context)
    return _objects.compactMap { $0._$object.isDeleted ? nil : $0 as? Element }
  }

  /// Replaces the objects. Called by generated property accessors.
  public mutating func replace(with objects: [any GraphObject], of owner: some GraphObject) {
    if let context = owner._$object.table?.context, !context.isSuccessor {
      // Those that no read has resolved yet, and none of a class that was registered meanwhile.
      unknown = (references + unknown).filter { context.table(named: $0.collection) == nil }
    }
    references = []
    _objects = objects
  }

  /// Resolves the references to objects, which are faults unless they are in memory.
  public mutating func resolve(in context: ObjectContext) {
    // Those of classes that were registered meanwhile.
    let known = unknown.filter { context.table(named: $0.collection) != nil }
    guard !references.isEmpty || !known.isEmpty else { return }
    if !known.isEmpty { unknown.removeAll { known.contains($0) } }
    var objects = references.isEmpty ? _objects : []
    for reference in references + known {
      if let object = reference.object(in: context) {
        objects.append(object)
      } else {
        unknown.append(reference)
      }
    }
    _objects = objects
    references = []
  }

  /// Passes the resolved objects to a closure.
  public func forEach(_ body: (any GraphObject) -> Void) { for object in _objects { body(object) } }
  /// Removes resolved objects.
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    _objects.removeAll { isGone($0) }
  }
  /// Appends an object.
  public mutating func add(_ object: any GraphObject) { _objects.append(object) }

  /// Whether another storage refers to the same objects in the same order.
  public func isSame(as other: MixedToMany) -> Bool {
    if references.isEmpty, other.references.isEmpty, unknown == other.unknown {
      return _objects.count == other._objects.count
        && zip(_objects, other._objects).allSatisfy { $0 === $1 }
    }
    func all(_ storage: MixedToMany) -> [MixedReference] {
      storage.references + storage._objects.map { MixedReference($0) } + storage.unknown
    }
    return all(self) == all(other)
  }

  /// Replaces the objects by references, so that they are not retained.
  public mutating func dissolve() {
    guard references.isEmpty else { return }
    references = _objects.filter { $0.referenceID > 0 }.map { MixedReference($0) }
    _objects = []
  }

  /// Writes the references.
  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    guard writer.enter() else { return }
    writer.literal("[")
    let objects = isDocument ? _objects : _objects.filter { $0.referenceID != 0 }
    let all = references + objects.map { MixedReference($0) } + unknown
    for (index, reference) in all.enumerated() {
      if index > 0 { writer.literal(",") }
      reference.write(to: &writer, isDocument: isDocument)
    }
    writer.literal("]")
    writer.leave()
  }

  /// Reads the references.
  public init(reading reader: inout JSONReader) throws(StoreError) {
    references = try [MixedReference](reading: &reader)
  }
}

/// A to-one relationship to an object of any class. Only generated code uses it.
public struct MixedToOne: RelationshipStorage {
  private var reference: MixedReference?
  /// The reference to an object of a class that is not registered, kept until it is replaced.
  private var unknown: MixedReference?
  private var object: (any GraphObject)?

  /// Creates an empty relationship.
  public init() {}
  /// Creates a relationship to an object.
  ///
  /// An autoclosure, because the conversion of an optional of another protocol is a branch, which Swift 6.3 does
  /// not accept in an init accessor.
  public init(_ object: @autoclosure () -> (any GraphObject)?) { self.object = object() }

  /// Nil, since the object can be of any class.
  public static var target: (any GraphObject.Type)? { nil }
  /// False, since there is at most one object.
  public static var isToMany: Bool { false }
  /// Whether there is a reference that is not resolved to an object.
  public var hasRowIDs: Bool { reference != nil }

  /// Returns the object unless it is deleted. Called by generated property accessors.
  public mutating func object<Object>(of owner: some GraphObject, as type: Object.Type) -> Object? {
    if let context = owner._$object.table?.context {
      if context.isSuccessor { return reference?.object(in: context) as? Object }
      resolve(in: context)
    }
    guard let object, !object._$object.isDeleted else { return nil }
    return object as? Object
  }

  /// Replaces the object. Called by generated property accessors.
  public mutating func replace(with object: (any GraphObject)?, of owner: some GraphObject) {
    reference = nil
    unknown = nil
    self.object = object
  }

  /// Resolves the reference to an object, which is a fault unless it is in memory.
  public mutating func resolve(in context: ObjectContext) {
    if let unknown, context.table(named: unknown.collection) != nil {
      // The class was registered meanwhile.
      reference = unknown
    }
    guard let reference else { return }
    object = reference.object(in: context)
    unknown = object == nil ? reference : nil
    self.reference = nil
  }

  /// Passes the resolved object to a closure.
  public func forEach(_ body: (any GraphObject) -> Void) { if let object { body(object) } }
  /// Removes the resolved object if it satisfies a predicate.
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    if let object, isGone(object) { self.object = nil }
  }
  /// Replaces the object.
  public mutating func add(_ object: any GraphObject) {
    unknown = nil
    self.object = object
  }

  /// Whether another storage refers to the same object.
  public func isSame(as other: MixedToOne) -> Bool {
    if let object, let other = other.object { return object === other }
    return stored == other.stored
  }

  private var stored: MixedReference? {
    object.map { MixedReference($0) } ?? reference ?? unknown
  }

  /// Replaces the object by a reference, so that it is not retained.
  public mutating func dissolve() {
    guard let object else { return }
    reference = object.referenceID > 0 ? MixedReference(object) : nil
    self.object = nil
  }

  /// Writes the reference, or null.
  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    if let stored, stored.id != 0 || isDocument {
      stored.write(to: &writer, isDocument: isDocument)
    } else {
      writer.null()
    }
  }

  /// Reads the reference, or null.
  public init(reading reader: inout JSONReader) throws(StoreError) {
    reference = reader.consumeNull() ? nil : try MixedReference(reading: &reader)
  }

  /// Whether there is no object.
  public var isMissing: Bool { stored == nil }
}

extension MixedToMany: MixedRelationshipStorage {
  var unresolved: [MixedReference] { references }
}

extension MixedToOne: MixedRelationshipStorage {
  var unresolved: [MixedReference] { reference.map { [$0] } ?? [] }
}
