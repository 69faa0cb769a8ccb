// SPDX-License-Identifier: MIT

import NanoDocument

/// The changes made by one commit, or by several consecutive commits merged into one.
public struct Commit: Sendable, Hashable {
  /// The collections whose documents changed, each listed once. Empty if ``isEverything`` is `true`.
  public package(set) var changes: [Change]
  /// Whether any document of any collection may have changed.
  ///
  /// This is the case after user-supplied SQL, whose effects are not tracked, and after commits of other
  /// connections and processes.
  public package(set) var isEverything: Bool

  package init(_ changes: [Change]) {
    self.changes = changes
    isEverything = false
  }

  /// A commit after which any document of any collection may have changed.
  package static let everything: Commit = {
    var commit = Commit([])
    commit.isEverything = true
    return commit
  }()

  /// The maximum number of row IDs reported per collection; beyond it, the whole collection counts as changed.
  ///
  /// Arbitrary: checking this many documents individually costs about as much as rerunning the query.
  package static let maximumRows = 1_000

  /// Whether the commit changed no document.
  public var isEmpty: Bool { changes.isEmpty && !isEverything }

  /// Returns the change to a collection, or `nil` if it is unchanged. The case of ASCII letters in the name is
  /// ignored.
  public func change(in collection: String) -> Change? {
    if isEverything { return Change(collection, nil) }
    let name = collection.foldingASCII
    return changes.first { $0.collection.foldingASCII.hasSameBytes(as: name) }
  }

  /// Merges the changes of a later commit into this one.
  package mutating func merge(_ later: Commit) {
    guard !isEverything, !later.isEverything else {
      self = .everything
      return
    }
    for change in later.changes {
      let name = change.collection.foldingASCII
      if let index = changes.firstIndex(where: { $0.collection.foldingASCII.hasSameBytes(as: name) }
      ) {
        changes[index].merge(change)
      } else {
        changes.append(change)
      }
    }
  }
}
