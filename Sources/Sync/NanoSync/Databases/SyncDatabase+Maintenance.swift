// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

// What administrators of a server do.
extension SyncDatabase {
  /// Removes leaves with the ancestors that no other leaf has. Other stores keep them, and may send them again.
  ///
  /// - Returns: The leaves that were removed, by ID.
  package func purge(_ asked: IDMap<[RevisionID]>) throws -> IDMap<[RevisionID]> {
    try catchUp()
    let purged = try revising { writer in
      var state = try requireEnabled(writer)
      let keys = Set(asked.ids.compactMap { try? DocumentKey($0) })
      var pending = PendingRecords(
        try records(keys, writer),
        documents: try documents(keys.filter { !RevisionRecord.isHidden($0) }, writer))
      var purged = IDMap<[RevisionID]>()
      for (id, revisions) in asked {
        guard let key = try? DocumentKey(id), pending.records[key] != nil else { continue }
        let old = try pending.record(key, &state, self, writer)
        var new = old
        let removed = revisions.filter { new.tree.purge($0) }
        guard !removed.isEmpty else { continue }
        purged[id] = removed
        new.dropUnknownBodies()
        if let shared = new.shared, !new.tree.contains(shared) { new.shared = nil }
        try pending.replace(old, with: new, self, writer)
      }
      try pending.finish(self, &state, writer)
      try save(pending.changed, writer)
      return purged
    }
    changeSignal.send()
    return purged
  }

  /// The number of records that a transaction compacts. Arbitrary.
  private static let recordsPerTransaction = 500

  /// Removes the content of revisions that are not leaves, which merging could use; another store may still have it.
  ///
  /// The documents concerned get a new place in the changes.
  package func compactRevisions() throws {
    try catchUp()
    var position: String?
    repeat {
      position = try revising { try compactRevisions(after: position, $0) }
    } while position != nil
  }

  private func compactRevisions(after: String?, _ writer: any EngineWriter) throws -> String? {
    let query = Query(
      after.map { .comparison(.attribute(.key), .greater, .value(.string($0))) } ?? .constant(true),
      orderings: [Ordering(.attribute(.key))], limit: Self.recordsPerTransaction)
    var page: [RevisionRecord] = []
    try writer.find(query, in: records) { stored in
      page.append(try RevisionRecord(stored, in: records))
      return true
    }
    var changed: [RevisionRecord] = []
    for var record in page {
      let leaves = Set(record.tree.leaves.map(\.id))
      let kept = record.bodies.filter { leaves.contains($0.key) }
      guard kept.count < record.bodies.count else { continue }
      record.bodies = kept
      changed.append(record)
    }
    try save(changed, writer)
    return page.count < Self.recordsPerTransaction ? nil : page.last?.id.description
  }

  var securityKey: DocumentKey {
    get throws { try DocumentKey("\(stateKey)\(Self.securitySuffix)") }
  }

  /// Returns who may use the database, as JSON of the protocol.
  package func security() throws -> DocumentObject {
    let key = try securityKey
    return try store.reading(.call) { reader in
      var object = DocumentObject()
      try reader.get(.key(key), in: SyncState.collection) { stored in
        object = try Document(stored, in: SyncState.collection).object()
      }
      return object
    }
  }

  package func setSecurity(_ object: DocumentObject) throws {
    let key = try securityKey
    try store.write(retries: Self.retries) {
      try store.writing { writer in
        _ = try requireState(writer)
        try save(object, key, into: SyncState.collection, writer)
      }
    }
  }

  /// Deletes the collection with all that sync knows about it.
  ///
  /// - Returns: Whether it existed.
  package func delete() throws -> Bool {
    let existed = try store.write(retries: Self.retries) {
      let existed = try collection.drop()
      try store.writing { try forget($0) }
      return existed
    }
    changeSignal.send()
    return existed
  }
}
