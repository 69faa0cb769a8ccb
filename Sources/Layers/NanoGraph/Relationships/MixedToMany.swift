// SPDX-License-Identifier: MIT

public import NanoDocument

/// An ordered relationship to objects of any class, kept as an array of collections and row ids.
public struct MixedToMany: RelationshipStorage {
  private var references: [MixedReference] = []
  public var _objects: [any GraphObject] = []

  public init() {}
  public init(_ objects: [any GraphObject]) { _objects = objects }

  public static var target: (any GraphObject.Type)? { nil }
  public static var isToMany: Bool { true }
  public var hasRowIDs: Bool { !references.isEmpty }

  /// The objects, without those that are deleted.
  public mutating func objects<Element>(of owner: some GraphObject, as type: Element.Type)
    -> [Element]
  {
    guard let context = owner._$object.table?.context else {
      return _objects.compactMap { $0 as? Element }
    }
    if context.isOutlived {
      return references.compactMap { $0.object(in: context) as? Element }
    }
    resolve(in: context)
    return _objects.compactMap { $0.isDeleted ? nil : $0 as? Element }
  }

  /// Puts other objects in place of those that are there.
  public mutating func replace(with objects: [Any], of owner: some GraphObject) {
    references = []
    _objects = objects.map { $0 as! any GraphObject }
  }

  public mutating func resolve(in context: ObjectContext) {
    guard !references.isEmpty else { return }
    _objects = references.map { $0.object(in: context) }
    references = []
  }

  public func forEach(_ show: (any GraphObject) -> Void) { for object in _objects { show(object) } }
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    _objects.removeAll { isGone($0) }
  }
  public mutating func add(_ object: any GraphObject) { _objects.append(object) }

  public mutating func dissolve() {
    guard references.isEmpty else { return }
    references = _objects.filter { $0.referenceID > 0 }.map { MixedReference($0) }
    _objects = []
  }

  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    guard writer.enter() else { return }
    writer.literal("[")
    for (index, reference) in (references + _objects.map { MixedReference($0) }).enumerated() {
      if index > 0 { writer.literal(",") }
      reference.write(to: &writer, isDocument: isDocument)
    }
    writer.literal("]")
    writer.leave()
  }

  public init(reading reader: inout JSONReader) throws(StoreError) {
    references = try [MixedReference](reading: &reader)
  }
}

/// A relationship to one object of any class, or to none.
public struct MixedToOne: RelationshipStorage {
  private var reference: MixedReference?
  private var object: (any GraphObject)?

  public init() {}
  public init(_ object: (any GraphObject)?) { self.object = object }

  public static var target: (any GraphObject.Type)? { nil }
  public static var isToMany: Bool { false }
  public var hasRowIDs: Bool { reference != nil }

  /// The object, unless it is deleted.
  public mutating func object<Object>(of owner: some GraphObject, as type: Object.Type) -> Object? {
    if let context = owner._$object.table?.context {
      if context.isOutlived { return reference?.object(in: context) as? Object }
      resolve(in: context)
    }
    guard let object, !object.isDeleted else { return nil }
    return object as? Object
  }

  /// Puts another object in place of the one that is there.
  public mutating func replace(with object: Any?, of owner: some GraphObject) {
    reference = nil
    self.object = object.map { $0 as! any GraphObject }
  }

  public mutating func resolve(in context: ObjectContext) {
    guard let reference else { return }
    object = reference.object(in: context)
    self.reference = nil
  }

  public func forEach(_ show: (any GraphObject) -> Void) { if let object { show(object) } }
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    if let object, isGone(object) { self.object = nil }
  }
  public mutating func add(_ object: any GraphObject) { self.object = object }

  public mutating func dissolve() {
    guard let object else { return }
    reference = object.referenceID > 0 ? MixedReference(object) : nil
    self.object = nil
  }

  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    if let reference = object.map({ MixedReference($0) }) ?? reference {
      reference.write(to: &writer, isDocument: isDocument)
    } else {
      writer.null()
    }
  }

  public init(reading reader: inout JSONReader) throws(StoreError) {
    reference = reader.consumeNull() ? nil : try MixedReference(reading: &reader)
  }

  public var isMissing: Bool { reference == nil && object == nil }
}
