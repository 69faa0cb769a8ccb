// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Stores new documents, all of them or none.
  ///
  /// - Returns: Their row ids, in order.
  /// - Throws: As for a single one. Nothing was stored.
  @discardableResult
  @inlinable
  public func insert<Value: DocumentRepresentable>(
    _ values: some Sequence<Value>
  ) throws -> [Int64] {
    try writeBatch(.insert, capacity: values.underestimatedCount) { batch, writer in
      // Written where they stand: a copy of each would retain and release all that it holds.
      let isDone: Void? = try values.withContiguousStorageIfAvailable { values in
        for index in values.indices {
          values[index].write(to: &writer)
          try batch.add(&writer)
        }
      }
      if isDone != nil { return }
      for value in values {
        value.write(to: &writer)
        try batch.add(&writer)
      }
    }
  }
  @discardableResult
  public func insert<Value: DocumentRepresentable>(
    _ values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> [Int64] {
    try await onWriter(handing: values) { try self.insert($0) }
  }

  /// Stores objects given as literals; see ``insert(_:)-(Sequence<Value>)``.
  @discardableResult
  public func insert(_ objects: [DocumentObject]) throws -> [Int64] {
    try writeBatch(.insert, capacity: objects.count) { batch, writer in
      for object in objects {
        writer.object(object.withoutRowID)
        try batch.add(&writer)
      }
    }
  }
  @discardableResult
  public func insert(_ objects: [DocumentObject]) async throws -> [Int64] {
    try await onWriter { try self.insert(objects) }
  }

  /// Stores new documents under their keys, or ones made for them, all of them or none. A document
  /// that says when it was added, because it comes from another store, keeps that moment.
  @discardableResult
  public func insert(_ documents: [Document]) throws -> [Int64] {
    try write(.insert, documents)
  }
  @discardableResult
  public func insert(_ documents: [Document]) async throws -> [Int64] {
    try await onWriter { try self.insert(documents) }
  }

  /// Stores documents in place of those that have their keys, all of them or none.
  @discardableResult
  public func save(_ documents: [Document]) throws -> [Int64] {
    try write(.save, documents)
  }
  @discardableResult
  public func save(_ documents: [Document]) async throws -> [Int64] {
    try await onWriter { try self.save(documents) }
  }

  private func write(_ mode: WriteMode, _ documents: [Document]) throws -> [Int64] {
    try writeBatch(mode, capacity: documents.count) { batch, writer in
      for document in documents {
        guard !document.isPartial else { throw Self.partial }
        try document.write(to: &writer)
        let header = document.header
        try batch.add(
          &writer, key: header.key, type: header.type, version: header.version, added: header.added)
      }
    }
  }

  /// Stores values of your own type as new documents, all of them or none.
  ///
  /// ```swift
  /// try films.insert([Film(title: "Alien"), Film(title: "Ran")])      // [1, 2], their row ids
  /// ```
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable>(_ values: [Value]) throws -> [Int64] {
    try insertEncoded(values)
  }

  /// Stores the values of a sequence as new documents, all of them or none. None but one of them is in memory at a
  /// time.
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable>(_ values: some Sequence<Value>) throws -> [Int64] {
    try insertEncoded(values)
  }

  private func insertEncoded(_ values: some Sequence<some Encodable>) throws -> [Int64] {
    let encoder = DocumentEncoder()
    return try writeBatch(.insert, capacity: values.underestimatedCount) { batch, writer in
      for value in values {
        try encoder.encode(value, into: &writer)
        try batch.add(&writer)
      }
    }
  }
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable & SendableMetatype>(
    _ values: sending [Value]
  ) async throws -> [Int64] {
    try await onWriter(handing: values) { try self.insertEncoded($0) }
  }
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable & SendableMetatype>(
    _ values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> [Int64] {
    try await onWriter(handing: values) { try self.insertEncoded($0) }
  }

  /// Stores documents that a closure encodes one after the other, all of them or none.
  ///
  /// ```swift
  /// try people.writeBatch(.save) { batch, writer in
  ///   writer.literal(#"{"name":"Ada"}"#)
  ///   try batch.add(&writer, key: DocumentKey("ada"))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - capacity: How many there will be, as far as that is known.
  ///   - atomic: Whether an error undoes the batch alone, inside of a `write` block; if not, the block must be
  ///     undone as a whole. A savepoint keeps each page as it was, and SQLite goes through the list of them after
  ///     each statement with triggers.
  ///   - fill: Gets a buffer, to write a document into in stored form before each
  ///     ``DocumentBatch/add(_:key:type:version:added:)``.
  /// - Returns: Their row ids, in order.
  /// - Throws: As for a single one, with the position in the batch, or what the closure throws. Nothing
  ///   was stored.
  @usableFromInline package func writeBatch(
    _ mode: WriteMode, capacity: Int = 0, atomic: Bool = true,
    _ fill: (DocumentBatch, inout JSONWriter) throws -> Void
  ) throws -> [Int64] {
    try InternalCollection.refuse(name)
    return try writing(atomic: atomic, callsBack: true) { engine in
      let batch = try DocumentBatch(mode, self, engine, capacity: capacity)
      defer { batch.end() }
      do {
        try batch.all { writer in try fill(batch, &writer) }
      } catch let error as StoreError {
        throw error.adding(.position, "document \(batch.rowIDs.count + 1) of the batch")
      }
      return batch.rowIDs
    }
  }
}
