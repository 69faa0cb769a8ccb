// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoStoreCore

/// A revision that was not stored.
package struct WriteFailure: Sendable {
  package let id: String
  package let revision: RevisionID?
  package let error: any Error
}

/// Checks a write, with the winning revision before, if there is one, and the new one. Its error rejects the document.
package typealias WriteValidation =
  @Sendable (_ old: SyncDocument?, _ new: SyncDocument) throws -> Void

/// Whether who writes may read a revision. A write that names attachments without their content does not receive those of
/// other revisions.
package typealias ReadPermission = @Sendable (SyncDocument) -> Bool

extension SyncDatabase {
  /// Stores revisions of other stores, with their ancestry. A revision that is known is ignored.
  ///
  /// - Returns: The documents that were not stored, with the reason. The others were.
  /// - Throws: An error that concerns all documents; none was stored.
  package func replicate(
    _ documents: [SyncDocument], validation: WriteValidation? = nil,
    permission: ReadPermission? = nil
  ) throws -> [WriteFailure] {
    guard !documents.isEmpty else { return [] }
    let failures: [WriteFailure]
    do {
      failures = try revising { try replicate(documents, validation, permission, &$1, $0) }
    } catch is NotEnabled {
      throw Self.notEnabled(name)
    } catch let error as StoreError where error.concernsDocument && documents.count > 1 {
      // One of them, such as a duplicate of a unique value: each on its own.
      failures = try documents.flatMap {
        try replicate([$0], validation: validation, permission: permission)
      }
    } catch let error as StoreError where error.concernsDocument {
      failures = [WriteFailure(id: documents[0].id, revision: documents[0].revision, error: error)]
    }
    changeSignal.send()
    return failures
  }

  private func replicate(
    _ documents: [SyncDocument], _ validation: WriteValidation?,
    _ permission: ReadPermission?, _ own: inout OwnChanges,
    _ writer: any EngineWriter
  ) throws -> [WriteFailure] {
    var state = own.state
    try adopt(writer)
    var failures: [WriteFailure] = []
    let keys = Set(documents.compactMap { try? DocumentKey($0.id) })
    var pending = PendingRecords(
      try records(keys, writer),
      documents: try self.documents(keys.filter { !RevisionRecord.isHidden($0) }, writer))
    for document in documents {
      do {
        try add(document, to: &pending, &state, validation, permission, writer)
      } catch let error as StoreError where !error.concernsDocument {
        throw error
      } catch {
        failures.append(WriteFailure(id: document.id, revision: document.revision, error: error))
      }
    }
    try pending.finish(self, &state, writer)
    try save(pending.changed, writer)
    if state != own.state { try setState(state, writer) }
    own = OwnChanges(rows: try ownChanges(pending.changed, state, writer), state: state)
    return failures
  }

  private func add(
    _ document: SyncDocument, to pending: inout PendingRecords, _ state: inout SyncState,
    _ validation: WriteValidation?, _ permission: ReadPermission?, _ writer: any EngineWriter
  ) throws {
    let key = try DocumentKey(document.id)
    let old = try pending.record(key, &state, self, writer)
    var new = old
    let isKnown = old.tree.contains(document.revision)
    if !isKnown, let validation {
      try validation(try current(old, pending), document)
    }
    if !isKnown { try requireContent(of: document.attachments, document.id, writer) }
    let attachments = isKnown ? [] : try resolved(document, old, pending, permission)
    new.tree.add(document.history, isDeleted: document.isDeleted)
    if isKnown, new.tree == old.tree { return }
    // A longer history of a known revision may replace another one, like a new revision.
    if isKnown, let validation, new.tree.leafIDs != old.tree.leafIDs {
      try validation(try current(old, pending), try known(document, old, pending))
    }
    if !isKnown {
      let isPlainDeletion = document.isDeleted && document.body.isEmpty && attachments.isEmpty
      if !isPlainDeletion {
        try pending.check(document)
        new.bodies[document.revision] = RevisionRecord.Content(
          body: document.body, attachments: attachments)
      }
      new.shared = document.revision
    }
    new.stem(to: state.revisionLimit)
    guard new.tree.contains(document.revision) || isKnown else { return }
    try pending.replace(old, with: new, self, writer)
  }

