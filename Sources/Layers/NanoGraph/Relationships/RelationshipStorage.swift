// SPDX-License-Identifier: MIT

public import NanoDocument

/// What the property of a relationship keeps: row ids as they are read, and objects once someone looks.
public protocol RelationshipStorage: FieldCodable {
  init()
  /// The class at the other end; nil if it may be any.
  static var target: (any GraphObject.Type)? { get }
  /// Whether there may be several objects.
  static var isToMany: Bool { get }
  /// Turns row ids into objects, which are faults unless they are in memory.
  mutating func resolve(in context: ObjectContext)
  /// Whether there are row ids that are no objects yet.
  var hasRowIDs: Bool { get }
  /// Shows the objects, once they are there.
  func forEach(_ show: (any GraphObject) -> Void)
  /// Takes objects out, once they are there.
  mutating func remove(where isGone: (any GraphObject) -> Bool)
  /// Puts an object at the end, or in place of the one that is there.
  mutating func add(_ object: any GraphObject)
  /// Writes the row ids.
  ///
  /// - Parameter isDocument: Whether objects that are not stored are an error; notes of a context hold their
  ///   numbers.
  func write(to writer: inout JSONWriter, isDocument: Bool)
  /// Goes back to row ids, so that it keeps no object alive.
  mutating func dissolve()
}

extension FieldCodable where Self: RelationshipStorage {
  /// A document without the field relates to nothing.
  @inlinable
  public static var missingValue: Self? { Self() }

  @inlinable
  public func write(to writer: inout JSONWriter) { write(to: &writer, isDocument: true) }
}

extension JSONWriter {
  /// Writes what an object is known by.
  @inlinable
  mutating func reference(_ id: Int64, isDocument: Bool) {
    if _fastPath(id > 0) || (id < 0 && !isDocument) { integer(id) } else { failUnstored() }
  }

  @usableFromInline
  mutating func failUnstored() {
    fail(
      StoreError(
        .valueNotStorable, "A relationship leads to an object that is not stored",
        [.hint: "insert both into an ObjectContext and save it"]))
  }
}

extension GraphObject {
  /// The number that stands for it in other documents. One that is not stored has a negative number, which
  /// only the context's own notes ever hold.
  @inlinable
  var referenceID: Int64 { _$object.rowID }
}
