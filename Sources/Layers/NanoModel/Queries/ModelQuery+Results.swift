// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery
public import NanoStoreCore

extension ModelQuery {
  /// Returns the results in order.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/Code/typeMismatch`` with the collection, the
  ///   document and the field, and the errors of upgrades.
  @inlinable
  public func fetch() throws -> [M] {
    var models: [M] = []
    try eachContent { content, decoder in models.append(try decoder.value(content)) }
    return models
  }

  /// Passes the content of each result to a closure that decodes it.
  @usableFromInline
  func eachContent(
    _ body: (StoredContent, ModelDecoder<M>) throws -> Void
  ) throws { try documentQuery().eachContent(of: M.self, body) }

  /// Returns the first result, or nil if there is none.
  public func first() throws -> M? { try limit(Swift.min(1, limit ?? 1)).fetch().first }

  /// Returns the results with the metadata of their documents.
  public func stored() throws -> [Stored<M>] {
    try documentQuery().fetch().map { try collection.stored($0) }
  }

  /// Returns the first result with its metadata, or nil if there is none.
  public func firstStored() throws -> Stored<M>? {
    try limit(Swift.min(1, limit ?? 1)).stored().first
  }

  /// Passes the results to a closure one by one from a snapshot, without keeping them in memory.
  ///
  /// The closure can read from the store; it can write only within a `write` block.
  ///
  /// - Throws: Errors of the closure, which end the query.
  @inlinable
  public func each(_ body: (M) throws -> Void) throws {
    if collection.store.isInTransaction {
      // In a transaction, a streaming query could find what the closure writes, endlessly.
      for model in try fetch() { try body(model) }
      return
    }
    try eachContent { content, decoder in try body(try decoder.value(content)) }
  }

  /// Returns the next page of results after the query's position, like `page(_:)` of
  /// ``DocumentQuery``.
  public func page(_ size: Int) throws -> ModelPage<M> {
    let page = try documentQuery().page(size)
    return ModelPage(
      models: try page.documents.map { try collection.stored($0).value }, next: page.next)
  }

  /// Returns the number of results, up to the limit if there is one.
  public func count() throws -> Int { try documentQuery().count() }
  /// Returns whether there are any results.
  public func exists() throws -> Bool { try documentQuery().exists() }
  /// Returns the keys of the results in order, without those of documents that have none.
  public func keys() throws -> [String] { try documentQuery().keys() }
  /// Returns the row IDs of the results in order.
  public func rowIDs() throws -> [Int64] { try documentQuery().rowIDs() }
  /// Returns how the query is executed: its statement, the query plan, and the indexes it uses.
  public func explain() throws -> Explanation { try documentQuery().explain() }
  /// Deletes the results and returns their number.
  @discardableResult
  public func delete() throws -> Int { try documentQuery().delete() }
}

/// A page of results and the position of the next page.
public struct ModelPage<M: Model> {
  /// The values of the page, in order.
  public let models: [M]
  /// The position after this page; nil if there are no more results.
  public let next: PagePosition?
}
extension ModelPage: Sendable where M: Sendable {}

extension ModelQuery where M: Sendable {
  /// Returns the results as an asynchronous sequence, in constant memory.
  public func stream() -> ModelStream<M> { ModelStream(query: self) }
}

/// Asynchronous forms. Values that are not `Sendable` are transferred to the caller.
extension ModelQuery {
  /// The asynchronous form of ``fetch()-()->[M]``, which does not block the calling thread.
  public func fetch() async throws -> sending [M] { try await fromReader { try $0.fetch() } }
  /// The asynchronous form of ``first()``, which does not block the calling thread.
  public func first() async throws -> sending M? { try await fromReader { try $0.first() } }
  /// The asynchronous form of ``stored()``, which does not block the calling thread.
  public func stored() async throws -> sending [Stored<M>] {
    try await fromReader { try $0.stored() }
  }
  /// The asynchronous form of ``firstStored()``, which does not block the calling thread.
  public func firstStored() async throws -> sending Stored<M>? {
    try await fromReader { try $0.firstStored() }
  }
  /// The asynchronous form of ``each(_:)``, which calls the closure on a thread of the store.
  public func each(_ body: @escaping @Sendable (M) throws -> Void) async throws {
    try await onReader { try $0.each(body) }
  }
  /// The asynchronous form of ``page(_:)``, which does not block the calling thread.
  public func page(_ size: Int) async throws -> sending ModelPage<M> {
    try await fromReader { try $0.page(size) }
  }
  /// The asynchronous form of ``count()``, which does not block the calling thread.
  public func count() async throws -> Int { try await onReader { try $0.count() } }
  /// The asynchronous form of ``exists()``, which does not block the calling thread.
  public func exists() async throws -> Bool { try await onReader { try $0.exists() } }
  /// The asynchronous form of ``keys()``, which does not block the calling thread.
  public func keys() async throws -> [String] { try await onReader { try $0.keys() } }
  /// The asynchronous form of ``rowIDs()``, which does not block the calling thread.
  public func rowIDs() async throws -> [Int64] { try await onReader { try $0.rowIDs() } }
  /// The asynchronous form of ``explain()``, which does not block the calling thread.
  public func explain() async throws -> Explanation { try await onReader { try $0.explain() } }
  /// The asynchronous form of ``delete()``, which does not block the calling thread.
  @discardableResult
  public func delete() async throws -> Int {
    try await collection.documents.onWriter { try self.delete() }
  }

  func onReader<Result: Sendable>(
    _ work: @escaping @Sendable (ModelQuery) throws -> Result
  ) async throws -> Result {
    try await collection.documents.onReader { try work(self) }
  }

  func fromReader<Result>(
    _ work: @escaping @Sendable (ModelQuery) throws -> sending Result
  ) async throws -> sending Result {
    try await collection.documents.fromReader { try work(self) }
  }
}
