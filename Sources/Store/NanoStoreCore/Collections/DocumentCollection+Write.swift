// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// What is done with a document that has a key.
@usableFromInline package enum WriteMode: Sendable {
  /// No document may have the key already.
  case insert
  /// The one that has the key is replaced.
  case save
}

extension DocumentCollection {
  /// Stores a new document.
  ///
  /// ```swift
  /// let ada = try people.insert(["name": "Ada"])          // with a key that is made for it
  /// try people.insert(["name": "Grace"], key: "grace")
  /// try people.insert(["name": "Grace"], key: "grace")    // throws duplicateKey
  /// ```
  ///
  /// - Returns: The document as it is stored.
  /// - Throws: ``StoreError/Code/duplicateKey``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/invalidKey``, ``StoreError/Code/valueNotStorable`` and others. Nothing was
  ///   stored.
  @discardableResult
  public func insert(_ object: DocumentObject, key: String? = nil) throws -> Document {
    try write(.insert, Header(key: key)) { writer in writer.object(object.withoutRowID) }
  }
  @discardableResult
  public func insert(_ object: DocumentObject, key: String? = nil) async throws -> Document {
    try await onWriter { try self.insert(object, key: key) }
  }

  /// Stores a document under its key, in place of the one that has it. Its row id and the moment at
  /// which it was added stay.
  ///
  /// - Throws: As ``insert(_:key:)-(DocumentObject,_)``, but not for a key that is there. What was
  ///   stored stays.
  @discardableResult
  public func save(_ object: DocumentObject, key: String? = nil) throws -> Document {
    try write(.save, Header(key: key)) { writer in writer.object(object.withoutRowID) }
  }
  @discardableResult
  public func save(_ object: DocumentObject, key: String? = nil) async throws -> Document {
    try await onWriter { try self.save(object, key: key) }
  }

  /// Stores a document as new, under its key or one that is made for it.
  @discardableResult
  public func insert(_ document: Document) throws -> Document { try write(.insert, document) }
  @discardableResult
  public func insert(_ document: Document) async throws -> Document {
    try await onWriter { try self.insert(document) }
  }

  /// Stores a changed document in place of what it was read from, by its key or its row id.
  ///
  /// - Throws: ``StoreError/Code/partialDocument`` if only some of its fields were read;
  ///   ``StoreError/Code/notFound`` if it is known by its row id alone and was removed.
  @discardableResult
  public func save(_ document: Document) throws -> Document {
    let header = document.header
    guard header.key == nil, header.rowID != nil else { return try write(.save, document) }
    return try replace(document)
  }
  @discardableResult
  public func save(_ document: Document) async throws -> Document {
    try await onWriter { try self.save(document) }
  }

  /// Stores a value of your own type as a new document.
  ///
  /// - Throws: Also `EncodingError`.
  @discardableResult
  @_disfavoredOverload
  public func insert(_ value: some Encodable, key: String? = nil) throws -> Document {
    try write(.insert, Header(key: key)) { writer in
      try DocumentEncoder().encode(value, into: &writer)
    }
  }
  @discardableResult
  @_disfavoredOverload
  public func insert(
    _ value: sending some Encodable & SendableMetatype, key: String? = nil
  ) async throws -> Document {
    try await onWriter(handing: value) { try self.insert($0, key: key) }
  }

  /// Stores a value of your own type under a key, in place of the document that has it.
  @discardableResult
  @_disfavoredOverload
  public func save(_ value: some Encodable, key: String? = nil) throws -> Document {
    try write(.save, Header(key: key)) { writer in
      try DocumentEncoder().encode(value, into: &writer)
    }
  }
  @discardableResult
  @_disfavoredOverload
  public func save(
    _ value: sending some Encodable & SendableMetatype, key: String? = nil
  ) async throws -> Document {
    try await onWriter(handing: value) { try self.save($0, key: key) }
  }

  /// Stores a JSON object as a new document. All names in it are fields, `__rowid__` too.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON`` with the offset of what is wrong.
  @discardableResult
  public func insert(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) throws -> Document {
    let object = try DocumentObject(json: json, dialect: dialect)
    return try write(.insert, Header(key: key)) { writer in writer.object(object) }
  }
  @discardableResult
  public func insert(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) async throws -> Document {
    try await onWriter { try self.insert(json: json, key: key, dialect: dialect) }
  }

  /// Stores a JSON object under a key, in place of the document that has it.
  @discardableResult
  public func save(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) throws -> Document {
    let object = try DocumentObject(json: json, dialect: dialect)
    return try write(.save, Header(key: key)) { writer in writer.object(object) }
  }
  @discardableResult
  public func save(
    json: String, key: String? = nil, dialect: JSONDialect = .extended
  ) async throws -> Document {
    try await onWriter { try self.save(json: json, key: key, dialect: dialect) }
  }
}

