// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery

/// A set of changes to individual fields of a document.
///
/// ```swift
/// try people.update("ada", set: ["Address.City": "Paris", "age": 36], remove: ["nickname"])
/// ```
public struct FieldChanges: Sendable, Hashable {
  /// The new values, in the order in which they are set.
  public var set: [(path: FieldPath, value: DocumentValue)]
  /// The fields to remove, after the new values are set.
  public var remove: [FieldPath]

  /// Creates changes from new values and fields to remove.
  public init(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) {
    self.set = set.map { ($0.key, $0.value) }
    self.remove = remove
  }

  /// Applies the changes to an object.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a path leads through a value that is not an
  ///   object.
  package func apply(to object: inout DocumentObject) throws(StoreError) {
    for (path, value) in set { try object.set(value, at: path) }
    for path in remove { try object.set(nil, at: path) }
  }

  /// Whether both make the same changes in the same order.
  public static func == (a: FieldChanges, b: FieldChanges) -> Bool {
    a.remove == b.remove
      && a.set.elementsEqual(b.set) { $0.path == $1.path && $0.value == $1.value }
  }
  /// Hashes the paths to remove and the number of new values.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(remove)
    hasher.combine(set.count)
  }
}

extension DocumentCollection {
  /// Changes some fields of a document and leaves the others unchanged.
  ///
  /// - Returns: The document after the change.
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key;
  ///   ``StoreError/Code/typeMismatch`` if a path leads through a value that is not an object.
  @discardableResult
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try update(.key(DocumentKey(key))) { (object) throws(StoreError) in
      try changes.apply(to: &object)
    }
  }
  /// The asynchronous form of `update(_:set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter { try self.update(key, changes) }
  }

  /// The asynchronous form of `update(_:_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ key: String, _ changes: FieldChanges) async throws -> Document {
    try await onWriter { try self.update(key, changes) }
  }

  /// Applies stored changes to a document; see ``update(_:set:remove:)-(String,_,_)``.
  @discardableResult
  public func update(_ key: String, _ changes: FieldChanges) throws -> Document {
    try update(.key(DocumentKey(key))) { (object) throws(StoreError) in
      try changes.apply(to: &object)
    }
  }

  /// Changes some fields of the document with this row ID; see
  /// ``update(_:set:remove:)-(String,_,_)``.
  @discardableResult
  public func update(
    rowID: Int64, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try update(.rowID(rowID)) { (object) throws(StoreError) in
      try changes.apply(to: &object)
    }
  }

  /// The asynchronous form of `update(rowID:set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    rowID: Int64, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter {
      try self.update(.rowID(rowID)) { (object) throws(StoreError) in
        try changes.apply(to: &object)
      }
    }
  }

  func update(
    _ identity: Identity, _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document {
    try InternalCollection.refuse(name)
    return try writing { engine in
      guard let changed = try update(identity, engine, change) else {
        throw Self.notFound(identity, name)
      }
      return changed
    }
  }

  /// Changes one document and returns it, or nil if it does not exist.
  ///
  /// - Parameter query: A query that found the document with a revision, and must find it again if it
  ///   has another one.
  func update(
    _ identity: Identity, _ engine: any EngineWriter,
    ofQuery query: (query: Query, revision: Int64?)? = nil,
    _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document? {
    var read: Int64?
    while let found = try stored(identity, engine) {
      // The engine rejected the revision that the document has.
      if let read, found.revision == read { return nil }
      if let query, let revision = query.revision, found.revision != revision,
        try engine.count(query.query.only(found.rowID), in: name) == 0
      {
        return nil
      }
      if let changed = try replace(found, identity, engine, change) { return changed }
      // Another transaction has changed it, in a block that does not lock what it reads.
      read = found.revision
    }
    return nil
  }

  private func stored(_ identity: Identity, _ engine: any EngineWriter) throws -> Document? {
    var found: Document?
    try engine.get(identity, in: name) { found = Document($0, in: name) }
    return found
  }

  /// Replaces a document by its changed form, or returns nil if it has changed since it was read.
  private func replace(
    _ found: Document, _ identity: Identity, _ engine: any EngineWriter,
    _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document? {
    var object = try found.object()
    // Not the row ID, but a field of the same name that was stored from JSON text.
    let field = object[DocumentObject.rowIDName]
    try change(&object)
    object[DocumentObject.rowIDName] = field
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    try store.checkNames(writer.bytes, key: found.header.key)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    var header = found.header
    let document = NewDocument(
      key: header.key, type: header.type, version: header.version,
      added: header.added ?? Clock.microseconds(), replacedRevision: header.revision,
      body: writer.bytes)
    guard try engine.replace(identity, with: document, in: name) else { return nil }
    header.revision = header.revision.map { $0 + 1 }
    return Document(header, copying: writer.bytes)
  }
}

extension Query {
  /// The same condition for one document.
  fileprivate func only(_ rowID: Int64?) -> Query {
    Query(.all([condition, .rowID(in: [rowID].compactMap(\.self))]))
  }
}

extension DocumentCollection {
  /// Deletes the document with this key and returns whether it existed.
  ///
  /// ```swift
  /// try people.delete("ada")   // true
  /// try people.delete("ada")   // false: already deleted, and not an error
  /// ```
  @discardableResult
  public func delete(_ key: String) throws -> Bool {
    let identity = Identity.key(try DocumentKey(key))
    return try writing { try remove(identity, $0) }
  }
  /// The asynchronous form of `delete(_:)`, which does not block the calling thread.
  @discardableResult
  public func delete(_ key: String) async throws -> Bool {
    try await onWriter { try self.delete(key) }
  }

  /// Deletes the document with this row ID and returns whether it existed.
  @discardableResult
  public func delete(rowID: Int64) throws -> Bool {
    try writing { try remove(.rowID(rowID), $0) }
  }
  /// The asynchronous form of `delete(rowID:)`, which does not block the calling thread.
  @discardableResult
  public func delete(rowID: Int64) async throws -> Bool {
    try await onWriter { try self.delete(rowID: rowID) }
  }

  /// Deletes a document, and returns whether it existed.
  ///
  /// It is found by its key, or by its row ID if it has no key.
  @discardableResult
  public func delete(_ document: Document) throws -> Bool {
    if let key = document.header.key {
      return try writing { try remove(.key(key), $0) }
    }
    return try document.rowID.map { try delete(rowID: $0) } ?? false
  }
  /// The asynchronous form of `delete(_:)`, which does not block the calling thread.
  @discardableResult
  public func delete(_ document: Document) async throws -> Bool {
    try await onWriter { try self.delete(document) }
  }

  /// Deletes the documents with these keys in one transaction and returns how many existed.
  @discardableResult
  public func delete(keys: [String]) throws -> Int {
    let identities = try keys.map { Identity.key(try DocumentKey($0)) }
    return try writing(atomic: true) { engine in
      try identities.reduce(0) { try $0 + (remove($1, engine) ? 1 : 0) }
    }
  }
  /// The asynchronous form of `delete(keys:)`, which does not block the calling thread.
  @discardableResult
  public func delete(keys: [String]) async throws -> Int {
    try await onWriter { try self.delete(keys: keys) }
  }

  /// Deletes every document and returns how many there were. The collection and its indexes are
  /// kept.
  @discardableResult
  public func deleteAll() throws -> Int { try find().delete() }
  /// The asynchronous form of `deleteAll()`, which does not block the calling thread.
  @discardableResult
  public func deleteAll() async throws -> Int { try await onWriter { try self.deleteAll() } }
}
