// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoStoreCore

extension ModelCollection {
  /// Stores a new value.
  ///
  /// ```swift
  /// let grace = try people.insert(Person(firstName: "Grace", lastName: "Hopper"))
  /// grace.key                                 // the key that was made for it
  /// ```
  ///
  /// - Parameter key: The key; the one that the value says, or one that is made, if nil.
  /// - Returns: The value as it is stored, with its key.
  /// - Throws: ``StoreError/Code/duplicateKey``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/valueNotStorable`` and others. Nothing was stored.
  @discardableResult
  public func insert(_ value: M, key: String? = nil) throws -> Stored<M> {
    try write(.insert, value, key)
  }

  /// Stores a value under a key, replacing the document that has it.
  ///
  /// - Throws: As `insert(_:key:)`, but not for a key that exists; ``StoreError/Code/invalidArgument`` if the value
  ///   says another key. What was stored stays.
  @discardableResult
  public func save(_ value: M, key: String) throws -> Stored<M> { try write(.save, value, key) }

  @available(
    *, unavailable,
    message:
      "a model without @Key does not know its document, so saving would make another one: mark a property with @Key, make the type Identifiable, use insert, or save what firstStored() or stored() gives"
  )
  @discardableResult
  public func save(_ value: M) throws -> Stored<M> { fatalError() }

  @available(
    *, unavailable,
    message:
      "a model without @Key does not know its document, so saving would make another one: mark a property with @Key, make the type Identifiable, use insert, or save what firstStored() or stored() gives"
  )
  @discardableResult
  public func save(_ values: [M]) throws -> [Int64] { fatalError() }

  /// Stores a changed value in place of the document that it was read from.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if it is known by its row id alone and was removed;
  ///   ``StoreError/Code/invalidArgument`` if the key that the value says is another one now.
  @discardableResult
  public func save(_ stored: Stored<M>) throws -> Stored<M> {
    let header = stored.header
    if let key = try stored.value.documentKey, key != header.key { throw Self.otherKey(name) }
    if header.key != nil {
      try prepareIfNeeded()
      let document = try write(.save, stored.value, header.key)
      return Stored(stored.value, document.header)
    }
    try prepareIfNeeded()
    return Stored(stored.value, try replace(stored.value, header).header)
  }

  /// Stores a value in place of the document that has this header.
  @discardableResult
  func replace(_ value: M, _ old: Document.Header) throws -> Document {
    try documents.replace(document(value, old))
  }

  /// The document that a value becomes.
  func document(_ value: M, _ old: Document.Header) throws -> Document {
    var header = old
    header.version = value._$unknownFields.version(M.storedVersion)
    var writer = JSONWriter(capacity: 512)
    value.writeDocument(to: &writer)
    if let failure = writer.failure { throw failure.adding(.collection, name) }
    return Document(header, copying: writer.bytes)
  }

  /// Stores new values, all of them or none.
  ///
  /// - Returns: Their row ids, in order.
  /// - Throws: As for a single one, with its position. Nothing was stored.
  @discardableResult
  @inlinable
  public func insert(_ values: some Sequence<M>) throws -> [Int64] {
    try write(.insert, values)
  }

  @inlinable
  func write(_ mode: WriteMode, _ values: some Sequence<M>) throws -> [Int64] {
    try prepareIfNeeded()
    let version = M.storedVersion
    return try documents.writeBatch(mode, capacity: values.underestimatedCount) { batch, writer in
      // Written where they stand: a copy of each would retain and release all that it holds.
      let isDone: Void? = try values.withContiguousStorageIfAvailable { values in
        for index in values.indices {
          try values[index].add(to: batch, &writer, version, mode)
        }
      }
      if isDone != nil { return }
      for value in values { try value.add(to: batch, &writer, version, mode) }
    }
  }

  private func write(_ mode: WriteMode, _ value: M, _ key: String?) throws -> Stored<M> {
    try prepareIfNeeded()
    let own = try value.documentKey
    let given = try key.map { (key) throws(StoreError) in try DocumentKey(key) }
    if let own, let given, own != given { throw Self.otherKey(name) }
    let document = try write(mode, value, given ?? own)
    // A value that was without its key gets the one that was made.
    let value = own == nil && M.fieldTable.hasKey ? try decoder.value(document) : value
    var header = document.header
    // New documents begin with this revision.
    if mode == .insert { header.revision = 1 }
    return Stored(value, header)
  }

  private func write(_ mode: WriteMode, _ value: M, _ key: DocumentKey?) throws -> Document {
    do {
      return try documents.write(
        mode, key: key, version: value._$unknownFields.version(M.storedVersion)
      ) { value.writeDocument(to: &$0) }
    } catch let error as StoreError {
      throw error.adding(.collection, name)
    }
  }

  static func otherKey(_ collection: String) -> StoreError {
    StoreError(
      .invalidArgument, "A value says another key than it is to be stored under",
      [.collection: collection, .hint: "remove the old document and insert the value"])
  }

