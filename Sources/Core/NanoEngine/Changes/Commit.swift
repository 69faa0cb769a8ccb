// SPDX-License-Identifier: MIT

import NanoDocument

/// The changes made by one commit, or by several consecutive commits merged into one.
public struct Commit: Sendable, Hashable {
  /// The collections whose documents changed, each listed once. If ``isEverything`` is `true`, those of which it is known
  /// what changed; with empty ``Change/rows`` if nothing did.
  public package(set) var changes: [Change]
  /// Whether any document of any collection that ``changes`` does not list may have changed.
  ///
  /// This is the case after user-supplied SQL, whose effects are not tracked, and after commits of other
  /// connections and processes, unless the changes of all collections are tracked.
  public package(set) var isEverything: Bool
  /// Whether others may have set expirations that nothing waits for. They are not changes of documents.
  package var mayHaveNewExpirations = false

  package init(_ changes: [Change]) {
    self.changes = changes
    isEverything = false
  }

  /// A commit after which any document of any collection may have changed.
  package static let everything = everythingExcept([])

  /// A commit after which any document of any collection may have changed, except in those listed: of them it is known
  /// what changed.
  package static func everythingExcept(_ changes: [Change]) -> Commit {
    var commit = Commit(changes)
    commit.isEverything = true
    return commit
  }

  /// The maximum number of row IDs reported per collection; beyond it, the whole collection counts as changed.
  ///
  /// Arbitrary: checking this many documents individually costs about as much as rerunning the query.
  package static let maximumRows = 1_000

  /// Whether the commit changed no document.
  public var isEmpty: Bool { changes.isEmpty && !isEverything }
  /// Whether observers have to be notified.
  package var isReported: Bool { !isEmpty || mayHaveNewExpirations }

  /// Returns the change to a collection, or `nil` if it is unchanged. The case of ASCII letters in the name is
  /// ignored.
  public func change(in collection: String) -> Change? {
    guard let change = listed(ExactName(collection.foldingASCII)) else {
      return isEverything ? Change(collection, nil) : nil
    }
    return change.rows?.isEmpty == true ? nil : change
  }

  private func listed(_ folded: ExactName) -> Change? {
    changes.first { ExactName($0.collection.foldingASCII) == folded }
  }

  /// Merges the changes of a later commit into this one.
  package mutating func merge(_ later: Commit) {
    var merged: [Change] = []
    for change in changes {
      if let other = later.listed(ExactName(change.collection.foldingASCII)) {
        var both = change
        both.merge(other)
        merged.append(both)
      } else if !later.isEverything {
        merged.append(change)
      }
    }
    if !isEverything {
      merged += later.changes.filter { listed(ExactName($0.collection.foldingASCII)) == nil }
    }
    changes = merged
    isEverything = isEverything || later.isEverything
    mayHaveNewExpirations = mayHaveNewExpirations || later.mayHaveNewExpirations
  }
}
