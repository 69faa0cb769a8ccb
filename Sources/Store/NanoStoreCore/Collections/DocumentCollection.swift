// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

/// The documents of one name in a store.
///
/// A value that may be kept and handed to any task; it holds no documents itself.
///
/// ```swift
/// let people = store["people"]
/// try people.save(["name": "Ada"], key: "ada")
/// try people.get("ada")?["name"]                        // "Ada"
/// try people.find(Field("name") == "Ada").count()       // 1
/// ```
public struct DocumentCollection: Sendable {
  /// The store that it belongs to.
  public let store: Store
  /// Its name; ASCII letters match in either case.
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

  /// An error in a box, so that a collection without one stays small.
  private final class Refusal: Sendable {
    let error: StoreError
    init(_ error: StoreError) { self.error = error }
  }

  /// Why every operation fails, if a layer found that before one began.
  package var failure: StoreError? { refusal?.error }

  /// The same collection, each operation of which throws an error: for what a layer finds where it cannot throw.
  package func refusing(_ error: StoreError) -> DocumentCollection {
    DocumentCollection(self, Refusal(error))
  }

  @inline(__always)
  func checkFailure() throws { if let refusal { throw refusal.error } }
}

extension DocumentCollection {
  /// The document with this key; nil if there is none.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/closed``.
  public func get(_ key: String) throws -> Document? { try get(.key(DocumentKey(key))) }
  public func get(_ key: String) async throws -> Document? {
    try await onReader { try self.get(key) }
  }

  /// The document with this row id; nil if there is none.
  public func get(rowID: Int64) throws -> Document? { try get(.rowID(rowID)) }
  public func get(rowID: Int64) async throws -> Document? {
    try await onReader { try self.get(rowID: rowID) }
  }

  private func get(_ identity: Identity) throws -> Document? {
    try inTurn { try getAtOnce(identity) }
  }

  private func getAtOnce(_ identity: Identity) throws -> Document? {
    let cache = store.cache[name]
    if let context = TransactionContext.current(of: store) {
      return try document(context.reader, identity, cache)
    }
    let (engine, isCollecting) = try store.engineAndBuffer()
    guard !isCollecting else { return try withCollected(identity, cache) }
    var found: Document?
    _ = try engine.get(identity, in: name, Interruption.current) {
      found =
        cache?.document($0, in: name, isCommitted: true, nil).document ?? Document($0, in: name)
    }
    return found
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

  /// What is written, whatever is collected.
  private func stored(_ identity: Identity, _ cache: CollectionCache?) throws -> Document? {
    try store.readingStored { try document($0, identity, cache) }
  }

  /// A document that was saved and is perhaps not written yet.
  private func withCollected(
    _ identity: Identity, _ cache: CollectionCache?
  ) throws -> Document? {
    switch identity {
    case .key(let key):
      // Looked up first: it is written before it is forgotten.
      guard let entry = store.withPending({ $0.entry(name, key) }) else {
        return try stored(identity, cache)
      }
      return entry.document(over: try stored(identity, nil)?.header)
    case .rowID:
      // The row id of a new one is known only as queries see it.
      return try reading(.call) { try document($0, identity, cache) }
    }
  }

  /// The documents with these keys, in the order of the keys; a key that no document has is left
  /// out.
  public func get(keys: [String]) throws -> [Document] {
    // What is collected or kept in memory is looked at one by one.
    let isCollecting = TransactionContext.current(of: store) == nil && store.isCollecting
    guard store.cache[name] == nil, !isCollecting else {
      return try store.read { try keys.compactMap { try get($0) } }
    }
    let wanted = try keys.map { try DocumentKey($0) }
    return try inTurn {
      var found: [DocumentKey: Document] = [:]
      let show = { (stored: StoredDocument) in
        if let key = stored.key { found[key] = Document(stored, in: name) }
      }
      if let context = TransactionContext.current(of: store) {
        try context.reader.get(keys: wanted, in: name, show)
      } else {
        try store.engine().get(keys: wanted, in: name, Interruption.current, show)
      }
      return wanted.compactMap { found[$0] }
    }
  }
  public func get(keys: [String]) async throws -> [Document] {
    try await onReader { try self.get(keys: keys) }
  }

  /// A value made from the document with this key; nil if there is none.
  ///
  /// - Throws: `DecodingError` or ``StoreError/Code/typeMismatch`` if the fields do not fit.
  public func get<Value: Decodable>(_ key: String, as type: Value.Type) throws -> Value? {
    try get(key)?.decoded(as: type)
  }
  public func get<Value: Decodable & SendableMetatype>(
    _ key: String, as type: Value.Type
  ) async throws -> sending Value? {
    try await fromReader { try self.get(key, as: type) }
  }
}

extension ObservedPath {
  /// Whether this is the path, with an array at its end or on the way.
  fileprivate func isList(at field: FieldPath) -> Bool {
    // Names are observed without the quotes that distinguish a number from that of an element.
    let names = FieldPath(components: field.components).description
    return path.contains("[]") && path.replacing("[]", with: "").isSame(as: names)
  }
}

extension Store {
  /// A read that looks at what is written only.
  func readingStored<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    if let context = TransactionContext.current(of: self) { return try work(context.reader) }
    return try engine().read(.call, Interruption.current, work)
  }
}

