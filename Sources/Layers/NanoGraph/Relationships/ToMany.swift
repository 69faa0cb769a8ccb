// SPDX-License-Identifier: MIT

public import NanoDocument

/// An ordered relationship to objects of one class, kept as an array of row ids.
@frozen
public struct ToMany<Target: GraphObject>: RelationshipStorage {
  /// What counts until objects are there.
  @usableFromInline var ids: [Int64]
  public var _objects: [Target]
  @usableFromInline var isResolved: Bool

  @inlinable
  public init() {
    ids = []
    _objects = []
    isResolved = true
  }
  @inlinable
  public init(_ objects: [Target]) {
    ids = []
    _objects = objects
    isResolved = true
  }

  public static var target: (any GraphObject.Type)? { Target.self }
  public static var isToMany: Bool { true }
  public var hasRowIDs: Bool { !isResolved && !ids.isEmpty }

  /// The objects, without those that are deleted.
  @inlinable
  public mutating func objects(of owner: some GraphObject) -> [Target] {
    guard let table = owner._$object.table else { return _objects }
    if _slowPath(!isResolved) {
      if table.context.isOutlived { return resolved(in: table.context)._objects }
      resolve(in: table.context)
    }
    if _slowPath(table.context.mayHoldGone) { return _objects.filter { !$0.isDeleted } }
    return _objects
  }

  /// Makes the objects ready to be changed in place.
  ///
  /// - Returns: What they were, for ``GraphObject/_$didChange(_:since:to:)``. Who has no use for it lets go of
  ///   it at once, or the change copies the array.
  @inlinable
  @discardableResult
  public mutating func beginChange(of owner: some GraphObject) -> [Target] {
    guard let table = owner._$object.table else {
      precondition(
        isResolved,
        "The relationship of an object that was read without a context, or whose context is closed, cannot change."
      )
      return []
    }
    if !isResolved { resolve(in: table.context) }
    if table.context.mayHoldGone { _objects.removeAll { $0.isDeleted } }
    return _objects
  }

  @usableFromInline
  func resolved(in context: ObjectContext) -> ToMany {
    var copy = self
    copy.resolve(in: context)
    return copy
  }

  @inlinable
  public mutating func resolve(in context: ObjectContext) {
    guard !isResolved else { return }
    let table = context.table(Target.self)
    _objects = ids.map { table.object($0, as: Target.self) }
    table.noteList(ids)
    ids = []
    isResolved = true
  }

  public func forEach(_ show: (any GraphObject) -> Void) { for object in _objects { show(object) } }

  public mutating func remove(where isGone: (any GraphObject) -> Bool) {
    _objects.removeAll { isGone($0) }
  }

  public mutating func add(_ object: any GraphObject) {
    if let object = object as? Target { _objects.append(object) }
  }

  public mutating func dissolve() {
    guard isResolved else { return }
    ids = _objects.compactMap { $0.referenceID > 0 ? $0.referenceID : nil }
    _objects = []
    isResolved = false
  }

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
      for object in _objects { write(object.referenceID) }
    } else {
      for id in ids { write(id) }
    }
    writer.literal("]")
    writer.leave()
  }

  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    ids = try [Int64](reading: &reader)
    _objects = []
    isResolved = ids.isEmpty
  }
}
