// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoStoreCore

extension ModelCollection {
  /// Stores a new value.
  ///
  /// ```swift
  /// let grace = try people.insert(Person(firstName: "Grace", lastName: "Hopper"))
  /// grace.key                                 // the generated key
  /// ```
  ///
  /// - Parameter key: The key of the document. If nil, the value's own key is used, or a key is
  ///   generated if the value has none. Generated keys are UUIDs.
  /// - Returns: The value as stored, with its key.
  /// - Throws: ``StoreError/Code/duplicateKey``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/valueNotStorable``, ``StoreError/Code/invalidKey`` if the value has no key and
  ///   its type of key cannot hold a UUID, ``StoreError/Code/typeMismatch`` if it cannot hold the given
  ///   key, and others. Nothing was stored.
  @discardableResult
  public func insert(_ value: M, key: String? = nil) throws -> Stored<M> {
    try write(.insert, value, key)
  }

  /// Stores a value under a key, replacing an existing document with that key.
  ///
  /// - Throws: The errors of `insert(_:key:)` except ``StoreError/Code/duplicateKey``;
  ///   ``StoreError/Code/invalidArgument`` if the value has a different key. The stored document is
  ///   unchanged.
  @discardableResult
  public func save(_ value: M, key: String) throws -> Stored<M> { try write(.save, value, key) }

  /// Unavailable: a value without `@Key` does not identify its document.
  @available(
    *, unavailable,
    message:
      "a model without @Key does not identify its document, so saving it would create another one: mark a property with @Key, make the type Identifiable, use insert, or save a result of firstStored() or stored()"
  )
  @discardableResult
  public func save(_ value: M) throws -> Stored<M> { fatalError() }

  /// Unavailable: values without `@Key` do not identify their documents.
  @available(
    *, unavailable,
    message:
      "a model without @Key does not identify its document, so saving it would create another one: mark a property with @Key, make the type Identifiable, use insert, or save a result of firstStored() or stored()"
  )
  @discardableResult
  public func save(_ values: [M]) throws -> [Int64] { fatalError() }

  /// Replaces the document that a value was read from.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the document has no key and was deleted;
  ///   ``StoreError/Code/invalidArgument`` if the value's key was changed.
  @discardableResult
  public func save(_ stored: Stored<M>) throws -> Stored<M> {
    let header = stored.header
    if let key = try stored.value.documentKey, key != header.key { throw Self.keyMismatch(name) }
    if header.key != nil {
      try prepareIfNeeded()
      let document = try write(.save, stored.value, header.key, type: header.type)
      return Stored(stored.value, document.header)
    }
    try prepareIfNeeded()
    return Stored(stored.value, try replace(stored.value, header).header)
  }

  /// Replaces the document that has this header.
  @discardableResult
  func replace(_ value: M, _ old: Document.Header) throws -> Document {
    try documents.replace(document(value, old))
  }

  /// Encodes a value as the document with this header.
  func document(_ value: M, _ old: Document.Header) throws -> Document {
    var header = old
    header.version = value._$unknownFields.version(M.storedVersion, in: name)
    var writer = JSONWriter(capacity: 512)
    value.writeDocument(to: &writer)
    if let failure = writer.failure { throw failure.adding(.collection, name) }
    return Document(header, copying: writer.bytes)
  }

  /// Stores new values atomically.
  ///
  /// - Returns: Their row IDs, in order.
  /// - Throws: The errors of inserting one value, with the position of the value. Nothing was
  ///   stored.
  @discardableResult
  @inlinable
  public func insert(_ values: some Sequence<M>) throws -> [Int64] {
    try write(.insert, values)
  }

  @inlinable
  func write(_ mode: WriteMode, _ values: some Sequence<M>) throws -> [Int64] {
    try prepareIfNeeded()
    let (version, name) = (M.storedVersion, name)
    return try documents.writeBatch(mode, capacity: values.underestimatedCount) { batch, writer in
      batch.acceptsGeneratedKeys = M.acceptsGeneratedKeys
      // Encoded in place: copying each value would retain and release everything it refers to.
      let isDone: Void? = try values.withContiguousStorageIfAvailable { values in
        for index in values.indices {
          try values[index].add(to: batch, in: name, &writer, version, mode)
        }
      }
      if isDone != nil { return }
      for value in values { try value.add(to: batch, in: name, &writer, version, mode) }
    }
  }