  /// Returns what the database has of a known revision, whatever a client says about it: the leaf that descends from it.
  private func known(
    _ document: SyncDocument, _ record: RevisionRecord, _ pending: PendingRecords
  ) throws -> SyncDocument {
    let id = record.tree.leaves(from: document.revision).first?.id ?? document.revision
    let content =
      id == record.tree.winner?.id ? try pending.winningContent(record) : record.bodies[id]
    return record.document(id, content)
  }

  /// Returns the winning revision if it is live.
  func current(_ record: RevisionRecord, _ pending: PendingRecords) throws -> SyncDocument? {
    guard let winner = record.tree.winner else { return nil }
    return record.document(winner.id, try pending.winningContent(record))
  }

  /// Returns the attachments of a new revision, with the content of those that it keeps.
  ///
  /// - Throws: ``StoreError/Code/notFound`` for one that no known revision has.
  func resolved(
    _ document: SyncDocument, _ record: RevisionRecord, _ pending: PendingRecords,
    _ permission: ReadPermission?
  ) throws -> [SyncAttachment] {
    guard document.attachments.contains(where: { $0.content == nil }) else {
      return document.attachments
    }
    var known: [SyncAttachment] = []
    if let winner = record.tree.winner, let content = try pending.winningContent(record) {
      known += Self.attachments(of: winner.id, content, record, permission)
    }
    for leaf in record.tree.leaves {
      guard let content = record.bodies[leaf.id] else { continue }
      known += Self.attachments(of: leaf.id, content, record, permission)
    }
    return try document.attachments.map { attachment in
      guard attachment.content == nil else { return attachment }
      guard var same = attachment.kept(from: known) else {
        throw Self.missingStub(document.id, attachment.name)
      }
      if attachment.generation > 0 { same.generation = attachment.generation }
      return same
    }
  }

  /// Returns the attachments of a revision that may be read.
  private static func attachments(
    of id: RevisionID, _ content: RevisionRecord.Content, _ record: RevisionRecord,
    _ permission: ReadPermission?
  ) -> [SyncAttachment] {
    guard let permission, !content.attachments.isEmpty else { return content.attachments }
    return permission(record.document(id, content)) ? content.attachments : []
  }

  /// Checks that the store has the content of attachments, which compacting it may have removed since they were looked up.
  ///
  /// - Throws: ``StoreError/Code/notFound``.
  func requireContent(
    of attachments: [SyncAttachment], _ id: String, _ reader: any EngineReader
  ) throws {
    var lengths = BlobLengths()
    for attachment in attachments {
      guard let content = attachment.content, try lengths.lacks(content, reader) else { continue }
      throw Self.missingStub(id, attachment.name)
    }
  }

  /// Returns the attachments of an edit, with the content of those that it keeps from the revision it follows.
  ///
  /// - Throws: ``StoreError/Code/notFound`` for one that the revision does not have.
  func resolved(
    _ edit: DocumentEdit, from parent: RevisionID?, _ record: RevisionRecord,
    _ pending: PendingRecords, _ permission: ReadPermission?
  ) throws -> [SyncAttachment] {
    guard edit.attachments.contains(where: { $0.content == nil }) else { return edit.attachments }
    var known: [SyncAttachment] = []
    if let parent {
      var content = record.bodies[parent]
      if parent == record.tree.winner?.id, let winning = try pending.winningContent(record) {
        content = winning
      }
      known = content.map { Self.attachments(of: parent, $0, record, permission) } ?? []
    }
    return try edit.attachments.map { attachment in
      guard attachment.content == nil else { return attachment }
      // A client that names another generation has not read this revision.
      let same = attachment.kept(from: known)
      guard let same, attachment.generation == 0 || attachment.generation == same.generation
      else { throw Self.missingStub(edit.id, attachment.name) }
      return same
    }
  }

  static let missingStub = "missing_stub"
  package static func missingStub(_ id: String, _ name: String) -> StoreError {
    StoreError(
      .notFound, "Invalid attachment stub in \(id) for \(name)", [.operation: missingStub])
  }
}

extension StoreError {
  /// Whether the error is one of a single document, so that others can be stored.
  var concernsDocument: Bool {
    switch code {
    case .invalidJSON, .invalidKey, .invalidName, .valueNotStorable, .documentTooLarge,
      .duplicateKey,
      .uniqueViolation, .revisionConflict, .deleteDenied, .notFound, .typeMismatch, .tooComplex,
      .corruptDocument, .invalidArgument:
      true
    default: false
    }
  }

  /// Whether the error is one of reading an attachment whose content is damaged, or gone since its document was read.
  package var concernsContent: Bool { code == .corruptFile || code == .notFound }
}
