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
  func run() async throws {
    let checkpoint = try session.checkpointID(.push)
    var position = try await session.resume(checkpoint, .push).flatMap {
      RevisionChange.Sequence($0)
    }
    var retries = try await session.retries(checkpoint)
    try await retry(&retries)
    var reported = IDMap<String>()
    // Before the first look, so that no change is missed.
    let changes = try DatabaseChanges(database)
    var saves: Int64 = 0
    var page = try await self.page(since: position)
    while true {
      // The next page is prepared while this one is sent.
      let current = page
      async let next: Page? =
        current.changes.hasMore ? self.page(since: current.changes.last) : nil
      let all = current.changes.changes
      if !all.isEmpty {
        session.begin(.push, all.map(\.id))
        // Those that still have a problem are reported again.
        for change in all { reported[change.id] = nil }
        let refused = try await push(current.missing)
        try await session.update(&retries, of: all.map(\.id), refused, .push)
        session.report { $0.done += all.count }
      }
      if current.changes.last != position {
        position = current.changes.last
        saves += 1
        try await session.save(
          checkpoint, .push, current.changes.last.description, count: saves,
          hasChanges: !all.isEmpty)
      }
      if let following = try await next {
        page = following
        continue
      }
      try await reportProblems(&reported)
      session.rest(.push)
      guard options.isContinuous else { return }
      try await changes.next()
      page = try await self.page(since: position)
    }
  }

  /// Changes, and the revisions of them that the peer lacks.
  private struct Page: Sendable {
    var changes: RevisionChanges
    var missing: [Missing]
  }

  private typealias Missing = (id: String, revisions: MissingRevisions)

  private func page(since position: RevisionChange.Sequence?) async throws -> Page {
    let limit = options.batchDocuments
    let changes = try await session.local { try $0.changes(since: position, limit: limit) }
    return Page(
      changes: changes,
      missing: try await missing(
        changes.changes.map { PeerChange(id: $0.id, revisions: $0.leaves.map(\.id)) }))
  }

  /// Tries the documents again that the peer did not store before.
  private func retry(_ retries: inout RetryList) async throws {
    let ids = retries.entries.ids
    guard !ids.isEmpty else { return }
    session.again(ids, .push)
    let changes = try await session.local { database in
      let found = try database.revisions(ids)
      return ids.compactMap { id in
        found[id].map { PeerChange(id: id, revisions: $0.leaves.map(\.id)) }
      }
    }
    try await session.update(&retries, of: ids, try await push(missing(changes)), .push)
  }

  /// Reports documents that cannot be pushed, each once.
  private func reportProblems(_ reported: inout IDMap<String>) async throws {
    let problems = try await session.local { try $0.problems() }
    session.again(reported.ids.filter { problems[$0] == nil }, .push)
    for (key, reason) in problems where reported[key] != reason {
      session.fail(key, .push, reason, isRetried: false)
    }
    reported = problems
  }

  /// Returns which leaves the peer lacks, in the order of the changes.
  private func missing(_ changes: [PeerChange]) async throws -> [Missing] {
    var asked = IDMap<[RevisionID]>()
    for change in changes { asked[change.id, default: []] += change.revisions }
    guard !asked.isEmpty else { return [] }
    var missing = try await peer.missing(asked)
    return changes.compactMap { change in
      guard let revisions = missing[change.id] else { return nil }
      missing[change.id] = nil
      return (change.id, revisions)
    }
  }

  /// Pushes leaves in requests of bounded size, several at a time, and returns the documents to be tried again, with the
  /// reason.
  private func push(_ missing: [Missing]) async throws -> IDMap<String> {
    var failed = IDMap<String>()
    var portion = Portion(bytes: options.batchBytes)
    try await withThrowingTaskGroup(of: Sent.self) { group in
      var (rest, inFlight) = (missing[...], 0)
      while !rest.isEmpty {
        // The next ones are read while these are sent.
        let some = Array(rest.prefix(portion.count))
        rest = rest.dropFirst(some.count)
        let (documents, unreadable) = try await read(some)
        for id in unreadable {
          failed[id] = PeerError.unreadable.message
          session.fail(id, .push, PeerError.unreadable.message, isRetried: true)
        }
        portion.note(documents)
        for batch in batches(documents) {
          if inFlight == options.requests, let sent = try await group.next() {
            note(sent, &failed)
            inFlight -= 1
          }
          group.addTask { try await send(batch, some) }
          inFlight += 1
        }
      }
      while let sent = try await group.next() { note(sent, &failed) }
    }
    return failed
  }

  /// Returns revisions, and the IDs of those that cannot be read.
  private func read(
    _ missing: [Missing]
  ) async throws -> (documents: [SyncDocument], unreadable: [String]) {
    let filter = options.pushFilter
    return try await session.local { database in
      let found = try database.revisions(missing.map(\.id))
      var (documents, unreadable) = ([SyncDocument](), [String]())
      for (id, missing) in missing {
        for revision in missing.missing {
          // What was replaced in the meantime follows with the next changes.
          guard let revisions = found[id], revisions.tree.leaf(revision) != nil else { continue }
          guard let document = revisions[revision] else {
            // Any other is among the problems, and follows with the change that corrects it.
            if revisions.isUnreadable(revision) { unreadable.append(id) }
            continue
          }
          do {
            if try document.isDeleted || filter?.accepts(document) ?? true {
              documents.append(document)
            }
          } catch let error as StoreError where error.concernsDocument {
            // Until the document changes, as with a pattern in a field that is not a regular expression.
            session.fail(id, .push, error.message, isRetried: false)
          }
        }
      }
      return (documents, unreadable)
    }
  }

  private func batches(_ documents: [SyncDocument]) -> [[SyncDocument]] {
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
    return batches
  }

  private struct Sent: Sendable {
    var documents: [SyncDocument]
    var refused: [PeerRefusal]
  }

  private func send(_ documents: [SyncDocument], _ missing: [Missing]) async throws -> Sent {
    var ancestors = IDMap<[RevisionID]>()
    for (id, revisions) in missing { ancestors[id] = revisions.ancestors }
    return Sent(
      documents: documents,
      refused: try await peer.write(documents, ancestors: ancestors, from: database.store))
  }

  private func note(_ sent: Sent, _ failed: inout IDMap<String>) {
    let bytes = sent.documents.reduce(0) { $0 + $1.approximateSize }
    session.report {
      $0.pushed += sent.documents.count - sent.refused.count
      $0.bytes += bytes
    }
    for refusal in sent.refused {
      // What the peer forbids, it forbids until the document changes.
      let isRetried = refusal.error.kind != .forbidden && refusal.error.kind != .unauthorized
      if isRetried { failed[refusal.id] = refusal.error.message }
      session.fail(refusal.id, .push, refusal.error.message, isRetried: isRetried)
    }
  }
}
