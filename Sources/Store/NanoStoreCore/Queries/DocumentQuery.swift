// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
public import NanoEngine
public import NanoQuery

/// A question to a collection, put together step by step and asked by its last one.
///
/// ```swift
/// let page = try films.find(Field("year") > 2010)
///   .sorted(by: "year", "-title").limit(10, offset: 20).fetch()
/// let count = try films.find("[genres] = ?", "Action").count()
/// ```
///
/// It is a value: each step gives another one, and one may be kept and asked many times.
public struct DocumentQuery: Sendable {
  /// The collection that is asked.
  public let collection: DocumentCollection
  /// The question as engines get it.
  package var query: Query
  /// Names that a model declares, which are not looked for in documents to find misspelled ones; nil if no name
  /// is looked for.
  package var declaredNames: Set<ExactName>? = []

  package init(_ collection: DocumentCollection, _ query: Query) {
    self.collection = collection
    self.query = query
  }

  private func changed(_ change: (inout Query) -> Void) -> DocumentQuery {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Only what fulfils this condition too.
  public func `where`(_ condition: Condition) -> DocumentQuery {
    changed {
      $0.condition = $0.condition == .constant(true) ? condition : $0.condition && condition
    }
  }

  /// Sorts by these fields, most important first; `-` before one means descending. Replaces an
  /// earlier order.
  public func sorted(by paths: String...) -> DocumentQuery {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts by a field, in an order. Replaces an earlier order.
  ///
  /// ```swift
  /// films.find().sorted(by: "year", order: .reverse)           // the latest first
  /// ```
  public func sorted(by path: String, order: SortOrder) -> DocumentQuery {
    sorted(by: [Ordering(FieldPath(path), order: order)])
  }
  /// Sorts by these orderings, most important first. Replaces an earlier order.
  public func sorted(by orderings: [Ordering]) -> DocumentQuery {
    changed { $0.orderings = orderings }
  }

  /// Sorts by what a text says, as in `ORDER BY`, with the collection's aliases. Replaces an earlier
  /// order; empty text is none.
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

  /// With fields meant as columns of an SQL table are, as NTJsonStore meant them: arrays are not
  /// entered, booleans are 1 and 0, NOT of unknown is unknown; see
  /// ``/NanoQuery/Query/withFieldsAsColumns``. For what was asked so far: ask for it last.
  public func fieldsAsColumns() -> DocumentQuery {
    changed { $0 = $0.withFieldsAsColumns }
  }

  /// At most this many, counted after sorting and after the offset.
  ///
  /// - Parameter offset: How many to skip first; nil keeps what ``offset(_:)`` set.
  public func limit(_ limit: Int?, offset: Int? = nil) -> DocumentQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }
  /// Leaves out so many at the beginning, counted after sorting.
  public func offset(_ offset: Int) -> DocumentQuery { changed { $0.offset = offset } }

  /// Only what comes behind a place that ``page(_:)-(Int)`` gave.
  public func after(_ position: PagePosition?) -> DocumentQuery { changed { $0.after = position } }

  /// Only these fields of each document. Such documents cannot be saved over the whole ones.
  public func select(_ paths: String...) -> DocumentQuery { select(paths.map { FieldPath($0) }) }
  /// Only these fields of each document; see ``select(_:)-(String...)``.
  public func select(_ paths: [FieldPath]) -> DocumentQuery { changed { $0.fields = paths } }
}

extension DocumentCollection {
  /// The documents that fulfil a condition; all of them without one.
  public func find(_ condition: Condition = .constant(true)) -> DocumentQuery {
    DocumentQuery(self, Query(condition))
  }

  /// The documents that a query finds, which was put together elsewhere.
  package func find(_ query: Query) -> DocumentQuery { DocumentQuery(self, query) }

