// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoStoreCore

/// A database of a store in this process as the other side of a replication.
package struct LocalPeer: SyncPeer {
  private let database: SyncDatabase
  package let identity: String

  /// - Throws: ``StoreError`` if the collection is not set up for sync.
  package init(_ database: SyncDatabase) throws {
    self.database = database
    identity = "store:" + (try database.uuid())
  }

  package func open(creates: Bool) async throws -> PeerState {
    try await run { database in
      // Throws if the collection is not set up for sync.
      _ = try database.uuid()
      return PeerState(lastSequence: nil)
    }
  }

  package func changes(
    since: String?, limit: Int, filter: PeerFilter, waits: Bool
  ) async throws -> PeerChanges {
    let position = since.flatMap { RevisionChange.Sequence($0) }
    let selector = try Self.selector(filter)
    let changes = waits ? try DatabaseChanges(database) : nil
    while true {
      if case .ids(let ids) = filter, !waits { return try await self.changes(of: ids) }
      let (page, accepted) = try await run { database in
        let page = try database.changes(since: position, limit: limit)
        let wanted = page.changes.filter { filter.accepts($0.id) }
        return (page, try Self.accepted(wanted, selector, database))
      }
      if !page.changes.isEmpty || page.last.description != since || changes == nil {
        return PeerChanges(
          changes: accepted, last: page.last.description, hasMore: page.hasMore)
      }
      try await changes?.next()
    }
  }

  private static func selector(_ filter: PeerFilter) throws(PeerError) -> Selector? {
    guard case .selector(let object) = filter else { return nil }
    do throws(ProtocolError) {
      return try Selector(.object(object))
    } catch {
      throw PeerError(.refused, error.reason, status: error.status)
    }
  }

  /// Returns changes with the leaves that a selector matches, without those of which it matches none.
  private static func accepted(
    _ changes: [RevisionChange], _ selector: Selector?, _ database: SyncDatabase
  ) throws -> [PeerChange] {
    guard let selector else {
      return changes.map { PeerChange(id: $0.id, revisions: $0.leaves.map(\.id)) }
    }
    let found = try database.revisions(changes.map(\.id))
    return changes.compactMap { change in
      guard let revisions = found[change.id] else { return nil }
      let leaves = change.leaves.map(\.id).filter { id in
        // A peer that pulls reports one that cannot be read.
        revisions[id].map { selector.matches($0) } ?? revisions.isUnreadable(id)
      }
      return leaves.isEmpty ? nil : PeerChange(id: change.id, revisions: leaves)
    }
  }

  /// Returns the changes of a few documents, all at once.
  private func changes(of ids: [String]) async throws -> PeerChanges {
    try await run { database in
      let last = try database.lastSequence()
      let found = try database.revisions(ids)
      return PeerChanges(
        changes: ids.compactMap { id in
          found[id].map { PeerChange(id: id, revisions: $0.leaves.map(\.id)) }
        }, last: last.description, hasMore: false)
    }
  }

  package func revisions(_ wanted: [WantedRevision]) async throws -> [FetchedRevision] {
    try await run { database in
      let found = try database.revisions(wanted.map(\.id))
      return wanted.map { wanted in
        guard let revisions = found[wanted.id],
          wanted.isBase || revisions.tree.leaf(wanted.revision) != nil
        else { return .missing(id: wanted.id, wanted.revision) }
        if let document = revisions[wanted.revision] { return .document(WireDocument(document)) }
        return revisions.isUnreadable(wanted.revision)
          ? .invalid(id: wanted.id, wanted.revision, .unreadable)
          : .missing(id: wanted.id, wanted.revision)
      }
    }
  }

  package func attachment(
    _ attachment: WireAttachment, of id: String, revision: RevisionID, in store: Store
  ) async throws -> SyncAttachment {
    let found = try await run { database in
      try database.revisions([id])[id]?[revision]?.attachments.first {
        $0.name.hasSameBytes(as: attachment.name)
      }
    }
    guard let found, let content = found.content else {
      throw PeerError(.missingAttachment, "The attachment does not exist")
    }
    return try await found.copied(content, from: database.store, to: store)
  }

  package func missing(
    _ revisions: IDMap<[RevisionID]>
  ) async throws -> IDMap<MissingRevisions> {
    try await run { try $0.missingRevisions(revisions) }
  }

  package func write(
    _ documents: [SyncDocument], ancestors: IDMap<[RevisionID]>, from store: Store
  ) async throws -> [PeerRefusal] {
    let withContent =
      store === database.store ? [] : documents.filter { !$0.attachments.isEmpty }.map(\.id)
    let known = withContent.isEmpty ? IDMap() : try await run { try $0.revisions(withContent) }
    var copies: [SyncDocument] = []
    var refusals: [PeerRefusal] = []
    for document in documents {
      do {
        copies.append(try await copied(document, known[document.id], from: store))
      } catch let error as StoreError where error.concernsContent {
        refusals.append(
          PeerRefusal(
            id: document.id, revision: document.revision,
            error: PeerError(.missingAttachment, error.message)))
      }
    }
    let written = copies
    refusals += try await database.store.onWriterAlone {
      try database.replicate(written).map {
        PeerRefusal(
          id: $0.id, revision: $0.revision, error: PeerError(.refused, $0.error.localizedText))
      }
    }
    return refusals
  }

  /// Returns a document of another store with attachments whose content is in this one.
  private func copied(
    _ document: SyncDocument, _ known: DocumentRevisions?, from store: Store
  ) async throws -> SyncDocument {
    var document = document
    for (index, attachment) in document.attachments.enumerated() {
      guard let content = attachment.content, store !== database.store else { continue }
      // What a leaf of the target has is there.
      if let same = known?.content(content.digest) {
        document.attachments[index].content = same
        document.attachments[index].length = same.length
        continue
      }
      document.attachments[index] = try await attachment.copied(
        content, from: store, to: database.store)
    }
    return document
  }

  package func checkpoint(_ id: String) async throws -> DocumentObject? {
    try await run { try $0.local(id)?.body }
  }

  package func setCheckpoint(_ id: String, _ body: DocumentObject) async throws {
    try await run { database in
      try database.store.write(retries: SyncDatabase.retries) {
        let stored = try database.local(id)?.body
        _ = try database.setLocal(id, SyncCheckpoint.body(body, over: stored))
      }
    }
  }

  private func run<Result: Sendable>(
    _ work: @escaping @Sendable (SyncDatabase) throws -> Result
  ) async throws -> Result {
    try await database.offThread(work)
  }
}

extension PeerFilter {
  func accepts(_ id: String) -> Bool {
    switch self {
    case .all, .selector: true
    case .ids(let ids): ids.contains { $0.hasSameBytes(as: id) }
    }
  }
}

extension DocumentRevisions {
  /// Returns the content with a digest, if a leaf has it.
  fileprivate func content(_ digest: String) -> Attachment? {
    for leaf in leaves {
      for case let content? in (self[leaf.id]?.attachments ?? []).map(\.content)
      where content.digest.hasSameBytes(as: digest) {
        return content
      }
    }
    return nil
  }
}

extension SyncAttachment {
  /// Copies the content to another store.
  fileprivate func copied(
    _ content: Attachment, from source: Store, to target: Store
  ) async throws -> SyncAttachment {
    var copy = self
    let stored = try await target.addAttachment(
      pieces: source.stream(of: content), contentType: contentType)
    copy.content = stored
    copy.length = stored.length
    return copy
  }
}

extension Error {
  /// The message of an error of ours, without data of users.
  package var localizedText: String {
    switch self {
    case let error as StoreError: error.message
    case let error as PeerError: error.message
    case let error as ProtocolError: error.reason
    case let failure as RuleFailure: failure.error.localizedText
    default: "\(self)"
    }
  }
}
