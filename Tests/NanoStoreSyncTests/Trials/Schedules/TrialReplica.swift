// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreEncryption
import NanoStoreSync
import NanoSync
import NanoTestSupport
import NanoTesting

/// A store that takes part in a random schedule, with its own clock.
// @unchecked: a schedule uses its replicas in one step after the other.
final class TrialReplica: @unchecked Sendable {
  enum Kind: CaseIterable {
    case memory, file, encrypted
  }
  let kind: Kind
  let clock = ManualClock()
  private let path: String
  private(set) var store: Store
  private(set) var database: SyncDatabase
  /// The connection of another program to the file.
  private(set) var foreign: Store?
  /// Whether documents expire here at the date in their field `until`.
  let hasRule: Bool
  /// A synchronization that goes on.
  var running: Sync?

  var films: DocumentCollection { store["films"] }

  init(_ kind: Kind, _ path: String, hasRule: Bool = false) throws {
    self.kind = kind
    self.path = path
    self.hasRule = hasRule
    store = try Self.open(kind, path, clock)
    database = try SyncDatabase(store["films"])
    try prepare()
    if hasRule { try films.setExpirationRule(.field("until")) }
  }

  private static func open(_ kind: Kind, _ path: String, _ clock: ManualClock) throws -> Store {
    var engine = SQLiteConfiguration()
    engine.clock = clock
    return switch kind {
    case .memory: try Store(.memory, configuration: .withoutTuning, engine: engine)
    case .file: try Store(.file(path), configuration: .withoutTuning, engine: engine)
    case .encrypted:
      try Store(
        .file(path), configuration: .withoutTuning, engine: engine,
        encryption: Encryption(.key(Data(repeating: 7, count: 32))))
    }
  }

  private func prepare() throws {
    database = try SyncDatabase(store["films"])
    try database.enable()
    foreign = kind == .file ? try Self.open(kind, path, clock) : nil
  }

  private func close() throws {
    try foreign?.close()
    try store.close()
  }

  private var backup: String { path + "-backup" }
  /// Whether there is a backup that can be restored.
  var hasBackup: Bool { FileManager.default.fileExists(atPath: backup) }

  /// Backs the file up, as the store does or by copying the closed file.
  func back(up isCopied: Bool) throws {
    guard kind != .memory else { return }
    try? FileManager.default.removeItem(atPath: backup)
    // Gives revisions to all changes. In a backup, one without a revision would count as another change.
    _ = try database.changes(since: nil, limit: 1)
    guard isCopied else { return try store.backup(to: backup) }
    try close()
    try FileManager.default.copyItem(atPath: path, toPath: backup)
    store = try Self.open(kind, path, clock)
    try prepare()
  }

  /// Replaces the file by the backup.
  func restore() throws {
    try close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    try FileManager.default.copyItem(atPath: backup, toPath: path)
    store = try Self.open(kind, path, clock)
    try prepare()
  }
}

/// What a replica has of a document.
struct ReplicaState: Hashable, Sendable {
  /// All leaves, and whether they are deletions.
  var leaves: [String]
  /// The JSON of the winner, with its ancestry and the digests of its attachments.
  var winner: String
}

extension SyncDatabase {
  /// Returns the state of all documents, deleted ones included, by ID.
  func state() throws -> [String: ReplicaState] {
    var ids: [String] = []
    var position: RevisionChange.Sequence?
    while true {
      let page = try changes(since: position, limit: 1_000)
      ids += page.changes.map(\.id)
      position = page.last
      if !page.hasMore { break }
    }
    var state: [String: ReplicaState] = [:]
    for (id, found) in try revisions(ids) {
      let winner = found.winner
      state[id] = ReplicaState(
        leaves: found.leaves.map { "\($0.id)\($0.isDeleted ? " deleted" : "")" },
        winner: winner.map {
          String(decoding: $0.json(WireOptions(hasHistory: true)), as: UTF8.self)
        } ?? "no content")
    }
    return state
  }
}
