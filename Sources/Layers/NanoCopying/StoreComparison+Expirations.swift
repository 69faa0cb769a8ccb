// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension StoreComparison {
  /// Compares when the documents of a collection expire.
  func compareExpirations(of collection: String) throws {
    guard try mayExpire(collection) else { return }
    var differences = 0
    try source.eachRowIDs(in: collection) { rowIDs in
      let expected = try source.expirations(ofRows: rowIDs, in: collection)
      let found = try target.expirations(ofRows: rowIDs, in: collection)
      let different = rowIDs.filter { expected[$0] != found[$0] }
      guard !different.isEmpty else { return }
      let missing = try self.missing(different.filter { found[$0] == nil }, in: collection, target)
      // What has expired in both may be deleted already in one of them.
      let time = now()
      differences += different.count { rowID in
        let isGone = missing.contains(rowID) || (found[rowID] ?? .max) <= time
        return !isGone || (expected[rowID] ?? .max) > time
      }
    }
    if differences > 0 { note(collection, "\(differences) documents expire at other times") }
  }

  /// Whether the documents of a collection may expire in one of the stores.
  func mayExpire(_ collection: String) throws -> Bool {
    let expiring = try source.expiringCollections() + target.expiringCollections()
    return expiring.contains { $0.folded == collection.folded }
  }

  /// Returns the row IDs of documents that count as absent, since they or the documents that they refer to have expired;
  /// nil for a collection without expirations.
  func expired(in collection: String) throws -> (source: Set<Int64>, target: Set<Int64>)? {
    // The snapshots show what has not expired at different times.
    let time = now()
    if try mayExpire(collection) {
      return (
        source: try expired(at: time, in: collection, source),
        target: try expired(at: time, in: collection, target)
      )
    }
    guard ExpiredMembers.areIn(collection) else { return nil }
    let names = try source.expiringCollections() + target.expiringCollections()
    let expiring = Set(names.map(\.folded))
    return (
      source: try ExpiredMembers(collections: expiring, reader: source).rowIDs(at: time),
      target: try ExpiredMembers(collections: expiring, reader: target).rowIDs(at: time)
    )
  }

  /// Returns the row IDs of documents of a snapshot that have expired at a time, which may be later than the snapshot.
  private func expired(
    at time: Int64, in collection: String, _ reader: any EngineReader
  ) throws -> Set<Int64> {
    var expired: Set<Int64> = []
    try reader.eachRowIDs(in: collection) { rowIDs in
      let expirations = try reader.expirations(ofRows: rowIDs, in: collection)
      for (rowID, expiration) in expirations where expiration <= time { expired.insert(rowID) }
    }
    return expired
  }

  /// Returns those of the row IDs that a snapshot has no document with.
  private func missing(
    _ rowIDs: [Int64], in collection: String, _ reader: any EngineReader
  ) throws -> Set<Int64> {
    guard !rowIDs.isEmpty else { return [] }
    var missing = Set(rowIDs)
    try reader.get(rowIDs: rowIDs, in: collection) { document in
      _ = missing.remove(document.rowID)
    }
    return missing
  }
}

extension EngineReader {
  /// Passes the row IDs of a collection to a closure, at most 1,000 at a time.
  func eachRowIDs(
    in collection: String, _ visit: ([Int64]) throws -> Void
  ) throws {
    var query = Query()
    query.fields = []
    var rowIDs: [Int64] = []
    try find(query, in: collection) { document in
      rowIDs.append(document.rowID)
      if rowIDs.count == 1_000 {
        try visit(rowIDs)
        rowIDs.removeAll(keepingCapacity: true)
      }
      return true
    }
    if !rowIDs.isEmpty { try visit(rowIDs) }
  }
}
