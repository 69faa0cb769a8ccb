// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
public import NanoStoreCore

extension ModelQuery where M: Sendable {
  /// Returns a live view of the results: a sequence of the current results, followed by new results
  /// after each commit that changes them.
  ///
  /// ```swift
  /// for try await adults in people.find(\.age > 30).sorted(by: \.lastName).updates() {
  ///   await list.show(adults)
  /// }
  /// ```
  ///
  /// Like ``DocumentQuery/updates()``, with values instead of documents. Former names are
  /// considered if the collection contained them when this method was called.
  ///
  /// - Throws: During iteration, the errors of ``DocumentQuery/updates()`` and ``fetch()-()->[M]``,
  ///   including ``StoreError/Code/invalidArgument`` if a property is not stored. An error ends the
  ///   loop.
  public func updates() -> DocumentUpdates<M> {
    let decoder = collection.decoder
    return liveQuery.decodedUpdates { try decoder.value($0) }
  }

  /// Returns a live view of the first result, or nil if there is none.
  ///
  /// ```swift
  /// for try await oldest in people.find().sorted(by: .reverse(\.age)).firstUpdates() { … }
  /// ```
  ///
  /// - Throws: During iteration, the errors of ``updates()``. An error ends the loop.
  public func firstUpdates() -> ValueUpdates<M?> {
    let decoder = collection.decoder
    return liveQuery.firstUpdates { try decoder.value($0) }
  }
}

extension ModelQuery {
  /// Returns a sequence of the number of results: the current one, and a new one after each commit
  /// that changes it.
  ///
  /// - Throws: During iteration, the errors of ``count()-()->Int``, including
  ///   ``StoreError/Code/invalidArgument`` if a property is not stored. An error ends the loop.
  public func countUpdates() -> ValueUpdates<Int> { liveQuery.countUpdates() }

  /// The equivalent query over documents. If there is none, a query that throws the reason when it
  /// is executed.
  private var liveQuery: DocumentQuery {
    do {
      return try documentQuery()
    } catch {
      let reason = error as? StoreError ?? StoreError(.interrupted, "The query was canceled")
      return collection.documents.failing(with: reason).find()
    }
  }
}

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
      let ids = try rowIDs()
      for id in ids {
        guard let document = try collection.documents.get(rowID: id) else { continue }
        try collection.apply(changes, to: document)
      }
      return ids.count
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
  /// - Throws: ``StoreError/Code/notFound`` if no document has this key, and the errors of
  ///   `update(_:)` of ``ModelQuery``.
  public func update(_ key: String, _ changes: ModelChange<M>...) throws {
    try update(key, changes)
  }
  /// Changes properties of the document with a typed key, like `update(_:_:)`.
  public func update(_ key: some ModelKey, _ changes: ModelChange<M>...) throws {
    try update(key.documentKey?.description ?? "", changes)
  }
  /// The asynchronous form of `update(_:_:)`, which does not block the calling thread.
  public func update(_ key: String, _ changes: ModelChange<M>...) async throws {
    try await documents.onWriter { try self.update(key, changes) }
  }
  /// The asynchronous form of `update(_:_:)` for a typed key, which does not block the calling
  /// thread.
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
    try documents.replace(Document(header, copying: writer.bytes))
  }

  /// Returns the fields as this version of the model encodes them.
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

extension LiveResults where Element: Model & Sendable {
  /// Creates live results of a query over a model.
  ///
  /// ```swift
  /// let adults = LiveResults(people.find(\.age > 30).sorted(by: \.lastName))
  /// ```
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - loading: When the query is first evaluated.
  ///   - interval: The minimum time between two evaluations, at most a day.
  ///   - isolation: The actor that the results belong to.
  public convenience init(
    _ query: ModelQuery<Element>, loading: LiveLoading = .inBackground,
    interval: Duration = .milliseconds(16), isolation: isolated any Actor = #isolation
  ) {
    self.init(query.updates(), loading: loading, interval: interval, isolation: isolation)
  }

  /// Changes the query; the elements remain until those of the new query exist.
  public func change(to query: ModelQuery<Element>) { change(to: query.updates()) }
}
