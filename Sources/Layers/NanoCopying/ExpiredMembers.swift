// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Finds the memberships in bags of documents that have expired. A copy has neither: a new document with the key of an
/// expired one would be in its bags.
struct ExpiredMembers {
  /// The collections in which documents may expire.
  let collections: Set<ExactName>
  let reader: any EngineReader

  static func areIn(_ collection: String) -> Bool {
    collection.folded == InternalCollection.bagMembers.rawValue.folded
  }

  /// Returns the row IDs of memberships of documents that a snapshot does not have, or that have expired at a time,
  /// which may be later than the snapshot.
  func rowIDs(at time: Int64) throws -> Set<Int64> {
    var rowIDs: Set<Int64> = []
    for collection in collections.sorted().map(\.text) {
      var members = try members(of: collection)
      let identities = Array(members.keys)
      for start in stride(from: 0, to: identities.count, by: Self.step) {
        let some = identities[start..<min(start + Self.step, identities.count)]
        for identity in try existing(some, of: collection, at: time) { members[identity] = nil }
      }
      for found in members.values { rowIDs.formUnion(found) }
    }
    return rowIDs
  }

  /// Returns the row IDs of the memberships of a collection's documents.
  private func members(of collection: String) throws -> [Identity: [Int64]] {
    var members: [Identity: [Int64]] = [:]
    let query = Query(Field("collection") == .string(collection))
    try reader.find(query, in: InternalCollection.bagMembers.rawValue) { membership in
      if let identity = Self.identity(membership) {
        members[identity, default: []].append(membership.rowID)
      }
      return true
    }
    return members
  }

  /// Returns the document that a membership refers to; nil if it does not decode, which copying it reports.
  private static func identity(_ membership: StoredDocument) -> Identity? {
    var json = JSONReader(membership.body)
    guard let key = (try? json.object())?["key"] else { return nil }
    if let text = key.string { return (try? DocumentKey(text)).map { .key($0) } }
    return key.int64.map { .rowID($0) }
  }

  private func existing(
    _ identities: ArraySlice<Identity>, of collection: String, at time: Int64
  ) throws -> [Identity] {
    var keys: [DocumentKey] = []
    var rowIDs: [Int64] = []
    for identity in identities {
      switch identity {
      case .key(let key): keys.append(key)
      case .rowID(let rowID): rowIDs.append(rowID)
      }
    }
    var found: [Int64: [Identity]] = [:]
    if !keys.isEmpty {
      try reader.get(keys: keys, in: collection) { document in
        if let key = document.key { found[document.rowID, default: []].append(.key(key)) }
      }
    }
    if !rowIDs.isEmpty {
      try reader.get(rowIDs: rowIDs.sorted(), in: collection) { document in
        found[document.rowID, default: []].append(.rowID(document.rowID))
      }
    }
    let expirations = try reader.expirations(ofRows: found.keys.sorted(), in: collection)
    for (rowID, expiration) in expirations where expiration <= time { found[rowID] = nil }
    return found.values.flatMap { $0 }
  }

  /// The number of documents that are looked up at once. Arbitrary.
  private static let step = 1_000
}