extension Document {
  /// Copies a document out of an engine's bytes.
  @inline(__always)
  init(_ stored: StoredDocument, in collection: String) {
    var collection = collection
    self = collection.withUTF8 { name in
      // Without a revision, another program wrote it last.
      if stored.revision == nil {
        return Document(
          foreignIn: UnsafeRawBufferPointer(name), rowID: stored.rowID, key: stored.borrowedKey,
          type: stored.borrowedType, version: stored.version, added: stored.added,
          isAltered: stored.isAltered, copying: stored.body)
      }
      return Document(
        in: UnsafeRawBufferPointer(name), rowID: stored.rowID, key: stored.borrowedKey,
        type: stored.borrowedType, version: stored.version, added: stored.added,
        revision: stored.revision, copying: stored.body)
    }
  }

  /// A value made from the fields.
  ///
  /// - Throws: `DecodingError` if they do not fit.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try withBytes { try DocumentDecoder().decode(type, from: $0) }
  }

  /// A value made from the fields by the type's own codec.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if they do not fit.
  public func decoded<Value: DocumentRepresentable>(as type: Value.Type = Value.self) throws
    -> Value
  {
    try withBytes { bytes in
      var reader = JSONReader(bytes)
      return try Value(reading: &reader)
    }
  }
}

extension DocumentCollection {
  /// Makes an index; does nothing if the same one exists.
  ///
  /// ```swift
  /// try films.createIndex("year", "title")                    // find and sort by both
  /// try people.createIndex("email", unique: true)
  /// try films.createIndex("genres")                           // of each element, if lists are there
  /// ```
  ///
  /// - Parameters:
  ///   - paths: The fields, most important first. `-` before one means descending.
  ///   - unique: Whether two documents may not have the same values. Documents without a value
  ///     never collide.
  ///   - elements: Whether each element of an array is indexed; if nil, they are where the one field
  ///     held an array so far and its path addresses no element by number.
  ///   - name: Made from the fields if nil.
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents collide already,
  ///   ``StoreError/Code/alreadyExists`` if the name belongs to another index. There is no index
  ///   then.
  @discardableResult
  public func createIndex(
    _ paths: String..., unique: Bool = false, elements: Bool? = nil, name: String? = nil
  ) throws -> IndexDefinition {
    try createIndex(paths: paths, unique: unique, elements: elements, name: name)
  }
  @discardableResult
  public func createIndex(
    _ paths: String..., unique: Bool = false, elements: Bool? = nil, name: String? = nil
  ) async throws -> IndexDefinition {
    try await onWriter {
      try self.createIndex(paths: paths, unique: unique, elements: elements, name: name)
    }
  }

  /// As ``createIndex(_:unique:elements:name:)-(String...,_,_,_)``, with the fields in an array.
  @discardableResult
  public func createIndex(
    paths: [String], unique: Bool = false, elements: Bool? = nil, name: String? = nil
  ) throws -> IndexDefinition {
    let columns = paths.map { IndexDefinition.Column(signed: $0) }
    try InternalCollection.refuse(self.name)
    return try writing(atomic: true) { writer in
      try createIndex(columns, unique: unique, elements: elements, named: name, writer)
    }
  }

  /// As ``createIndex(_:unique:elements:name:)-(String...,_,_,_)``, for an index that is described already.
  public func createIndex(_ index: IndexDefinition) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { try $0.createIndex(index, in: name) }
  }
  public func createIndex(_ index: IndexDefinition) async throws {
    try await onWriter { try self.createIndex(index) }
  }

  func createIndex(
    _ columns: [IndexDefinition.Column], unique: Bool, elements: Bool?, named name: String?,
    _ writer: any EngineWriter
  ) throws -> IndexDefinition {
    let isList =
      try elements
      ?? (columns.count == 1 && !columns[0].path.addressesElement
        && writer.observedPaths(in: self.name).contains { $0.isList(at: columns[0].path) })
    let index = IndexDefinition(
      name: name, columns: columns, isUnique: unique, kind: isList ? .elements : .fields)
    try writer.createIndex(index, in: self.name)
    return index
  }

  @discardableResult
  public func createIndex(
    paths: [String], unique: Bool = false, elements: Bool? = nil, name: String? = nil
  ) async throws -> IndexDefinition {
    try await onWriter {
      try self.createIndex(paths: paths, unique: unique, elements: elements, name: name)
    }
  }

  /// Removes an index and says whether there was one.
  @discardableResult
  public func dropIndex(_ indexName: String) throws -> Bool {
    try InternalCollection.refuse(name)
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try $0.dropIndex(indexName, in: name) }
  }
  @discardableResult
  public func dropIndex(_ indexName: String) async throws -> Bool {
    try await onWriter { try self.dropIndex(indexName) }
  }

  /// The indexes that were declared, by name.
  public func indexes() throws -> [IndexDefinition] {
    try reading(.call) { try $0.indexes(in: name) }
  }
  public func indexes() async throws -> [IndexDefinition] {
    try await onReader { try self.indexes() }
  }

  /// Every path that a document of the collection ever held, with the types seen there.
  public func observedPaths() throws -> [ObservedPath] {
    try reading(.call) { try $0.observedPaths(in: name) }
  }
  public func observedPaths() async throws -> [ObservedPath] {
    try await onReader { try self.observedPaths() }
  }

  /// Removes the collection with its documents and indexes, and says whether there was one.
  @discardableResult
  public func drop() throws -> Bool {
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try drop($0) }
  }
  @discardableResult
  public func drop() async throws -> Bool { try await onWriter { try self.drop() } }
}
