// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreCore

/// Transfers changes of a database to a peer.
struct Pusher: Sendable {
  let session: ReplicationSession
  private var options: ReplicationOptions { session.options }
  private var database: SyncDatabase { session.database }
  private var peer: any SyncPeer { session.peer }

  /// Pushes until there is nothing left, or until the task is canceled if the replication is continuous.
  func run(whenIdle: @Sendable () -> Void) async throws {
    let checkpoint = try session.checkpointID(.push)
    var position = try await session.resume(checkpoint).flatMap { RevisionChange.Sequence($0) }
    var retries = try await session.retries(checkpoint)
    try await retry(&retries)
    var reported = IDMap<String>()
    let limit = options.batchDocuments
    // Before the first look, so that no change is missed.
    let changes = try DatabaseChanges(database)
    var saves: Int64 = 0
    while true {
      let since = position
      let page = try await session.local { try $0.changes(since: since, limit: limit) }
      if !page.changes.isEmpty {
        session.report { status in
          status.total = max(status.total, status.done + page.changes.count)
          status.phase = .busy
        }
        let refused = try await push(page.changes)
        try await session.update(&retries, of: page.changes.map(\.id), refused, .push)
        session.report { $0.done += page.changes.count }
      }
      if page.last != position {
        saves += 1
        try await session.save(checkpoint, page.last.description, count: saves)
        position = page.last
      }
      if page.hasMore { continue }
      try await reportProblems(&reported)
      whenIdle()
      guard options.isContinuous else { return }
      try await changes.next()
    }
  }

  /// Tries the documents again that the peer did not store before.
  private func retry(_ retries: inout RetryList) async throws {
    let ids = retries.entries.ids
    guard !ids.isEmpty else { return }
    let changes = try await session.local { database in
      let found = try database.revisions(ids)
      return ids.compactMap { id in
        found[id].map { PeerChange(id: id, revisions: $0.leaves.map(\.id)) }
      }
    }
    try await session.update(&retries, of: ids, try await push(changes), .push)
  }

  /// Reports documents that cannot be pushed, each once.
  private func reportProblems(_ reported: inout IDMap<String>) async throws {
    let problems = try await session.local { try $0.problems() }
    for (key, reason) in problems where reported[key] != reason {
      session.fail(key, .push, reason, isRetried: false)
    }
    reported = problems
  }

  private func push(_ changes: [RevisionChange]) async throws -> IDMap<String> {
    try await push(changes.map { PeerChange(id: $0.id, revisions: $0.leaves.map(\.id)) })
  }

  /// Pushes the leaves that the peer lacks, and returns the documents to be tried again, with the reason.
  private func push(_ changes: [PeerChange]) async throws -> IDMap<String> {
    guard !changes.isEmpty else { return [:] }
    var asked = IDMap<[RevisionID]>()
    for change in changes { asked[change.id, default: []] += change.revisions }
    let missing = try await peer.missing(asked)
    guard !missing.isEmpty else { return [:] }
    let filter = options.pushFilter
    let documents = try await session.local { database in
      let found = try database.revisions(missing.ids)
      return try missing.flatMap { (id, missing) in
        try missing.missing.compactMap { found[id]?[$0] }.filter { document in
          // What was replaced in the meantime follows with the next changes.
          guard found[id]?.tree.leaf(document.revision) != nil else { return false }
          return try document.isDeleted || filter?.accepts(document.id, document.body) ?? true
        }
      }
    }
    var ancestors = IDMap<[RevisionID]>()
    for (id, value) in missing { ancestors[id] = value.ancestors }
    return try await write(documents, ancestors)
  }

  /// Sends revisions in requests of bounded size, several at a time.
  private func write(
    _ documents: [SyncDocument], _ ancestors: IDMap<[RevisionID]>
  ) async throws -> IDMap<String> {
    var batches: [[SyncDocument]] = []
    var size = 0
    // The revisions of one document stay together.
    for revisions in documents.groupedByID {
      if batches.isEmpty || size >= options.batchBytes {
        batches.append([])
        size = 0
      }
      batches[batches.count - 1] += revisions
      size += revisions.reduce(0) { $0 + $1.approximateSize }
    }
    let store = database.store
    var failed = IDMap<String>()
    try await withThrowingTaskGroup(of: (sent: [SyncDocument], refused: [PeerRefusal]).self) {
      group in
      var rest = batches[...]
      func start() {
        guard let batch = rest.popFirst() else { return }
        let peer = peer
        group.addTask {
          (batch, try await peer.write(batch, ancestors: ancestors, from: store))
        }
      }
      for _ in 0..<options.requests { start() }
      while let (sent, refused) = try await group.next() {
        start()
        let bytes = sent.reduce(0) { $0 + $1.approximateSize }
        session.report {
          $0.pushed += sent.count - refused.count
          $0.bytes += bytes
        }
        for refusal in refused {
          // What the peer forbids, it forbids until the document changes.
          let isRetried = refusal.error.kind != .forbidden && refusal.error.kind != .unauthorized
          if isRetried { failed[refusal.id] = refusal.error.message }
          session.fail(refusal.id, .push, refusal.error.message, isRetried: isRetried)
        }
      }
    }
    return failed
  }
}
