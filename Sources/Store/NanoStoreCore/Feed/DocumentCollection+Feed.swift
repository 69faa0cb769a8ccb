// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine
public import NanoQuery

extension DocumentCollection {
  /// Returns what has changed since a position: an entry for each document that was written or deleted after it,
  /// with its newest state.
  ///
  /// ```swift
  /// try films.setChangeTracking(.on)
  /// guard case .entries(let all, let position, _) = try films.changes(since: nil) else { return }
  /// try films.save(["title": "Ran"], key: "ran")
  /// if case .entries(let new, _, _) = try films.changes(since: position) {
  ///   print(new.map(\.key))      // ["ran"]
  /// }
  /// ```
  ///
  /// Nothing is missed, whichever program writes: this store, other processes, direct SQL. Documents that
  /// ``Store/saveInterval`` buffers are reported once they are written. In a write block that has changed the
  /// collection, use a page and its position only once the block is committed: if it is rolled back, later entries may
  /// get the same positions. Documents from before tracking was turned on come first. Positions
  /// stay valid after the store is opened again, compacted, and copied, and after index changes.
  ///
  /// - Parameters:
  ///   - position: The position after which to continue; nil for the beginning.
  ///   - limit: The maximum number of entries, at least 1.
  ///   - condition: Documents that do not match are left out; deletions are not, since the deleted content is
  ///     unknown. A document that no longer matches is not reported.
  ///   - keys: Documents and deletions with other keys are left out.
  ///   - withDocuments: Whether entries contain the documents, read from the same snapshot.
  /// - Throws: ``StoreError/Code/invalidArgument`` if changes are not tracked, for a limit below 1, or in a read block
  ///   that sees buffered documents; the errors of the condition.
  public func changes(
    since position: FeedPosition?, limit: Int = 1_000, matching condition: Condition? = nil,
    keys: Set<String>? = nil, withDocuments: Bool = false
  ) throws -> FeedPage {
    try InternalCollection.refuse(name)
    let request = FeedRequest(
      collection: self, limit: limit, condition: condition, keys: keys,
      withDocuments: withDocuments)
    try request.validate()
    return try request.page(after: position).page
  }
  /// The asynchronous form of `changes(since:limit:matching:keys:withDocuments:)`, which does not block the calling
  /// thread.
  public func changes(
    since position: FeedPosition?, limit: Int = 1_000, matching condition: Condition? = nil,
    keys: Set<String>? = nil, withDocuments: Bool = false
  ) async throws -> FeedPage {
    try await onReader {
      try self.changes(
        since: position, limit: limit, matching: condition, keys: keys,
        withDocuments: withDocuments)
    }
  }
}

/// Reads pages of a change feed.
struct FeedRequest: Sendable {
  let collection: DocumentCollection
  let limit: Int
  let condition: Condition?
  /// Compared by bytes, unlike strings, of which Swift considers some equal that are different keys.
  private let keys: Set<ExactName>?
  let withDocuments: Bool

  init(
    collection: DocumentCollection, limit: Int, condition: Condition?, keys: Set<String>?,
    withDocuments: Bool
  ) {
    self.collection = collection
    self.limit = limit
    self.condition = condition
    self.keys = keys.map { Set($0.map { ExactName($0) }) }
    self.withDocuments = withDocuments
  }

  /// The number of entries that are read at once, which bounds the number of documents in memory. Arbitrary.
  private static let rowsPerRead = 1_000

  func validate() throws {
    guard limit > 0 else {
      throw StoreError(
        .invalidArgument, "The limit of a change feed must be at least 1", [.actual: "\(limit)"])
    }
    try condition.map { try collection.find($0).validate() }
  }

  /// Reads the next page, and whether committed entries are delayed, without buffered saves: their entries would be
  /// rolled back, and later entries would get the same numbers.
  func page(after position: FeedPosition?) throws -> (page: FeedPage, isDelayed: Bool) {
    let store = collection.store
    return try collection.inTurn {
      if let context = TransactionContext.current(of: store) {
        guard !context.seesBufferedSaves else {
          throw StoreError(
            .invalidArgument, "A read block that sees buffered saves cannot read a change feed",
            [.collection: collection.name, .hint: "call flush() before the block"])
        }
        return try page(after: position, context.reader)
      }
      store.waitForQueued()
      return try store.engine().read(.snapshot, Interruption.current) {
        try page(after: position, $0)
      }
    }
  }

