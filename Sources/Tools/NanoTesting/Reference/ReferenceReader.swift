// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A reader of one state of the reference engine.
class ReferenceReader: EngineReader {
  var state: ReferenceState
  let cancellation: CancellationFlag
  /// The unique number of the engine.
  let observer: UInt32

  /// The time that the block sees.
  private(set) lazy var time = clock.now()
  private let clock: any StoreClock

  init(
    _ state: ReferenceState, _ observer: UInt32, _ cancellation: CancellationFlag,
    _ clock: any StoreClock
  ) {
    self.clock = clock
    self.state = state
    self.observer = observer
    self.cancellation = cancellation
  }

  func committedState() throws -> CommittedState? {
    CommittedState(observer: observer, count: state.commits)
  }

  func collections() throws -> [CollectionDescription] {
    state.collections.sorted { $0.key < $1.key }.map(\.value.description)
  }

  func identity(of collection: String) throws -> CollectionIdentity {
    state[collection]?.description.identity ?? .key
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ body: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard let found = state[collection], let position = found.position(of: identity),
      !found.documents[position].hasExpired(at: time)
    else { return false }
    try found.documents[position].withStored(found.incarnation, body)
    return true
  }

  func highestRowID(in collection: String) throws -> Int64? { state[collection]?.lastRowID ?? 0 }

  func find(
    _ query: Query, in collection: String, _ body: (StoredDocument) throws -> Bool
  ) throws {
    guard let incarnation = state[collection]?.incarnation else { return }
    for document in try found(by: query, in: collection) {
      try cancellation.check()
      guard try document.withStored(incarnation, body) else { return }
    }
  }

  func count(_ query: Query, in collection: String) throws -> Int {
    try found(by: query, in: collection).count
  }

  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    var groups = GroupedAggregation(query)
    let defaults = defaults(of: collection)
    for document in try found(by: query.query, in: collection) {
      let subject = document.subject(defaults)
      try groups.add { (path) throws(StoreError) in subject.values(at: path) }
    }
    return groups.rows
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    let defaults = defaults(of: collection)
    let values = try found(by: query, in: collection)
      .flatMap { $0.subject(defaults).values(at: field) }.filter(Aggregation.counts)
    var distinct: [DocumentValue] = []
    for value in values.sorted(by: { ValueOrder.compare($0, $1) < 0 }) {
      if let last = distinct.last, ValueOrder.compare(last, value) == 0 { continue }
      distinct.append(value)
    }
    return distinct
  }

  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    func read(_ query: Query, _ collection: String) throws -> [DocumentSubject] {
      let defaults = defaults(of: collection)
      return try found(by: query, in: collection).map { $0.subject(defaults) }
    }
    let rows = try ReferencePipeline(read: read)
      .rows(pipeline.stages, over: try read(query, collection))
    for row in rows where try !visit(row.value.object ?? [:]) { return }
  }

  func explain(_ query: Query, in collection: String) throws -> Explanation {
    Explanation(
      statement: query.condition.queryText, plan: ["read every document"], indexes: [],
      checkedPerDocument: query.condition.queryText)
  }

  func indexes(in collection: String) throws -> [IndexDefinition] {
    (state[collection]?.indexes ?? []).sorted { $0.name.isBefore($1.name) }
  }

  func findRanked(
    _ query: Query, in collection: String, _ body: (StoredDocument, Double) throws -> Bool
  ) throws {
    guard let incarnation = state[collection]?.incarnation else { return }
    for (document, rank) in try ranked(by: query, in: collection) {
      try cancellation.check()
      guard try document.withStored(incarnation, { try body($0, rank) }) else { return }
    }
  }

  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    (state[collection]?.fullTextIndexes ?? []).sorted { $0.name.isBefore($1.name) }
  }

  func indexing(in collection: String) throws -> IndexingPolicy {
    state[collection]?.indexing ?? .declared
  }

  func settings(of collection: String) throws -> CollectionSettings {
    state[collection]?.settings ?? CollectionSettings()
  }

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    (state[collection]?.observed ?? [:]).sorted { $0.key < $1.key }
      .map { ObservedPath(path: $0.key.text, types: $0.value) }
  }

  func metadata(_ name: String) throws -> DocumentValue? { state.metadata[ExactName(name)] }
  func metadataNames() throws -> [String] { state.metadata.keys.sorted().map(\.text) }
}

extension ReferenceReader {
  /// Returns the documents that match the condition, sorted and then limited to the page.
  func found(by query: Query, in collection: String) throws -> [ReferenceDocument] {
    try ranked(by: query, in: collection).map(\.document)
  }

  func ranked(
    by query: Query, in collection: String
  ) throws -> [(document: ReferenceDocument, rank: Double)] {
    // A collection that does not exist is empty for every query.
    guard let fullTextIndexes = state[collection]?.fullTextIndexes else { return [] }
    let query = try readingRelated(try query.resolvingSearches(in: fullTextIndexes))
    let ranks = ranks(query, in: collection)
    var rows: [Row] = []
    let defaults = defaults(of: collection)
    for document in state[collection]?.documents ?? [] where !document.hasExpired(at: time) {
      try cancellation.check()
      let subject = document.subject(defaults)
      guard try Evaluator(subject).holds(query.condition) else { continue }
      rows.append(
        Row(
          document: document, values: try query.orderings.map { try $0.value(for: subject) },
          rank: ranks[document.rowID] ?? 0))
    }
    rows.sort {
      if query.isRanked, $0.rank != $1.rank { return $0.rank > $1.rank }
      return Self.order($0.position, $1.position, query.orderings) < 0
    }
    if let after = query.after {
      rows.removeAll { Self.order($0.position, after, query.orderings) <= 0 }
    }
    let page = rows.dropFirst(query.offset)
    return page.prefix(query.limit ?? page.count).map { ($0.document, $0.rank) }
  }

  /// Returns the ranks by row ID.
  private func ranks(_ query: Query, in collection: String) -> [Int64: Double] {
    guard let search = query.condition.rankingSearch, let scope = search.scope else { return [:] }
    let documents = (state[collection]?.documents ?? []).filter { !$0.hasExpired(at: time) }
    let ranker = FullTextRanker(
      search.query, in: scope, query.ranking ?? FullTextRanking(),
      documents: documents.map { document in { document.subject(nil).texts(at: $0) } })
    return Dictionary(
      uniqueKeysWithValues: documents.enumerated().map {
        ($0.element.rowID, ranker.rank(ofDocument: $0.offset))
      })
  }

  private func defaults(of collection: String) -> FieldDefaults? {
    state[collection].flatMap { FieldDefaults($0.settings.defaults) }
  }

  private struct Row {
    let document: ReferenceDocument
    let values: [DocumentValue]
    let rank: Double
    var position: PagePosition { PagePosition(values: values, rowID: document.rowID) }
  }

  private static func order(_ a: PagePosition, _ b: PagePosition, _ orderings: [Ordering]) -> Int {
    for (index, ordering) in orderings.enumerated() {
      let order = ValueOrder.compare(a.values[index], b.values[index])
      if order != 0 { return ordering.descending ? -order : order }
    }
    return a.rowID < b.rowID ? -1 : a.rowID == b.rowID ? 0 : 1
  }
}
