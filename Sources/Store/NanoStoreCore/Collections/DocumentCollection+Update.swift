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
    try deleteOne(try DocumentKey(key))
  }

  /// Deletes a document, in one round trip if the engine supports that.
  private func deleteOne(_ key: DocumentKey) throws -> Bool {
    try InternalCollection.refuse(name)
    if let engine = try store.engineForPutting() {
      let isDeleted = try store.retrying {
        try engine.delete(
          key: key, from: name, unless: store.references.use.collection, Interruption.current)
      }
      if let isDeleted { return isDeleted }
    }
    return try writing { try remove(.key(key), $0) }
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
    if let key = document.header.key { return try deleteOne(key) }
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
