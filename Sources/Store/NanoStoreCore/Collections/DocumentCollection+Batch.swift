// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Stores new documents, all of them or none.
  ///
  /// - Returns: Their row ids, in order.
  /// - Throws: As for a single one. Nothing was stored.
  @discardableResult
  public func insert(contentsOf objects: some Sequence<DocumentObject>) throws -> [Int64] {
    try writeAll(.insert, objects) { object, writer in
      writer.object(object)
      return nil
    }
  }
  @discardableResult
  public func insert(contentsOf objects: [DocumentObject]) async throws -> [Int64] {
    try await store.onWriter { try self.insert(contentsOf: objects) }
  }

  /// Stores new documents under their keys, or ones made for them, all of them or none. A document
  /// that says when it was added, because it comes from another store, keeps that moment.
  @discardableResult
  public func insert(contentsOf documents: [Document]) throws -> [Int64] {
    try writeAll(.insert, documents, Self.writeDocument)
  }
  @discardableResult
  public func insert(contentsOf documents: [Document]) async throws -> [Int64] {
    try await store.onWriter { try self.insert(contentsOf: documents) }
  }

  /// Stores documents in place of those that have their keys, all of them or none.
  @discardableResult
  public func save(contentsOf documents: [Document]) throws -> [Int64] {
    try writeAll(.save, documents, Self.writeDocument)
  }
  @discardableResult
  public func save(contentsOf documents: [Document]) async throws -> [Int64] {
    try await store.onWriter { try self.save(contentsOf: documents) }
  }

  /// Stores values of your own type as new documents, all of them or none.
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable>(contentsOf values: some Sequence<Value>) throws -> [Int64] {
    let encoder = DocumentEncoder()
    return try writeAll(.insert, values) { value, writer in
      try encoder.encode(value, into: &writer)
      return nil
    }
  }
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable & Sendable>(
    contentsOf values: [Value]
  ) async throws -> [Int64] {
    try await store.onWriter { try self.insert(contentsOf: values) }
  }

  /// Stores values that write themselves, all of them or none.
  @discardableResult
  public func insert<Value: DocumentRepresentable>(
    contentsOf values: some Sequence<Value>
  ) throws -> [Int64] {
    try writeAll(.insert, values) { value, writer in
      value.write(to: &writer)
      return nil
    }
  }
  @discardableResult
  public func insert<Value: DocumentRepresentable>(contentsOf values: [Value]) async throws
    -> [Int64]
  {
    try await store.onWriter { try self.insert(contentsOf: values) }
  }

  private static func writeDocument(
    _ document: Document, _ writer: inout JSONWriter
  ) throws -> Document.Header? {
    guard !document.isPartial else { throw partial }
    try document.write(to: &writer)
    return document.header
  }

  /// Writes each value with one buffer, in one transaction.
  func writeAll<Value>(
    _ mode: WriteMode, _ values: some Sequence<Value>,
    _ fill: (Value, inout JSONWriter) throws -> Document.Header?
  ) throws -> [Int64] {
    try store.writing(atomic: true) { engine in
      var writer = JSONWriter()
      var ids: [Int64] = []
      ids.reserveCapacity(values.underestimatedCount)
      let makesKeys = try engine.identity(of: name) == .key
      let added = Clock.microseconds()
      for value in values {
        writer.removeAll()
        let header = try fill(value, &writer)
        try writer.checkStorable()
        let document = NewDocument(
          key: header?.key ?? (makesKeys ? store.keys.next() : nil), type: header?.type,
          version: header?.version, added: header?.added ?? added, body: writer.bytes)
        ids.append(
          mode == .insert
            ? try engine.insert(document, into: name) : try engine.save(document, into: name))
      }
      return ids
    }
  }
}
