// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// What became of a conflict.
package enum ConflictOutcome: Sendable {
  /// There was none.
  case none
  /// The versions were merged. The fields had different values, of which the winner's was taken.
  case merged(overridden: [FieldPath])
  /// The rules' closure decided.
  case decided
  /// The common ancestor is not known, or there is no decision.
  case open(missing: RevisionID?)
}

/// An error of the closure in the rules. Whatever its type, it is not one of the store that is synchronized.
struct RuleFailure: Error {
  let error: any Error
}

extension SyncDatabase {
  /// The field of a deletion that resolves a conflict, with the revision that contains the deleted one: not the deletion of
  /// a document by a program.
  static let resolvedField = "$resolved"

  func stateKeys(_ prefix: String, _ reader: any EngineReader) throws -> [String] {
    var keys: [String] = []
    var query = Query(.text(.attribute(.key), .beginsWith, .value(.string(prefix))))
    query.fields = []
    try reader.find(query, in: SyncState.collection) { stored in
      if let key = stored.key { keys.append(key.description) }
      return true
    }
    return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the conflict of a document between its winning revision and the next one; nil if there is none.
  package func conflict(
    _ id: String, bases: [RevisionID: SyncDocument] = [:]
  ) throws -> SyncConflict? {
    guard let revisions = try self.revisions([id])[id] else { return nil }
    return conflict(revisions, bases)?.conflict
  }

  func conflict(
    _ revisions: DocumentRevisions, _ bases: [RevisionID: SyncDocument] = [:],
    _ merge: ThreeWayMerge = ThreeWayMerge()
  ) -> (conflict: SyncConflict, missing: RevisionID?)? {
    let live = revisions.record.liveLeaves
    guard live.count > 1, let winner = revisions[live[0].id], let other = revisions[live[1].id]
    else { return nil }
    let (base, missing) = MergeBase(revisions, known: bases, merge)
      .content(of: winner.revision, other.revision)
    // The newest revision from another store, if it is one of the two.
    let isMineWinning = revisions.record.shared != winner.revision
    return (
      SyncConflict(
        collection: name, key: revisions.id, base: base?.body,
        mine: isMineWinning ? winner.body : other.body,
        theirs: isMineWinning ? other.body : winner.body, isMineWinning: isMineWinning,
        revisions: (winner.revision, other.revision), baseAttachments: base?.attachments ?? []),
      missing
    )
  }

  /// Resolves the conflicts of a document by rules.
  ///
  /// - Parameter bases: Ancestors that another store has.
  package func resolve(
    _ id: String, by rules: ConflictRules, bases: [RevisionID: SyncDocument] = [:]
  ) throws -> ConflictOutcome {
    var overridden: [FieldPath] = []
    var outcome = ConflictOutcome.none
    // The versions that were deleted, so that each is only once.
    var deleted: Set<RevisionID> = []
    while let revisions = try revisions([id])[id] {
      if rules.deletions == .deletionWins, let rule = DeletionRule(revisions),
        !rule.deleted.allSatisfy({ deleted.contains($0.leaf) })
      {
        guard try apply(rule, to: revisions) else { continue }
        deleted.formUnion(rule.deleted.map(\.leaf))
        outcome = .decided
        continue
      }
      guard let (conflict, missing) = conflict(revisions, bases, rules.merge) else { break }
      let resolution = try resolution(conflict, revisions, rules)
      var content: DocumentObject?
      var fields: [FieldPath]?
      switch resolution {
      case .undecided: return .open(missing: nil)
      case .delete: content = nil
      case .object(let object): content = object
      case .merge:
        guard let base = conflict.base else { return .open(missing: missing) }
        let merged = rules.merge.merge(
          base: base, winner: conflict.winner, other: conflict.loser)
        content = merged.object
        fields = merged.overridden
        if let winning = revisions[conflict.revisions.winner],
          let losing = revisions[conflict.revisions.other]
        {
          fields? += Self.attachments(conflict, winning, losing).overridden
        }
      }
      // Another write may have changed the document in the meantime; the loop then looks again.
      guard try resolve(conflict, with: content) else {
        if try self.revisions([id])[id]?.leaves == revisions.leaves { return .open(missing: nil) }
        continue
      }
      overridden += fields ?? []
      outcome = fields == nil ? .decided : .merged(overridden: overridden)
    }
    return outcome
  }

  private func resolution(
    _ conflict: SyncConflict, _ revisions: DocumentRevisions, _ rules: ConflictRules
  ) throws -> ConflictResolution {
    guard let decide = rules.resolve else { return .merge }
    if isDecidedTwice(conflict, revisions) { return .object(conflict.winner) }
    do {
      return try decide(conflict)
    } catch {
      throw RuleFailure(error: error)
    }
  }

  /// Whether two stores decided the same conflict differently. The decision that wins stays, otherwise they would go on
  /// forever. What was edited after a decision is no decision.
  private func isDecidedTwice(_ conflict: SyncConflict, _ revisions: DocumentRevisions) -> Bool {
    let resolutions = MergeBase(revisions).resolutions
    let decisions = [conflict.revisions.winner, conflict.revisions.other].map { leaf in
      (
        winner: revisions.tree.history(of: leaf).dropFirst().first,
        losers: Set(resolutions.filter { $0.into == leaf }.map(\.resolved))
      )
    }
    return decisions[0].winner != nil && decisions[0].winner == decisions[1].winner
      && !decisions[0].losers.isDisjoint(with: decisions[1].losers)
  }

  /// Resolves a conflict by a decision.
  ///
  /// - Returns: False if the document has changed since the conflict was read, or if there is no decision.
  package func resolve(
    _ conflict: SyncConflict, by resolution: ConflictResolution,
    _ rules: ConflictRules = ConflictRules()
  ) throws -> Bool {
    switch resolution {
    case .undecided: return false
    case .object(let object): return try resolve(conflict, with: object)
    case .delete: return try resolve(conflict, with: nil)
    case .merge:
      guard let merged = rules.merged(conflict) else { return false }
      return try resolve(conflict, with: merged)
    }
  }

  /// Resolves a conflict: the winning revision gets a successor, and the other one a deletion.
  ///
  /// Both depend only on the versions and the decision, so that two stores that decide alike create the same revisions.
  ///
  /// - Parameter content: The fields; nil deletes the document.
  /// - Returns: False if the document has changed since the conflict was read.
  package func resolve(_ conflict: SyncConflict, with content: DocumentObject?) throws -> Bool {
    let (winner, other) = conflict.revisions
    guard let revisions = try self.revisions([conflict.key])[conflict.key],
      let winning = revisions[winner], let losing = revisions[other],
      revisions.record.liveLeaves.map(\.id).contains(winner),
      revisions.record.liveLeaves.map(\.id).contains(other)
    else { return false }
    let deletion = { (id: RevisionID, container: RevisionID) in
      DocumentEdit(
        id: conflict.key, parent: id, isDeleted: true,
        body: [Self.resolvedField: .string(container.description)])
    }
    var container = winner
    var edits: [DocumentEdit] = []
    if let content {
      let attachments = ReferencedContent.adapt(
        Self.attachments(conflict, winning, losing).merged, to: content,
        of: winning.attachments + losing.attachments)
      if content != winning.body || attachments != winning.attachments {
        // Merging the winner with another version that added the same to a number is another revision.
        let distinction =
          ThreeWayMerge.mayCount(winning.body, content) ? other.distinction : nil
        container = RevisionID(
          parent: winner, isDeleted: false, body: try SyncJSON.plain(content),
          attachments: attachments.map(\.identity), distinction: distinction)
        edits.append(
          DocumentEdit(
            id: conflict.key, parent: winner, body: content, attachments: attachments,
            distinction: distinction))
      }
    } else {
      edits.append(deletion(winner, winner))
    }
    // Together, and the deletion first: if the result expires at once, the other version must not become the document.
    edits.insert(deletion(other, container), at: 0)
    do {
      try revising { _ in
        for result in try edit(edits) { _ = try result.get() }
      }
    } catch let error as StoreError where error.code == .revisionConflict {
      return false
    }
    return true
  }

  private static func attachments(
    _ conflict: SyncConflict, _ winner: SyncDocument, _ other: SyncDocument
  ) -> (merged: [SyncAttachment], overridden: [FieldPath]) {
    ThreeWayMerge.attachments(
      base: conflict.baseAttachments, winner: winner.attachments, other: other.attachments)
  }

  /// Deletes the versions of a document that were edited while another store deleted it.
  ///
  /// - Returns: False if the document has changed since the revisions were read.
  private func apply(_ rule: DeletionRule, to revisions: DocumentRevisions) throws -> Bool {
    let edits = rule.deleted.map { leaf, deletion in
      DocumentEdit(
        id: revisions.id, parent: leaf, isDeleted: true, body: DeletionRule.body(naming: deletion))
    }
    let settled = rule.applied.map { deletion in
      let id = DeletionRule.successor(of: deletion, naming: deletion)
      return SyncDocument(
        id: revisions.id, revision: id, isDeleted: true, body: DeletionRule.body(naming: deletion),
        history: [id] + revisions.tree.history(of: deletion))
    }
    do {
      try revising { _ in
        for result in try edit(edits) { _ = try result.get() }
        _ = try replicate(settled)
      }
    } catch let error as StoreError where error.code == .revisionConflict {
      return false
    }
    return true
  }
}
