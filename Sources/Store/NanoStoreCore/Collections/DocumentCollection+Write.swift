// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// How a write treats a document whose key already exists.
@usableFromInline package enum WriteMode: Sendable {
  /// Rejects the new document.
  case insert
  /// Replaces the existing document.
  case save
}

extension DocumentCollection {
  /// Inserts a new document.
  ///
  /// ```swift
  /// let ada = try people.insert(["name": "Ada"])          // under a generated key
  /// try people.insert(["name": "Grace"], key: "grace")
  /// try people.insert(["name": "Grace"], key: "grace")    // throws duplicateKey
  /// ```
  ///
  /// - Returns: The document as stored.
  /// - Throws: ``StoreError/Code/duplicateKey``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/invalidKey``, ``StoreError/Code/valueNotStorable`` and others. Nothing was
  ///   stored.
  @discardableResult
  public func insert(_ object: DocumentObject, key: String? = nil) throws -> Document {
    try write(.insert, key: key.map(DocumentKey.init)) { writer in
      writer.object(object.withoutRowID)
    }
  }
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func insert(_ object: DocumentObject, key: String? = nil) async throws -> Document {
    try await onWriter { try self.insert(object, key: key) }
  }

  /// Saves a document, replacing the one with the same key. Its row ID and insertion time are kept.
  ///
  /// - Returns: The document as stored, except that ``Document/added`` is the time of this call: the insertion time that
  ///   a replaced document keeps is not read.
  /// - Throws: The errors of ``insert(_:key:)-(DocumentObject,_)``, except for an existing key. The
  ///   stored document is unchanged.
  @discardableResult
  public func save(_ object: DocumentObject, key: String? = nil) throws -> Document {
    try write(.save, key: key.map(DocumentKey.init)) { writer in writer.object(object.withoutRowID)
    }
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread.
  @discardableResult
  public func save(_ object: DocumentObject, key: String? = nil) async throws -> Document {
    try await onWriter { try self.save(object, key: key) }
  }

  /// Inserts a document as new, under its key or a generated one.
  @discardableResult
  public func insert(_ document: Document) throws -> Document { try write(.insert, document) }
  /// The asynchronous form of `insert(_:)`, which does not block the calling thread.
  @discardableResult
  public func insert(_ document: Document) async throws -> Document {
    try await onWriter { try self.insert(document) }
  }

  /// Saves a changed document, replacing the stored one.
  ///
  /// That is the document with the same key, or the same row ID if there is no key.
  ///
  /// - Throws: ``StoreError/Code/partialDocument`` if only some of its fields were read;
  ///   ``StoreError/Code/notFound`` if it has only a row ID and was deleted.
  @discardableResult
  public func save(_ document: Document) throws -> Document {
    let header = document.header
    guard header.key == nil, header.rowID != nil else { return try write(.save, document) }
    return try replace(document)
  }
  /// The asynchronous form of `save(_:)`, which does not block the calling thread.
  @discardableResult
  public func save(_ document: Document) async throws -> Document {
    try await onWriter { try self.save(document) }
  }

  /// Inserts an `Encodable` value as a new document.
  ///
  /// - Throws: Also `EncodingError`.
  @discardableResult
  @_disfavoredOverload
  public func insert(_ value: some Encodable, key: String? = nil) throws -> Document {
    try write(.insert, key: key.map(DocumentKey.init)) { writer in
      try DocumentEncoder().encode(value, into: &writer)
    }
  }
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread. The value
  /// is sent to the writer.
  @discardableResult
  @_disfavoredOverload
  public func insert(
    _ value: sending some Encodable & SendableMetatype, key: String? = nil
  ) async throws -> Document {
    try await onWriter(sending: value) { try self.insert($0, key: key) }
  }

  /// Saves an `Encodable` value under a key, replacing the document with the same key.
  @discardableResult
  @_disfavoredOverload
  public func save(_ value: some Encodable, key: String? = nil) throws -> Document {
    try write(.save, key: key.map(DocumentKey.init)) { writer in
      try DocumentEncoder().encode(value, into: &writer)
    }
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread. The value is
  /// sent to the writer.
  @discardableResult
  @_disfavoredOverload
  public func save(
    _ value: sending some Encodable & SendableMetatype, key: String? = nil
  ) async throws -> Document {
    try await onWriter(sending: value) { try self.save($0, key: key) }
  }

  /// Inserts a value as a new document, which its own codec writes.
  ///
  /// ```swift
  /// try cities.insert(City(name: "Oslo"), key: "oslo")
  /// try cities.get("oslo", as: City.self)?.name           // "Oslo"
  /// ```
  ///
  /// - Throws: The errors of ``insert(_:key:)-(DocumentObject,_)``, including
  ///   ``StoreError/Code/valueNotStorable`` for a value that the codec could not write. Nothing was
  ///   stored.
  @discardableResult
  public func insert(_ value: some DocumentRepresentable, key: String? = nil) throws -> Document {
    try write(.insert, key: key.map(DocumentKey.init)) { try value.writeChecked(to: &$0) }
  }
  /// The asynchronous form of `insert(_:key:)`, which does not block the calling thread. The value
  /// is sent to the writer.
  @discardableResult
  public func insert(
    _ value: sending some DocumentRepresentable, key: String? = nil
  ) async throws -> Document {
    try await onWriter(sending: value) { try self.insert($0, key: key) }
  }

  /// Saves a value under a key, replacing the document with the same key. The value's own codec
  /// writes the document.
  ///
  /// - Throws: The errors of ``save(_:key:)-(DocumentObject,_)``, including
  ///   ``StoreError/Code/valueNotStorable`` for a value that the codec could not write. The stored
  ///   document is unchanged.
  @discardableResult
  public func save(_ value: some DocumentRepresentable, key: String? = nil) throws -> Document {
    try write(.save, key: key.map(DocumentKey.init)) { try value.writeChecked(to: &$0) }
  }
  /// The asynchronous form of `save(_:key:)`, which does not block the calling thread. The value is
  /// sent to the writer.
  @discardableResult
  public func save(
    _ value: sending some DocumentRepresentable, key: String? = nil
  ) async throws -> Document {
    try await onWriter(sending: value) { try self.save($0, key: key) }
  }

  /// Inserts a JSON object as a new document. All names in it are fields, including `__rowid__`.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON`` with the byte offset of the error.
  @discardableResult
  public func insert(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) throws -> Document {
    let object = try DocumentObject(json: json, dialect: dialect)
    return try write(.insert, key: key.map(DocumentKey.init)) { writer in writer.object(object) }
  }
  /// The asynchronous form of `insert(json:key:dialect:)`, which does not block the calling thread.
  @discardableResult
  public func insert(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) async throws -> Document {
    try await onWriter { try self.insert(json: json, key: key, dialect: dialect) }
  }

  /// Saves a JSON object under a key, replacing the document with the same key.
  @discardableResult
  public func save(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) throws -> Document {
    let object = try DocumentObject(json: json, dialect: dialect)
    return try write(.save, key: key.map(DocumentKey.init)) { writer in writer.object(object) }
  }
  /// The asynchronous form of `save(json:key:dialect:)`, which does not block the calling thread.
  @discardableResult
  public func save(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) async throws -> Document {
    try await onWriter { try self.save(json: json, key: key, dialect: dialect) }
  }
}

extension DocumentCollection {
  /// Stores one document that a closure encodes in stored form.
  ///
  /// ```swift
  /// try people.write(.insert, key: DocumentKey("ada")) { $0.literal(#"{"name":"Ada"}"#) }
  /// ```
  ///
  /// - Parameters:
  ///   - mode: Whether a document with an existing key is rejected or replaces it.
  ///   - key: The key; generated if nil and the collection uses keys.
  ///   - type: The name of the class; nil for the collection's default class.
  ///   - version: The version of the class; nil for its first.
  ///   - fill: Writes one object in stored form.
  /// - Returns: The document as stored.
  /// - Throws: The errors of inserting or saving an object, or what the closure throws. Nothing was
  ///   stored.
  @discardableResult
  package func write(
    _ mode: WriteMode, key: DocumentKey?, type: String? = nil, version: Int64? = nil,
    _ fill: (inout JSONWriter) throws -> Void
  ) throws -> Document {
    var writer = JSONWriter(capacity: 512)
    try fill(&writer)
    return try writeEncoded(
      mode, Document.Header(collection: name, key: key, type: type, version: version), &writer)
  }

  func write(_ mode: WriteMode, _ document: Document) throws -> Document {
    guard !document.isPartial else { throw Self.partial }
    var writer = JSONWriter(capacity: 512)
    try document.write(to: &writer)
    let old = document.header
    return try writeEncoded(
      mode,
      Document.Header(
        collection: name, key: old.key, type: old.type, version: old.version, added: old.added),
      &writer)
  }

  /// Writes encoded fields after the queued calls.
  private func writeEncoded(
    _ mode: WriteMode, _ header: Document.Header, _ writer: inout JSONWriter
  ) throws -> Document {
    try inTurn { try writeOrBuffer(mode, header, &writer) }
  }

  /// Writes encoded fields, or buffers them according to the save interval.
  private func writeOrBuffer(
    _ mode: WriteMode, _ given: Document.Header, _ writer: inout JSONWriter
  ) throws -> Document {
    try InternalCollection.refuse(name)
    try store.checkNames(writer.bytes, key: given.key)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    var header = given
    // A document from another store keeps the insertion time that it had there.
    let added = header.added ?? Clock.microseconds()
    let body = writer.bytes
    if mode == .save, store.isCollecting,
      let key = try header.key ?? store.readingStored({ try key(nil, $0) })
    {
      // Otherwise the transaction that writes the pending saves of all collections would fail.
      try StoredNames.validate(collection: name)
      return try collect(header, key, added, body)
    }
    header.added = added
    if let put = try put(mode, header, added, body) {
      (header.rowID, header.key) = put
      return Document(header, copying: body)
    }
    try writing { engine in
      header.key = try key(header.key, engine)
      let document = NewDocument(
        key: header.key, type: header.type, version: header.version, added: added, body: body)
      header.rowID =
        mode == .insert
        ? try engine.insert(document, into: name) : try engine.save(document, into: name)
    }
    return Document(header, copying: body)
  }

  /// Writes a document without a transaction, if the engine supports it and none is running;
  /// returns nil otherwise.
  private func put(
    _ mode: WriteMode, _ header: Document.Header, _ added: Int64, _ body: UnsafeRawBufferPointer
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    guard let engine = try store.engineForPutting() else { return nil }
    let document = NewDocument(
      key: header.key, type: header.type, version: header.version, added: added, body: body)
    let newKey = header.key ?? store.keys.next()
    return try store.retrying {
      try engine.put(
        document, newKey: newKey, replacing: mode == .save, into: name, Interruption.current)
    }
  }

  /// Checks that a document without a key needs none.
  ///
  /// - Throws: ``StoreError/Code/invalidKey`` if the collection uses keys.
  package func requireNoKey() throws {
    guard try store.readingStored({ try $0.identity(of: name) == .rowID }) else {
      throw StoreError.keyNotGenerated.adding(.collection, name)
    }
  }

  /// Returns the given key, or a generated one if the collection uses keys.
  func key(_ given: DocumentKey?, _ engine: any EngineReader) throws -> DocumentKey? {
    if let given { return given }
    return try engine.identity(of: name) == .rowID ? nil : store.keys.next()
  }

  private func collect(
    _ header: Document.Header, _ key: DocumentKey, _ added: Int64, _ body: UnsafeRawBufferPointer
  ) throws -> Document {
    let isFull = try store.collect(
      PendingDocuments.Entry(
        collection: name, key: key, header: header, added: added, body: Array(body)))
    if isFull {
      do {
        try store.flush()
      } catch {
        // A document whose generated key the caller does not learn must not be written later, beside its repetition.
        let isUnknown = (error as? StoreError)?.code == .outcomeUnknown
        guard header.key == nil, !isUnknown else { throw error }
        if store.withdraw(name, key) { throw error }
      }
    }
    var header = header
    header.key = key
    header.added = added
    return Document(header, copying: body)
  }

  package static let partial = StoreError(
    .partialDocument, "A document with only some of its fields cannot replace the whole one",
    [.hint: "update the changed fields, or read the document without selecting fields"])

  static func notFound(_ identity: Identity, _ collection: String) -> StoreError {
    switch identity {
    case .key(let key):
      StoreError(
        .notFound, "There is no document with this key",
        [.collection: collection, .key: key.description])
    case .rowID(let id):
      StoreError(
        .notFound, "There is no document with this row ID",
        [.collection: collection, .rowID: "\(id)"])
    }
  }
}

extension Store {
  /// Returns the engine if single-document writes apply: it supports them, and no transaction is
  /// running.
  func engineForPutting() throws -> (any Engine)? {
    guard TransactionContext.current(of: self) == nil else { return nil }
    let engine = try engine()
    guard engine.capabilities.contains(.singleWrites) else { return nil }
    waitForQueued()
    try flush()
    return engine
  }

  /// Whether saves outside of transactions are buffered.
  var isCollecting: Bool {
    withPending { $0.interval > 1 } && TransactionContext.current(of: self) == nil
  }
}

extension JSONWriter {
  /// SQLite's limit for one value. Engines with lower limits report those themselves.
  static let maximumDocumentSize = 1_000_000_000

  /// - Throws: ``StoreError/Code/valueNotStorable``, ``StoreError/Code/documentTooLarge``.
  package borrowing func checkStorable(limit: Int) throws(StoreError) {
    if let failure { throw failure }
    guard count <= limit else {
      throw StoreError(
        .documentTooLarge, "A document is too large",
        [.limit: "\(limit) bytes", .actual: "\(count) bytes"])
    }
  }
}

extension StoreError {
  static var keyNotGenerated: StoreError {
    StoreError(
      .invalidKey,
      "A value has no key, and its type of key cannot hold the UUIDs that are generated",
      [.hint: "give the value a key, or pass one to insert"])
  }
}
