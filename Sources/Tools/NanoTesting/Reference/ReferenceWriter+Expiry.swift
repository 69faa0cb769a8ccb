// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension ReferenceReader {
  func expiringCollections() throws -> [String] {
    state.collections.values.filter(\.hasExpirations).map(\.description.name)
      .sorted { $0.isBefore($1) }
  }

  func expirations(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: Int64] {
    let documents = (state[collection]?.documents ?? []).filter { rowIDs.contains($0.rowID) }
    return documents.reduce(into: [:]) { $0[$1.rowID] = $1.expires }
  }

  func earliestExpiration(after time: Int64?, in collection: String) throws -> Int64? {
    (state[collection]?.documents ?? []).compactMap(\.expires).filter { $0 > time ?? .min }.min()
  }
}

extension ReferenceWriter {
  func setExpirations(_ times: [(rowID: Int64, time: Int64?)], in collection: String) throws {
    if times.contains(where: { $0.time != nil }) {
      try createIfNeeded(collection)
      state[collection]?.hasExpirations = true
    }
    for (rowID, time) in times {
      guard let position = state[collection]?.position(of: .rowID(rowID)) else { continue }
      state[collection]?.documents[position].expires = time
      expiry.note(time)
    }
  }

  /// Applies the collection's rule to a document that was written.
  func applyRule(to rowID: Int64, in collection: String) throws {
    guard let found = state[collection], let rule = found.settings.expiration,
      let position = found.position(of: .rowID(rowID))
    else { return }
    let time = try found.documents[position].body.withUnsafeBytes {
      try rule.expiration(of: $0, at: self.time)
    }
    try setExpirations([(rowID, time)], in: collection)
  }

  /// Changes the rule of a collection, and applies it to the existing documents.
  func setExpirationRule(of collection: String) throws {
    state[collection]?.hasExpirations = true
    sweep(collection)
    for document in state[collection]?.documents ?? [] {
      try setExpirations([(document.rowID, nil)], in: collection)
      try applyRule(to: document.rowID, in: collection)
    }
  }

  /// Deletes every expired document of a collection, before the transaction writes to it.
  func sweep(_ collection: String) {
    _ = sweep(collection, limit: .max)
  }

  func sweepExpired(limit: Int, from collection: String) throws -> Int {
    sweep(collection, limit: limit)
  }

  private func sweep(_ collection: String, limit: Int) -> Int {
    guard let found = state[collection], found.hasExpirations else { return 0 }
    let expired = found.documents.filter { $0.hasExpired(at: time) }
      .sorted { $0.expires ?? 0 < $1.expires ?? 0 }.prefix(limit)
    guard !expired.isEmpty else { return 0 }
    let rowIDs = Set(expired.map(\.rowID))
    state[collection]?.documents.removeAll { rowIDs.contains($0.rowID) }
    expiry.swept.append(
      ExpiryLog.Swept(
        collection: found.description.name,
        documents: expired.map { row in row.key.map { .key($0) } ?? .rowID(row.rowID) }))
    return expired.count
  }
}
