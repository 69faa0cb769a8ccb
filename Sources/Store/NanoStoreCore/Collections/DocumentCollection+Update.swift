// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine

/// Changes of some fields of a document.
///
/// ```swift
/// try people.update("ada", set: ["Address.City": "Paris", "age": 36], remove: ["nickname"])
/// ```
public struct FieldChanges: Sendable, Hashable {
  /// The new values, in the order in which they are put in.
  public var set: [(path: FieldPath, value: DocumentValue)]
  /// The fields that are removed, after the others were put in.
  public var remove: [FieldPath]

  public init(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) {
    self.set = set.map { ($0.key, $0.value) }
    self.remove = remove
  }

  /// - Throws: ``StoreError/Code/typeMismatch`` if a value that is not an object stands on the way.
  package func apply(to object: inout DocumentObject) throws(StoreError) {
    for (path, value) in set { try object.set(value, at: path) }
    for path in remove { try object.set(nil, at: path) }
  }

  public static func == (a: FieldChanges, b: FieldChanges) -> Bool {
    a.remove == b.remove
      && a.set.elementsEqual(b.set) { $0.path == $1.path && $0.value == $1.value }
  }
  public func hash(into hasher: inout Hasher) {
    hasher.combine(remove)
    hasher.combine(set.count)
  }
}

extension DocumentCollection {
  /// Changes some fields of a document and leaves the others as they are.
  ///
  /// - Returns: The document after the change.
  /// - Throws: ``StoreError/Code/notFound`` if there is none with this key;
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
  @discardableResult
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter { try self.update(key, changes) }
  }

  @discardableResult
  public func update(_ key: String, _ changes: FieldChanges) async throws -> Document {
    try await onWriter { try self.update(key, changes) }
  }

  /// As ``update(_:set:remove:)-(String,_,_)``, with changes that were kept.
  @discardableResult
  public func update(_ key: String, _ changes: FieldChanges) throws -> Document {
    try update(.key(DocumentKey(key))) { (object) throws(StoreError) in
      try changes.apply(to: &object)
    }
  }

  /// As ``update(_:set:remove:)-(String,_,_)``, for a row id.
  @discardableResult
  public func update(
    rowID: Int64, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Document {
    let changes = FieldChanges(set: set, remove: remove)
    return try update(.rowID(rowID)) { (object) throws(StoreError) in
      try changes.apply(to: &object)
    }
  }

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

  /// Nil if there is no such document.
  func update(
    _ identity: Identity, _ engine: any EngineWriter,
    _ change: (inout DocumentObject) throws -> Void
  ) throws -> Document? {
    var found: Document?
    try engine.get(identity, in: name) { found = Document($0, in: name) }
    guard let found else { return nil }
    var object = try found.object()
    // Not the row id, but a field of this name that came in a JSON text.
    let field = object[DocumentObject.rowIDName]
    try change(&object)
    object[DocumentObject.rowIDName] = field
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    try writer.checkStorable(limit: store.maximumDocumentSize)
    var header = found.header
    let document = NewDocument(
      key: header.key, type: header.type, version: header.version,
      added: header.added ?? Clock.microseconds(), body: writer.bytes)
    guard try engine.replace(identity, with: document, in: name) else { return nil }
    header.revision = header.revision.map { $0 + 1 }
    return Document(header, copying: writer.bytes)
  }
}

extension DocumentCollection {
  /// Removes the document with this key and says whether there was one.
  ///
  /// ```swift
  /// try people.delete("ada")   // true
  /// try people.delete("ada")   // false: already gone, and not an error
  /// ```
  @discardableResult
  public func delete(_ key: String) throws -> Bool {
    let identity = Identity.key(try DocumentKey(key))
    return try writing { try remove(identity, $0) }
  }
  @discardableResult
  public func delete(_ key: String) async throws -> Bool {
    try await onWriter { try self.delete(key) }
  }

  /// Removes the document with this row id and says whether there was one.
  @discardableResult
  public func delete(rowID: Int64) throws -> Bool {
    try writing { try remove(.rowID(rowID), $0) }
  }
  @discardableResult
  public func delete(rowID: Int64) async throws -> Bool {
    try await onWriter { try self.delete(rowID: rowID) }
  }

  /// Removes a document by its key, or by its row id if it has no key.
  @discardableResult
  public func delete(_ document: Document) throws -> Bool {
    if let key = document.header.key {
      return try writing { try remove(.key(key), $0) }
    }
    return try document.rowID.map { try delete(rowID: $0) } ?? false
  }
  @discardableResult
  public func delete(_ document: Document) async throws -> Bool {
    try await onWriter { try self.delete(document) }
  }

  /// Removes the documents with these keys, all in one transaction, and says how many there were.
  @discardableResult
  public func delete(keys: [String]) throws -> Int {
    let identities = try keys.map { Identity.key(try DocumentKey($0)) }
    return try writing(atomic: true) { engine in
      try identities.reduce(0) { try $0 + (remove($1, engine) ? 1 : 0) }
    }
  }
  @discardableResult
  public func delete(keys: [String]) async throws -> Int {
    try await onWriter { try self.delete(keys: keys) }
  }

  /// Removes every document and says how many there were. The collection and its indexes stay.
  @discardableResult
  public func deleteAll() throws -> Int { try find().delete() }
  @discardableResult
  public func deleteAll() async throws -> Int { try await onWriter { try self.deleteAll() } }
}
