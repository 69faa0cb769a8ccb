// SPDX-License-Identifier: MIT

public import NanoDocument

/// A to-one relationship to an object of a class, stored as its row ID. Only generated code uses
/// it.
@frozen
public struct ToOne<Target: GraphObject>: RelationshipStorage {
  /// The row ID, valid until it is resolved to an object; 0 for none.
  @usableFromInline var id: Int64
  /// The resolved object.
  public var _object: Target?

  /// Creates an empty relationship.
  @inlinable
  public init() {
    id = 0
    _object = nil
  }
  /// Creates a relationship to an object.
  @inlinable
  public init(_ object: Target?) {
    id = 0
    _object = object
  }

  /// The class at the other end.
  public static var target: (any GraphObject.Type)? { Target.self }
  /// False, since there is at most one object.
  public static var isToMany: Bool { false }
  /// Whether there is a row ID that is not resolved to an object.
  public var hasRowIDs: Bool { id != 0 }
  /// The row ID, if it is not resolved to an object.
  public var rowIDs: [Int64] { id == 0 ? [] : [id] }

  /// Returns the object unless it is deleted. Called by generated property accessors.
  @inlinable
  public mutating func object(of owner: some GraphObject) -> Target? {
    guard let table = owner._$object.table else { return _object }
    if _slowPath(id != 0) {
      if table.context.isSuccessor {
        return table.context.table(Target.self).object(id, as: Target.self)
      }
      resolve(in: table.context)
    }
    if let object = _object, object._$object.isDeleted { return nil }
    return _object
  }

  /// Prepares the object for a change. Called by generated property accessors.
  ///
  /// - Returns: The current object, for ``GraphObject/_$didChange(_:since:to:)``.
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

  /// Resolves the row ID to an object, which is a fault unless it is in memory.
  @inlinable
  public mutating func resolve(in context: ObjectContext) {
    guard id != 0 else { return }
    _object = context.table(Target.self).object(id, as: Target.self)
    id = 0
  }

  /// Passes the resolved object to a closure.
  public func forEach(_ body: (any GraphObject) -> Void) { if let _object { body(_object) } }

  /// Removes the resolved object if it satisfies a predicate.
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    if let object = _object, isGone(object) { _object = nil }
  }

  /// Replaces the object by an object of the target class; ignores other objects.
  public mutating func add(_ object: any GraphObject) {
    if let object = object as? Target { _object = object }
  }

  /// Whether another storage refers to the same object.
  @inlinable
  public func isSame(as other: ToOne) -> Bool {
    if let object = _object, let other = other._object { return object === other }
    // A new object may have no row ID yet.
    return isMissing == other.isMissing
      && (_object?.referenceID ?? id) == (other._object?.referenceID ?? other.id)
  }

  /// Replaces the object by its row ID, so that it is not retained.
  public mutating func dissolve() {
    guard let object = _object else { return }
    id = max(0, object.referenceID)
    _object = nil
  }

  /// Writes the row ID, or null.
  @inlinable
  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    if isMissing { return writer.null() }
    let id = _object?.referenceID ?? self.id
    if id == 0, !isDocument { return writer.null() }
    writer.reference(id, isDocument: isDocument)
  }

  /// Reads the row ID, or null.
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    id = reader.consumeNull() ? 0 : try reader.integer(as: Int64.self)
    _object = nil
  }

  /// Whether there is no object.
  @inlinable
  public var isMissing: Bool { id == 0 && _object == nil }
}
