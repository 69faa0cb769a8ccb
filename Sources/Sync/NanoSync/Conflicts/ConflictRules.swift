// SPDX-License-Identifier: MIT

public import NanoDocument

/// How conflicts of a collection are resolved: edits of one document on several devices before they were synced.
///
/// Without rules, fields that only one side changed are merged, and a field that both changed takes the value of the
/// winning revision.
///
/// ```swift
/// var rules = ConflictRules()
/// rules.counters = ["plays"]         // 10 + 2 on one device and + 3 on another is 15
/// rules.sets = ["tags"]              // what either side added, without what either side removed
/// ```
public struct ConflictRules: Sendable {
  /// Numbers to which devices add: the differences are added.
  public var counters: Set<FieldPath> = []
  /// Arrays without order: elements that either side added are added, those that either side removed are removed.
  public var sets: Set<FieldPath> = []
  /// Whether an edit or a deletion wins if they meet.
  public var deletions = DeletionRule.editWins
  /// Decides conflicts instead of the merge; nil leaves them to it.
  ///
  /// All devices should decide in the same way. If two decide differently, the decision of the winning revision stays.
  public var resolve: (@Sendable (SyncConflict) throws -> ConflictResolution)?

  /// Creates rules that merge by field.
  public init() {}

  /// What happens if one device edits a document and another one deletes it.
  public enum DeletionRule: Sendable, Hashable {
    /// The document stays, with the edit. The rule of CouchDB, and what other programs do.
    case editWins
    /// The document is deleted.
    case deletionWins
  }

  var merge: ThreeWayMerge { ThreeWayMerge(counters: counters, sets: sets) }

  /// Returns the versions merged by field; nil if the one from which they were edited is not known.
  package func merged(_ conflict: SyncConflict) -> DocumentObject? {
    conflict.base.map { base in
      merge.merge(base: base, winner: conflict.winner, other: conflict.loser).object
    }
  }
}

/// A document of which there are several versions.
public struct SyncConflict: Sendable {
  /// The collection.
  public let collection: String
  /// The key of the document.
  public let key: String
  /// The version from which both were edited; nil if it is not known, an empty object if both were inserted.
  public let base: DocumentObject?
  /// The version of this store.
  public let mine: DocumentObject
  /// The version of the other store.
  public let theirs: DocumentObject
  /// Whether ``mine`` is the version that the collection has, and that all stores have until the conflict is resolved.
  public let isMineWinning: Bool
  /// The revisions of both versions.
  package let revisions: (winner: RevisionID, other: RevisionID)
  /// The attachments of ``base``.
  let baseAttachments: [SyncAttachment]

  /// The version that the collection has.
  public var winner: DocumentObject { isMineWinning ? mine : theirs }
  /// The version that would be lost if nothing else is decided.
  public var loser: DocumentObject { isMineWinning ? theirs : mine }
}

/// The decision of a conflict.
public enum ConflictResolution: Sendable {
  /// This version.
  case object(DocumentObject)
  /// The merge by field, as without a closure.
  case merge
  /// The document is deleted.
  case delete
  /// No decision now: the conflict stays open, and is in ``NanoStoreCore/Store/conflicts()``.
  case undecided
}
