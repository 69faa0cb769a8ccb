// SPDX-License-Identifier: MIT

public import NanoDocument

/// An ordered to-many relationship to objects of a class, stored as an array of row IDs. Only
/// generated code uses it.
@frozen
public struct ToMany<Target: GraphObject>: RelationshipStorage {
  /// The row IDs, valid until they are resolved to objects.
  @usableFromInline var ids: [Int64]
  /// The resolved objects.
  public var _objects: [Target]
  @usableFromInline var isResolved: Bool

  /// Creates an empty relationship.
  @inlinable
  public init() {
    ids = []
    _objects = []
    isResolved = true
  }
  /// Creates a relationship to objects.
  @inlinable
  public init(_ objects: [Target]) {
    ids = []
    _objects = objects
    isResolved = true
  }

  /// The class at the other end.
  public static var target: (any GraphObject.Type)? { Target.self }
  /// True, since there can be several objects.
  public static var isToMany: Bool { true }
  /// Whether there are row IDs that are not resolved to objects.
  public var hasRowIDs: Bool { !isResolved && !ids.isEmpty }
  /// The row IDs that are not resolved to objects.
  public var rowIDs: [Int64] { isResolved ? [] : ids }

  /// Returns the objects that are not deleted. Called by generated property accessors.
  @inlinable
  public mutating func objects(of owner: some GraphObject) -> [Target] {
    guard let table = owner._$object.table else { return _objects }
    if _slowPath(!isResolved) {
      if table.context.isSuccessor { return resolved(in: table.context)._objects }
      resolve(in: table.context)
    }
    if _slowPath(table.context.mayContainDeleted) {
      return _objects.filter { !$0._$object.isDeleted }
    }
    return _objects
  }

  /// Prepares the objects for a change in place. Called by generated property accessors.
  ///
  /// - Returns: The current objects, for ``GraphObject/_$didChange(_:since:to:)``. Release the
  ///   array before the change if it is not needed; otherwise, the change copies it.
  @inlinable
  @discardableResult
  public mutating func beginChange(of owner: some GraphObject) -> [Target] {
    guard let table = owner._$object.table else {
      precondition(
        isResolved,
        "An object that was read without a context, or whose context is closed, cannot change its relationships."
      )
      return []
    }
    if !isResolved { resolve(in: table.context) }
    if table.context.mayContainDeleted { _objects.removeAll { $0._$object.isDeleted } }
    return _objects
  }

  /// Replaces the objects by a changed copy of them. Called by generated property accessors.
  ///
  /// - Parameter before: What ``beginChange(of:)`` returned.
  @inlinable
  public mutating func endChange(_ objects: [Target], since before: [Target]) {
    let isSame = _objects.withUnsafeBufferPointer { current in
      before.withUnsafeBufferPointer {
        $0.baseAddress == current.baseAddress && $0.count == current.count
      }
    }
    // One of the two changes would be lost. A bridged array has other addresses each time.
    precondition(
      isSame || _objects.elementsEqual(before) { $0 === $1 },
      "A relationship was changed by code that changes it in place.")
    _objects = objects
  }

  @usableFromInline
  func resolved(in context: ObjectContext) -> ToMany {
    var copy = self
    copy.resolve(in: context)
    return copy
  }

  /// Resolves the row IDs to objects, which are faults unless they are in memory.
  @inlinable
  public mutating func resolve(in context: ObjectContext) {
    guard !isResolved else { return }
    let table = context.table(Target.self)
    _objects = ids.map { table.object($0, as: Target.self) }
    table.noteList(ids)
    ids = []
    isResolved = true
  }

  /// Passes the resolved objects to a closure.
  public func forEach(_ body: (any GraphObject) -> Void) { for object in _objects { body(object) } }

  /// Removes resolved objects.
  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    _objects.removeAll { isGone($0) }
  }

  /// Appends an object of the target class; ignores other objects.
  public mutating func add(_ object: any GraphObject) {
    if let object = object as? Target { _objects.append(object) }
  }

  /// Whether another storage refers to the same objects in the same order.
  @inlinable
  public func isSame(as other: ToMany) -> Bool {
    if isResolved, other.isResolved {
      return _objects.count == other._objects.count
        && zip(_objects, other._objects).allSatisfy { $0 === $1 }
    }
    func ids(_ storage: ToMany) -> [Int64] {
      storage.isResolved ? storage._objects.map(\.referenceID) : storage.ids
    }
    return ids(self) == ids(other)
  }

  /// Replaces the objects by row IDs, so that they are not retained.
  public mutating func dissolve() {
    guard isResolved else { return }
    ids = _objects.compactMap { $0.referenceID > 0 ? $0.referenceID : nil }
    _objects = []
    isResolved = false
  }

  /// Writes the row IDs.
  @inlinable
  public func write(to writer: inout JSONWriter, isDocument: Bool) {
    guard writer.enter() else { return }
    writer.literal("[")
    var isFirst = true
    func write(_ id: Int64) {
      if isFirst { isFirst = false } else { writer.literal(",") }
      writer.reference(id, isDocument: isDocument)
    }
    if isResolved {
      for object in _objects {
        let id = object.referenceID
        if id != 0 || isDocument { write(id) }
      }
    } else {
      for id in ids { write(id) }
    }
    writer.literal("]")
    writer.leave()
  }

  /// Reads the row IDs.
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    ids = try [Int64](reading: &reader)
    _objects = []
    isResolved = ids.isEmpty
  }
}
