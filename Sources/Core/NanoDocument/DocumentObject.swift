// SPDX-License-Identifier: MIT

public import OrderedCollections

/// The fields of a document or of an object in it, in the order in which they were written.
///
/// Two objects are equal if they have equal fields in the same order: the order is kept by the
/// store, so it is part of the value.
///
/// ```swift
/// var ada: DocumentObject = ["name": "Ada", "born": 1815]
/// ada["name"] = "Ada Lovelace"     // keeps its place
/// ada["fields"] = ["mathematics"]  // comes last
/// ada["born"] = nil                // gone
/// ```
public struct DocumentObject: Sendable, Hashable {
  @usableFromInline var fields: OrderedDictionary<String, DocumentValue>

  @inlinable public init() { fields = [:] }

  /// Takes fields in order. Of two fields with one name the last counts, in the place of the first.
  public init(_ pairs: some Sequence<(String, DocumentValue)>) {
    fields = OrderedDictionary(pairs, uniquingKeysWith: { $1 })
  }

  /// How many fields there are.
  @inlinable public var count: Int { fields.count }
  /// Whether there is no field.
  @inlinable public var isEmpty: Bool { fields.isEmpty }
  /// The names, in order.
  public var names: [String] { Array(fields.keys) }

  /// The value of a field of this object, nil if there is none. Setting nil removes the field;
  /// setting ``DocumentValue/null`` stores a null. The name is taken literally, not as a path.
  @inlinable public subscript(name: String) -> DocumentValue? {
    get { fields[name] }
    set { fields[name] = newValue }
  }

  /// Adds a field at the end and says whether the name was new; if not, nothing changes.
  @inlinable @discardableResult
  public mutating func append(_ name: String, _ value: DocumentValue) -> Bool {
    fields.updateValue(value, forKey: name, insertingAt: fields.count).originalMember == nil
  }

  /// Makes room for so many fields at once.
  @inlinable public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

  /// The name under which a document tells its row id. In an object that is inserted or saved it is no field; in
  /// JSON text it is.
  public static let rowIDName = "__rowid__"

  /// The same object without a field ``rowIDName``.
  public var withoutRowID: DocumentObject {
    guard fields[Self.rowIDName] != nil else { return self }
    var object = self
    object[Self.rowIDName] = nil
    return object
  }

  /// Takes over every field of another object; where both have one, the other's value counts.
  public mutating func merge(_ other: DocumentObject) {
    for (name, value) in other { fields[name] = value }
  }
}

extension OrderedDictionary where Key == String, Value == DocumentValue {
  @usableFromInline
  mutating func updateValue(_ value: Value, forKey key: Key, insertingAt index: Int) -> (
    originalMember: Value?, index: Int
  ) {
    if let found = self.index(forKey: key) { return (self.elements[found].value, found) }
    self[key] = value
    return (nil, index)
  }
}

extension DocumentObject: RandomAccessCollection {
  /// The field at a place in the order, counted from 0.
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { fields.count }
  @inlinable public subscript(index: Int) -> (name: String, value: DocumentValue) {
    let element = fields.elements[index]
    return (element.key, element.value)
  }
}

extension DocumentObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, DocumentValue)...) { self.init(elements) }
}
