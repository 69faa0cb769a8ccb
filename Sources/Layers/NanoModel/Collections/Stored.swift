// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument

/// A value of a model together with the metadata of its document.
///
/// The properties of the value are available directly:
///
/// ```swift
/// var ada = try people.find(\.firstName == "Ada").firstStored()!
/// ada.age = 36
/// try people.save(ada)          // replaces the document that it was read from
/// ```
@dynamicMemberLookup
public struct Stored<Value: Model> {
  /// The value.
  public var value: Value
  let header: Document.Header

  init(_ value: Value, _ header: Document.Header) {
    self.value = value
    self.header = header
  }

  /// Returns a property of the value.
  public subscript<Property>(dynamicMember keyPath: KeyPath<Value, Property>) -> Property {
    value[keyPath: keyPath]
  }
  /// A property of the value.
  public subscript<Property>(dynamicMember keyPath: WritableKeyPath<Value, Property>) -> Property {
    get { value[keyPath: keyPath] }
    set { value[keyPath: keyPath] = newValue }
  }

  /// The key of the document; nil if it has only a row ID.
  public var key: String? { header.key?.description }
  /// The row ID of the document.
  public var rowID: Int64? { header.rowID }
  /// The version of the model that wrote the document.
  public var version: Int { Int(header.version ?? 1) }
  /// A number that increases with each write of the document.
  ///
  /// Nil if another program wrote the document last, and in the result of an unconditional save,
  /// which may have replaced any revision.
  public var revision: Int64? { header.revision }
  /// The time when the document was first stored, with microsecond precision.
  public var added: Date? {
    header.added.map { Date(microsecondsSince1970: $0) }
  }
}

extension Stored: Sendable where Value: Sendable {}
extension Stored: Equatable where Value: Equatable {
  /// Returns whether both have the same identity and equal values.
  public static func == (a: Stored, b: Stored) -> Bool {
    a.header.rowID == b.header.rowID && a.header.key == b.header.key && a.value == b.value
  }
}

extension Stored: CustomStringConvertible {
  /// The value, and the key or the row ID of its document.
  public var description: String {
    let identity = key.map { "key: \($0)" } ?? rowID.map { "row ID: \($0)" }
    return "Stored(\(value)\(identity.map { ", \($0)" } ?? ""))"
  }
}