extension DocumentCollection {
  /// What a call gives beside the fields.
  struct Header {
    var key: String?
    var type: String?
    var version: Int64?
  }

  /// Stores one document that a closure encodes in stored form.
  ///
  /// ```swift
  /// try people.write(.insert, key: DocumentKey("ada")) { $0.literal(#"{"name":"Ada"}"#) }
  /// ```
  ///
  /// - Parameters:
  ///   - key: Made where documents have keys, if nil.
  ///   - type: The name of the class; nil for the collection's own.
  ///   - version: The version of the class; nil for its first.
  /// - Throws: As inserting or saving an object does, or what the closure throws. Nothing was stored.
  @discardableResult
  package func write(
    _ mode: WriteMode, key: DocumentKey?, type: String? = nil, version: Int64? = nil,
    _ fill: (inout JSONWriter) throws -> Void
  ) throws -> Document {
    var writer = JSONWriter(capacity: 512)
    try fill(&writer)
    return try write(
      mode, Document.Header(collection: name, key: key, type: type, version: version), &writer)
  }

  func write(
    _ mode: WriteMode, _ header: Header, _ fill: (inout JSONWriter) throws -> Void
  ) throws -> Document {
    let key = try header.key.map { try DocumentKey($0) }
    return try write(mode, key: key, type: header.type, version: header.version, fill)
  }

  func write(_ mode: WriteMode, _ document: Document) throws -> Document {
    guard !document.isPartial else { throw Self.partial }
    var writer = JSONWriter(capacity: 512)
    try document.write(to: &writer)
    let old = document.header
    return try write(
      mode,
      Document.Header(
        collection: name, key: old.key, type: old.type, version: old.version, added: old.added),
      &writer)
  }

  /// Writes encoded fields, or keeps them until so many are there.
  private func write(
    _ mode: WriteMode, _ given: Document.Header, _ writer: inout JSONWriter
  ) throws -> Document {
    try inTurn { try writeAtOnce(mode, given, &writer) }
  }

  private func writeAtOnce(
    _ mode: WriteMode, _ given: Document.Header, _ writer: inout JSONWriter
  ) throws -> Document {
    try InternalCollection.refuse(name)
    try store.checkNames(writer.bytes)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    var header = given
    // A document from another store keeps the moment at which it was added there.
    let added = header.added ?? Clock.microseconds()
    let body = writer.bytes
    if mode == .save, store.isCollecting,
      let key = try header.key ?? store.readingStored({ try key(nil, $0) })
    {
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

  /// Stores a document by itself, where the engine can do so and no transaction runs; nil if not.
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

  /// The key of a new document: the given one, or one made for it where documents have keys.
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
    if isFull { try store.flush() }
    var header = header
    header.key = key
    header.added = added
    return Document(header, copying: body)
  }

  static let partial = StoreError(
    .partialDocument, "A document with only some of its fields cannot replace the whole one",
    [.hint: "update the changed fields, or read the document without choosing fields"])

  static func notFound(_ identity: Identity, _ collection: String) -> StoreError {
    switch identity {
    case .key(let key):
      StoreError(
        .notFound, "There is no document with this key",
        [.collection: collection, .key: key.description])
    case .rowID(let id):
      StoreError(
        .notFound, "There is no document with this row id",
        [.collection: collection, .rowID: "\(id)"])
    }
  }
}

extension Store {
  /// The engine, where one document may be written by itself and that is of use.
  fileprivate func engineForPutting() throws -> (any Engine)? {
    guard TransactionContext.current(of: self) == nil else { return nil }
    let engine = try engine()
    guard engine.capabilities.contains(.singleWrites) else { return nil }
    waitForQueued()
    try flush()
    return engine
  }

  /// Whether saves outside of transactions are kept until several are there.
  var isCollecting: Bool {
    withPending { $0.interval > 1 } && TransactionContext.current(of: self) == nil
  }
}

extension JSONWriter {
  /// SQLite's limit for one value; other engines take less, and say so themselves.
  static let maximumDocumentSize = 1_000_000_000

  /// - Throws: ``StoreError/Code/valueNotStorable``, ``StoreError/Code/documentTooLarge``.
  borrowing func checkStorable(limit: Int) throws(StoreError) {
    if let failure { throw failure }
    guard count <= limit else {
      throw StoreError(
        .documentTooLarge, "A document is too large",
        [.limit: "\(limit) bytes", .actual: "\(count) bytes"])
    }
  }
}
