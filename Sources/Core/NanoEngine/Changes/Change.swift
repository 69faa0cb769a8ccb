// SPDX-License-Identifier: MIT

import NanoDocument

/// What happened to the documents of one collection.
///
/// ```swift
/// for try await change in people.changes() {
///   change.rows    // [17: .inserted, 4: .deleted], nil if any document may be another one
/// }
/// ```
public struct Change: Sendable, Hashable {
  /// What happened to one document.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case inserted, updated, deleted
  }

  /// The collection, as it was named when it was made.
  public var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  /// What happened to which document, by row id. Nil if that is not known; then any document of the
  /// collection may be new, another one or gone.
  public var rows: [Int64: Kind]?

  package init(_ collection: String, _ rows: [Int64: Kind]?) {
    exactCollection = ExactName(collection)
    self.rows = rows
  }

  /// The row ids of one kind, in ascending order; empty where it is not known.
  public func rowIDs(_ kind: Kind) -> [Int64] {
    (rows ?? [:]).filter { $0.value == kind }.keys.sorted()
  }

  /// Adds what a later commit did to the same collection.
  ///
  /// Somebody may have read between the two. So a document that came and went counts as removed, and
  /// one that came and was changed as updated.
  mutating func merge(_ later: Change) {
    guard let mine = rows, let others = later.rows else {
      rows = nil
      return
    }
    let merged = mine.merging(others) { _, later in later == .deleted ? .deleted : .updated }
    rows = merged.count > Commit.maximumRows ? nil : merged
  }
}
