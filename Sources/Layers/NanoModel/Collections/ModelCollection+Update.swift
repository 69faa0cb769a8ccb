// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

extension ModelQuery {
  /// Changes properties of all results in one transaction, and returns the number of documents.
  /// Documents of older versions are upgraded.
  ///
  /// - Throws: ``StoreError`` and the errors of upgrades. Nothing was changed.
  @discardableResult
  public func update(_ changes: ModelChange<M>...) throws -> Int { try update(changes) }
  /// Changes properties of all results in one transaction, like `update(_:)` with several
  /// arguments.
  @discardableResult
  public func update(_ changes: [ModelChange<M>]) throws -> Int {
    try collection.prepareIfNeeded()
    return try collection.store.write {
      // Row IDs are collected before the first change, so that a changed document is not found
      // again.
      let documents = try documentQuery()
      var found: [(rowID: Int64, revision: Int64?)] = []
      try documents.select([]).visitStored { stored in
        found.append((stored.rowID, stored.revision))
        return true
      }
      return try found.count { rowID, revision in
        try collection.documents.replaceNewest(
          .rowID(rowID), ofQuery: (documents.query, revision)
        ) { try collection.changed($0, by: changes) } != nil
      }
    }
  }

  /// The asynchronous form of `update(_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ changes: ModelChange<M>...) async throws -> Int {
    try await update(changes)
  }
  /// The asynchronous form of `update(_:)` for an array of changes, which does not block the
  /// calling thread.
  @discardableResult
  public func update(_ changes: [ModelChange<M>]) async throws -> Int {
    try await collection.documents.onWriter { try self.update(changes) }
  }
}