  /// The documents that fulfil a condition written as text, with values for its parameters.
  ///
  /// ```swift
  /// try people.find("[LastName] = ? AND [Address.Country] = 'US' ORDER BY [FirstName]", "Doe")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many.
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: arguments.map(\.documentValue))
  }

  /// As ``find(_:_:)``, with arguments in an array and by name.
  public func find(
    _ text: String, arguments: [DocumentValue], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> DocumentQuery {
    let parsed = try parsed(text) { (text) throws(StoreError) in try QueryText(text) }
    return DocumentQuery(self, try parsed.query(arguments, named: named))
  }

  /// As ``find(_:_:)``, with arguments by name.
  public func find(
    _ text: String, named: [String: DocumentValue]
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: [], named: named)
  }

  /// All documents, by row id.
  public func fetch() throws -> [Document] { try find().fetch() }
  public func fetch() async throws -> [Document] { try await find().fetch() }

  /// How many documents there are.
  public func count() throws -> Int { try find().count() }
  public func count() async throws -> Int { try await find().count() }
}

extension DocumentQuery {
  /// What is found, in order.
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
  public func fetch() async throws -> [Document] { try await onReader { try $0.fetch() } }

  /// The first one; nil if there is none.
  public func first() throws -> Document? {
    try limit(Swift.min(1, query.limit ?? 1)).fetch().first
  }
  public func first() async throws -> Document? { try await onReader { try $0.first() } }

  /// Shows one document after the other without keeping them, from one snapshot.
  ///
  /// ```swift
  /// try films.find().each { film in titles.insert(film["title"]) }
  /// ```
  ///
  /// The closure may read from the store. It may write only inside of a ``Store/write(_:)-(()->_)``
  /// block, where all documents are found before the first one is shown.
  ///
  /// - Throws: What the closure throws, which ends the query.
  public func each(_ show: (Document) throws -> Void) throws {
    try validate()
    // What a closure writes could be found again, without end.
    if TransactionContext.current(of: collection.store)?.writer != nil {
      for document in try fetch() { try show(document) }
      return
    }
    let projection = query.fields
    try collection.showing { reader in
      try reader.find(query, in: collection.name) { stored in
        try show(document(stored, projection))
        return true
      }
    }
  }

  public func each(_ show: @escaping @Sendable (Document) throws -> Void) async throws {
    try await onReader { try $0.each(show) }
  }

  /// Shows all that is found to a closure that keeps it, and afterwards has it sorted by row id where
  /// the engine showed it in another order.
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

  /// Values of your own type made from what is found.
  ///
  /// - Throws: `DecodingError` for a document whose fields do not fit.
  @_disfavoredOverload
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> [Value] {
    let decoder = DocumentDecoder()
    var values: [Value] = []
    try eachBody { values.append(try decoder.decode(type, from: $0)) }
    return values
  }
  @_disfavoredOverload
  public func decoded<Value: Decodable & SendableMetatype>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Values that read themselves, made from what is found.
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
  public func decoded<Value: DocumentRepresentable>(
    as type: Value.Type = Value.self
  ) async throws -> sending [Value] {
    try await fromReader { try $0.decoded(as: type) }
  }

  /// Shows what is found as the engine has it, whole documents whatever fields were chosen: the bytes are
  /// borrowed, and gone when the closure returns. The closure may read from the store.
  ///
  /// - Parameter show: Gives false to end the query.
  /// - Throws: What the closure throws, which ends the query.
  @usableFromInline package func showStored(_ show: (StoredDocument) throws -> Bool) throws {
    try validate()
    try collection.showing { reader in
      try reader.find(query, in: collection.name, show)
    }
  }

  /// Shows of what is found only what values are made of, which takes less time than
  /// ``showStored(_:)``.
  ///
  /// - Parameters:
  ///   - withKeys: Whether keys are wanted.
  ///   - show: Gives false to end the query. It may read from the store.
  /// - Throws: What the closure throws, which ends the query.
  package func showContents(
    withKeys: Bool, _ show: (StoredContent) throws -> Bool
  ) throws {
    try validate()
    try collection.showing { reader in
      try reader.contents(query, in: collection.name, withKeys: withKeys, show)
    }
  }

  /// Shows the bodies of what is found to a type that makes itself of them.
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
  /// The same without looking for misspelled names of fields: for queries that no user has written.
  package var withoutFieldCheck: DocumentQuery {
    var copy = self
    copy.declaredNames = nil
    return copy
  }
}