  /// Writes a value under the given key, or its own, or a generated one.
  ///
  /// - Returns: The document, and whether the value lacks the key that it is to have.
  func write(
    _ mode: WriteMode, _ value: M, given key: String?
  ) throws -> (document: Document, lacksKey: Bool) {
    try prepareIfNeeded()
    let own = try value.documentKey
    let given = try key.map { (key) throws(StoreError) in try DocumentKey(key) }
    if let own, let given, own != given { throw Self.keyMismatch(name) }
    guard own == nil else { return (try write(mode, value, own), false) }
    let table = M.fieldTable
    // Before the write: a document whose key does not decode could not be read.
    if let given {
      do {
        try table.checkKey(given)
      } catch let error as StoreError {
        throw error.adding(.collection, name)
      }
    } else if !table.acceptsGeneratedKeys {
      try documents.requireNoKey()
    }
    return (try write(mode, value, given), table.hasKey)
  }

  private func write(_ mode: WriteMode, _ value: M, _ key: String?) throws -> Stored<M> {
    let (document, lacksKey) = try write(mode, value, given: key)
    // A value that had no key receives the given or generated one.
    let value = lacksKey ? try decoder.value(document) : value
    var header = document.header
    // The first revision of a document is 1.
    if mode == .insert { header.revision = 1 }
    return Stored(value, header)
  }

  private func write(
    _ mode: WriteMode, _ value: M, _ key: DocumentKey?, type: String? = nil
  ) throws -> Document {
    do {
      return try documents.write(
        mode, key: key, type: type,
        version: value._$unknownFields.version(M.storedVersion, in: name)
      ) { value.writeDocument(to: &$0) }
    } catch let error as StoreError {
      throw error.adding(.collection, name)
    }
  }

  static func keyMismatch(_ collection: String) -> StoreError {
    StoreError(
      .invalidArgument, "A value has a different key than the one to store it under",
      [.collection: collection, .hint: "delete the old document and insert the value"])
  }

  /// Deletes the document with this key and returns whether it existed.
  @discardableResult
  public func delete(_ key: String) throws -> Bool { try documents.delete(key) }
  /// Deletes the document with this key and returns whether it existed.
  @discardableResult
  public func delete(_ key: some ModelKey) throws -> Bool {
    guard let key = try key.documentKey else { return false }
    return try documents.delete(key.description)
  }
  /// Deletes the document with this row ID and returns whether it existed.
  @discardableResult
  public func delete(rowID: Int64) throws -> Bool { try documents.delete(rowID: rowID) }
  /// Deletes the document of a value, by its key or else by its row ID, and returns whether it
  /// existed.
  @discardableResult
  public func delete(_ stored: Stored<M>) throws -> Bool {
    if let key = stored.header.key { return try documents.delete(key.description) }
    return try stored.rowID.map { try documents.delete(rowID: $0) } ?? false
  }
  /// Deletes all documents and returns their number. The collection and its indexes are kept.
  @discardableResult
  public func deleteAll() throws -> Int { try documents.deleteAll() }
}

extension ModelCollection where M: KeyedModel {
  /// Stores a value under its key, replacing an existing document with that key.
  ///
  /// ```swift
  /// var ada = Person(id: "ada", name: "Ada")
  /// try people.save(ada)                 // inserts it
  /// ada.name = "Ada Lovelace"
  /// try people.save(ada)                 // replaces it
  /// ```
  ///
  /// - Throws: The errors of `insert(_:key:)` except ``StoreError/Code/duplicateKey``;
  ///   ``StoreError/Code/invalidKey`` if the key is nil. The stored document is unchanged.
  @discardableResult
  public func save(_ value: M) throws -> Stored<M> {
    guard try value.documentKey != nil else {
      throw StoreError.savedWithoutKey.adding(.collection, name)
    }
    return try write(.save, value, nil)
  }

  /// Stores values under their keys atomically, replacing existing documents with those keys.
  @discardableResult
  public func save(_ values: some Sequence<M>) throws -> [Int64] {
    try write(.save, values)
  }

