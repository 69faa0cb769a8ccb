// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoStoreCore

/// The other side of a replication: a database of this process, or one that is reached over HTTP.
///
/// Calls throw ``PeerError``, `CancellationError`, or ``/NanoDocument/StoreError`` of a store in this process.
package protocol SyncPeer: Sendable {
  /// Identifies the peer in the names of checkpoints, without credentials.
  var identity: String { get }

  /// Checks that the database exists, and returns the position of its newest change.
  ///
  /// - Parameter creates: Whether a database that does not exist is created.
  func open(creates: Bool) async throws -> PeerState

  /// Returns the changes after a position.
  ///
  /// - Parameters:
  ///   - since: The position; nil for the beginning.
  ///   - waits: Whether the call waits until there is a change, at most about a minute; it may then return none.
  func changes(
    since: String?, limit: Int, filter: PeerFilter, waits: Bool
  ) async throws -> PeerChanges

  /// Returns revisions with their ancestry. Attachments are stubs, unless the peer sends their content anyway.
  ///
  /// The result has an element for each revision, in any order.
  func revisions(_ wanted: [WantedRevision]) async throws -> [FetchedRevision]

  /// Stores the content of an attachment of a revision in a store.
  func attachment(
    _ attachment: WireAttachment, of id: String, revision: RevisionID, in store: Store
  ) async throws -> SyncAttachment

  /// Returns which revisions the peer lacks, and leaves from which they may descend, by ID.
  func missing(
    _ revisions: IDMap<[RevisionID]>
  ) async throws -> IDMap<MissingRevisions>

  /// Stores revisions at the peer, and returns those that it refused.
  ///
  /// - Parameters:
  ///   - documents: With attachments whose content is in the store.
  ///   - ancestors: Leaves of the peer by ID, whose attachments need not be sent again.
  func write(
    _ documents: [SyncDocument], ancestors: IDMap<[RevisionID]>, from store: Store
  ) async throws -> [PeerRefusal]

  /// Returns a local document; nil if there is none.
  func checkpoint(_ id: String) async throws -> DocumentObject?
  func setCheckpoint(_ id: String, _ body: DocumentObject) async throws
}

package struct PeerState: Sendable {
  /// The position of the newest change, if the peer tells.
  package var lastSequence: String?

  package init(lastSequence: String?) { self.lastSequence = lastSequence }
}

/// Which documents are pulled.
package enum PeerFilter: Sendable, Hashable {
  case all
  case ids([String])
  /// A selector of CouchDB, as JSON.
  case selector(DocumentObject)
}

package struct PeerChange: Sendable {
  package var id: String
  /// The leaves.
  package var revisions: [RevisionID]

  package init(id: String, revisions: [RevisionID]) {
    self.id = id
    self.revisions = revisions
  }
}

package struct PeerChanges: Sendable {
  package var changes: [PeerChange]
  /// The position after the changes.
  package var last: String
  /// The number of changes after them, if the peer tells.
  package var pending: Int?
  /// Whether there may be more now.
  package var hasMore: Bool

  package init(changes: [PeerChange], last: String, pending: Int? = nil, hasMore: Bool) {
    self.changes = changes
    self.last = last
    self.pending = pending
    self.hasMore = hasMore
  }
}

package struct WantedRevision: Sendable {
  package var id: String
  package var revision: RevisionID
  /// Leaves of this store, whose attachments need not be sent again.
  package var ancestors: [RevisionID]
  /// Whether the content of this very revision is wanted, for merging, without the content of attachments; not of
  /// a newer one.
  package var isBase = false

  package init(id: String, revision: RevisionID, ancestors: [RevisionID]) {
    self.id = id
    self.revision = revision
    self.ancestors = ancestors
  }
}

package enum FetchedRevision: Sendable {
  case document(WireDocument)
  /// The peer no longer has it; a newer one follows with the next changes.
  case missing(id: String, RevisionID)
  /// The peer's answer for this revision is of no use; the others are.
  case invalid(id: String, RevisionID, PeerError)
}

/// A revision that a peer did not store.
package struct PeerRefusal: Sendable {
  package var id: String
  package var revision: RevisionID?
  package var error: PeerError

  package init(id: String, revision: RevisionID?, error: PeerError) {
    self.id = id
    self.revision = revision
    self.error = error
  }
}

/// An error of a peer.
package struct PeerError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The peer cannot be reached, or the connection broke: tried again.
    case unreachable
    /// The peer is overloaded or fails for now: tried again.
    case unavailable
    /// Name or password are wrong, or are missing: ends the replication.
    case unauthorized
    /// The user may not do this.
    case forbidden
    /// The database does not exist.
    case noDatabase
    /// The peer lacks the content of an attachment that it was expected to have.
    case missingAttachment
    /// A document or a request is too large for the peer.
    case tooLarge
    /// The peer's answer is not one of the protocol.
    case invalidAnswer
    /// The peer refuses a document or a request for another reason.
    case refused
  }
  package var kind: Kind
  package var message: String
  /// The HTTP status, if there is one.
  package var status: Int?
  /// How long the peer asks to wait.
  package var retryAfter: Duration?

  package init(_ kind: Kind, _ message: String, status: Int? = nil, retryAfter: Duration? = nil) {
    self.kind = kind
    self.message = message
    self.status = status
    self.retryAfter = retryAfter
  }

  /// The error of a document that its own store cannot read.
  package static let unreadable = PeerError(.refused, "The document cannot be read")

  /// Whether the same call may succeed later.
  package var isTransient: Bool { kind == .unreachable || kind == .unavailable }
}
