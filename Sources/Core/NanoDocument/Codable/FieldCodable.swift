// SPDX-License-Identifier: MIT

/// A type that writes and reads itself as one stored JSON value, without Codable.
///
/// Conforming types can be fields of a model: numbers, strings, dates and other scalars; optionals,
/// arrays, sets and dictionaries of these; and models themselves. An enum with raw values needs only to
/// declare the conformance:
///
/// ```swift
/// enum Suit: String, FieldCodable { case clubs, diamonds, hearts, spades }
/// ```
///
/// The stored form is the same as Codable's, so a type can change from Codable to a model and its
/// documents remain readable. Dictionaries are always stored as objects; the array of keys and values
/// that Codable writes for keys other than strings and integers is read as well.
public protocol FieldCodable: SendableMetatype {
  /// Writes one value. The writer records a value without a stored form as a failure.
  func write(to writer: inout JSONWriter)

  /// Reads one value and advances the cursor past it.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  init(reading reader: inout JSONReader) throws(StoreError)

  /// The value of a field that is absent from the document, or `nil` if the field is required. For an
  /// optional, it is a wrapped `nil`.
  static var missingValue: Self? { get }

  /// Whether the field is omitted from the document, as an optional without a value is.
  var isMissing: Bool { get }
}

extension FieldCodable {
  /// `nil`: the field is required.
  @inlinable @inline(__always)
  public static var missingValue: Self? { nil }
  /// `false`: the field is always written.
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

  /// Creates an instance from a value in the form that conditions compare.
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
  /// Writes the raw value.
  @inlinable
  public func write(to writer: inout JSONWriter) { rawValue.write(to: &writer) }

  /// Reads the raw value.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch``, also for a raw value without a case;
  ///   ``StoreError/Code/corruptDocument``.
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = try reader.rawRepresentable()
  }
}

extension JSONReader {
  /// Reads a value of a type with raw values.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch``, also for a raw value without a case;
  ///   ``StoreError/Code/corruptDocument``.
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
  func unknownCase() -> StoreError { mismatch("a raw value of one of the type's cases") }
}
