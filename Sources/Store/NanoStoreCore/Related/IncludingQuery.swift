// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument
import NanoEngine
import NanoQuery

/// A query whose results include related documents of other collections; see
/// ``RelatedSource/including(_:from:by:as:)``.
public struct IncludingQuery: Sendable, RelatedSource {
  /// The query for the documents, without related ones.
  public let query: DocumentQuery
  var inclusions: [Inclusion] = []

  init(_ query: DocumentQuery) { self.query = query }

  /// The query itself.
  public var includingQuery: IncludingQuery { self }

  private var store: Store { query.collection.store }

  /// The collections of all related documents, and those that their conditions read.
  var relatedCollections: Set<ExactName> {
    inclusions.reduce(into: []) { names, inclusion in
      let source = inclusion.source
      names.insert(ExactName(source.query.collection.name))
      names.formUnion(source.query.query.relatedCollections)
      names.formUnion(source.relatedCollections)
    }
  }

  func validateTree() throws(StoreError) {
    try query.query.validate()
    for inclusion in inclusions { try inclusion.validate(in: store) }
    var names: Set<ExactName> = []
    for inclusion in inclusions where !names.insert(ExactName(inclusion.resultName)).inserted {
      throw StoreError(
        .invalidArgument, "A query includes related documents under the same name twice",
        [.field: inclusion.resultName, .hint: "give them different names with 'as'"])
    }
  }

  /// Runs the checks of all included queries.
  private func checkInclusions(_ reader: any EngineReader) throws {
    for inclusion in inclusions {
      try inclusion.check?(reader)
      try inclusion.source.checkInclusions(reader)
    }
  }

  /// Returns documents with the related ones, and with only the fields that the query selects. Fields are selected last:
  /// those that inclusions read may not be among them.
  func including(_ documents: [Document], _ reader: any EngineReader) throws -> [IncludingDocument]
  {
    guard !inclusions.isEmpty, !documents.isEmpty else {
      return try selecting(documents.map { IncludingDocument($0) })
    }
    var results: [IncludingDocument] = []
    results.reserveCapacity(documents.count)
    for start in stride(from: 0, to: documents.count, by: InclusionReader.batchSize) {
      let batch = Array(documents[start..<min(start + InclusionReader.batchSize, documents.count)])
      results += try includingBatch(batch, reader)
    }
    return results
  }

  private func includingBatch(
    _ documents: [Document], _ reader: any EngineReader
  ) throws -> [IncludingDocument] {
    let inclusionReader = InclusionReader(reader: reader)
    let name = query.collection.name
    let columns = try inclusions.map { try inclusionReader.related($0, to: documents, in: name) }
    return try selecting(
      documents.indices.map { index in
        IncludingDocument(
          documents[index],
          zip(inclusions, columns).map { inclusion, column in
            IncludingDocument.Included(
              name: inclusion.resultName, documents: column[index].documents,
              isArray: column[index].isArray)
          })
      })
  }

  /// Passes the results to a closure, batch by batch, from one snapshot.
  private func eachBatch(_ visit: ([IncludingDocument]) throws -> Void) throws {
    try query.validate()
    try validateTree()
    let name = query.collection.name
    // The local fields have to be read, even if they are not selected.
    var whole = query.query
    whole.fields = nil
    try query.collection.readingDocuments { reader in
      try checkInclusions(reader)
      var batch: [Document] = []
      func pass() throws {
        let included = try includingBatch(batch, reader)
        batch = []
        try visit(included)
      }
      try reader.find(whole, in: name) { stored in
        batch.append(try query.document(stored, nil))
        if batch.count == InclusionReader.batchSize { try pass() }
        return true
      }
      if !batch.isEmpty { try pass() }
    }
  }

  /// Returns the documents with only the fields that the query selects.
  private func selecting(_ documents: [IncludingDocument]) throws -> [IncludingDocument] {
    guard let fields = query.query.fields else { return documents }
    return try documents.map { try $0.selecting(fields) }
  }
}

extension IncludingQuery {
  /// Returns the matching documents with their related documents, in order.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/invalidPath``, and
  ///   ``StoreError/Code/invalidArgument`` for a source in another store.
  public func fetch() throws -> [IncludingDocument] {
    var results: [IncludingDocument] = []
    try eachBatch { results += $0 }
    return results
  }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> [IncludingDocument] { try await onReader { try $0.fetch() } }

