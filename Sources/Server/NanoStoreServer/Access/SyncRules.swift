// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoSync

/// Decides what users may read and write.
///
/// ```swift
/// var rules = SyncRules()
/// rules.isVisible = { user, _, document in document.fields["owner"]?.string == user.name }
/// rules.validate = { user, write in
///   for revision in [write.old, write.new].compactMap({ $0 }) where !revision.isDeleted {
///     guard revision.fields["owner"]?.string == user.name else {
///       throw SyncRejection.forbidden("A note belongs to its author.")
///     }
///   }
/// }
/// ```
///
/// Administrators are subject to ``isVisible`` and ``validate`` as well. Closures run on any thread, concurrently.
public struct SyncRules: Sendable {
  /// Whether a user may read a database; everyone by default. Called for each request, and while a feed is open before
  /// it delivers changes.
  public var canRead: @Sendable (_ user: SyncUser, _ database: String) async throws -> Bool = {
    _, _ in true
  }
  /// Whether a user who may read a database may write to it; everyone by default. Checkpoints are not subject to
  /// it, nor are administrators who compact the database or change its settings.
  public var canWrite: @Sendable (_ user: SyncUser, _ database: String) async throws -> Bool = {
    _, _ in true
  }
  /// Whether a user may read a revision; nil if all are visible. A deletion has few fields or none: return true for it
  /// unless its ID is a secret, or clients keep what was deleted.
  public var isVisible:
    (@Sendable (_ user: SyncUser, _ database: String, _ document: SyncRevision) -> Bool)?
  /// Checks each new revision inside the transaction that stores it; nil if all are accepted. It must not use the store.
  /// A revision that the database has, perhaps written by another user, is checked if it arrives with a longer history
  /// that replaces another revision.
  /// Its error rejects the revision. Another error than ``SyncRejection`` is reported as forbidden, without details.
  public var validate: (@Sendable (_ user: SyncUser, _ write: SyncWrite) throws -> Void)?
  /// Filters that clients can name in requests for changes, by `design/filter`, as those of design documents.
  public var filters: [String: @Sendable (SyncRevision, _ parameters: [String: String]) -> Bool] =
    [:]

  /// Creates rules by which everyone may do everything.
  public init() {}
}

/// A revision of a document, as rules see it.
public struct SyncRevision: Sendable, Hashable {
  /// The ID of the document: the key.
  public let id: String
  /// The revision, such as `3-917fa2381192822767f010b95b45325b`.
  public let revision: String
  /// Whether the revision deletes the document.
  public let isDeleted: Bool
  /// The fields.
  public let fields: DocumentObject
  /// The names of the attachments.
  public let attachmentNames: [String]

  init(_ document: SyncDocument) {
    id = document.id
    revision = "\(document.revision)"
    isDeleted = document.isDeleted
    fields = document.body
    attachmentNames = document.attachments.map(\.name)
  }
}

/// A revision that is about to be stored.
public struct SyncWrite: Sendable, Hashable {
  /// The name of the database.
  public let database: String
  /// The winning revision before the write; nil if the document is new.
  public let old: SyncRevision?
  /// The revision to be stored, or one that the database has, whose longer history replaces another revision.
  public let new: SyncRevision
}
