// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// A named collection of documents in a store.
///
/// A lightweight value that you can keep and pass to any task; it holds no documents itself.
///
/// ```swift
/// let people = store["people"]
/// try people.save(["name": "Ada"], key: "ada")
/// try people.get("ada")?["name"]                        // "Ada"
/// try people.find(Field("name") == "Ada").count()       // 1
/// ```
public struct DocumentCollection: Sendable {
  /// The store that contains the collection.
  public let store: Store
  /// The name of the collection. ASCII letters are case-insensitive.
  public let name: String
  private let refusal: Refusal?

  init(store: Store, name: String) {
    self.store = store
    self.name = name
    refusal = nil
  }

  private init(_ collection: DocumentCollection, _ refusal: Refusal) {
    store = collection.store
    name = collection.name
    self.refusal = refusal
  }

  /// A boxed error, so that a collection without one stays small.
  private final class Refusal: Sendable {
    let error: StoreError
    init(_ error: StoreError) { self.error = error }
  }

  /// The error that every operation throws, if a layer set one with ``failing(with:)``.
  package var failure: StoreError? { refusal?.error }

  /// Returns the same collection with every operation throwing this error, for problems that a
  /// layer detects where it cannot throw.
  package func failing(with error: StoreError) -> DocumentCollection {
    DocumentCollection(self, Refusal(error))
  }

  @inline(__always)
  func checkFailure() throws { if let refusal { throw refusal.error } }
}

extension DocumentCollection {
  /// Returns the document with this key, or nil if there is none.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/closed``.
  public func get(_ key: String) throws -> Document? { try get(.key(DocumentKey(key))) }
  /// The asynchronous form of `get(_:)`, which does not block the calling thread.
  public func get(_ key: String) async throws -> Document? {
    try await onReader { try self.get(key) }
  }

  /// Returns the document with this row ID, or nil if there is none.
  public func get(rowID: Int64) throws -> Document? { try get(.rowID(rowID)) }
  /// The asynchronous form of `get(rowID:)`, which does not block the calling thread.
  public func get(rowID: Int64) async throws -> Document? {
    try await onReader { try self.get(rowID: rowID) }
  }

  func get(_ identity: Identity) throws -> Document? {
    try inTurn { try getAtOnce(identity) }
  }

  private func getAtOnce(_ identity: Identity) throws -> Document? {
    let cache = store.cache[name]
    if let context = TransactionContext.current(of: store) {
      return try document(context.reader, identity, cache)
    }
    let (engine, isCollecting) = try store.engineAndBuffer()
    guard !isCollecting else { return try bufferedOrStored(identity, cache) }
    if let cache { return try document(identity, engine, cache) }
    var found: Document?
    _ = try engine.get(identity, in: name, Interruption.current) {
      found = Document($0, in: name)
    }
    return found
  }

  /// Returns the cached document without reading, if nothing was committed since it was found.
  private func document(
    _ identity: Identity, _ engine: any Engine, _ cache: CollectionCache
  ) throws -> Document? {
    let interruption = Interruption.current
    // Documents expire without a commit.
    let commit = engine.hasExpirations ? nil : engine.lastCommit
    if let commit, let document = cache.withContents({ $0.document(identity, after: commit) }) {
      try interruption?.check()
      return document
    }
    var found: (document: Document, rowID: Int64, version: ContentVersion?)?
    _ = try engine.get(identity, in: name, interruption) {
      let document = cache.document($0, in: name, isCommitted: true, nil).document
      found = (document, $0.rowID, $0.contentVersion)
    }
    if let commit, let found, let version = found.version, engine.lastCommit == commit,
      // Which the read may have discovered.
      !engine.hasExpirations
    {
      cache.withContents { $0.note(identity, found.rowID, version, after: commit) }
    }
    return found?.document
  }

  private func document(
    _ reader: any EngineReader, _ identity: Identity, _ cache: CollectionCache?
  ) throws -> Document? {
    var found: Document?
    try reader.get(identity, in: name) { stored in
      guard let cache else {
        found = Document(stored, in: name)
        return
      }
      let state = try reader.committedState()
      found = cache.document(stored, in: name, isCommitted: state != nil, state).document
    }
    return found
  }

  /// Returns the written document, ignoring buffered saves.
  private func stored(_ identity: Identity, _ cache: CollectionCache?) throws -> Document? {
    try store.readingStored { try document($0, identity, cache) }
  }

  /// Returns a document that was saved and may not be written yet.
  private func bufferedOrStored(
    _ identity: Identity, _ cache: CollectionCache?
  ) throws -> Document? {
    switch identity {
    case .key(let key):
      // The buffer is read first: a document is written before it leaves the buffer.
      while let entry = store.withPending({ $0.entry(name, key) }) {
        let header = try stored(identity, nil)?.header
        let (isSame, isBeingWritten) = store.withPending {
          ($0.entry(name, key)?.number == entry.number, $0.isBeingWritten)
        }
        if isSame && !isBeingWritten {
          return try hasExpired(entry.body) ? nil : entry.document(over: header)
        }
        // The header may be that of the entry, or of the document that it replaces.
        if isBeingWritten {
          store.waitForFlush()
          try Interruption.current?.check()
        }
      }
      return try stored(identity, cache)
    case .rowID:
      // The row ID of a new document is known only once it is written, as for queries.
      return try reading(.call) { try document($0, identity, cache) }
    }
  }

