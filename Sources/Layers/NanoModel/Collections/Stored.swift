// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument

/// A value of a model together with what the store knows of its document.
///
/// Its properties are those of the value:
///
/// ```swift
/// var ada = try people.find(\.firstName == "Ada").firstStored()!
/// ada.age = 36
/// try people.save(ada)          // in place of the document that it was read from
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

  public subscript<Property>(dynamicMember keyPath: KeyPath<Value, Property>) -> Property {
    value[keyPath: keyPath]
  }
  public subscript<Property>(dynamicMember keyPath: WritableKeyPath<Value, Property>) -> Property {
    get { value[keyPath: keyPath] }
    set { value[keyPath: keyPath] = newValue }
  }

  /// The text identity of the document; nil where documents are known by row id alone.
  public var key: String? { header.key?.description }
  /// The integer identity of the document.
  public var rowID: Int64? { header.rowID }
  /// The version of the model that wrote the document.
  public var version: Int { Int(header.version ?? 1) }
  /// Goes up with each write of the document. Nil as long as another program wrote it last, and in what an
  /// unconditional save returned, which may have replaced any revision.
  public var revision: Int64? { header.revision }
  /// When the document was stored for the first time, to the microsecond.
  public var added: Date? {
    header.added.map { Date(timeIntervalSince1970: Double($0) / 1e6) }
  }
}

extension Stored: Sendable where Value: Sendable {}
extension Stored: Equatable where Value: Equatable {
  /// Whether both have the same identity and equal values.
  public static func == (a: Stored, b: Stored) -> Bool {
    a.header.rowID == b.header.rowID && a.header.key == b.header.key && a.value == b.value
  }
}
