// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

/// A version that a store has, but not the deletion of what it contains, would be merged once more.
@Suite struct MergedOnceTests {
  private func database() throws -> SyncDatabase {
    let database = try SyncDatabase(anyStore()["films"])
    try database.enable()
    return database
  }

  private static var options: ReplicationOptions {
    var options = ReplicationOptions()
    options.rules.counters = ["n"]
    return options
  }

  @Test func `A conflict that the peer resolves while it is pulled counts once`() async throws {
    let (device, peer) = (try database(), try database())
    let films = device.collection
    try await films.save(["n": 1], key: "x")
    try await Replication(device, with: LocalPeer(peer), Self.options) { _ in }.run()
    for n in 2...4 {
      try await peer.collection.update("x", set: ["n": .int(Int64(n))])
      _ = try peer.state()
    }
    try await films.update("x", set: ["n": 2, "mine": true])
    var pushing = Self.options
    pushing.pulls = false
    try await Replication(device, with: LocalPeer(peer), pushing) { _ in }.run()
    #expect(try peer.conflictedIDs() == ["x"])
    // The list of changes has both versions, of which the device lacks one; the answer has the merged one.
    let changing = ChangingPeer(base: try LocalPeer(peer), database: peer) {
      _ = try peer.resolve("x", by: Self.options.rules)
    }
    try await Replication(device, with: changing, Self.options) { _ in }.run()
    try await Replication(device, with: LocalPeer(peer), Self.options) { _ in }.run()
    for database in [device, peer] {
      #expect(try await database.collection.get("x")?["n"] == 5)
    }
    #expect(try device.state() == peer.state())
  }

  @Test func `Deletions come first among the revisions of a document, which stay together`() throws
  {
    let documents = try [("a", "2-b", false), ("b", "1-a", false), ("a", "2-a", true)].map {
      SyncDocument(id: $0.0, revision: try $0.1.revision, isDeleted: $0.2)
    }
    #expect(
      documents.groupedByID.map { $0.map { "\($0.id) \($0.revision)" } } == [
        ["a 2-a", "a 2-b"], ["b 1-a"],
      ])
  }
}

/// A peer that answers with newer revisions than those that are asked for, after something has changed.
private struct ChangingPeer: SyncPeer {
  let base: LocalPeer
  let database: SyncDatabase
  let change: @Sendable () throws -> Void
  var identity: String { base.identity + "-changing" }

  func open(creates: Bool) async throws -> PeerState { try await base.open(creates: creates) }

  func changes(
    since: String?, limit: Int, filter: PeerFilter, waits: Bool
  ) async throws -> PeerChanges {
    let changes = try await base.changes(since: since, limit: limit, filter: filter, waits: waits)
    try change()
    return changes
  }

  func revisions(_ wanted: [WantedRevision]) async throws -> [FetchedRevision] {
    try wanted.flatMap { wanted -> [FetchedRevision] in
      guard let found = try database.revisions([wanted.id])[wanted.id] else { return [] }
      let newest = wanted.isBase ? [] : found.tree.leaves(from: wanted.revision).map(\.id)
      return (newest.isEmpty ? [wanted.revision] : newest).compactMap { found[$0] }.map {
        .document(WireDocument($0))
      }
    }
  }

  func attachment(
    _ attachment: WireAttachment, of id: String, revision: RevisionID, in store: Store
  ) async throws -> SyncAttachment {
    try await base.attachment(attachment, of: id, revision: revision, in: store)
  }

  func missing(_ revisions: IDMap<[RevisionID]>) async throws -> IDMap<MissingRevisions> {
    try await base.missing(revisions)
  }

  func write(
    _ documents: [SyncDocument], ancestors: IDMap<[RevisionID]>, from store: Store
  ) async throws -> [PeerRefusal] {
    try await base.write(documents, ancestors: ancestors, from: store)
  }

  func checkpoint(_ id: String) async throws -> DocumentObject? { try await base.checkpoint(id) }
  func setCheckpoint(_ id: String, _ body: DocumentObject) async throws {
    try await base.setCheckpoint(id, body)
  }
}
