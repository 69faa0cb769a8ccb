// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentCollection {
  /// Changes some fields of a document and leaves the others unchanged.
  ///
  /// ```swift
  /// try people.update("ada", set: ["address.city": "Paris", "age": 36], remove: ["nickname"])
  /// ```
  ///
  /// - Returns: The document after the change.
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key;
  ///   ``StoreError/Code/typeMismatch`` if a path leads through a value that is not an object.
  @discardableResult
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Document { try update(key, FieldChange.list(set, remove)) }
  /// The asynchronous form of `update(_:set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: String, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Document { try await update(key, FieldChange.list(set, remove)) }

  /// Changes fields of a document with update operators.
  ///
  /// ```swift
  /// try films.update("alien", .increment("views"), .addToSet("tags", "classic"))
  /// try visits.update("2026-11", .increment("count"), .setOnInsert("first", user), upsert: true)
  /// ```
  ///
  /// The changes are applied in order, to the newest state of the document: no concurrent change is
  /// lost, whichever process makes it.
  ///
  /// - Parameter upsert: Whether a document that does not exist is inserted, with the changes applied
  ///   to an empty one.
  /// - Returns: The document after the change.
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key;
  ///   ``StoreError/Code/typeMismatch`` if a field has a value to which an operator does not apply;
  ///   ``StoreError/Code/valueNotStorable`` if an integer exceeds 64 bits. The document is unchanged.
  @discardableResult
  public func update(
    _ key: String, _ changes: FieldChange..., upsert: Bool = false
  ) throws -> Document { try update(key, changes, upsert: upsert) }
  /// The asynchronous form of `update(_:_:upsert:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: String, _ changes: FieldChange..., upsert: Bool = false
  ) async throws -> Document { try await update(key, changes, upsert: upsert) }

  /// Changes fields of a document with an array of update operators; see
  /// ``update(_:_:upsert:)-(_,FieldChange...,_)``.
  @discardableResult
  public func update(
    _ key: String, _ changes: [FieldChange], upsert: Bool = false
  ) throws -> Document { try update(.key(DocumentKey(key)), changes, upsert: upsert).after }
  /// The asynchronous form of `update(_:_:upsert:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: String, _ changes: [FieldChange], upsert: Bool = false
  ) async throws -> Document {
    try await onWriter { try self.update(key, changes, upsert: upsert) }
  }

  /// Changes fields of a document with update operators, and returns the document before the change.
  ///
  /// ```swift
  /// let job = try jobs.getAndUpdate("next", [.increment("attempts")])    // attempts as before
  /// ```
  ///
  /// - Returns: The document before the change; nil if it was inserted.
  /// - Throws: As ``update(_:_:upsert:)-(_,FieldChange...,_)``.
  public func getAndUpdate(
    _ key: String, _ changes: [FieldChange], upsert: Bool = false
  ) throws -> Document? { try update(.key(DocumentKey(key)), changes, upsert: upsert).before }
  /// The asynchronous form of `getAndUpdate(_:_:upsert:)`, which does not block the calling thread.
  public func getAndUpdate(
    _ key: String, _ changes: [FieldChange], upsert: Bool = false
  ) async throws -> Document? {
    try await onWriter { try self.getAndUpdate(key, changes, upsert: upsert) }
  }

  /// Changes some fields of the document with this row ID; see
  /// ``update(_:set:remove:)-(String,_,_)``.
  @discardableResult
  public func update(
    rowID: Int64, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Document {
    try update(.rowID(rowID), FieldChange.list(set, remove), upsert: false).after
  }
  /// The asynchronous form of `update(rowID:set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    rowID: Int64, set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Document {
    let changes = FieldChange.list(set, remove)
    return try await onWriter {
      try self.update(.rowID(rowID), changes, upsert: false).after
    }
  }
}

extension FieldChange {
  /// The changes that set and then remove fields.
  static func list(
    _ set: KeyValuePairs<FieldPath, DocumentValue>, _ remove: [FieldPath]
  ) -> [FieldChange] { set.map { .set($0.key, $0.value) } + remove.map { .remove($0) } }
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
    try checkFailure()
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