  /// Removes the value with this key and says whether there was one.
  @discardableResult
  public func delete(_ key: String) throws -> Bool { try documents.delete(key) }
  /// Removes the value with this key and says whether there was one.
  @discardableResult
  public func delete(_ key: some ModelKey) throws -> Bool {
    guard let key = try key.documentKey else { return false }
    return try documents.delete(key.description)
  }
  /// Removes the value with this row id and says whether there was one.
  @discardableResult
  public func delete(rowID: Int64) throws -> Bool { try documents.delete(rowID: rowID) }
  /// Removes a value by its key, or by its row id if it has no key.
  @discardableResult
  public func delete(_ stored: Stored<M>) throws -> Bool {
    if let key = stored.header.key { return try documents.delete(key.description) }
    return try stored.rowID.map { try documents.delete(rowID: $0) } ?? false
  }
  /// Removes every value and says how many there were. The collection and its indexes stay.
  @discardableResult
  public func deleteAll() throws -> Int { try documents.deleteAll() }
}

extension ModelCollection where M: KeyedModel {
  /// Stores a value under its key, replacing the document that has it.
  ///
  /// ```swift
  /// var ada = Person(id: "ada", name: "Ada")
  /// try people.save(ada)                 // inserts it
  /// ada.name = "Ada Lovelace"
  /// try people.save(ada)                 // replaces it
  /// ```
  ///
  /// - Throws: As `insert(_:key:)`, but not for a key that exists; ``StoreError/Code/invalidKey`` if the key is nil.
  ///   What was stored stays.
  @discardableResult
  public func save(_ value: M) throws -> Stored<M> {
    guard try value.documentKey != nil else {
      throw StoreError.savedWithoutKey.adding(.collection, name)
    }
    return try write(.save, value, nil)
  }

  /// Stores values under their keys, replacing the documents that have them, all of them or none.
  @discardableResult
  public func save(_ values: some Sequence<M>) throws -> [Int64] {
    try write(.save, values)
  }

  /// Deletes the document with the key of a value, whatever else it holds by now, and says whether there was one.
  @discardableResult
  public func delete(_ value: M) throws -> Bool {
    guard let key = try value.documentKey else { return false }
    return try documents.delete(key.description)
  }
}

extension StoreError {
  /// A copy of the value would not learn of the key that is made, and would become another document when it is saved.
  @usableFromInline static var savedWithoutKey: StoreError {
    StoreError(
      .invalidKey, "A value whose key is nil cannot be saved",
      [.hint: "insert it, and continue with the value in what insert returns: it has the new key"])
  }
}

extension ModelCollection where M: KeyedModel {
  @discardableResult
  public func save(_ value: sending M) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: value) { try self.save($0) }
  }
  @discardableResult
  public func save(
    _ values: sending some Sequence<M> & SendableMetatype
  ) async throws -> [Int64] {
    try await documents.onWriter(handing: values) { try self.save($0) }
  }
  @discardableResult
  public func delete(_ value: M) async throws -> Bool {
    guard let key = try value.documentKey else { return false }
    return try await documents.delete(key.description)
  }
}

extension Model {
  /// Adds the value to a batch.
  @inlinable @inline(__always)
  func add(
    to batch: DocumentBatch, _ writer: inout JSONWriter, _ version: Int64?, _ mode: WriteMode
  ) throws {
    let key = try documentKey
    if mode == .save, key == nil { throw StoreError.savedWithoutKey }
    writeDocument(to: &writer)
    try batch.add(&writer, key: key, version: _$unknownFields.version(version))
  }
}

/// The same with `await`. A value that is not `Sendable` must not be used by the caller any longer;
/// ``NanoStoreCore/Store/blocking(_:)`` stores one that is.
extension ModelCollection {
  @discardableResult
  public func insert(_ value: sending M, key: String? = nil) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: value) { try self.insert($0, key: key) }
  }
  @discardableResult
  public func save(_ value: sending M, key: String) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: value) { try self.save($0, key: key) }
  }
  @discardableResult
  public func save(_ stored: sending Stored<M>) async throws -> sending Stored<M> {
    try await documents.onWriter(handing: stored) { try self.save($0) }
  }
  @discardableResult
  public func insert(
    _ values: sending some Sequence<M> & SendableMetatype
  ) async throws -> [Int64] {
    try await documents.onWriter(handing: values) { try self.insert($0) }
  }
  @discardableResult
  public func delete(_ stored: sending Stored<M>) async throws -> Bool {
    try await documents.onWriter(handing: stored) { try self.delete($0) }
  }
}

extension ModelCollection {
  @discardableResult
  public func delete(_ key: String) async throws -> Bool { try await documents.delete(key) }
  @discardableResult
  public func delete(_ key: some ModelKey & Sendable) async throws -> Bool {
    try await documents.onWriter { try self.delete(key) }
  }
  @discardableResult
  public func delete(rowID: Int64) async throws -> Bool {
    try await documents.delete(rowID: rowID)
  }
  @discardableResult
  public func deleteAll() async throws -> Int { try await documents.deleteAll() }
}
