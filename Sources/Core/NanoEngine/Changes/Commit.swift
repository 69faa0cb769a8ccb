// SPDX-License-Identifier: MIT

import NanoDocument

/// What one commit changed, or several in a row that were put together.
public struct Commit: Sendable, Hashable {
  /// The collections whose documents changed, each once. Empty if ``isEverything``.
  public package(set) var changes: [Change]
  /// Whether anything may have changed: after SQL of the caller's own, which can do what nobody sees,
  /// and after commits of other connections and processes.
  public package(set) var isEverything: Bool

  package init(_ changes: [Change]) {
    self.changes = changes
    isEverything = false
  }

  /// Anything may have changed.
  package static let everything: Commit = {
    var commit = Commit([])
    commit.isEverything = true
    return commit
  }()

  /// Row ids told for each collection; with more, the whole collection counts as changed. Arbitrary:
  /// asking about so many documents one by one costs about as much as the query.
  package static let maximumRows = 1_000

  /// Whether it changed no document.
  public var isEmpty: Bool { changes.isEmpty && !isEverything }

  /// What happened in a collection, whichever case its letters are in; nil if nothing did.
  public func change(in collection: String) -> Change? {
    if isEverything { return Change(collection, nil) }
    let name = collection.foldingASCII
    return changes.first { $0.collection.foldingASCII.isSame(as: name) }
  }

  /// Adds what a later commit did.
  package mutating func merge(_ later: Commit) {
    guard !isEverything, !later.isEverything else {
      self = .everything
      return
    }
    for change in later.changes {
      let name = change.collection.foldingASCII
      if let known = changes.firstIndex(where: { $0.collection.foldingASCII.isSame(as: name) }) {
        changes[known].merge(change)
      } else {
        changes.append(change)
      }
    }
  }
}