extension ModelCollection {
  /// Changes properties of one document and keeps its other fields.
  ///
  /// ```swift
  /// let tea = try products.update("tea", .increment(\.stock, by: -1))
  /// tea.stock                       // after the change
  /// try visits.update("2026-11", .increment(\.count), .setOnInsert(\.first, .now), upsert: true)
  /// ```
  ///
  /// The changes are applied in order, to the newest state of the document: no concurrent change is lost, whichever
  /// process makes it.
  ///
  /// - Parameter upsert: Whether a document that does not exist is inserted, with the changes applied to a value that
  ///   has only defaults.
  /// - Returns: The value after the change.
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key; ``StoreError/Code/typeMismatch`` if the result
  ///   does not decode as the model, for example because an upsert does not set a property without a default; and the
  ///   errors of `update(_:)` of ``ModelQuery``. Nothing was changed.
  @discardableResult
  public func update(
    _ key: String, _ changes: ModelChange<M>..., upsert: Bool = false
  ) throws -> Stored<M> { try update(key, changes, upsert) }
  /// Changes properties of the document with a typed key, like `update(_:_:upsert:)`.
  @discardableResult
  public func update(
    _ key: some ModelKey, _ changes: ModelChange<M>..., upsert: Bool = false
  ) throws -> Stored<M> { try update(key.documentKey?.description ?? "", changes, upsert) }
  /// The asynchronous form of `update(_:_:upsert:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: String, _ changes: ModelChange<M>..., upsert: Bool = false
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: ()) { _ in try self.update(key, changes, upsert) }
  }
  /// The asynchronous form of `update(_:_:upsert:)` for a typed key, which does not block the calling thread.
  @discardableResult
  public func update(
    _ key: some ModelKey & Sendable, _ changes: ModelChange<M>..., upsert: Bool = false
  ) async throws -> sending Stored<M> {
    try await documents.onWriter(sending: ()) { _ in
      try self.update(key.documentKey?.description ?? "", changes, upsert)
    }
  }

  /// Changes properties of one document, and returns its value before the change.
  ///
  /// ```swift
  /// let job = try jobs.getAndUpdate("next", [.increment(\.attempts)])    // attempts as before
  /// ```
  ///
  /// - Returns: The value before the change; nil if it was inserted.
  /// - Throws: As `update(_:_:upsert:)`.
  public func getAndUpdate(
    _ key: String, _ changes: [ModelChange<M>], upsert: Bool = false
  ) throws -> Stored<M>? { try change(key, changes, upsert, returnsOld: true) }
  /// Changes properties of the document with a typed key, like `getAndUpdate(_:_:upsert:)`.
  public func getAndUpdate(
    _ key: some ModelKey, _ changes: [ModelChange<M>], upsert: Bool = false
  ) throws -> Stored<M>? {
    try change(key.documentKey?.description ?? "", changes, upsert, returnsOld: true)
  }
  /// The asynchronous form of `getAndUpdate(_:_:upsert:)`, which does not block the calling thread.
  public func getAndUpdate(
    _ key: String, _ changes: [ModelChange<M>], upsert: Bool = false
  ) async throws -> sending Stored<M>? {
    try await documents.onWriter(sending: ()) { _ in
      try self.getAndUpdate(key, changes, upsert: upsert)
    }
  }
  /// The asynchronous form of `getAndUpdate(_:_:upsert:)` for a typed key, which does not block the calling thread.
  public func getAndUpdate(
    _ key: some ModelKey & Sendable, _ changes: [ModelChange<M>], upsert: Bool = false
  ) async throws -> sending Stored<M>? {
    try await documents.onWriter(sending: ()) { _ in
      try self.getAndUpdate(key, changes, upsert: upsert)
    }
  }

  private func update(
    _ key: String, _ changes: [ModelChange<M>], _ upsert: Bool
  ) throws -> Stored<M> {
    guard let changed = try change(key, changes, upsert, returnsOld: false) else {
      throw missing(key)
    }
    return changed
  }

  private func missing(_ key: String) -> StoreError {
    StoreError(.notFound, "There is no document with this key", [.collection: name, .key: key])
  }

  private func change(
    _ key: String, _ changes: [ModelChange<M>], _ upsert: Bool, returnsOld: Bool
  ) throws -> Stored<M>? {
    try prepareIfNeeded()
    return try store.write {
      let identity = try DocumentKey(key)
      if let changed = try change(identity, changes, returnsOld) { return changed }
      guard upsert else { throw missing(key) }
      do {
        let inserted = try insert(insertedValue(changes, identity), key: key)
        return returnsOld ? nil : inserted
      } catch let error as StoreError where error.code == .duplicateKey {
        // Another transaction has inserted it, in a block that does not lock what it reads.
        guard let changed = try change(identity, changes, returnsOld) else { throw error }
        return changed
      }
    }
  }

  /// Changes a document, and returns its value before or after, or nil if it does not exist.
  private func change(
    _ key: DocumentKey, _ changes: [ModelChange<M>], _ returnsOld: Bool
  ) throws -> Stored<M>? {
    var old: Stored<M>?
    let replaced = try documents.replaceNewest(.key(key)) { document in
      old = returnsOld ? try stored(document) : nil
      return try changed(document, by: changes)
    }
    return try replaced.map { try old ?? stored($0.after) }
  }

  /// Returns a document with changed fields, upgraded to this version of the model.
  fileprivate func changed(
    _ document: Document, by changes: [ModelChange<M>]
  ) throws -> Document {
    var header = document.header
    var object = try document.object()
    let version = Int(header.version ?? 1)
    if version < M.modelVersion {
      do throws(StoreError) {
        try M.upgrade(&object, from: version)
      } catch {
        throw decoder.located(
          error, UnsafeRawBufferPointer(start: nil, count: 0), header.key, header.rowID ?? 0)
      }
      header.version = M.storedVersion
    }
    // A nested value that is missing or has a former name is first written as the model encodes it:
    // otherwise it would consist of the changed field only. An operator starts from a property's
    // default, too.
    if changes.contains(where: { $0.isNested || $0.usesPresentValue }) {
      object = try normalized(object, document.header.key)
    }
    for change in changes { try change.apply(to: &object) }
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    if let failure = writer.failure { throw failure.adding(.collection, name) }
    return Document(header, copying: writer.bytes)
  }

  /// Returns the fields as this version of the model encodes them.
  private func normalized(
    _ object: DocumentObject, _ key: DocumentKey?
  ) throws -> DocumentObject {
    let value = try value(of: object, key)
    var writer = JSONWriter(capacity: 512)
    value.writeDocument(to: &writer)
    if let failure = writer.failure { throw failure }
    var reader = JSONReader(writer.bytes)
    return try reader.object()
  }

  private func value(of object: DocumentObject, _ key: DocumentKey?) throws -> M {
    var writer = JSONWriter(capacity: 512)
    writer.object(object)
    if let failure = writer.failure { throw failure }
    return try DocumentKey.withBorrowed(key) { key in
      var reader = JSONReader(writer.bytes)
      do throws(StoreError) {
        return try M(reading: &reader, key: key)
      } catch {
        throw error.withField(in: writer.bytes).adding(.collection, name)
      }
    }
  }

  /// Returns the value that an upsert inserts: the changes, applied to a value with only defaults.
  private func insertedValue(_ changes: [ModelChange<M>], _ key: DocumentKey) throws -> M {
    var object: DocumentObject = [:]
    for change in changes { try change.apply(to: &object, isInsert: true) }
    // Operators start from the defaults of properties that have one. Only decoding reveals them, which requires
    // values of all other properties.
    var defaults: DocumentObject = [:]
    for change in changes where change.isNested || change.usesPresentValue {
      guard let name = change.fieldName, defaults[name] == nil else { continue }
      var others = object
      others[name] = nil
      if let found = try? normalized(others, key)[name] { defaults[name] = found }
    }
    if !defaults.isEmpty {
      object = defaults
      for change in changes { try change.apply(to: &object, isInsert: true) }
    }
    do {
      return try value(of: object, key)
    } catch let error as StoreError where error.code == .typeMismatch {
      throw error.adding(
        .hint, "an upsert needs a value for each property without a default: add .setOnInsert")
    }
  }
}
