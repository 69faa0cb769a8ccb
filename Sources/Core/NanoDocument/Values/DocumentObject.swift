// SPDX-License-Identifier: MIT

public import OrderedCollections

/// The fields of a document or of an object in it, in the order in which they were written.
///
/// Two objects are equal if they have equal fields in the same order: the order is kept by the
/// store, so it is part of the value. Names are compared by their UTF-8 bytes, as in the store.
///
/// ```swift
/// var ada: DocumentObject = ["name": "Ada", "born": 1815]
/// ada["name"] = "Ada Lovelace"     // keeps its place
/// ada["fields"] = ["mathematics"]  // comes last
/// ada["born"] = nil                // gone
/// ```
public struct DocumentObject: Sendable, Hashable {
  @usableFromInline var fields: OrderedDictionary<ExactName, DocumentValue>

  @inlinable public init() { fields = [:] }

  /// Takes fields in order. Of two fields with one name the last counts, in the place of the first.
  public init(_ pairs: some Sequence<(String, DocumentValue)>) {
    fields = OrderedDictionary(
      pairs.lazy.map { (ExactName($0.0), $0.1) }, uniquingKeysWith: { $1 })
  }

  /// How many fields there are.
  @inlinable public var count: Int { fields.count }
  /// Whether there is no field.
  @inlinable public var isEmpty: Bool { fields.isEmpty }
  /// The names, in order.
  public var names: [String] { fields.keys.map(\.text) }

  /// The value of a field of this object, nil if there is none. Setting nil removes the field;
  /// setting ``DocumentValue/null`` stores a null. The name is taken literally, not as a path.
  @inlinable public subscript(name: String) -> DocumentValue? {
    get { fields[ExactName(name)] }
    set { fields[ExactName(name)] = newValue }
  }

  /// Adds a field at the end and says whether the name was new; if not, nothing changes.
  @inlinable @discardableResult
  public mutating func append(_ name: String, _ value: DocumentValue) -> Bool {
    let name = ExactName(name)
    guard fields.index(forKey: name) == nil else { return false }
    fields[name] = value
    return true
  }

  /// Makes room for so many fields at once.
  @inlinable package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

  /// The name under which a document tells its row id. In an object that is inserted or saved it is no field; in
  /// JSON text it is.
  package static let rowIDName = "__rowid__"

  /// The same object without a field ``rowIDName``.
  package var withoutRowID: DocumentObject {
    guard self[Self.rowIDName] != nil else { return self }
    var object = self
    object[Self.rowIDName] = nil
    return object
  }

  /// Takes over every field of another object; where both have one, the other's value counts.
  public mutating func merge(_ other: DocumentObject) {
    for (name, value) in other.fields { fields[name] = value }
  }
}

extension DocumentObject: RandomAccessCollection {
  /// The field at a place in the order, counted from 0.
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { fields.count }
  @inlinable public subscript(index: Int) -> (name: String, value: DocumentValue) {
    let element = fields.elements[index]
    return (element.key.text, element.value)
  }
}

extension DocumentObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, DocumentValue)...) { self.init(elements) }
}