  /// Whether the collection's rule says that a document which is not written yet has expired.
  private func hasExpired(_ body: [UInt8]) throws -> Bool {
    let engine = try store.engine()
    guard engine.hasExpirations,
      case .field(let path, let duration)? = try store.readingStored({
        try $0.settings(of: name)
      }).expiration
    else { return false }
    let now = engine.clock.now()
    let time = try body.withUnsafeBytes { (body) throws(StoreError) in
      try ExpirationRule.field(path, after: duration).expiration(of: body, at: now)
    }
    return time.map { $0 <= now } ?? false
  }

  /// Returns the documents with these keys, in the order of the keys. Keys without a document are
  /// skipped.
  public func get(keys: [String]) throws -> [Document] {
    // Buffered or cached documents are looked up one by one, but not in a write block, which locks all of them in one
    // order on a server.
    let context = TransactionContext.current(of: store)
    let isBuffered = try context == nil && store.engineAndBuffer().1
    guard !isBuffered, store.cache[name] == nil || context?.writer != nil else {
      return try store.read { try keys.compactMap { try get($0) } }
    }
    let documentKeys = try keys.map { try DocumentKey($0) }
    return try inTurn {
      var found: [DocumentKey: Document] = [:]
      let visit = { (stored: StoredDocument) in
        if let key = stored.key { found[key] = Document(stored, in: name) }
      }
      if let context = TransactionContext.current(of: store) {
        try context.reader.get(keys: documentKeys, in: name, visit)
      } else {
        try store.engine().get(keys: documentKeys, in: name, Interruption.current, visit)
      }
      return documentKeys.compactMap { found[$0] }
    }
  }
  /// The asynchronous form of `get(keys:)`, which does not block the calling thread.
  public func get(keys: [String]) async throws -> [Document] {
    try await onReader { try self.get(keys: keys) }
  }

  /// Returns a value decoded from the document with this key, or nil if there is none.
  ///
  /// - Throws: `DecodingError` or ``StoreError/Code/typeMismatch`` if the fields do not match the
  ///   type.
  @_disfavoredOverload
  public func get<Value: Decodable>(_ key: String, as type: Value.Type) throws -> Value? {
    try get(key)?.decoded(as: type)
  }
  /// The asynchronous form of `get(_:as:)`, which does not block the calling thread.
  @_disfavoredOverload
  public func get<Value: Decodable & SendableMetatype>(
    _ key: String, as type: Value.Type
  ) async throws -> sending Value? {
    try await fromReader { try self.get(key, as: type) }
  }

  /// Returns the value that the type's own codec reads from the document with this key, or nil if
  /// there is none.
  ///
  /// - Throws: The errors of the codec, with the field, the collection and the key: among others
  ///   ``StoreError/Code/typeMismatch`` if the fields do not match the type.
  public func get<Value: DocumentRepresentable>(
    _ key: String, as type: Value.Type
  ) throws -> Value? {
    try get(key)?.decoded(as: type)
  }
  /// The asynchronous form of `get(_:as:)`, which does not block the calling thread.
  public func get<Value: DocumentRepresentable>(
    _ key: String, as type: Value.Type
  ) async throws -> sending Value? {
    try await fromReader { try self.get(key, as: type) }
  }
}

extension Store {
  /// Runs a read that ignores buffered saves.
  func readingStored<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    return try engine().read(.call, Interruption.current, work)
  }
}

extension DocumentCollection {
  /// Drops an index and returns whether it existed.
  @discardableResult
  public func dropIndex(_ indexName: String) throws -> Bool {
    try InternalCollection.refuse(name)
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try $0.dropIndex(indexName, in: name) }
  }
  /// The asynchronous form of `dropIndex(_:)`, which does not block the calling thread.
  @discardableResult
  public func dropIndex(_ indexName: String) async throws -> Bool {
    try await onWriter { try self.dropIndex(indexName) }
  }

  /// Returns the declared indexes, sorted by name.
  public func indexes() throws -> [IndexDefinition] {
    try reading(.call) { try $0.indexes(in: name) }
  }
  /// The asynchronous form of `indexes()`, which does not block the calling thread.
  public func indexes() async throws -> [IndexDefinition] {
    try await onReader { try self.indexes() }
  }

  /// Returns every path ever observed in the collection, with its value types.
  public func observedPaths() throws -> [ObservedPath] {
    try reading(.call) { try $0.observedPaths(in: name) }
  }
  /// The asynchronous form of `observedPaths()`, which does not block the calling thread.
  public func observedPaths() async throws -> [ObservedPath] {
    try await onReader { try self.observedPaths() }
  }

  /// Drops the collection with its documents and indexes, and returns whether it existed.
  @discardableResult
  public func drop() throws -> Bool {
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try drop($0) }
  }
  /// The asynchronous form of `drop()`, which does not block the calling thread.
  @discardableResult
  public func drop() async throws -> Bool { try await onWriter { try self.drop() } }
}
