// SPDX-License-Identifier: MIT

public import NanoDocument

/// The storage of a relationship: row IDs as read from the document, resolved to objects on first
/// access. Only generated code uses it.
public protocol RelationshipStorage: FieldCodable {
  /// Creates an empty relationship.
  init()
  /// The class at the other end; nil for objects of any class.
  static var target: (any GraphObject.Type)? { get }
  /// Whether there can be several objects.
  static var isToMany: Bool { get }
  /// Resolves row IDs to objects, which are faults unless they are in memory.
  mutating func resolve(in context: ObjectContext)
  /// Whether there are row IDs that are not resolved to objects.
  var hasRowIDs: Bool { get }
  /// The row IDs that are not resolved to objects; empty if the objects can be of any class.
  var rowIDs: [Int64] { get }
  /// Passes the resolved objects to a closure.
  func forEach(_ body: (any GraphObject) -> Void)
  /// Removes resolved objects.
  mutating func remove(where isGone: (any GraphObject) -> Bool)
  /// Appends an object, or replaces the object of a to-one relationship.
  mutating func add(_ object: any GraphObject)
  /// Whether another storage refers to the same objects in the same order.
  func isSame(as other: Self) -> Bool
  /// Writes the row IDs.
  ///
  /// - Parameter isDocument: Whether a reference to an object that is not stored is an error.
  ///   Snapshots of a context contain the numbers of such objects, without those that are not inserted.
  func write(to writer: inout JSONWriter, isDocument: Bool)
  /// Replaces resolved objects by row IDs, so that they are not retained.
  mutating func dissolve()
}

extension FieldCodable where Self: RelationshipStorage {
  /// The value of a missing field: an empty relationship.
  @inlinable
  public static var missingValue: Self? { Self() }

  /// Writes the row IDs. Fails if an object is not stored.
  @inlinable
  public func write(to writer: inout JSONWriter) { write(to: &writer, isDocument: true) }
}

extension JSONWriter {
  /// Writes the id of an object.
  @inlinable
  mutating func reference(_ id: Int64, isDocument: Bool) {
    if _fastPath(id > 0) || (id < 0 && !isDocument) { integer(id) } else { failUnstored() }
  }

  @usableFromInline
  mutating func failUnstored() {
    fail(
      StoreError(
        .valueNotStorable, "A relationship refers to an object that is not stored",
        [.hint: "insert both into an ObjectContext and save it"]))
  }
}

extension GraphObject {
  /// The number by which documents refer to the object. It is negative for a new object, which only
  /// snapshots of the context can contain, and 0 for one that is not inserted.
  @inlinable
  var referenceID: Int64 { _$object.rowID }
}

extension RelationshipStorage {
  /// The default: empty.
  public var rowIDs: [Int64] { [] }

  /// Whether another storage has the same objects that are not deleted, in the same order. Called by generated property
  /// accessors.
  public func hasSameObjects(as other: Self) -> Bool {
    if isSame(as: other) { return true }
    guard !hasRowIDs, !other.hasRowIDs else { return false }
    func ids(_ storage: Self) -> [ObjectIdentifier] {
      var ids: [ObjectIdentifier] = []
      storage.forEach { if !$0._$object.isDeleted { ids.append(ObjectIdentifier($0)) } }
      return ids
    }
    return ids(self) == ids(other)
  }
}
