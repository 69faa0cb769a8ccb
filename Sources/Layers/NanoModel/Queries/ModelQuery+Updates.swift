// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
public import NanoStoreCore

extension ModelQuery where M: Sendable {
  /// What is found, at once and again after each commit that changed it.
  ///
  /// ```swift
  /// for try await adults in try people.find(\.age > 30).sorted(by: \.lastName).updates() {
  ///   await list.show(adults)
  /// }
  /// ```
  ///
  /// As ``DocumentQuery/updates()``, with values in place of documents. Former names count as far as the
  /// collection held them when this was called.
  ///
  /// - Throws: At once, ``StoreError/Code/invalidArgument`` if a property is not stored. While it runs, as
  ///   ``fetch()-()->[M]``; the loop is over then.
  public func updates() throws -> DocumentUpdates<M> {
    let decoder = collection.decoder
    return try documentQuery().updates { try decoder.value($0) }
  }
}

extension ModelQuery {
  /// How many are found, at once and again after each commit that changed the number.
  public func countUpdates() throws -> ValueUpdates<Int> { try documentQuery().countUpdates() }
}

/// A change of one property, for documents that are not read as a whole.
///
/// ```swift
/// try people.update("ada", .set(\.age, 37), .remove(\.nickname))
/// ```
public struct ModelChange<M: Model>: Sendable {
  let place: Result<PropertyLocation, StoreError>
  let value: Result<DocumentValue?, StoreError>

  /// Gives the property a value.
  public static func set<Value>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange {
    ModelChange(
      place: Result { () throws(StoreError) in try M.place(of: keyPath) },
      value: Result { () throws(StoreError) in try StoredValues.stored(value) })
  }

  /// Makes the property nil.
  public static func remove<Value>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable
  ) -> ModelChange {
    let place = Result { () throws(StoreError) in try M.place(of: keyPath) }
    // Where a document without the field is read as something else, nil is a null.
    return ModelChange(
      place: place, value: place.map { $0.missing == nil && !$0.hasComputedDefault ? nil : .null })
  }

  /// Whether it changes a property of a value in the document.
  var isInPart: Bool { (try? place.get().steps.count > 1) ?? false }

  /// - Throws: ``StoreError/Code/typeMismatch`` if a value that is not an object stands on the way.
  func apply(to object: inout DocumentObject) throws(StoreError) {
    let place = try place.get()
    guard !place.isKey else {
      throw StoreError(
        .invalidArgument, "The key of a document cannot be changed",
        [.hint: "remove it and insert the value under its new key"])
    }
    for former in place.formerPaths { try object.set(nil, at: former) }
    try object.set(try value.get(), at: place.path)
  }
}

extension ModelQuery {
  /// Changes some properties of everything that is found, all in one transaction, and says of how many.
  /// Documents of older versions are upgraded on the way.
  ///
  /// - Throws: ``StoreError``, and what an upgrade throws. Nothing was changed.
  @discardableResult
  public func update(_ changes: ModelChange<M>...) throws -> Int { try update(changes) }
  /// As `update(_:)`.
  @discardableResult
  public func update(_ changes: [ModelChange<M>]) throws -> Int {
    try collection.prepareIfNeeded()
    return try collection.store.write {
      // Found before the first change, so that no document is found again by what it became.
      let ids = try rowIDs()
      for id in ids {
        guard let document = try collection.documents.get(rowID: id) else { continue }
        try collection.apply(changes, to: document)
      }
      return ids.count
    }
  }

  @discardableResult
  public func update(_ changes: ModelChange<M>...) async throws -> Int {
    try await update(changes)
  }
  @discardableResult
  public func update(_ changes: [ModelChange<M>]) async throws -> Int {
    try await collection.documents.onWriter { try self.update(changes) }
  }
}

extension ModelCollection {
  /// Changes some properties of one value and leaves the others as they are.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is none with this key, and as
  ///   `update(_:)` of ``ModelQuery``.
  public func update(_ key: String, _ changes: ModelChange<M>...) throws {
    try update(key, changes)
  }
  /// As `update(_:_:)`, for the type of the model's key.
  public func update(_ key: some ModelKey, _ changes: ModelChange<M>...) throws {
    try update(key.documentKey?.description ?? "", changes)
  }
  public func update(_ key: String, _ changes: ModelChange<M>...) async throws {
    try await documents.onWriter { try self.update(key, changes) }
  }
  public func update(_ key: some ModelKey & Sendable, _ changes: ModelChange<M>...) async throws {
    try await documents.onWriter { try self.update(key.documentKey?.description ?? "", changes) }
  }

  private func update(_ key: String, _ changes: [ModelChange<M>]) throws {
    try prepareIfNeeded()
    try store.write {
      guard let document = try documents.get(key) else {
        throw StoreError(
          .notFound, "There is no document with this key", [.collection: name, .key: key])
      }
      try apply(changes, to: document)
    }
  }

  func apply(_ changes: [ModelChange<M>], to document: Document) throws {
    var header = document.header
    var object = try document.object()
    let version = Int(header.version ?? 1)
    if version < M.modelVersion {
      try M.upgrade(&object, from: version)
      header.version = M.storedVersion
    }
    // A part that is not there, or has a former name, is made as the model says, and not of one field only.
    if changes.contains(where: \.isInPart) {
      object = try normalized(object, document.header.key)
    }
    for change in changes { try change.apply(to: &object) }
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    if let failure = writer.failure { throw failure.adding(.collection, name) }
    try documents.replace(Document(header, copying: writer.bytes))
  }

  /// The fields as this version of the model writes them.
  private func normalized(
    _ object: DocumentObject, _ key: DocumentKey?
  ) throws -> DocumentObject {
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    if let failure = writer.failure { throw failure }
    let value = try DocumentKey.withBorrowed(key) { key in
      var reader = JSONReader(writer.bytes)
      do throws(StoreError) {
        return try M(reading: &reader, key: key)
      } catch {
        throw error.withField(in: writer.bytes).adding(.collection, name)
      }
    }
    writer.removeAll()
    value.writeDocument(to: &writer)
    if let failure = writer.failure { throw failure }
    var reader = JSONReader(writer.bytes)
    return try reader.object()
  }
}
