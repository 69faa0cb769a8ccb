// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
public import NanoEngine
import NanoQuery

extension DocumentQuery {
  /// Returns the matching documents, in order.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/invalidPath``.
  public func fetch() throws -> [Document] {
    try validate()
    if query.fields == nil, let cache = collection.store.cache[collection.name] {
      return try documents(through: cache)
    }
    var found: [Document] = []
    try collection.reading(.call) { reader in
      try visitAll(
        reader, sort: { Self.sort(&found) },
        visit: { stored in
          found.append(try document(stored, query.fields))
        })
    }
    return found
  }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> [Document] { try await onReader { try $0.fetch() } }

  /// Returns the first matching document, or nil if there is none.
  public func first() throws -> Document? {
    try limit(Swift.min(1, query.limit ?? 1)).fetch().first
  }
  /// The asynchronous form of `first()`, which does not block the calling thread.
  public func first() async throws -> Document? { try await onReader { try $0.first() } }

  /// Calls a closure with each matching document, from one snapshot and without keeping them in
  /// memory.
  ///
  /// ```swift
  /// try films.find().each { film in titles.insert(film["title"]) }
  /// ```
  ///
  /// The closure may read from the store. It may write only inside a ``Store/write(retries:isolation:_:)-(_,_,()->_)``
  /// block, where all documents are fetched before the closure is first called.
  ///
  /// - Throws: An error thrown by the closure, which ends the query.
  public func each(_ visit: (Document) throws -> Void) throws {
    try validate()
    // Otherwise the scan could find what the closure writes, without end.
    if TransactionContext.current(of: collection.store)?.writer != nil {
      for document in try fetch() { try visit(document) }
      return
    }
    let projection = query.fields
    try collection.readingDocuments { reader in
      guard projection == nil else {
        return try reader.find(query, in: collection.name) { stored in
          try visit(document(stored, projection))
          return true
        }
      }
      var scratch = DocumentScratch()
      var name = collection.name
      try name.withUTF8 { name in
        try reader.find(query, in: collection.name) { stored in
          let document = Document(stored, in: UnsafeRawBufferPointer(name), reusing: &scratch)
          try visit(document)
          document.recycle(into: &scratch)
          return true
        }
      }
    }
  }

  /// The asynchronous form of `each(_:)`, which does not block the calling thread. The closure runs
  /// on a thread of the store.
  public func each(_ visit: @escaping @Sendable (Document) throws -> Void) async throws {
    try await onReader { try $0.each(visit) }
  }

  /// Passes all results to a closure that keeps them, then calls `sort` if the engine returned them
  /// out of row ID order and the query requires it.
  func visitAll(
    _ reader: any EngineReader, sort: () -> Void, visit: (StoredDocument) throws -> Void
  ) throws {
    var last = Int64.min
    var isSorted = true
    try reader.findInAnyOrder(query, in: collection.name) { stored in
      if stored.rowID < last { isSorted = false }
      last = stored.rowID
      try visit(stored)
      return true
    }
    if !isSorted, query.isWholeByRowID { sort() }
  }

  static func sort(_ documents: inout [Document]) {
    documents.sort { ($0.rowID ?? 0) < ($1.rowID ?? 0) }
  }

  @inline(__always)
  func document(_ stored: StoredDocument, _ fields: [FieldPath]?) throws -> Document {
    let document = Document(stored, in: collection.name)
    guard let fields else { return document }
    return try document.selecting(fields)
  }

  /// Passes the results to a closure as the engine stores them: whole documents, even with selected
  /// fields.
  ///
  /// The bytes are borrowed and valid only until the closure returns. The closure may read from the
  /// store.
  ///
  /// - Parameter visit: Returns false to end the query.
  /// - Throws: An error thrown by the closure, which ends the query.
  @usableFromInline package func visitStored(_ visit: (StoredDocument) throws -> Bool) throws {
    try validate()
    try collection.readingDocuments { reader in
      try reader.find(query, in: collection.name, visit)
    }
  }

  /// Passes only the columns needed for decoding to a closure, which is faster than
  /// ``visitStored(_:)``.
  ///
  /// - Parameters:
  ///   - withKeys: Whether keys are included.
  ///   - visit: Returns false to end the query. It may read from the store.
  /// - Throws: An error thrown by the closure, which ends the query.
  package func visitContents(
    withKeys: Bool, _ visit: (StoredContent) throws -> Bool
  ) throws {
    try validate()
    try collection.readingDocuments { reader in
      try reader.contents(query, in: collection.name, withKeys: withKeys, visit)
    }
  }

  /// Passes the bodies of the results to a closure that decodes them.
  @usableFromInline
  func eachBody(_ visit: (UnsafeRawBufferPointer) throws -> Void) throws {
    try visitContents(withKeys: false) { content in
      try visit(content.body)
      return true
    }
  }

  func eachStored(_ visit: (StoredDocument) throws -> Void) throws {
    try visitStored { stored in
      try visit(stored)
      return true
    }
  }

  func onReader<Result: Sendable>(
    _ work: @escaping @Sendable (DocumentQuery) throws -> Result
  ) async throws -> Result {
    try await collection.onReader { try work(self) }
  }

  func fromReader<Result>(
    _ work: @escaping @Sendable (DocumentQuery) throws -> sending Result
  ) async throws -> sending Result {
    try await collection.fromReader { try work(self) }
  }

  func onWriter<Result: Sendable>(
    _ work: @escaping @Sendable (DocumentQuery) throws -> Result
  ) async throws -> Result {
    try await collection.onWriter { try work(self) }
  }
}

extension DocumentQuery {
  /// Returns the number of matching documents, within the limit if there is one.
  public func count() throws -> Int {
    try validate()
    return try collection.reading(.call) { try $0.count(query, in: collection.name) }
  }
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await onReader { try $0.count() } }

  /// Returns whether any document matches.
  public func exists() throws -> Bool { try limit(Swift.min(1, query.limit ?? 1)).count() > 0 }
  /// The asynchronous form of `exists()`, which does not block the calling thread.
  public func exists() async throws -> Bool { try await onReader { try $0.exists() } }

  /// Returns the keys of the matching documents, in order. Documents without a key are skipped.
  public func keys() throws -> [String] {
    var keys: [String] = []
    try identities.eachStored { if let key = $0.key { keys.append(key.description) } }
    return keys
  }
  /// The asynchronous form of `keys()`, which does not block the calling thread.
  public func keys() async throws -> [String] { try await onReader { try $0.keys() } }

  /// Returns the row IDs of the matching documents, in order.
  public func rowIDs() throws -> [Int64] {
    var ids: [Int64] = []
    try identities.eachStored { ids.append($0.rowID) }
    return ids
  }
  /// The asynchronous form of `rowIDs()`, which does not block the calling thread.
  public func rowIDs() async throws -> [Int64] { try await onReader { try $0.rowIDs() } }

  /// The query without bodies: engines do not read them if no fields are selected.
  var identities: DocumentQuery { select([]) }

  /// Returns how the query would be executed: its statement, the plan, the indexes it uses, and the
  /// fields in it that no document has.
  public func explain() throws -> Explanation {
    try query.validate()
    return try collection.reading(.snapshot) { reader in
      var explanation = try reader.explain(query, in: collection.name)
      explanation.unknownFields = try KnownFields(reader, in: collection.name)
        .unknown(among: query.usedFields)
      return explanation
    }
  }
  /// The asynchronous form of `explain()`, which does not block the calling thread.
  public func explain() async throws -> Explanation { try await onReader { try $0.explain() } }
}
