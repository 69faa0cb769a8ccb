// SPDX-License-Identifier: MIT

import NanoDocument

/// The versions of a document that are deleted if deletions win: edits of a version that another store deleted.
///
/// A deletion that has been applied gets a successor that says so, and so does each version that was deleted for it. A
/// document that is inserted again, which follows one of them, is thus no edit of the deleted version, although the
/// deletion is still a leaf. All are determined by the tree, so that stores that apply the rule create the same revisions.
struct DeletionRule {
  /// Leaves to be deleted, each with the deletion that wins.
  private(set) var deleted: [(leaf: RevisionID, deletion: RevisionID)] = []
  /// Deletions that are applied for the first time.
  private(set) var applied: [RevisionID] = []

  /// Nil if there is nothing to delete.
  init?(_ revisions: DocumentRevisions) {
    let tree = revisions.tree
    let bodies = revisions.record.bodies.values.map(\.body)
    let resolved = bodies.compactMap { $0[SyncDatabase.resolvedField]?.string }
    // Revisions that are deletions, with the deletion to which each belongs.
    var deletions: [(revision: RevisionID, named: RevisionID, isNew: Bool)] = []
    for leaf in revisions.leaves.map(\.id) where tree.isDeleted(leaf) {
      if let text = revisions[leaf]?.body[SyncDatabase.resolvedField]?.string {
        // Otherwise, a merge has deleted it.
        guard let named = RevisionID(text), tree.contains(Self.successor(of: named, naming: named))
        else { continue }
        deletions.append((leaf, named, false))
      } else if !resolved.contains(leaf.description) {
        deletions.append((leaf, leaf, true))
      }
    }
    let live = revisions.record.liveLeaves.map(\.id)
    guard live.count > 1 || !live.isEmpty && !deletions.isEmpty else { return nil }
    let names = Set(deletions.map(\.named))
    let others = Set((deletions.map(\.revision) + live).flatMap { tree.history(of: $0) })
    let lives = live.map { ($0, Self.sinceDeletion($0, tree, names, others)) }
    // A document was inserted again before an edit of the deleted version arrived.
    for (_, (_, former)) in lives {
      if let former { deletions.append((former, former, false)) }
    }
    for (leaf, (recent, _)) in lives {
      let concurrent = deletions.filter { deletion in
        tree.commonAncestor(deletion.revision, leaf).map(recent.contains) ?? false
      }
      guard let first = concurrent.first else { continue }
      deleted.append((leaf, first.named))
      for deletion in concurrent where deletion.isNew && !applied.contains(deletion.revision) {
        applied.append(deletion.revision)
      }
    }
    if deleted.isEmpty { return nil }
  }

  /// Returns a revision with its ancestors since the document was deleted, and that deletion, if there is one.
  ///
  /// An ancestor that arrived as part of a history is not known to be a deletion. Those of programs, of this rule and of
  /// merges are recognized by their content, which determines the revision. A deletion with other fields, as CouchDB
  /// allows, is not.
  ///
  /// - Parameters:
  ///   - names: The deletions that the rule has applied or may apply.
  ///   - others: The revisions that a merge may have named.
  private static func sinceDeletion(
    _ leaf: RevisionID, _ tree: RevisionTree, _ names: Set<RevisionID>, _ others: Set<RevisionID>
  ) -> (recent: Set<RevisionID>, deletion: RevisionID?) {
    let history = tree.history(of: leaf)
    var recent: Set<RevisionID> = []
    for (index, revision) in history.enumerated() {
      if tree.isDeleted(revision) { return (recent, revision) }
      if index + 1 < history.count {
        let parent = history[index + 1]
        // The merged version is the winner, or follows it.
        let isDeletion =
          revision == RevisionID(parent: parent, isDeleted: true, body: [:], attachments: [])
          || names.contains { revision == successor(of: parent, naming: $0) }
          || others.contains {
            $0.generation >= parent.generation && revision == successor(of: parent, naming: $0)
          }
        if isDeletion { return (recent, revision) }
      }
      recent.insert(revision)
    }
    return (recent, nil)
  }

  static func body(naming deletion: RevisionID) -> DocumentObject {
    [SyncDatabase.resolvedField: .string(deletion.description)]
  }

  static func successor(of parent: RevisionID, naming deletion: RevisionID) -> RevisionID {
    RevisionID(parent: parent, isDeleted: true, body: body(naming: deletion), attachments: [])
  }
}
