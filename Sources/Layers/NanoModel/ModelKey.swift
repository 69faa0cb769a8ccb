// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A type whose values are keys of documents, for properties marked with ``Key()``.
///
/// Types with raw values of such a type need no more than the name of the protocol:
///
/// ```swift
/// struct PersonID: RawRepresentable, ModelKey { var rawValue: String }
/// ```
public protocol ModelKey: FieldCodable {
  /// The key; nil to have one made.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  var documentKey: DocumentKey? { get throws(StoreError) }
  /// - Throws: ``StoreError/Code/typeMismatch`` if no value has this key.
  init(documentKey: BorrowedKey) throws(StoreError)
}

extension String: ModelKey {
  @inlinable
  public var documentKey: DocumentKey? { get throws(StoreError) { try DocumentKey(self) } }
  @inlinable
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let key = documentKey.key else { throw .noKey }
    self = key.description
  }
}

extension UUID: ModelKey {
  public var documentKey: DocumentKey? {
    let (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) = uuid
    func word(_ bytes: UInt8...) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return .uuid(word(a, b, c, d, e, f, g, h), word(i, j, k, l, m, n, o, p))
  }

  /// - Throws: ``StoreError/Code/typeMismatch`` also for a UUID in upper case: saving would make a second
  ///   document.
  public init(documentKey: BorrowedKey) throws(StoreError) {
    switch documentKey {
    case .none: throw .noKey
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
    case .text: throw .otherKey("a UUID in lower case")
    }
  }
}

/// An integer is stored as its digits.
extension ModelKey where Self: FixedWidthInteger {
  public var documentKey: DocumentKey? {
    get throws(StoreError) { try DocumentKey(description) }
  }
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let key = documentKey.key else { throw .noKey }
    guard let value = Self(key.description), value.description == key.description else {
      throw .otherKey("an integer without zeros in front")
    }
    self = value
  }
}

extension Int: ModelKey {}
extension Int64: ModelKey {}

extension Optional: ModelKey where Wrapped: ModelKey {
  public var documentKey: DocumentKey? { get throws(StoreError) { try self?.documentKey } }
  public init(documentKey: BorrowedKey) throws(StoreError) {
    if case .none = documentKey { self = nil } else { self = try Wrapped(documentKey: documentKey) }
  }
}

extension ModelKey where Self: RawRepresentable, RawValue: ModelKey {
  public var documentKey: DocumentKey? { get throws(StoreError) { try rawValue.documentKey } }
  public init(documentKey: BorrowedKey) throws(StoreError) {
    guard let value = Self(rawValue: try RawValue(documentKey: documentKey)) else {
      throw .otherKey("\(Self.self)")
    }
    self = value
  }
}

extension StoreError {
  @usableFromInline static var noKey: StoreError {
    StoreError(
      .typeMismatch, "A document has no key, and its type needs one",
      [.hint: "make the property marked as key optional"])
  }

  @usableFromInline static func otherKey(_ expected: String) -> StoreError {
    StoreError(
      .typeMismatch, "A document has a key that its type does not take", [.expected: expected])
  }
}
