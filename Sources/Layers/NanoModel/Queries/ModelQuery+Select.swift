// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Returns some properties of the results as tuples, without decoding the rest of the documents.
  ///
  /// ```swift
  /// for (name, age) in try people.find().select(\.lastName, \.age) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if a document does not decode.
  public func select<First, Second, each Value>(
    _ first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ others: repeat any KeyPath<M, each Value> & Sendable
  ) throws -> [(First, Second, repeat each Value)] {
    let (first, second) = (try SelectedField(first), try SelectedField(second))
    let readers = (repeat try SelectedField<M, each Value>(each others))
    var rows: [(First, Second, repeat each Value)] = []
    try eachFields { (fields) throws(StoreError) in
      rows.append(
        (
          try first.value(&fields), try second.value(&fields),
          repeat try (each readers).value(&fields)
        ))
    }
    return rows
  }

  /// Returns a property of the results.
  ///
  /// ```swift
  /// let names = try people.find(\.age > 30).select(\.lastName)       // [String]
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` with the field if a document does not decode.
  public func select<Value>(_ keyPath: any KeyPath<M, Value> & Sendable) throws -> [Value] {
    let reader = try SelectedField(keyPath)
    var values: [Value] = []
    try eachFields { (fields) throws(StoreError) in values.append(try reader.value(&fields)) }
    return values
  }

  /// The asynchronous form of `select(_:_:_:)`, which does not block the calling thread.
  public func select<
    First: SendableMetatype, Second: SendableMetatype, each Value: SendableMetatype
  >(
    _ first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ others: repeat any KeyPath<M, each Value> & Sendable
  ) async throws -> sending [(First, Second, repeat each Value)] {
    try await fromReader { try $0.select(first, second, repeat each others) }
  }
  /// The asynchronous form of `select(_:)`, which does not block the calling thread.
  public func select<Value: SendableMetatype>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> sending [Value] { try await fromReader { try $0.select(keyPath) } }

  /// Passes the fields of each result to a closure.
  func eachFields(_ body: (inout ReadFields<M>) throws(StoreError) -> Void) throws {
    let decoder = collection.decoder
    try documentQuery().visitStored { stored in
      do throws(StoreError) {
        var fields = try ReadFields(stored, decoder)
        try body(&fields)
        return true
      } catch {
        throw decoder.located(error, stored.body, stored.key, stored.rowID)
      }
    }
  }
}

/// The fields of a stored document, either as stored or as the model decodes and encodes them.
struct ReadFields<M: Model>: ~Copyable {
  let stored: StoredDocument
  private let decoder: ModelDecoder<M>
  private var writer = JSONWriter(capacity: 64)
  private var isNormalized = false

  init(_ stored: StoredDocument, _ decoder: ModelDecoder<M>) throws(StoreError) {
    self.stored = stored
    self.decoder = decoder
    if (stored.version ?? 1) < decoder.version { _ = try normalizedBytes() }
  }

  /// The stored bytes, or the normalized ones once they are requested.
  var bytes: UnsafeRawBufferPointer { isNormalized ? writer.bytes : stored.body }

  /// Returns the fields upgraded, with current names and defaults.
  mutating func normalizedBytes() throws(StoreError) -> UnsafeRawBufferPointer {
    if !isNormalized {
      var value = try decoder.value(stored)
      // No property needs them.
      value._$unknownFields = UnknownFields()
      value.writeDocument(to: &writer)
      // The bytes are only read, so that unknown fields of nested values need no stored form.
      if let failure = writer.failure, !failure.isOfUnknownFields { throw failure }
      isNormalized = true
    }
    return writer.bytes
  }
}

/// Reads a single property from a document.
private struct SelectedField<M: Model, Value> {
  let names: [StoredName]
  let location: PropertyLocation
  /// Whether a document without the field can be read with a value other than nil.
  let hasVariants: Bool
  let read: (inout JSONReader) throws(StoreError) -> Value
  /// The value if the field is missing; nil if the field is required.
  let missing: Value?

  init(_ keyPath: any KeyPath<M, Value> & Sendable) throws(StoreError) {
    location = try M.location(of: keyPath)
    names = location.path.components.map { StoredName($0) }
    hasVariants = location.hasVariants || location.hasComputedDefault
    if let type = Value.self as? any FieldCodable.Type {
      read = Self.reading(type)
      missing = Self.missing(type)
    } else {
      read = { (reader) throws(StoreError) in try StoredValues.value(try reader.value()) }
      missing = try? StoredValues.value(.null, as: Value.self)
    }
  }

  /// - Parameter type: `Value`, with its conformance.
  private static func reading<Field: FieldCodable>(
    _ type: Field.Type
  ) -> (inout JSONReader) throws(StoreError) -> Value {
    { (reader) throws(StoreError) in
      // `Field` and `Value` are the same type; a cast would look up the conformance for each
      // document.
      unsafeBitCast(try Field(reading: &reader), to: Value.self)
    }
  }

  private static func missing<Field: FieldCodable>(_ type: Field.Type) -> Value? {
    // As in `reading`.
    type.missingValue.map { unsafeBitCast($0, to: Value.self) }
  }

  func value(_ fields: inout ReadFields<M>) throws(StoreError) -> Value {
    if location.isKey, let text = fields.stored.key?.description {
      if let type = Value.self as? any ModelKey.Type,
        let value = try type.init(documentKey: fields.stored.borrowedKey) as? Value
      {
        return value
      }
      return try StoredValues.value(.string(text))
    }
    var reader = JSONReader(fields.bytes)
    var isPresent = try reader.find(names)
    if hasVariants, !isPresent || reader.isNull {
      reader = JSONReader(try fields.normalizedBytes())
      isPresent = try reader.find(names)
    }
    if isPresent { return try read(&reader) }
    if let missing { return missing }
    throw StoreError(
      .typeMismatch, "A required field is missing", [.field: "\(location.path)"])
  }
}

extension JSONReader {
  fileprivate mutating func find(_ names: [StoredName]) throws(StoreError) -> Bool {
    for name in names {
      guard try findField(name) else { return false }
    }
    return true
  }
}
