// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  /// The time that the block sees: that of its first use of a collection with expirations.
  var time: Int64 {
    if let blockTime { return blockTime }
    let now = core.configuration.clock.now()
    blockTime = now
    return now
  }

  /// The time at which expired documents of a collection are left out; `nil` if they need not be.
  func time(_ collection: PostgresCollection) -> Int64? { collection.hasExpirations ? time : nil }

  func expiringCollections() throws -> [String] {
    let rows = try session.run(
      PostgresStatement(
        "SELECT name, settings FROM \(names.qualified("nano_collections")) WHERE settings IS NOT NULL"
      ))
    return try (0..<rows.count).filter { row in
      try CollectionLoader.object(rows.text(row, 1))[PostgresCollection.expirationsField] != nil
    }.map { rows.text($0, 0) }.sorted { $0.isBefore($1) }
  }

  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    let executed = try execute(collection) { metadata in
      ((), metadata.collection.expiry.map { [$0.ofRows(rowIDs)] } ?? [])
    }
    guard let rows = executed?.results.first else { return [:] }
    return Dictionary(
      (0..<rows.count).map { (rows.int($0, 0), rows.int($0, 1)) }, uniquingKeysWith: { $1 })
  }

  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    let executed = try execute(collection) { metadata in
      ((), metadata.collection.expiry.map { [$0.earliest(after: time)] } ?? [])
    }
    guard let rows = executed?.results.first, rows.count > 0 else { return nil }
    return rows.optionalInt(0, 0)
  }

  /// Returns the query with the fields of the text indexes that it names, and the time at which it leaves out expired
  /// documents.
  func resolved(_ query: Query, _ metadata: PostgresCollectionMetadata) throws -> Query {
    var query = try metadata.resolved(query)
    if metadata.collection.hasExpirations { query.expiredAt = time }
    return query
  }
}
