// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A type whose values are document keys, for properties marked with ``Key()``.
///
/// A type whose raw value is a `ModelKey` needs only to declare the conformance:
///
/// ```swift
/// struct PersonID: RawRepresentable, ModelKey { var rawValue: String }
/// ```
public protocol ModelKey: FieldCodable {
  /// The document key, or nil to generate one, a UUID.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  var documentKey: DocumentKey? { get throws(StoreError) }
  /// Creates the value of a document key.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if no value has this key.
  init(documentKey: BorrowedKey) throws(StoreError)
}

extension String: ModelKey {
  /// The string as a key.
  ///
  /// - Throws: ``StoreError/Code/invalidKey`` if the string cannot be a key.
  @inlinable
  public var documentKey: DocumentKey? { get throws(StoreError) { try DocumentKey(self) } }
  /// Creates the string of a key.
  @inlinable
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let key = documentKey.key else { throw .missingKey }
    self = key.description
  }
}

extension UUID: ModelKey {
  /// The UUID as a key.
  public var documentKey: DocumentKey? {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    func word(_ bytes: UInt8...) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return .uuid(word(a, b, c, d, e, f, g, h), word(i, j, k, l, m, n, o, p))
  }

  /// Creates the UUID of a key.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the key is not a UUID in lower case. Upper case
  ///   is rejected since saving the value would create a second document.
  public init(documentKey: BorrowedKey) throws(StoreError) {
    switch documentKey {
    case .none: throw .missingKey
    case .uuid(let high, let low):
      func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word >> (56 - index * 8))
      }
      self.init(
        uuid: (
          byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
          byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
          byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
        ))
    case .text: throw .keyMismatch("a UUID in lower case")
    }
  }
}

/// An integer is stored as its decimal digits.
extension ModelKey where Self: FixedWidthInteger {
  /// The decimal digits as a key.
  public var documentKey: DocumentKey? {
    get throws(StoreError) { try DocumentKey(description) }
  }
  /// Creates the integer of a key.
  /// - Throws: ``StoreError/Code/typeMismatch`` if the key is not an integer in its shortest
  ///   decimal form.
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let key = documentKey.key else { throw .missingKey }
    guard let value = Self(key.description), value.description == key.description else {
      throw .keyMismatch("an integer without leading zeros")
    }
    self = value
  }
}

extension Int: ModelKey {}
extension Int64: ModelKey {}

extension Optional: ModelKey where Wrapped: ModelKey {
  /// The key of the wrapped value, or nil to generate one.
  public var documentKey: DocumentKey? { get throws(StoreError) { try self?.documentKey } }
  /// Creates nil for a document without a key, and the wrapped value otherwise.
  public init(documentKey: BorrowedKey) throws(StoreError) {
    if case .none = documentKey { self = nil } else { self = try Wrapped(documentKey: documentKey) }
  }
}

extension ModelKey where Self: RawRepresentable, RawValue: ModelKey {
  /// The key of the raw value.
  public var documentKey: DocumentKey? { get throws(StoreError) { try rawValue.documentKey } }
  /// Creates the value whose raw value is the key.
  /// - Throws: ``StoreError/Code/typeMismatch`` if no value has this raw value.
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let value = Self(rawValue: try RawValue(documentKey: documentKey)) else {
      throw .keyMismatch("\(Self.self)")
    }
    self = value
  }
}

extension StoreError {
  @usableFromInline static var missingKey: StoreError {
    StoreError(
      .typeMismatch, "A document has no key, but its type requires one",
      [.hint: "make the property marked as key optional"])
  }

  @usableFromInline static func keyMismatch(_ expected: String) -> StoreError {
    StoreError(
      .typeMismatch, "The key of a document is not valid for its type", [.expected: expected])
  }
}
