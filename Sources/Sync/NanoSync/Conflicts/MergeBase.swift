// SPDX-License-Identifier: MIT

import NanoDocument

/// Finds the version whose changes two versions have in common.
///
/// A merged revision contains both that were merged, although the tree has only one of them as its parent; the deletion of
/// the other one says so. Without that, what was merged once would count twice when the other one is edited further. If there
/// are several newest versions in common, their merge is the base, as in Git's recursive strategy.
struct MergeBase {
  private let revisions: DocumentRevisions
  private let known: [RevisionID: SyncDocument]
  private let merge: ThreeWayMerge
  /// The conflicts that were resolved: which revision is contained in which one.
  let resolutions: [(resolved: RevisionID, into: RevisionID)]

  /// - Parameter known: Revisions that another store has.
  init(
    _ revisions: DocumentRevisions, known: [RevisionID: SyncDocument] = [:],
    _ merge: ThreeWayMerge = ThreeWayMerge()
  ) {
    self.revisions = revisions
    self.known = known
    self.merge = merge
    resolutions = revisions.leaves.compactMap { leaf in
      guard leaf.isDeleted,
        let into = revisions[leaf.id]?.body[SyncDatabase.resolvedField]?.string
          .flatMap({ RevisionID($0) }),
        let resolved = revisions.tree.history(of: leaf.id).dropFirst().first
      else { return nil }
      return (resolved, into)
    }
  }

  /// Returns the content of the version in common, an empty one if both were inserted; or which revision is missing.
  func content(
    of a: RevisionID, _ b: RevisionID
  ) -> (RevisionRecord.Content?, missing: RevisionID?) {
    content(of: [a], [b])
  }

  /// - Parameters:
  ///   - a: Revisions whose merge is one of the versions.
  ///   - b: Those of the other version.
  private func content(
    of a: [RevisionID], _ b: [RevisionID]
  ) -> (RevisionRecord.Content?, missing: RevisionID?) {
    let empty = RevisionRecord.Content(body: [:])
    let newest = newest(a, b)
    guard let first = newest.first else {
      // Inserted on both sides, unless older revisions were cut off.
      let isWhole = (a + b).allSatisfy { revisions.tree.history(of: $0).last?.generation == 1 }
      return (isWhole ? empty : nil, nil)
    }
    // A document that was deleted and inserted again has nothing of the former one, which an edit elsewhere keeps.
    if (a + b).contains(where: { isDeleted(between: first, and: $0) }) { return (empty, nil) }
    guard var merged = content(first) else { return (nil, first) }
    for (index, next) in newest.enumerated().dropFirst() {
      guard let other = content(next) else { return (nil, next) }
      let (common, missing) = content(of: Array(newest[..<index]), [next])
      guard let common else { return (nil, missing) }
      merged = RevisionRecord.Content(
        body: merge.merge(base: common.body, winner: merged.body, other: other.body).object,
        attachments: ThreeWayMerge.attachments(
          base: common.attachments, winner: merged.attachments, other: other.attachments
        ).merged)
    }
    return (merged, nil)
  }

  private func isDeleted(between base: RevisionID, and id: RevisionID) -> Bool {
    revisions.tree.history(of: id).prefix { $0 != base }.contains {
      revisions.tree.isDeleted($0)
    }
  }

  private func content(_ id: RevisionID) -> RevisionRecord.Content? {
    (revisions[id] ?? known[id]).map {
      RevisionRecord.Content(body: $0.body, attachments: $0.attachments)
    }
  }

  /// The common revisions that no other common revision contains, in descending order.
  private func newest(_ a: [RevisionID], _ b: [RevisionID]) -> [RevisionID] {
    let common = contained(in: a).intersection(contained(in: b))
    return common.filter { candidate in
      !common.contains { $0 != candidate && contained(in: [$0]).contains(candidate) }
    }.sorted { $1 < $0 }
  }

  private func contained(in ids: [RevisionID]) -> Set<RevisionID> {
    var found = Set(ids.flatMap { revisions.tree.history(of: $0) })
    var rest = resolutions
    while let index = rest.firstIndex(where: { found.contains($0.into) }) {
      found.formUnion(revisions.tree.history(of: rest.remove(at: index).resolved))
    }
    return found
  }
}