  private func page(
    after position: FeedPosition?, _ reader: any EngineReader
  ) throws -> (page: FeedPage, isDelayed: Bool) {
    guard let feed = try reader.feed(of: collection.name) else {
      throw StoreError(
        .invalidArgument, "The changes of the collection are not tracked",
        [.collection: collection.name, .hint: "turn tracking on with setChangeTracking(.on)"])
    }
    if let reset = try position.flatMap({ try self.reset($0, feed, reader) }) {
      return (.reset(reset), false)
    }
    let floor = position?.floor ?? feed.pruned
    var cursor = position?.cursor ?? .start
    var next: FeedPosition { FeedPosition(timeline: feed.timeline, cursor: cursor, floor: floor) }
    var entries: [FeedEntry] = []
    while true {
      let wanted = min(limit - entries.count, Self.rowsPerRead)
      let found = try reader.feedRows(
        after: cursor, limit: wanted + 1, settledOnly: true, in: collection.name)
      let rows = found.rows.prefix(wanted)
      let documents = try documents(of: rows, reader)
      for row in rows {
        cursor.advance(row)
        guard
          keys.map({ keys in row.key.map { keys.contains(ExactName($0.description)) } ?? false })
            ?? true,
          row.isDeleted || condition == nil || documents[row.rowID] != nil
        else { continue }
        // A page can have a deletion and the document that got its row ID.
        let document = withDocuments && !row.isDeleted ? documents[row.rowID] : nil
        entries.append(FeedEntry(row, next, document))
      }
      let hasMore = found.rows.count > wanted
      guard hasMore, entries.count < limit else {
        return (.entries(entries, next: next, hasMore: hasMore), found.isDelayed)
      }
    }
  }

  /// Returns why a position cannot be continued; nil if it can.
  private func reset(
    _ position: FeedPosition, _ feed: FeedState, _ reader: any EngineReader
  ) throws -> FeedReset? {
    guard position.timeline == feed.timeline else {
      return position.timeline == feed.origin ? .restored : .restarted
    }
    let cursor = position.cursor
    guard feed.hasDeletions(after: cursor, floor: position.floor) else { return .pruned }
    guard cursor.number > 0 else { return nil }
    // The entry is still there, was moved after the position by a later change, or is a pruned deletion. If the file
    // was replaced by an older one, it is before the position, or does not exist.
    let current = try reader.feedNumber(ofRow: cursor.rowID, in: collection.name)
    guard let current else { return cursor.number <= feed.pruned ? nil : .restored }
    return current < cursor.number ? .restored : nil
  }

  /// Returns the documents that match the condition, by row ID, as far as they are needed.
  private func documents(
    of rows: some Sequence<FeedRow>, _ reader: any EngineReader
  ) throws -> [Int64: Document] {
    guard withDocuments || condition != nil else { return [:] }
    let ids = rows.filter { !$0.isDeleted }.map { QueryExpression.value(.int($0.rowID)) }
    guard !ids.isEmpty else { return [:] }
    let among = Condition.membership(.attribute(.rowID), ids)
    var query = collection.find(condition.map { .all([among, $0]) } ?? among).query
    if !withDocuments { query.fields = [] }
    var documents: [Int64: Document] = [:]
    try reader.find(query, in: collection.name) { stored in
      documents[stored.rowID] = Document(stored, in: collection.name)
      return true
    }
    return documents
  }
}

extension FeedEntry {
  fileprivate init(_ row: FeedRow, _ position: FeedPosition, _ document: Document?) {
    self.init(
      position: position, rowID: row.rowID, key: row.key?.description, type: row.type,
      revision: row.revision, isDeleted: row.isDeleted, document: document)
  }
}
