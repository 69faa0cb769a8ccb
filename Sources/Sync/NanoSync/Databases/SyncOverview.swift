// SPDX-License-Identifier: MIT

package import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// What a store knows about the synchronization of a collection. Reading it changes nothing, so it works with a store that
/// is open for reading.
package struct SyncOverview: Sendable {
  /// The number of changes that have no revision yet, at most ``maximumCount``. They get one when sync runs.
  package var unassigned: Int
  /// The number of revisions that are kept for each leaf.
  package var revisionLimit: Int
  /// One for each other side, direction and filter.
  package var checkpoints: [Checkpoint]
  /// The IDs of documents with several versions, at most ``maximumCount``.
  package var conflicted: [String]
  /// Documents that cannot be synchronized, with the reason.
  package var problems: IDMap<String>

  /// How far a synchronization has come.
  package struct Checkpoint: Sendable {
    package var id: String
    /// The other side, if this store has run the synchronization.
    package var peer: String?
    package var isPush: Bool?
    /// When a change was last transferred, if known.
    package var date: Date?
    /// The number of changes that were not sent, at most ``SyncOverview/maximumCount``; nil for a pull.
    package var unsent: Int?
    /// Documents that are tried again, with the reason.
    package var retries: IDMap<String> = [:]
  }

  /// How far it counts. Arbitrary.
  package static let maximumCount = 1_000
}

extension SyncDatabase {
  /// Returns what is stored about synchronizations; nil if the collection is not set up for sync.
  package func overview() throws -> SyncOverview? {
    guard try isEnabled() else { return nil }
    return try store.read {
      try store.reading(.snapshot) { reader in
        let state = try requireState(reader)
        var problems = IDMap<String>()
        for (key, reason) in state.problems { problems[key] = reason.string }
        return SyncOverview(
          unassigned: try unassigned(state, reader), revisionLimit: state.revisionLimit,
          checkpoints: try checkpoints(reader),
          conflicted: Array(try conflictedIDs(reader).prefix(SyncOverview.maximumCount)),
          problems: problems)
      }
    }
  }

  private func unassigned(_ state: SyncState, _ reader: any EngineReader) throws -> Int {
    guard let feed = try reader.feed(of: name) else { throw Self.untracked(name) }
    let start = state.continues(feed) ? state.cursor : .start
    let rows = try reader.feedRows(
      after: start, limit: SyncOverview.maximumCount, settledOnly: false, in: name
    ).rows
    // The position lags behind changes that were made with their revisions.
    let known = try records(Set(rows.compactMap(\.key)), reader)
    return rows.count { !Self.hasRevision($0, known) }
  }

  private func checkpoints(_ reader: any EngineReader) throws -> [SyncOverview.Checkpoint] {
    let prefix = "\(stateKey)\(Self.localInfix)"
    var bodies = IDMap<DocumentObject>()
    for key in try stateKeys(prefix, reader) {
      let id = String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
      bodies[id] = try local(id, reader)?.body
    }
    return try bodies.compactMap { id, body in
      // Local documents of other programs may be anything.
      guard body["session_id"]?.string != nil else { return nil }
      let description = SyncCheckpoint.Description(body)
      var checkpoint = SyncOverview.Checkpoint(
        id: id, peer: description?.peer, isPush: description?.isPush, date: description?.date)
      if description?.isPush == true {
        let sequence = SyncCheckpoint(body).sessions.first.flatMap {
          RevisionChange.Sequence($0.sequence)
        }
        checkpoint.unsent = try countChanges(
          since: sequence, limit: SyncOverview.maximumCount, reader)
      }
      checkpoint.retries = RetryList(id, bodies[RetryList.name(id)]).entries
      return checkpoint
    }
  }

  /// Returns the conflict of a document without giving revisions to new changes.
  ///
  /// - Returns: Nil if there is none, or if the document has changed since it got a revision.
  package func storedConflict(_ id: String) throws -> SyncConflict? {
    let key = try DocumentKey(id)
    let read = try store.read {
      try store.reading(.snapshot) { (try records([key], $0), try documents([key], $0)) }
    }
    guard Self.areConsistent([key], read.0, read.1) else { return nil }
    return Self.revisions(read.0, read.1)[id].flatMap { conflict($0)?.conflict }
  }
}
