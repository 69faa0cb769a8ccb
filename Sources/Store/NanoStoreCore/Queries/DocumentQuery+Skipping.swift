// SPDX-License-Identifier: MIT

public import NanoDocument
package import NanoEngine

/// A document that a read skipped because it does not decode.
public struct SkippedDocument: Sendable {
  /// The key of the document; nil if it has none.
  public let key: String?
  /// The row ID of the document.
  public let rowID: Int64
  /// The reason: a `DecodingError`, a ``StoreError`` such as ``StoreError/Code/typeMismatch`` with
  /// the field, or an error thrown by the type's own code.
  public let error: any Error

  package init(key: String?, rowID: Int64, error: any Error) {
    self.key = key
    self.rowID = rowID
    self.error = error
  }

  package init(_ stored: StoredDocument, _ error: any Error) {
    self.init(key: stored.key?.description, rowID: stored.rowID, error: error)
  }
}

extension DocumentQuery {
  /// Returns the matching documents decoded to a type, skipping those that do not decode.
  ///
  /// ```swift
  /// let (films, skipped) = try store["films"].find().decodedSkippingFailures(as: Film.self)
  /// for document in skipped { print(document.key ?? "", document.error) }
  /// ```
  ///
  /// - Returns: The values in order, and the skipped documents with their errors.
  /// - Throws: ``StoreError`` for the query itself, including when its condition reads a document
  ///   that is not JSON.
  @_disfavoredOverload
  public func decodedSkippingFailures<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws -> (values: [Value], skipped: [SkippedDocument]) {
    var (values, skipped): ([Value], [SkippedDocument]) = ([], [])
    try each(as: type, onFailure: { skipped.append($0) }) { values.append($0) }
    return (values, skipped)
  }
  /// The asynchronous form of `decodedSkippingFailures(as:)`, which does not block the calling
  /// thread.
  @_disfavoredOverload
  public func decodedSkippingFailures<Value: Decodable & SendableMetatype>(
    as type: Value.Type = Value.self
  ) async throws -> sending (values: [Value], skipped: [SkippedDocument]) {
    try await fromReader { try $0.decodedSkippingFailures(as: type) }
  }

  /// Returns the matching documents decoded by the type's own codec, skipping those that do not
  /// decode.
  public func decodedSkippingFailures<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) throws -> (values: [Value], skipped: [SkippedDocument]) {
    var (values, skipped): ([Value], [SkippedDocument]) = ([], [])
    try each(as: type, onFailure: { skipped.append($0) }) { values.append($0) }
    return (values, skipped)
  }
  /// The asynchronous form of `decodedSkippingFailures(as:)`, which does not block the calling
  /// thread.
  public func decodedSkippingFailures<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) async throws -> sending (values: [Value], skipped: [SkippedDocument]) {
    try await fromReader { try $0.decodedSkippingFailures(as: type) }
  }

  /// Calls a closure with each matching document decoded to a type.
  ///
  /// Documents that do not decode are reported and skipped. Values are not kept in memory, except inside a write block,
  /// where all are read before a closure is first called, and the skipped documents are reported first.
  ///
  /// ```swift
  /// try store["films"].find().each(as: Film.self, onFailure: { print($0.rowID, $0.error) }) { film in
  ///   titles.append(film.title)
  /// }
  /// ```
  ///
  /// - Throws: An error thrown by a closure, which ends the query.
  @_disfavoredOverload
  public func each<Value: Decodable>(
    as type: Value.Type, onFailure: (SkippedDocument) throws -> Void,
    _ visit: (Value) throws -> Void
  ) throws {
    let decoder = DocumentDecoder()
    try eachDecoded(onFailure, { try decoder.decode(type, from: $0) }, visit)
  }
  /// The asynchronous form of `each(as:onFailure:_:)`, which does not block the calling thread. The
  /// closures run on a thread of the store.
  @_disfavoredOverload
  public func each<Value: Decodable & SendableMetatype>(
    as type: Value.Type, onFailure: @escaping @Sendable (SkippedDocument) throws -> Void,
    _ visit: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, onFailure: onFailure, visit) }
  }

  /// Calls a closure with each matching document decoded by the type's own codec.
  ///
  /// Documents that do not decode are reported and skipped. Values are not kept in memory, except inside a write block,
  /// where all are read before a closure is first called, and the skipped documents are reported first.
  ///
  /// - Throws: An error thrown by a closure, which ends the query.
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, onFailure: (SkippedDocument) throws -> Void,
    _ visit: (Value) throws -> Void
  ) throws {
    try eachDecoded(
      onFailure,
      { body in
        var reader = JSONReader(body)
        return try Value(reading: &reader)
      }, visit)
  }
  /// The asynchronous form of `each(as:onFailure:_:)`, which does not block the calling thread. The
  /// closures run on a thread of the store.
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, onFailure: @escaping @Sendable (SkippedDocument) throws -> Void,
    _ visit: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, onFailure: onFailure, visit) }
  }

  private func eachDecoded<Value>(
    _ onFailure: (SkippedDocument) throws -> Void,
    _ decode: (UnsafeRawBufferPointer) throws -> Value, _ visit: (Value) throws -> Void
  ) throws {
    guard isInWriteBlock else { return try scan(onFailure, decode, visit) }
    var (values, skipped): ([Value], [SkippedDocument]) = ([], [])
    try scan({ skipped.append($0) }, decode, { values.append($0) })
    for document in skipped { try onFailure(document) }
    for value in values { try visit(value) }
  }

  private func scan<Value>(
    _ onFailure: (SkippedDocument) throws -> Void,
    _ decode: (UnsafeRawBufferPointer) throws -> Value, _ visit: (Value) throws -> Void
  ) throws {
    try eachStored { stored in
      let value: Value
      do {
        value = try decode(stored.body)
      } catch {
        let located = (error as? StoreError)?.withField(in: stored.body)
          .adding(.collection, collection.name)
        return try onFailure(SkippedDocument(stored, located ?? error))
      }
      try visit(value)
    }
  }
}
