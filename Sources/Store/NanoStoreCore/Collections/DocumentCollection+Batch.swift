// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Inserts values as new documents, atomically. Their own codec writes the documents.
  ///
  /// - Returns: Their row IDs, in order.
  /// - Throws: The errors of inserting a single document. Nothing was stored.
  @discardableResult
  @inlinable
  public func insert<Value: DocumentRepresentable>(
    _ values: some Sequence<Value>
  ) throws -> [Int64] {
    try writeBatch(.insert, capacity: values.underestimatedCount) { batch, writer in
      // Accessed in place: copying each value would retain and release everything that it holds.
      let isDone: Void? = try values.withContiguousStorageIfAvailable { values in
        for index in values.indices {
          try values[index].writeCheckedInDebugBuilds(to: &writer)
          try batch.add(&writer)
        }
      }
      if isDone != nil { return }
      for value in values {
        try value.writeCheckedInDebugBuilds(to: &writer)
        try batch.add(&writer)
      }
    }
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert<Value: DocumentRepresentable>(
    _ values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> [Int64] {
    try await onWriter(sending: values) { try self.insert($0) }
  }

  /// Inserts objects written as literals; see ``insert(_:)-(Sequence<Value>)``.
  @discardableResult
  public func insert(_ objects: [DocumentObject]) throws -> [Int64] {
    try writeBatch(.insert, capacity: objects.count) { batch, writer in
      for object in objects {
        writer.object(object.withoutRowID)
        try batch.add(&writer)
      }
    }
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert(_ objects: [DocumentObject]) async throws -> [Int64] {
    try await onWriter { try self.insert(objects) }
  }

  /// Inserts new documents atomically, under their keys or generated ones.
  ///
  /// A document that was read from another store keeps its insertion time.
  @discardableResult
  public func insert(_ documents: [Document]) throws -> [Int64] {
    try write(.insert, documents)
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert(_ documents: [Document]) async throws -> [Int64] {
    try await onWriter { try self.insert(documents) }
  }

  /// Saves documents atomically, replacing those with the same keys.
  @discardableResult
  public func save(_ documents: [Document]) throws -> [Int64] {
    try write(.save, documents)
  }
  /// The asynchronous form of `save(_:)`, which does not block the calling thread.
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

  /// Inserts `Encodable` values as new documents, atomically.
  ///
  /// ```swift
  /// try films.insert([Film(title: "Alien"), Film(title: "Ran")])      // [1, 2], their row IDs
  /// ```
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable>(_ values: [Value]) throws -> [Int64] {
    try insertEncoded(values)
  }

  /// Inserts the values of a sequence as new documents, atomically. Only one value is in memory at
  /// a time.
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
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread. The values are
  /// sent to the writer.
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable & SendableMetatype>(
    _ values: sending [Value]
  ) async throws -> [Int64] {
    try await onWriter(sending: values) { try self.insertEncoded($0) }
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread. The sequence
  /// is sent to the writer, which iterates it.
  @discardableResult
  @_disfavoredOverload
  public func insert<Value: Encodable & SendableMetatype>(
    _ values: sending some Sequence<Value> & SendableMetatype
  ) async throws -> [Int64] {
    try await onWriter(sending: values) { try self.insertEncoded($0) }
  }

  /// Stores documents that a closure encodes one after another, atomically.
  ///
  /// ```swift
  /// try people.writeBatch(.save) { batch, writer in
  ///   writer.literal(#"{"name":"Ada"}"#)
  ///   try batch.add(&writer, key: DocumentKey("ada"))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - mode: Whether documents with existing keys are rejected or replaced.
  ///   - capacity: The expected number of documents.
  ///   - atomic: Whether an error inside a `write` block rolls back only this batch. If false, the
  ///     whole block must be rolled back. A savepoint keeps a copy of each changed page, and SQLite
  ///     traverses the list of savepoints after each statement with triggers.
  ///   - fill: Receives the batch and a buffer. It writes one document in stored form into the
  ///     buffer before each ``DocumentBatch/add(_:key:type:version:added:rowID:)``.
  /// - Returns: The row IDs of the documents, in order.
  /// - Throws: The errors of storing a single document, with its position in the batch, or what the
  ///   closure throws. Nothing was stored.
  @usableFromInline package func writeBatch(
    _ mode: WriteMode, capacity: Int = 0, atomic: Bool = true,
    _ fill: (DocumentBatch, inout JSONWriter) throws -> Void
  ) throws -> [Int64] {
    try InternalCollection.refuse(name)
    let insertions = mode == .insert ? capacity : nil
    return try writing(atomic: atomic, insertions: insertions, callsBack: true) { engine in
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