  /// Deletes the document with the key of a value, whatever its current content, and returns
  /// whether it existed.
  @discardableResult
  public func delete(_ value: M) throws -> Bool {
    guard let key = try value.documentKey else { return false }
    return try documents.delete(key.description)
  }
}

extension StoreError {
  /// Saving a value without a key would generate one that the caller's copy does not have: saving
  /// that copy again would create a second document.
  @usableFromInline static var savedWithoutKey: StoreError {
    StoreError(
      .invalidKey, "A value whose key is nil cannot be saved",
      [.hint: "insert it, and use the value that insert returns, which has the new key"])
  }
}

extension ModelCollection where M: KeyedModel {
  /// The asynchronous form of `save(_:)`, which does not block the calling thread.
  @discardableResult
  public func save(_ value: sending M) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: value) { try self.save($0) }
  }
  /// The asynchronous form of `save(_:)` for several values, which does not block the calling
  /// thread.
  @discardableResult
  public func save(
    _ values: sending some Sequence<M> & SendableMetatype
  ) async throws -> [Int64] {
    try await documents.onWriter(sending: values) { try self.save($0) }
  }
  /// The asynchronous form of `delete(_:)` for a value, which does not block the calling thread.
  @discardableResult
  public func delete(_ value: M) async throws -> Bool {
    guard let key = try value.documentKey else { return false }
    return try await documents.delete(key.description)
  }
}

extension Model {
  /// A closure that returns whether values without a key of their own can have the keys that the store generates.
  @usableFromInline
  package static var acceptsGeneratedKeys: @Sendable () -> Bool {
    let table = fieldTable
    return { table.acceptsGeneratedKeys }
  }

  /// Encodes the value and adds it to a batch of a collection.
  @inlinable @inline(__always)
  func add(
    to batch: DocumentBatch, in collection: String, _ writer: inout JSONWriter,
    _ version: Int64?, _ mode: WriteMode
  ) throws {
    let key = try documentKey
    if mode == .save, key == nil { throw StoreError.savedWithoutKey }
    writeDocument(to: &writer)
    try batch.add(
      &writer, key: key, version: _$unknownFields.version(version, in: collection))
  }
}

/// Asynchronous forms. A value that is not `Sendable` must not be used after the call; to keep using it,
/// store it within ``NanoStoreCore/Store/blocking(_:)``.
extension ModelCollection {
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func insert(_ value: sending M, key: String? = nil) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: value) { try self.insert($0, key: key) }
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func save(_ value: sending M, key: String) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: value) { try self.save($0, key: key) }
  }
  /// The asynchronous form of `save(_:)` for a stored value, which does not block the calling
  /// thread.
  @discardableResult
  public func save(_ stored: sending Stored<M>) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: stored) { try self.save($0) }
  }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert(
    _ values: sending some Sequence<M> & SendableMetatype
  ) async throws -> [Int64] {
    try await documents.onWriter(sending: values) { try self.insert($0) }
  }
  /// The asynchronous form of `delete(_:)` for a stored value, which does not block the calling
  /// thread.
  @discardableResult
  public func delete(_ stored: sending Stored<M>) async throws -> Bool {
    try await documents.onWriter(sending: stored) { try self.delete($0) }
  }
}

extension ModelCollection {
  /// The asynchronous form of `delete(_:)` for a key, which does not block the calling thread.
  @discardableResult
  public func delete(_ key: String) async throws -> Bool { try await documents.delete(key) }
  /// The asynchronous form of `delete(_:)` for a typed key, which does not block the calling
  /// thread.
  @discardableResult
  public func delete(_ key: some ModelKey & Sendable) async throws -> Bool {
    try await documents.onWriter { try self.delete(key) }
  }
  /// The asynchronous form of ``delete(rowID:)``, which does not block the calling thread.
  @discardableResult
  public func delete(rowID: Int64) async throws -> Bool {
    try await documents.delete(rowID: rowID)
  }
  /// The asynchronous form of ``deleteAll()``, which does not block the calling thread.
  @discardableResult
  public func deleteAll() async throws -> Int { try await documents.deleteAll() }
}
