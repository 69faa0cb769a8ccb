// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresReader {
  func feed(of collection: String) throws -> FeedState? {
    let executed = try executeOnTable(of: collection) { found in
      found.feed.map { _ in [found.tableID] } ?? []
    }
    guard let executed, let feed = executed.collection.feed else { return nil }
    guard executed.results.first?.optionalInt(0, 0) == feed.table else {
      throw StoreError(
        .fileReplaced, "The database was restored from a dump while it was in use",
        [.collection: collection, .hint: "reopen the store"])
    }
    return feed.state
  }

  func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows {
    let executed = try execute(collection) { metadata in
      (
        (),
        metadata.collection.feed.map {
          statements($0, metadata.collection.feedObjects(names), cursor, limit, settledOnly)
        } ?? []
      )
    }
    guard let results = executed?.results, let delayed = results.first else { return FeedRows([]) }
    var rows = results.dropFirst().flatMap { result in
      (0..<result.count).map { FeedRow(result, $0) }
    }
    rows = Array(rows.prefix(limit))
    return FeedRows(rows, isDelayed: rows.count < limit && delayed.bool(0, 0))
  }

  /// Selects whether entries are delayed, then the entries.
  ///
  /// In this order, since each statement of a write transaction sees a later state than the one before: an entry that is
  /// settled in between is found although it was delayed. In the other one, it would be neither.
  private func statements(
    _ feed: PostgresFeed, _ objects: FeedDefinition, _ cursor: FeedCursor, _ limit: Int,
    _ settledOnly: Bool
  ) -> [PostgresStatement] {
    let horizon = settledOnly ? FeedDefinition.horizon(feed.base) : nil
    let isDelayed =
      settledOnly ? objects.isDelayed(feed.base) : PostgresStatement("SELECT false")
    let untracked =
      cursor.number == 0 ? [objects.untracked(after: cursor.rowID, limit: limit)] : []
    return [isDelayed] + untracked
      + [objects.rows(after: cursor.number, cursor.rowID, limit: limit, below: horizon)]
  }

  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    let executed = try execute(collection) { metadata in
      let objects = metadata.collection.feedObjects(names)
      return ((), metadata.collection.feed.map { _ in [objects.number(ofRow: rowID)] } ?? [])
    }
    guard let found = executed?.results.first, found.count > 0 else { return nil }
    return found.int(0, 0)
  }

  func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] {
    guard !rowIDs.isEmpty else { return [:] }
    let executed = try execute(collection) { metadata in
      let objects = metadata.collection.feedObjects(names)
      return (
        (), metadata.collection.feed.map { _ in [objects.formerKeys(ofRows: rowIDs)] } ?? []
      )
    }
    guard let found = executed?.results.first else { return [:] }
    var keys: [Int64: DocumentKey] = [:]
    for row in 0..<found.count {
      keys[found.int(row, 0)] = found.optionalText(row, 1).flatMap { try? DocumentKey($0) }
    }
    return keys
  }
}

extension PostgresCollection {
  /// Selects the object ID of the table. Names the table, so that the statement locks it.
  fileprivate var tableID: PostgresStatement {
    PostgresStatement(
      "SELECT to_regclass($1)::oid::bigint, EXISTS (SELECT FROM \(table) LIMIT 0)", [.text(table)])
  }
}

extension FeedRow {
  fileprivate init(_ result: PostgresResult, _ row: Int) {
    self.init(
      rowID: result.int(row, 0), place: .number(result.int(row, 1)),
      key: result.optionalText(row, 2).flatMap { try? DocumentKey($0) },
      type: result.optionalText(row, 3), revision: result.optionalInt(row, 4),
      deleted: result.optionalInt(row, 5))
  }
}
