// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Only these properties of what is found, as tuples; nothing else of a document is decoded.
  ///
  /// ```swift
  /// for (name, age) in try people.find().select(\.lastName, \.age) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document holds something else, with its field.
  public func select<First: FieldValue, Second: FieldValue, each Value: FieldValue>(
    _ first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ others: repeat any KeyPath<M, each Value> & Sendable
  ) throws -> [(First, Second, repeat each Value)] {
    let (first, second) = (try SelectedField(first), try SelectedField(second))
    let readers = (repeat try SelectedField<M, each Value>(each others))
    var rows: [(First, Second, repeat each Value)] = []
    try eachBody { (body, key) throws(StoreError) in
      rows.append(
        (
          try first.value(body, key), try second.value(body, key),
          repeat try (each readers).value(body, key)
        ))
    }
    return rows
  }

  /// Only this property of what is found.
  ///
  /// ```swift
  /// let names = try people.find(\.age > 30).select(\.lastName)       // [String]
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document holds something else, with its field.
  public func select<Value: FieldValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> [Value] {
    let reader = try SelectedField(keyPath)
    var values: [Value] = []
    try eachBody { (body, key) throws(StoreError) in values.append(try reader.value(body, key)) }
    return values
  }

  public func select<First: FieldValue, Second: FieldValue, each Value: FieldValue>(
    _ first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ others: repeat any KeyPath<M, each Value> & Sendable
  ) async throws -> [(First, Second, repeat each Value)]
  where First: Sendable, Second: Sendable, repeat each Value: Sendable {
    try await onReader { try $0.select(first, second, repeat each others) }
  }
  public func select<Value: FieldValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> [Value] { try await onReader { try $0.select(keyPath) } }

  /// Shows the fields and the key of each document that is found, upgraded if it is of an older version.
  private func eachBody(
    _ show: (UnsafeRawBufferPointer, BorrowedKey) throws(StoreError) -> Void
  ) throws {
    let decoder = collection.decoder
    try documentQuery().showStored { stored in
      do throws(StoreError) {
        guard (stored.version ?? 1) < decoder.version else {
          try show(stored.body, stored.borrowedKey)
          return true
        }
        var writer = JSONWriter()
        try decoder.value(stored).writeDocument(to: &writer)
        try show(writer.bytes, stored.borrowedKey)
        return true
      } catch {
        throw decoder.located(error, stored.body, stored.key, stored.rowID)
      }
    }
  }

  /// What is found as values of a smaller model, whose fields are among the documents' fields.
  ///
  /// ```swift
  /// @Model struct Name { var firstName: String; var lastName: String }
  /// let names = try people.find(\.age > 30).models(as: Name.self)
  /// ```
  ///
  /// Documents are upgraded by their own model. Saving such a value elsewhere saves all fields.
  public func models<Smaller: Model>(as type: Smaller.Type) throws -> [Smaller] {
    let decoder = collection.decoder
    let smaller = ModelDecoder<Smaller>(collection.name)
    var models: [Smaller] = []
    try documentQuery().showStored { stored in
      var plain = stored
      plain.version = Int64(Smaller.modelVersion)
      guard (stored.version ?? 1) < decoder.version else {
        models.append(try smaller.value(plain))
        return true
      }
      var writer = JSONWriter()
      try decoder.value(stored).writeDocument(to: &writer)
      plain.body = writer.bytes
      models.append(try smaller.value(plain))
      return true
    }
    return models
  }
  public func models<Smaller: Model & Sendable>(as type: Smaller.Type) async throws -> [Smaller] {
    try await onReader { try $0.models(as: type) }
  }
}

/// How one property is read from a document without the others.
private struct SelectedField<M: Model, Value: FieldValue>: Sendable {
  /// The names on each way to the value, that of the newest version first.
  let ways: [[StoredName]]
  /// The same of each optional value on the way.
  let parents: [[[StoredName]]]
  let place: FieldPlace

  init(_ keyPath: any KeyPath<M, Value> & Sendable) throws(StoreError) {
    place = try M.place(of: keyPath)
    ways = ([place.path] + place.formerPaths).map { $0.components.map { StoredName($0) } }
    parents = place.optionalParents.map { $0.map { $0.components.map { StoredName($0) } } }
  }

  func value(
    _ body: UnsafeRawBufferPointer, _ key: BorrowedKey
  ) throws(StoreError) -> Value {
    if place.isKey, let text = key.key?.description {
      if let type = Value.self as? any ModelKey.Type,
        let value = try type.init(documentKey: key) as? Value
      {
        return value
      }
      return try Value(stored: .string(text))
    }
    for way in ways {
      var reader = JSONReader(body)
      guard try reader.find(way) else { continue }
      if reader.isNull, Value.missingValue == nil, place.missing != nil { continue }
      return try Value(reading: &reader)
    }
    if let missing = place.missing, try hasParents(body) { return try Value(stored: missing) }
    if let missing = Value.missingValue { return missing }
    throw StoreError(
      .typeMismatch, "A required field is missing", [.field: "\(place.path)"])
  }

  /// Whether every optional value on the way is there, so that a default counts.
  private func hasParents(_ body: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    for ways in parents {
      var isThere = false
      for way in ways where !isThere {
        var reader = JSONReader(body)
        isThere = try reader.find(way) && !reader.isNull
      }
      guard isThere else { return false }
    }
    return true
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
