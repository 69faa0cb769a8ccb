// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoStoreCore

/// A change of a document by a client that knows the revision it changes.
package struct DocumentEdit: Sendable {
  package var id: String
  /// The revision that is changed; nil for a new document, or one that was deleted.
  package var parent: RevisionID?
  package var isDeleted: Bool
  package var body: DocumentObject
  /// Attachments without content are kept from the parent.
  package var attachments: [SyncAttachment]
  /// Makes the edit another one than an equal edit elsewhere.
  var distinction: Int64?

  package init(
    id: String, parent: RevisionID?, isDeleted: Bool = false, body: DocumentObject = [:],
    attachments: [SyncAttachment] = []
  ) {
    self.id = id
    self.parent = parent
    self.isDeleted = isDeleted
    self.body = body
    self.attachments = attachments
  }

  init(
    id: String, parent: RevisionID?, body: DocumentObject, attachments: [SyncAttachment],
    distinction: Int64?
  ) {
    self.init(id: id, parent: parent, body: body, attachments: attachments)
    self.distinction = distinction
  }
}

extension SyncDatabase {
  /// Changes documents, each if it still has the revision that the client knows.
  ///
  /// - Returns: For each edit the new revision, or the error: ``StoreError/Code/revisionConflict`` and others.
  /// - Throws: ``StoreError/Code/notFound`` if one of several edits keeps an attachment that its document does not have,
  ///   or another error that concerns all of them. Nothing was stored.
  package func edit(
    _ edits: [DocumentEdit], validation: WriteValidation? = nil, permission: ReadPermission? = nil
  ) throws -> [Result<RevisionID, any Error>] {
    let results: [Result<RevisionID, any Error>]
    do {
      results = try revising { try edit(edits, validation, permission, &$1, $0) }
    } catch is NotEnabled {
      throw Self.notEnabled(name)
    } catch let error as MissingStub {
      throw error.error
    } catch let error as StoreError where error.concernsDocument && edits.count > 1 {
      results = try edits.flatMap {
        try edit([$0], validation: validation, permission: permission)
      }
    } catch let error as StoreError where error.concernsDocument {
      results = [.failure(error)]
    }
    changeSignal.send()
    return results
  }

  private struct MissingStub: Error {
    let error: StoreError
  }

  private func edit(
    _ edits: [DocumentEdit], _ validation: WriteValidation?, _ permission: ReadPermission?,
    _ own: inout OwnChanges,
    _ writer: any EngineWriter
  ) throws -> [Result<RevisionID, any Error>] {
    var state = own.state
    try adopt(writer)
    let keys = Set(edits.compactMap { try? DocumentKey($0.id) })
    var pending = PendingRecords(
      try records(keys, writer),
      documents: try documents(keys.filter { !RevisionRecord.isHidden($0) }, writer))
    let results = try edits.map { edit -> Result<RevisionID, any Error> in
      do {
        return .success(try apply(edit, to: &pending, &state, validation, permission, writer))
      } catch let error as StoreError where !error.concernsDocument {
        throw error
      } catch {
        return .failure(error)
      }
    }
    for case .failure(let error as StoreError) in results
    where edits.count > 1 && error[.operation] == Self.missingStub {
      throw MissingStub(error: error)
    }
    try pending.finish(self, &state, writer)
    try save(pending.changed, writer)
    if state != own.state { try setState(state, writer) }
    own = OwnChanges(rows: try ownChanges(pending.changed, state, writer), state: state)
    return results
  }

  private func apply(
    _ edit: DocumentEdit, to pending: inout PendingRecords, _ state: inout SyncState,
    _ validation: WriteValidation?, _ permission: ReadPermission?, _ writer: any EngineWriter
  ) throws -> RevisionID {
    let old = try pending.record(try DocumentKey(edit.id), &state, self, writer)
    let parent = try self.parent(of: edit, old)
    if edit.isDeleted, parent == nil {
      throw StoreError(.notFound, "missing", [.key: edit.id])
    }
    var document = SyncDocument(
      id: edit.id, revision: RevisionID(generation: 1, hash: .digest(0, 0)),
      isDeleted: edit.isDeleted, body: edit.body, attachments: edit.attachments)
    let generation = RevisionID.generation(after: parent)
    try requireContent(of: edit.attachments, edit.id, writer)
    document.attachments = try resolved(edit, from: parent, old, pending, permission).map {
      attachment in
      var attachment = attachment
      if attachment.generation == 0 { attachment.generation = generation }
      return attachment
    }
    let (body, identities) = (
      try SyncJSON.plain(edit.body), document.attachments.map(\.identity)
    )
    var new = old
    document.history = add(childOf: parent, to: &new.tree, isDeleted: edit.isDeleted) {
      RevisionID(
        parent: parent, isDeleted: edit.isDeleted, body: body, attachments: identities,
        distinction: $0 ?? edit.distinction)
    }
    document.revision = document.history[0]
    try validation?(try current(old, pending), document)
    let isKnown = old.tree.contains(document.revision)
    if !isKnown, !(edit.isDeleted && edit.body.isEmpty && document.attachments.isEmpty) {
      try pending.check(document)
      new.bodies[document.revision] = RevisionRecord.Content(
        body: document.body, attachments: document.attachments)
    }
    new.stem(to: state.revisionLimit)
    try pending.replace(old, with: new, self, writer)
    return document.revision
  }

  /// Returns the revision that an edit follows; nil for a new document.
  ///
  /// - Throws: ``StoreError/Code/revisionConflict``.
  private func parent(of edit: DocumentEdit, _ record: RevisionRecord) throws -> RevisionID? {
    guard let winner = record.tree.winner else {
      guard edit.parent == nil else { throw Self.conflict(edit.id) }
      return nil
    }
    if let parent = edit.parent {
      guard let leaf = record.tree.leaf(parent) else { throw Self.conflict(edit.id) }
      if leaf.isDeleted, edit.isDeleted { throw StoreError(.notFound, "deleted", [.key: edit.id]) }
      return parent
    }
    // A new document continues the tree of a deleted one.
    guard winner.isDeleted, !edit.isDeleted else { throw Self.conflict(edit.id) }
    return winner.id
  }

  static func conflict(_ id: String) -> StoreError {
    StoreError(.revisionConflict, "Document update conflict.", [.key: id])
  }
}

extension SyncDatabase {
  /// Adds an edit of a leaf to a tree, and returns its history: its revision, and then the ancestors.
  ///
  /// It joins a revision that arrived without its history, because another store has made the same edit.
  ///
  /// - Parameter revision: Returns the revision with a distinction; nil for none.
  @discardableResult
  func add(
    childOf parent: RevisionID?, to tree: inout RevisionTree, isDeleted: Bool,
    _ revision: (_ distinction: Int64?) -> RevisionID
  ) -> [RevisionID] {
    var history = [revision(nil)] + (parent.map { tree.history(of: $0) } ?? [])
    tree.add(history, isDeleted: isDeleted)
    guard let parent, tree.leaf(parent) != nil else { return history }
    // Another program gave this identifier to a revision with other ancestors.
    history[0] = revision(distinction())
    tree.add(history, isDeleted: isDeleted)
    return history
  }
}
