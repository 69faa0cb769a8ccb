// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension SQLiteReader {
  /// The time that the block sees: that of its first use of a collection with expirations.
  var time: Int64 {
    if let blockTime { return blockTime }
    let now = connection.clock.now()
    if keepsTime { blockTime = now }
    return now
  }

  /// Binds the time to a statement that hides an expired document.
  @inline(__always)
  func bindTime(_ statement: SQLiteStatement, _ table: CollectionTable) {
    if table.expiry != nil { statement.bind(time, at: 2) }
  }

  /// Returns the query without the documents that have expired. If none has, which is found in an index, it stays the
  /// same, and costs no more.
  func hidingExpired(_ query: Query, _ table: CollectionTable) throws -> Query {
    guard let expiry = table.expiry, try hasExpired(expiry) else { return query }
    var query = query
    query.expiredAt = time
    return query
  }

  func hasExpired(_ expiry: ExpirySchema) throws -> Bool {
    let time = time
    return try connection.with(expiry.hasExpired) { row in
      row.bind(time, at: 1)
      return try row.step() && row.int(0) != 0
    }
  }

  func expiringCollections() throws -> [String] {
    let part = AttributeUsage.expiration.rawValue
    return try connection.all(
      SQLFragment("SELECT name FROM nano_collections WHERE parts & \(part) <> 0")
    ) { $0.text(0) ?? "" }.sorted { $0.isBefore($1) }
  }

  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    guard let expiry = try connection.table(collection)?.expiry else { return [:] }
    return try connection.with(expiry.ofRow) { row in
      var found: [Int64: Int64] = [:]
      for id in rowIDs {
        row.bind(id, at: 1)
        if try row.step() { found[id] = row.int(0) }
        row.reset()
      }
      return found
    }
  }

  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    guard let expiry = try connection.table(collection)?.expiry else { return nil }
    return try connection.first(SQLFragment(expiry.earliest, [.int(time ?? .min)])) {
      $0.optionalNumber(0)
    } ?? nil
  }
}
