// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoStoreCore
import NanoSync
import Synchronization

/// A collection that is served, with what its listeners share.
final class ServedDatabase: Sendable {
  let name: String
  let database: SyncDatabase
  let notifier: ChangeNotifier
  private let limit: WorkLimit
  /// The newest position that is known, from which a search for the end begins.
  private let known = Mutex<RevisionChange.Sequence?>(nil)
  /// Who may use the database, and when that was read.
  private let security = Mutex<(object: SecurityObject, time: ContinuousClock.Instant)?>(nil)

  init(_ database: SyncDatabase, _ limit: WorkLimit) {
    name = database.name
    self.database = database
    self.limit = limit
    notifier = ChangeNotifier(database, limit)
  }

  var store: Store { database.store }

  /// Runs a call of the database on a thread that may block.
  func run<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    let database = database
    return try await limit.run {
      try await database.store.onMaintenanceThread { try work(database) }
    }
  }

  /// Runs a call that writes, on the store's writing thread.
  func write<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    let database = database
    return try await database.store.onWriterAlone { try work(database) }
  }

  /// Returns who may use the database, for feeds: thousands of them share what is read once a second. What this server
  /// changes takes effect immediately.
  func recentSecurity() async throws -> SecurityObject {
    let recent = security.withLock { $0 }
    if let recent, .now - recent.time < .seconds(1) { return recent.object }
    let object = SecurityObject(try await run { try $0.security() })
    security.withLock { $0 = (object, .now) }
    return object
  }

  func setSecurity(_ object: DocumentObject) async throws {
    try await write { try $0.setSecurity(object) }
    security.withLock { $0 = nil }
  }

  /// Returns the position after the last change.
  func lastSequence() async throws -> RevisionChange.Sequence {
    let start = known.withLock { $0 }
    let last = try await run { try $0.lastSequence(from: start) }
    known.withLock { $0 = last }
    return last
  }

  /// Returns documents with their revisions, by ID.
  func revisions(_ ids: [String]) async throws -> IDMap<DocumentRevisions> {
    try await run { try $0.revisions(ids) }
  }

  func revisions(of id: String) async throws -> DocumentRevisions? {
    try await run { try $0.revisions([id])[id] }
  }

  /// Returns a revision with the content of its attachments, also if it is a former one whose content was not removed.
  func restoringAttachments(of document: SyncDocument) async throws -> SyncDocument {
    guard document.attachments.contains(where: { $0.content == nil }) else { return document }
    return try await run { try $0.restoringAttachments(of: document) }
  }

  func lastSequenceText() async throws -> String { try await lastSequence().description }
}