  /// Returns the first matching document with its related documents, or nil if there is none.
  public func first() throws -> IncludingDocument? {
    var first = IncludingQuery(query.limit(Swift.min(1, query.query.limit ?? 1)))
    first.inclusions = inclusions
    return try first.fetch().first
  }
  /// The asynchronous form of `first()`, which does not block the calling thread.
  public func first() async throws -> IncludingDocument? { try await onReader { try $0.first() } }

  /// Calls a closure with each matching document and its related documents, from one snapshot and without keeping more
  /// than a thousand results in memory.
  ///
  /// The closure may read from the store. Inside a transaction, all results are fetched before it is first called.
  ///
  /// - Throws: An error thrown by the closure, which ends the query.
  public func each(_ visit: (IncludingDocument) throws -> Void) throws {
    if TransactionContext.current(of: store)?.writer != nil {
      for document in try fetch() { try visit(document) }
      return
    }
    try eachBatch { for document in $0 { try visit(document) } }
  }
  /// The asynchronous form of `each(_:)`, which does not block the calling thread. The closure runs on a thread of the
  /// store.
  public func each(_ visit: @escaping @Sendable (IncludingDocument) throws -> Void) async throws {
    try await onReader { try $0.each(visit) }
  }

  /// Returns the matching documents decoded to a type, with the related documents as the values of its properties.
  ///
  /// ```swift
  /// struct Film: Codable {
  ///   var title: String
  ///   var director: Person?
  /// }
  /// try films.find().including("directorID", from: people, as: "director").decoded(as: Film.self)
  /// ```
  ///
  /// - Throws: `DecodingError` for a document whose fields do not match the type.
  @_disfavoredOverload
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> [Value] {
    let decoder = DocumentDecoder()
    return try decoded { document in try document.withBytes { try decoder.decode(type, from: $0) } }
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  @_disfavoredOverload
  public func decoded<Value: Decodable & SendableMetatype>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await query.collection.fromReader { try self.decoded(as: type) }
  }

  /// Returns the matching documents decoded by the type's own codec, with the related documents as the values of its
  /// properties.
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) throws -> [Value] {
    try decoded { document in
      try document.withBytes { bytes in
        var reader = JSONReader(bytes)
        return try Value(reading: &reader)
      }
    }
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await query.collection.fromReader { try self.decoded(as: type) }
  }

  /// Returns the values that a closure decodes from the documents with their related documents.
  package func decoded<Value>(_ decode: (Document) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try eachBatch { batch in
      for document in batch { values.append(try decode(try document.merged)) }
    }
    return values
  }

  func onReader<Result: Sendable>(
    _ work: @escaping @Sendable (IncludingQuery) throws -> Result
  ) async throws -> Result {
    try await query.collection.onReader { try work(self) }
  }
}

extension IncludingQuery {
  /// Returns a live query: the results now, and again after each commit that changes them or their related documents.
  ///
  /// ```swift
  /// for try await films in films.find().including("directorID", from: people).updates() { show(films) }
  /// ```
  ///
  /// - Throws: During iteration, the errors of ``DocumentQuery/updates()``.
  public func updates() -> DocumentUpdates<IncludingDocument> {
    DocumentUpdates(
      evaluator: LiveQueryEvaluator(
        store: store, collection: query.collection.name, query: query.query,
        related: relatedCollections
      ) { [self] reader in
        try query.collection.checkFailure()
        try validateTree()
        try checkInclusions(reader)
        var whole = query.query
        whole.fields = nil
        var documents: [Document] = []
        try reader.find(whole, in: query.collection.name) { stored in
          documents.append(try query.document(stored, nil))
          return true
        }
        let included = try including(documents, reader)
        let fingerprints = try included.map { try DocumentFingerprint($0) }
        return LiveResult(.documents(fingerprints)) { included }
      })
  }
}

extension IncludingDocument {
  /// Returns the document with only some of its fields, and all related documents.
  fileprivate func selecting(_ fields: [FieldPath]) throws -> IncludingDocument {
    with(try document.selecting(fields))
  }
}
