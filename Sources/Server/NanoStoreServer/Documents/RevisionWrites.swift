// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore
import NanoSync

// What all writes have in common.
extension SyncHandler {
  /// Changes a document.
  func edit(_ edit: DocumentEdit, _ access: Access) async throws -> RevisionID {
    guard let result = try await self.edit([edit], access).first else {
      throw ProtocolError.missing
    }
    return try result.get()
  }

  func edit(
    _ edits: [DocumentEdit], _ access: Access
  ) async throws -> [Result<RevisionID, any Error>] {
    let (validation, permission) = (access.validation, access.visibility.permission)
    var results = try await access.served.write {
      try $0.edit(edits, validation: validation, permission: permission)
    }
    for (index, edit) in edits.enumerated() where edit.isDeleted && edit.parent == nil {
      // A document that is deleted from the start.
      guard case .failure(let error as StoreError) = results[index], error.code == .notFound else {
        continue
      }
      results[index] = try await insertDeletion(edit, access)
    }
    let written = results.count { (try? $0.get()) != nil }
    metrics.documentsWritten.increment(by: written)
    metrics.documentsRejected.increment(by: results.count - written)
    return results
  }

  private func insertDeletion(
    _ edit: DocumentEdit, _ access: Access
  ) async throws -> Result<RevisionID, any Error> {
    let revision = RevisionID(
      parent: nil, isDeleted: true, body: try SyncJSON.plain(edit.body), attachments: [])
    let document = SyncDocument(
      id: edit.id, revision: revision, isDeleted: true, body: edit.body)
    if let failure = try await replicate([document], access).first {
      return .failure(failure.error)
    }
    return .success(revision)
  }

  /// Stores revisions of other stores.
  func replicate(_ documents: [SyncDocument], _ access: Access) async throws -> [WriteFailure] {
    let (validation, permission) = (access.validation, access.visibility.permission)
    let failures = try await access.served.write { database in
      try database.replicate(documents, validation: validation, permission: permission)
    }
    metrics.documentsWritten.increment(by: documents.count - failures.count)
    metrics.documentsRejected.increment(by: failures.count)
    return failures
  }

  /// Checks that the content of all attachments is known, so that a request is stored as a whole or not at all.
  ///
  /// - Throws: ``ProtocolError`` with status 412.
  func requireStubs(_ documents: [SyncDocument], _ access: Access) async throws {
    let ids = documents.filter { $0.attachments.contains { $0.content == nil } }.map(\.id)
    guard !ids.isEmpty else { return }
    let found = try await access.served.revisions(ids)
    var known = IDMap<[SyncAttachment]>()
    for document in documents {
      if known[document.id] == nil, let revisions = found[document.id] {
        known[document.id] = revisions.leaves.compactMap { revisions[$0.id] }
          .filter { access.visibility.allows($0) }.flatMap(\.attachments)
      }
      // A revision that is stored keeps its attachments.
      guard found[document.id]?.tree.contains(document.revision) != true else { continue }
      for attachment in document.attachments where attachment.content == nil {
        guard attachment.kept(from: known[document.id, default: []]) != nil else {
          throw ProtocolError(SyncDatabase.missingStub(document.id, attachment.name))
        }
      }
      known[document.id, default: []] += document.attachments.filter { $0.content != nil }
    }
  }
}
