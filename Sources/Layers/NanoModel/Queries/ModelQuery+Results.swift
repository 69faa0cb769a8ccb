// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery
public import NanoStoreCore

extension ModelQuery {
  /// What is found, in order.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/typeMismatch`` with the collection, the
  ///   document and the field, and what an upgrade throws.
  @inlinable
  public func fetch() throws -> [M] {
    var models: [M] = []
    try eachContent { content, decoder in models.append(try decoder.value(content)) }
    return models
  }

  /// Shows what is found to a closure that makes values of it.
  ///
  /// Of a document only what a value is made of is read. If one is no such value, it is read again with the
  /// rest, to say which one it is.
  @usableFromInline
  func eachContent(
    _ show: (StoredContent, ModelDecoder<M>) throws -> Void
  ) throws {
    let decoder = collection.decoder
    let query = try documentQuery()
    do {
      try query.showContents(withKeys: M.fieldTable.hasKey) { content in
        try show(content, decoder)
        return true
      }
    } catch let error as StoreError
      where error.code == .typeMismatch || error.code == .corruptDocument
    {
      try query.showStored { stored in
        _ = try decoder.value(stored)
        return true
      }
      throw error
    }
  }

  /// The first one; nil if there is none.
  public func first() throws -> M? { try limit(Swift.min(1, limit ?? 1)).fetch().first }

  /// What is found together with what the store knows of it.
  public func stored() throws -> [Stored<M>] {
    try documentQuery().fetch().map { try collection.stored($0) }
  }

  /// The first one with what the store knows of it; nil if there is none.
  public func firstStored() throws -> Stored<M>? {
    try limit(Swift.min(1, limit ?? 1)).stored().first
  }

  /// Shows one value after the other without keeping them, from one snapshot.
  ///
  /// The closure may read from the store; it may write only inside of a `write` block.
  ///
  /// - Throws: What the closure throws, which ends the query.
  @inlinable
  public func each(_ show: (M) throws -> Void) throws {
    if collection.store.isInTransaction {
      // What a closure writes could be found again, without end.
      for model in try fetch() { try show(model) }
      return
    }
    try eachContent { content, decoder in try show(try decoder.value(content)) }
  }

  /// The next values behind the place where the last page ended; as `page(_:)` of ``DocumentQuery``.
  public func page(_ size: Int) throws -> ModelPage<M> {
    let page = try documentQuery().page(size)
    return ModelPage(
      models: try page.documents.map { try collection.stored($0).value }, next: page.next)
  }

  /// How many are found, within the limit if there is one.
  public func count() throws -> Int { try documentQuery().count() }
  /// Whether anything is found.
  public func exists() throws -> Bool { try documentQuery().exists() }
  /// The keys of what is found, in order; documents without one are left out.
  public func keys() throws -> [String] { try documentQuery().keys() }
  /// The row ids of what is found, in order.
  public func rowIDs() throws -> [Int64] { try documentQuery().rowIDs() }
  /// How the query will run: its statement, the plan, and which indexes it uses.
  public func explain() throws -> Explanation { try documentQuery().explain() }
  /// Removes what is found and says how many there were.
  @discardableResult
  public func delete() throws -> Int { try documentQuery().delete() }
}

/// Some values in a row, and where the next ones begin.
public struct ModelPage<M: Model> {
  /// The values of this page, in order.
  public let models: [M]
  /// Nil if there are no more.
  public let next: PagePosition?
}
extension ModelPage: Sendable where M: Sendable {}

extension ModelQuery where M: Sendable {
  /// What is found, as an asynchronous sequence in constant memory.
  public func stream() -> ModelStream<M> { ModelStream(query: self) }
}

/// The same with `await`. Values that are not `Sendable` are made for the caller and handed over.
extension ModelQuery {
  public func fetch() async throws -> sending [M] { try await fromReader { try $0.fetch() } }
  public func first() async throws -> sending M? { try await fromReader { try $0.first() } }
  public func stored() async throws -> sending [Stored<M>] {
    try await fromReader { try $0.stored() }
  }
  public func firstStored() async throws -> sending Stored<M>? {
    try await fromReader { try $0.firstStored() }
  }
  public func each(_ show: @escaping @Sendable (M) throws -> Void) async throws {
    try await onReader { try $0.each(show) }
  }
  public func page(_ size: Int) async throws -> sending ModelPage<M> {
    try await fromReader { try $0.page(size) }
  }
  public func count() async throws -> Int { try await onReader { try $0.count() } }
  public func exists() async throws -> Bool { try await onReader { try $0.exists() } }
  public func keys() async throws -> [String] { try await onReader { try $0.keys() } }
  public func rowIDs() async throws -> [Int64] { try await onReader { try $0.rowIDs() } }
  public func explain() async throws -> Explanation { try await onReader { try $0.explain() } }
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
