// SPDX-License-Identifier: MIT

public import OrderedCollections

/// The fields of a document, or of an object inside it, in insertion order.
///
/// Two objects are equal if they have equal fields in the same order: the store preserves the order, so
/// it is part of the value. Names are compared by their UTF-8 bytes, as in the store.
///
/// ```swift
/// var ada: DocumentObject = ["name": "Ada", "born": 1815]
/// ada["name"] = "Ada Lovelace"     // keeps its position
/// ada["fields"] = ["mathematics"]  // appended
/// ada["born"] = nil                // removed
/// ```
public struct DocumentObject: Sendable, Hashable {
  @usableFromInline var fields: OrderedDictionary<ExactName, DocumentValue>

  /// Creates an empty object.
  @inlinable public init() { fields = [:] }

  /// Creates an object from fields in order. If a name occurs twice, the last value is used, at the
  /// position of the first.
  public init(_ pairs: some Sequence<(String, DocumentValue)>) {
    fields = OrderedDictionary(
      pairs.lazy.map { (ExactName($0.0), $0.1) }, uniquingKeysWith: { $1 })
  }

  /// The number of fields.
  @inlinable public var count: Int { fields.count }
  /// Whether the object has no fields.
  @inlinable public var isEmpty: Bool { fields.isEmpty }
  /// The field names, in order.
  public var names: [String] { fields.keys.map(\.text) }

  /// The value of a field, or `nil` if there is none.
  ///
  /// Setting `nil` removes the field; setting ``DocumentValue/null`` stores a null. The name is
  /// literal, not a path.
  @inlinable public subscript(name: String) -> DocumentValue? {
    get { fields[ExactName(name)] }
    set { fields[ExactName(name)] = newValue }
  }

  /// Appends a field if its name is new. Returns `false` and changes nothing if the name exists.
  @inlinable @discardableResult
  public mutating func append(_ name: String, _ value: DocumentValue) -> Bool {
    let name = ExactName(name)
    guard fields.index(forKey: name) == nil else { return false }
    fields[name] = value
    return true
  }

  /// Reserves capacity for a number of fields.
  @inlinable package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

  /// The field name that represents a document's row ID. In an object that is inserted or saved, it is
  /// not stored as a field; in parsed JSON text, it is an ordinary field.
  package static let rowIDName = "__rowid__"

  /// The object without the field named ``rowIDName``.
  package var withoutRowID: DocumentObject {
    guard self[Self.rowIDName] != nil else { return self }
    var object = self
    object[Self.rowIDName] = nil
    return object
  }

  /// Copies all fields of another object into this one. If both have a field, the other object's value
  /// is used.
  public mutating func merge(_ other: DocumentObject) {
    for (name, value) in other.fields { fields[name] = value }
  }
}

extension DocumentObject: RandomAccessCollection {
  /// The index of the first field, 0.
  @inlinable public var startIndex: Int { 0 }
  /// The index after the last field.
  @inlinable public var endIndex: Int { fields.count }
  /// The field at an index.
  @inlinable public subscript(index: Int) -> (name: String, value: DocumentValue) {
    let element = fields.elements[index]
    return (element.key.text, element.value)
  }
}

extension DocumentObject: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal. If a name occurs twice, the last value is used.
  public init(dictionaryLiteral elements: (String, DocumentValue)...) { self.init(elements) }
}
