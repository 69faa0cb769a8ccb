// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
public import NanoEngine
public import NanoQuery

/// A query over a collection, built step by step and executed by its terminal method.
///
/// ```swift
/// let page = try films.find(Field("year") > 2010)
///   .sorted(by: "year", "-title").limit(10, offset: 20).fetch()
/// let count = try films.find("[genres] = ?", "Action").count()
/// ```
///
/// A query is a value: each step returns a new one, and a query can be executed many times.
public struct DocumentQuery: Sendable {
  /// The collection that the query reads.
  public let collection: DocumentCollection
  /// The underlying query tree, as engines receive it.
  package var query: Query
  /// The field names that a model declares, which are exempt from the check for unknown fields; nil
  /// disables the check.
  package var declaredNames: Set<ExactName>? = []

  /// Creates a query over a collection from a query tree.
  package init(_ collection: DocumentCollection, _ query: Query) {
    self.collection = collection
    self.query = query
  }

  private func changed(_ change: (inout Query) -> Void) -> DocumentQuery {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Adds a condition that documents must also satisfy.
  public func `where`(_ condition: Condition) -> DocumentQuery {
    changed {
      $0.condition = $0.condition == .constant(true) ? condition : $0.condition && condition
    }
  }

  /// Sorts by these fields, most significant first, replacing an earlier order. A leading `-` means
  /// descending.
  public func sorted(by paths: String...) -> DocumentQuery {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts by a field in the given order, replacing an earlier order.
  ///
  /// ```swift
  /// films.find().sorted(by: "year", order: .reverse)           // the latest first
  /// ```
  public func sorted(by path: String, order: SortOrder) -> DocumentQuery {
    sorted(by: [Ordering(FieldPath(path), order: order)])
  }
  /// Sorts by these orderings, most significant first, replacing an earlier order.
  public func sorted(by orderings: [Ordering]) -> DocumentQuery {
    changed { $0.orderings = orderings }
  }

  /// Sorts by a textual ordering, as in `ORDER BY`, replacing an earlier order. Aliases apply; an
  /// empty text removes the order.
  ///
  /// ```swift
  /// try people.find().sorted(byText: "[last] DESC, [first]")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there.
  public func sorted(byText text: String) throws(StoreError) -> DocumentQuery {
    sorted(
      by: try collection.parsed(text) { (text) throws(StoreError) in try QueryText.orderings(text) }
    )
  }

  /// Interprets fields like columns of an SQL table, as NTJsonStore does.
  ///
  /// Conditions do not descend into arrays, booleans are 1 and 0, and NOT of unknown is unknown;
  /// see ``/NanoQuery/Query/withFieldsAsColumns``. It applies to the conditions added so far: call
  /// it last.
  public func fieldsAsColumns() -> DocumentQuery {
    changed { $0 = $0.withFieldsAsColumns }
  }

  /// Limits the number of results, counted after sorting and after the offset.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of results; nil for no limit.
  ///   - offset: The number of results to skip first; nil keeps the value set by ``offset(_:)``.
  public func limit(_ limit: Int?, offset: Int? = nil) -> DocumentQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }
  /// Skips this many results, counted after sorting.
  public func offset(_ offset: Int) -> DocumentQuery { changed { $0.offset = offset } }

  /// Returns only results after a position returned by ``page(_:)-(Int)``.
  public func after(_ position: PagePosition?) -> DocumentQuery { changed { $0.after = position } }

  /// Reads only these fields of each document. Such partial documents cannot replace the stored
  /// ones.
  public func select(_ paths: String...) -> DocumentQuery { select(paths.map { FieldPath($0) }) }
  /// Reads only these fields of each document; see ``select(_:)-(String...)``.
  public func select(_ paths: [FieldPath]) -> DocumentQuery { changed { $0.fields = paths } }
}

extension DocumentCollection {
  /// Returns a query for the documents that match the condition; without one, for all documents.
  public func find(_ condition: Condition = .constant(true)) -> DocumentQuery {
    DocumentQuery(self, Query(condition))
  }

  /// Returns a query from a query tree built elsewhere.
  package func find(_ query: Query) -> DocumentQuery { DocumentQuery(self, query) }

