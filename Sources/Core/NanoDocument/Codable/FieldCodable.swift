// SPDX-License-Identifier: MIT

/// A type that writes and reads itself as one stored JSON value, without Codable.
///
/// What a field of a model can hold: numbers, texts, dates and the like, optionals, arrays, sets and
/// dictionaries of them, and models themselves. An enum with raw values needs no more than its name here:
///
/// ```swift
/// enum Suit: String, FieldCodable { case clubs, diamonds, hearts, spades }
/// ```
///
/// The stored form is the one that Codable gives the same type, so that a type may change from Codable to a
/// model and its documents stay readable. Dictionaries are always objects here; Codable writes an array of
/// keys and values for keys that are neither texts nor integers, which is read too.
public protocol FieldCodable: SendableMetatype {
  /// Writes one value. What cannot be written is told by ``JSONWriter/failure``.
  func write(to writer: inout JSONWriter)

  /// Reads one value, and leaves the cursor behind it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  init(reading reader: inout JSONReader) throws(StoreError)

  /// What a field has that a document does not hold; nil if it must be there. An optional has nil.
  static var missingValue: Self? { get }

  /// Whether the field is left out of the document, as an optional without a value is.
  var isMissing: Bool { get }
}

extension FieldCodable {
  @inlinable @inline(__always)
  public static var missingValue: Self? { nil }
  @inlinable @inline(__always)
  public var isMissing: Bool { false }
}

extension FieldCodable {
  /// The value as conditions compare it.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``.
  public var storedValue: DocumentValue {
    get throws(StoreError) {
      var writer = JSONWriter(capacity: 64)
      write(to: &writer)
      if let failure = writer.failure { throw failure }
      var reader = JSONReader(writer.bytes)
      return try reader.value()
    }
  }

  /// Makes it from a value as conditions compare it.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch``, ``StoreError/Code/valueNotStorable``.
  public init(stored value: DocumentValue) throws(StoreError) {
    var writer = JSONWriter(capacity: 64)
    writer.value(value)
    if let failure = writer.failure { throw failure }
    var reader = JSONReader(writer.bytes)
    self = try Self(reading: &reader)
  }
}

extension FieldCodable where Self: RawRepresentable, RawValue: FieldCodable {
  @inlinable
  public func write(to writer: inout JSONWriter) { rawValue.write(to: &writer) }

  /// - Throws: ``StoreError/Code/typeMismatch`` also for a raw value that no case has.
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = try reader.rawRepresentable()
  }
}

extension JSONReader {
  /// Reads a value of a type with raw values.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` also for a raw value that no case has.
  @inlinable
  public mutating func rawRepresentable<Value: RawRepresentable>(
    as type: Value.Type = Value.self
  ) throws(StoreError) -> Value where Value.RawValue: FieldCodable {
    let before = self
    guard let value = Value(rawValue: try Value.RawValue(reading: &self)) else {
      throw before.unknownCase()
    }
    return value
  }

  @usableFromInline @inline(never)
  func unknownCase() -> StoreError { mismatch("a value that the type has a case for") }
}
