// SPDX-License-Identifier: MIT

public import NanoDocument

/// A relationship to one object of a class, or to none, kept as its row id.
@frozen
public struct ToOne<Target: GraphObject>: RelationshipStorage {
  /// What counts until the object is there; 0 for none.
  @usableFromInline var id: Int64
  public var _object: Target?

  @inlinable
  public init() {
    id = 0
    _object = nil
  }
  @inlinable
  public init(_ object: Target?) {
    id = 0
    _object = object
  }

  public static var target: (any GraphObject.Type)? { Target.self }
  public static var isToMany: Bool { false }
  public var hasRowIDs: Bool { id != 0 }

  /// The object, unless it is deleted.
  @inlinable
  public mutating func object(of owner: some GraphObject) -> Target? {
    guard let table = owner._$object.table else { return _object }
    if _slowPath(id != 0) {
      if table.context.isOutlived {
        return table.context.table(Target.self).object(id, as: Target.self)
      }
      resolve(in: table.context)
    }
    if let object = _object, object.isDeleted { return nil }
    return _object
  }

  /// Makes the object ready to be replaced.
  ///
  /// - Returns: What it was, for ``GraphObject/_$didChange(_:since:to:)``.
  @inlinable
  @discardableResult
  public mutating func beginChange(of owner: some GraphObject) -> [Target] {
    guard let table = owner._$object.table else {
      id = 0
      return []
    }
    if id != 0 { resolve(in: table.context) }
    return _object.map { [$0] } ?? []
  }

  @inlinable
  public mutating func resolve(in context: ObjectContext) {
    guard id != 0 else { return }
    _object = context.table(Target.self).object(id, as: Target.self)
    id = 0
  }

  public func forEach(_ show: (any GraphObject) -> Void) { if let _object { show(_object) } }

  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    if let object = _object, isGone(object) { _object = nil }
  }

  public mutating func add(_ object: any GraphObject) {
    if let object = object as? Target { _object = object }
  }

  public mutating func dissolve() {
    guard let object = _object else { return }
    id = max(0, object.referenceID)
    _object = nil
  }

  @inlinable
  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    if isMissing { return writer.null() }
    writer.reference(_object?.referenceID ?? id, isDocument: isDocument)
  }

  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    id = reader.consumeNull() ? 0 : try reader.integer(as: Int64.self)
    _object = nil
  }

  @inlinable
  public var isMissing: Bool { id == 0 && _object == nil }
}