  /// Returns a query for the documents that match a textual condition.
  ///
  /// The arguments are the values of its parameters.
  ///
  /// ```swift
  /// try people.find("[LastName] = ? AND [Address.Country] = 'US' ORDER BY [FirstName]", "Doe")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many are given.
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: arguments.map(\.documentValue))
  }

  /// Returns a query written as text, with arguments in an array and by name; see ``find(_:_:)``.
  public func find(
    _ text: String, arguments: [DocumentValue], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> DocumentQuery {
    let parsed = try parsed(text) { (text) throws(StoreError) in try QueryText(text) }
    return DocumentQuery(self, try parsed.query(arguments, named: named))
  }

  /// Returns a query written as text, with arguments by name; see ``find(_:_:)``.
  public func find(
    _ text: String, named: [String: DocumentValue]
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: [], named: named)
  }

  /// Returns all documents, ordered by row id.
  public func fetch() throws -> [Document] { try find().fetch() }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> [Document] { try await find().fetch() }

  /// Returns the number of documents.
  public func count() throws -> Int { try find().count() }
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await find().count() }
}

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
      try showAll(
        reader, sort: { Self.sort(&found) },
        show: { stored in
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
  /// The closure may read from the store. It may write only inside a ``Store/write(_:)-(()->_)``
  /// block, where all documents are fetched before the closure is first called.
  ///
  /// - Throws: An error thrown by the closure, which ends the query.
  public func each(_ show: (Document) throws -> Void) throws {
    try validate()
    // Otherwise the scan could find what the closure writes, without end.
    if TransactionContext.current(of: collection.store)?.writer != nil {
      for document in try fetch() { try show(document) }
      return
    }
    let projection = query.fields
    try collection.readingDocuments { reader in
      try reader.find(query, in: collection.name) { stored in
        try show(document(stored, projection))
        return true
      }
    }
  }

  /// The asynchronous form of `each(_:)`, which does not block the calling thread. The closure runs
  /// on a thread of the store.
  public func each(_ show: @escaping @Sendable (Document) throws -> Void) async throws {
    try await onReader { try $0.each(show) }
  }

  /// Passes all results to a closure that keeps them, then calls `sort` if the engine returned them
  /// out of row id order and the query requires it.
  func showAll(
    _ reader: any EngineReader, sort: () -> Void, show: (StoredDocument) throws -> Void
  ) throws {
    var last = Int64.min
    var isSorted = true
    try reader.findInAnyOrder(query, in: collection.name) { stored in
      if stored.rowID < last { isSorted = false }
      last = stored.rowID
      try show(stored)
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

  /// Returns the matching documents decoded to a type.
  ///
  /// - Throws: `DecodingError` for a document whose fields do not match the type.
  @_disfavoredOverload
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> [Value] {
    let decoder = DocumentDecoder()
    var values: [Value] = []
    try eachBody { values.append(try decoder.decode(type, from: $0)) }
    return values
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  @_disfavoredOverload
  public func decoded<Value: Decodable & SendableMetatype>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Returns the matching documents decoded by the type's own codec.
  @inlinable
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) throws -> [Value] {
    var values: [Value] = []
    try eachBody { body in
      var reader = JSONReader(body)
      values.append(try Value(reading: &reader))
    }
    return values
  }
  /// The asynchronous form of `decoded(as:)`, which does not block the calling thread.
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Passes the results to a closure as the engine stores them: whole documents, even with selected
  /// fields.
  ///
  /// The bytes are borrowed and valid only until the closure returns. The closure may read from the
  /// store.
  ///
  /// - Parameter show: Returns false to end the query.
  /// - Throws: An error thrown by the closure, which ends the query.
  @usableFromInline package func showStored(_ show: (StoredDocument) throws -> Bool) throws {
    try validate()
    try collection.readingDocuments { reader in
      try reader.find(query, in: collection.name, show)
    }
  }

  /// Passes only the columns needed for decoding to a closure, which is faster than
  /// ``showStored(_:)``.
  ///
  /// - Parameters:
  ///   - withKeys: Whether keys are included.
  ///   - show: Returns false to end the query. It may read from the store.
  /// - Throws: An error thrown by the closure, which ends the query.
  package func showContents(
    withKeys: Bool, _ show: (StoredContent) throws -> Bool
  ) throws {
    try validate()
    try collection.readingDocuments { reader in
      try reader.contents(query, in: collection.name, withKeys: withKeys, show)
    }
  }

  /// Passes the bodies of the results to a closure that decodes them.
  @usableFromInline
  func eachBody(_ show: (UnsafeRawBufferPointer) throws -> Void) throws {
    try showContents(withKeys: false) { content in
      try show(content.body)
      return true
    }
  }

  func eachStored(_ show: (StoredDocument) throws -> Void) throws {
    try showStored { stored in
      try show(stored)
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
  /// The same query without the check for unknown fields, for queries that were not written by a
  /// user.
  package var withoutFieldCheck: DocumentQuery {
    var copy = self
    copy.declaredNames = nil
    return copy
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

  /// Returns the row ids of the matching documents, in order.
  public func rowIDs() throws -> [Int64] {
    var ids: [Int64] = []
    try identities.eachStored { ids.append($0.rowID) }
    return ids
  }
  /// The asynchronous form of `rowIDs()`, which does not block the calling thread.
  public func rowIDs() async throws -> [Int64] { try await onReader { try $0.rowIDs() } }

  /// The query without bodies: engines do not read them if no fields are selected.
  private var identities: DocumentQuery { select([]) }

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

extension DocumentQuery {
  /// Deletes the matching documents and returns how many there were.
  @discardableResult
  public func delete() throws -> Int {
    try validate()
    return try collection.writing { try collection.remove(query, $0) }
  }
  /// The asynchronous form of `delete()`, which does not block the calling thread.
  @discardableResult
  public func delete() async throws -> Int { try await onWriter { try $0.delete() } }

  /// Changes some fields of all matching documents in one transaction, and returns their number.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Int {
    try update(FieldChanges(set: set, remove: remove))
  }
  /// The asynchronous form of `update(set:remove:)`, which does not block the calling thread.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Int {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter { try $0.update(changes) }
  }

  /// Applies stored changes to all matching documents; see ``update(set:remove:)-(_,_)``.
  @discardableResult
  public func update(_ changes: FieldChanges) throws -> Int {
    try validate()
    try InternalCollection.refuse(collection.name)
    return try collection.writing(atomic: true) { engine in
      // All row ids are collected before the first change, so that no document is found again in
      // its changed form.
      var ids: [Int64] = []
      try engine.find(identities.query, in: collection.name) { stored in
        ids.append(stored.rowID)
        return true
      }
      for id in ids {
        _ = try collection.update(.rowID(id), engine) { try changes.apply(to: &$0) }
      }
      return ids.count
    }
  }
  /// The asynchronous form of `update(_:)`, which does not block the calling thread.
  @discardableResult
  public func update(_ changes: FieldChanges) async throws -> Int {
    try await onWriter { try $0.update(changes) }
  }
}

extension DocumentQuery {
  /// Calls a closure with each matching document decoded by the type's own codec.
  ///
  /// Values are not kept in memory.
  @inlinable
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ show: (Value) throws -> Void
  ) throws {
    try eachBody { body in
      var reader = JSONReader(body)
      try show(try Value(reading: &reader))
    }
  }
  /// The asynchronous form of `each(as:_:)`, which does not block the calling thread. The closure
  /// runs on a thread of the store.
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ show: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, show) }
  }

  /// Calls a closure with each matching document decoded to a type.
  ///
  /// Values are not kept in memory.
  @_disfavoredOverload
  public func each<Value: Decodable>(
    as type: Value.Type, _ show: (Value) throws -> Void
  ) throws {
    let decoder = DocumentDecoder()
    try eachBody { try show(try decoder.decode(type, from: $0)) }
  }
  /// The asynchronous form of `each(as:_:)`, which does not block the calling thread. The closure
  /// runs on a thread of the store.
  @_disfavoredOverload
  public func each<Value: Decodable & SendableMetatype>(
    as type: Value.Type, _ show: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, show) }
  }
}
