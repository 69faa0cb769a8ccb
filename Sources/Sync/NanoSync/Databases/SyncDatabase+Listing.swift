// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// The documents whose IDs are in a range, in order.
package struct ListingRange: Sendable {
  package var lower: String?
  package var upper: String?
  package var includesLower: Bool
  package var includesUpper: Bool
  package var isDescending: Bool

  package init(
    lower: String? = nil, upper: String? = nil, includesLower: Bool = true,
    includesUpper: Bool = true, isDescending: Bool = false
  ) {
    self.lower = lower
    self.upper = upper
    self.includesLower = includesLower
    self.includesUpper = includesUpper
    self.isDescending = isDescending
  }

  /// The rest of the range after a document.
  package func after(_ id: String) -> ListingRange {
    var rest = self
    if isDescending {
      rest.upper = id
      rest.includesUpper = false
    } else {
      rest.lower = id
      rest.includesLower = false
    }
    return rest
  }

  fileprivate var condition: Condition {
    var list: [Condition] = []
    if let lower {
      list.append(
        .comparison(
          .attribute(.key), includesLower ? .greaterOrEqual : .greater, .value(.string(lower))))
    }
    if let upper {
      list.append(
        .comparison(.attribute(.key), includesUpper ? .lessOrEqual : .less, .value(.string(upper))))
    }
    return list.isEmpty ? .constant(true) : list.count == 1 ? list[0] : .all(list)
  }
}

extension SyncDatabase {
  /// Returns documents of a range with their revisions, deleted ones included.
  ///
  /// - Returns: Also the ID of the last one, if there may be more.
  package func documents(
    _ range: ListingRange, limit: Int
  ) throws -> (documents: [DocumentRevisions], last: String?) {
    try catchUp()
    let ids = try store.read {
      try store.reading(.snapshot) { reader in
        var ids: [String] = []
        var query = Query(
          range.condition,
          orderings: [Ordering(.attribute(.key), order: range.isDescending ? .reverse : .forward)],
          limit: limit)
        query.fields = []
        try reader.find(query, in: records) { stored in
          if let key = stored.key { ids.append(key.description) }
          return true
        }
        return ids
      }
    }
    let found = try revisions(ids)
    return (ids.compactMap { found[$0] }, ids.count < limit ? nil : ids.last)
  }

  /// The numbers of documents and of deletions, with those that the application does not see.
  package struct Counts: Sendable, Hashable {
    package var documents: Int
    package var deleted: Int
  }

  package func counts() throws -> Counts {
    try catchUp()
    return try store.read {
      try store.reading(.snapshot) { reader in
        let hidden = try liveHidden(ListingRange(), reader)
        let documents = try reader.count(Query(), in: name) + hidden
        return Counts(
          documents: documents,
          deleted: max(0, try reader.count(Query(), in: records) - documents))
      }
    }
  }

  /// Returns the number of documents in a range.
  package func count(_ range: ListingRange) throws -> Int {
    try catchUp()
    return try store.read {
      try store.reading(.snapshot) { reader in
        try reader.count(Query(range.condition), in: name) + liveHidden(range, reader)
      }
    }
  }

  /// Returns the number of documents that are kept in records only.
  private func liveHidden(_ range: ListingRange, _ reader: any EngineReader) throws -> Int {
    var count = 0
    let hidden = Condition.text(.attribute(.key), .beginsWith, .value(.string("_")))
    try reader.find(Query(.all([hidden, range.condition])), in: records) { stored in
      let record = try RevisionRecord(stored, in: records)
      if record.tree.winner?.isDeleted == false { count += 1 }
      return true
    }
    return count
  }

  /// Returns the names of the local documents, sorted.
  package func localIDs() throws -> [String] {
    let prefix = "\(stateKey)\(Self.localInfix)"
    return try store.reading(.snapshot) { reader in
      try stateKeys(prefix, reader).map {
        String(decoding: $0.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
      }
    }
  }
}
