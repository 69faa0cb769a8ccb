// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreCore
import NanoSync

/// What the JSON of a document has beside its fields.
struct DocumentContent: Sendable {
  var hasHistory = false
  var hasRevisionList = false
  var hasConflicts = false
  var hasDeletedConflicts = false
  var hasLocalSequence = false
  /// The number of the document's last change, if the JSON has it.
  var localSequence: Int64?
  var hasAttachments = false
  /// Revisions that the client has: attachments that came in before or with them are not sent.
  var known: [RevisionID] = []
  /// Which of the other revisions the client may know of.
  private let visibility: Visibility

  init(_ request: SyncRequest, _ visibility: Visibility) {
    self.init(visibility) { request.isTrue($0) }
  }

  /// - Parameter isTrue: Returns whether a parameter is set.
  init(_ visibility: Visibility, _ isTrue: (_ name: String) -> Bool) {
    self.visibility = visibility
    let isMeta = isTrue("meta")
    hasHistory = isTrue("revs")
    hasRevisionList = isMeta || isTrue("revs_info")
    hasConflicts = isMeta || isTrue("conflicts")
    hasDeletedConflicts = isMeta || isTrue("deleted_conflicts")
    hasLocalSequence = isTrue("local_seq")
    hasAttachments = isTrue("attachments")
  }

  /// Whether the JSON depends on the revision alone, so that the revision can be its entity tag.
  var isConstant: Bool {
    !hasRevisionList && !hasConflicts && !hasDeletedConflicts && !hasLocalSequence
  }

  /// Returns the winning revision as JSON; nil if there is none or it is not visible.
  func json(
    of revisions: DocumentRevisions, in served: ServedDatabase
  ) async throws -> [UInt8]? {
    guard let winner = revisions.winner, visibility.allows(winner) else { return nil }
    return try await json(winner, revisions, in: served)
  }

  /// Returns a revision as JSON, with the content of attachments in it if it is wanted.
  ///
  /// - Parameter isComplete: Whether content that cannot be read is an error, and not a stub.
  func json(
    _ document: SyncDocument, _ revisions: DocumentRevisions, in served: ServedDatabase,
    isComplete: Bool = false
  ) async throws -> [UInt8] {
    var contents = IDMap<Data>()
    if hasAttachments {
      for attachment in attachmentsToSend(document) {
        guard let content = attachment.content else { continue }
        do {
          contents[attachment.name] = try await served.store.data(of: content)
        } catch let error as StoreError where error.concernsContent && !isComplete {
          // As if the content had not arrived: it must not keep other documents from being read.
        }
      }
    }
    return document.json(
      options(
        document, revisions,
        attachments: contents.isEmpty ? .stubs : .inline(contents)))
  }

  func options(
    _ document: SyncDocument, _ revisions: DocumentRevisions,
    attachments: WireOptions.AttachmentForm = .stubs
  ) -> WireOptions {
    WireOptions(
      hasHistory: hasHistory, attachments: attachments, additions: additions(document, revisions))
  }

  private func additions(
    _ document: SyncDocument, _ revisions: DocumentRevisions
  ) -> DocumentObject {
    var additions = DocumentObject()
    if let localSequence { additions["_local_seq"] = .int(localSequence) }
    if hasRevisionList {
      additions["_revs_info"] = .array(
        document.history.map { id in
          let found = visible(id, revisions)
          let status = found == nil ? "missing" : found?.isDeleted == true ? "deleted" : "available"
          return ["rev": .string("\(id)"), "status": .string(status)]
        })
    }
    guard hasConflicts || hasDeletedConflicts else { return additions }
    let others = revisions.leaves.filter {
      $0.id != document.revision && (!visibility.isLimited || visible($0.id, revisions) != nil)
    }
    if hasConflicts { additions.add("_conflicts", others.filter { !$0.isDeleted }) }
    if hasDeletedConflicts { additions.add("_deleted_conflicts", others.filter(\.isDeleted)) }
    return additions
  }

  private func visible(_ id: RevisionID, _ revisions: DocumentRevisions) -> SyncDocument? {
    revisions[id].flatMap { visibility.allows($0) ? $0 : nil }
  }

  /// The attachments whose content is sent: those that came in after the newest revision that the client has; all, also
  /// those whose generation is unknown, if it has none.
  func attachmentsToSend(_ document: SyncDocument) -> [SyncAttachment] {
    let known = Set(known)
    let newest = document.history.first { known.contains($0) }?.generation
    return document.attachments.filter { attachment in
      attachment.content != nil && newest.map { attachment.generation > $0 } ?? true
    }
  }
}

extension DocumentObject {
  fileprivate mutating func add(_ name: String, _ leaves: [RevisionTree.Leaf]) {
    guard !leaves.isEmpty else { return }
    self[name] = .array(leaves.map { .string("\($0.id)") })
  }
}