extension DocumentQuery {
  /// How many documents are found, within the limit if there is one.
  public func count() throws -> Int {
    try validate()
    return try collection.reading(.call) { try $0.count(query, in: collection.name) }
  }
  public func count() async throws -> Int { try await onReader { try $0.count() } }

  /// Whether anything is found.
  public func exists() throws -> Bool { try limit(Swift.min(1, query.limit ?? 1)).count() > 0 }
  public func exists() async throws -> Bool { try await onReader { try $0.exists() } }

  /// The keys of what is found, in order; documents without one are left out.
  public func keys() throws -> [String] {
    var keys: [String] = []
    try identities.eachStored { if let key = $0.key { keys.append(key.description) } }
    return keys
  }
  public func keys() async throws -> [String] { try await onReader { try $0.keys() } }

  /// The row ids of what is found, in order.
  public func rowIDs() throws -> [Int64] {
    var ids: [Int64] = []
    try identities.eachStored { ids.append($0.rowID) }
    return ids
  }
  public func rowIDs() async throws -> [Int64] { try await onReader { try $0.rowIDs() } }

  /// Without bodies: engines do not read them for an empty choice of fields.
  private var identities: DocumentQuery { select([]) }

  /// How the query will run: its statement, the plan, which indexes it uses, and which of its fields no document
  /// has.
  public func explain() throws -> Explanation {
    try query.validate()
    return try collection.reading(.snapshot) { reader in
      var explanation = try reader.explain(query, in: collection.name)
      explanation.unknownFields = try KnownFields(reader, in: collection.name)
        .unknown(among: query.usedFields)
      return explanation
    }
  }
  public func explain() async throws -> Explanation { try await onReader { try $0.explain() } }
}

extension DocumentQuery {
  /// Removes what is found and says how many there were.
  @discardableResult
  public func delete() throws -> Int {
    try validate()
    return try collection.writing { try collection.remove(query, $0) }
  }
  @discardableResult
  public func delete() async throws -> Int { try await onWriter { try $0.delete() } }

  /// Changes some fields of everything that is found, all in one transaction, and says of how many
  /// documents.
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) throws -> Int {
    try update(FieldChanges(set: set, remove: remove))
  }
  @discardableResult
  public func update(
    set: KeyValuePairs<FieldPath, DocumentValue> = [:], remove: [FieldPath] = []
  ) async throws -> Int {
    let changes = FieldChanges(set: set, remove: remove)
    return try await onWriter { try $0.update(changes) }
  }

  /// As ``update(set:remove:)-(_,_)``, with changes that were kept.
  @discardableResult
  public func update(_ changes: FieldChanges) throws -> Int {
    try validate()
    try InternalCollection.refuse(collection.name)
    return try collection.writing(atomic: true) { engine in
      // Found before the first change, so that no document is found again by what it became.
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
  @discardableResult
  public func update(_ changes: FieldChanges) async throws -> Int {
    try await onWriter { try $0.update(changes) }
  }
}

extension DocumentQuery {
  /// Shows one value after the other, each made by its own codec, without keeping them.
  @inlinable
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ show: (Value) throws -> Void
  ) throws {
    try eachBody { body in
      var reader = JSONReader(body)
      try show(try Value(reading: &reader))
    }
  }
  public func each<Value: DocumentRepresentable>(
    as type: Value.Type, _ show: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, show) }
  }

  /// Shows one value after the other, made by Codable, without keeping them.
  @_disfavoredOverload
  public func each<Value: Decodable>(
    as type: Value.Type, _ show: (Value) throws -> Void
  ) throws {
    let decoder = DocumentDecoder()
    try eachBody { try show(try decoder.decode(type, from: $0)) }
  }
  @_disfavoredOverload
  public func each<Value: Decodable & SendableMetatype>(
    as type: Value.Type, _ show: @escaping @Sendable (Value) throws -> Void
  ) async throws {
    try await onReader { try $0.each(as: type, show) }
  }
}
