// SPDX-License-Identifier: MIT

import NanoDocument

/// The changes to the documents of one collection.
///
/// ```swift
/// for try await change in people.changes() {
///   change.rows    // [17: .inserted, 4: .deleted], nil if any document may have changed
/// }
/// ```
public struct Change: Sendable, Hashable {
  /// The kind of change to a document.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The document was inserted.
    case inserted
    /// The document was changed or replaced.
    case updated
    /// The document was deleted.
    case deleted
  }

  /// The name of the collection, as spelled when it was created.
  public var collection: String {
    get { exactCollection.text }
    set { exactCollection = ExactName(newValue) }
  }
  private var exactCollection: ExactName
  /// The change to each document, by row ID; `nil` if the rows are unknown.
  ///
  /// If it is `nil`, any document of the collection may have been inserted, updated, or deleted.
  public var rows: [Int64: Kind]?

  /// Creates a change to a collection; pass `nil` for `rows` if the changed documents are unknown.
  package init(_ collection: String, _ rows: [Int64: Kind]?) {
    exactCollection = ExactName(collection)
    self.rows = rows
  }

  /// Returns the row IDs with a given kind of change, in ascending order; empty if the rows are unknown.
  public func rowIDs(_ kind: Kind) -> [Int64] {
    (rows ?? [:]).filter { $0.value == kind }.keys.sorted()
  }

  /// Merges a later change to the same collection into this one.
  ///
  /// A reader may have seen the state between the two commits. So a document that was inserted and then deleted
  /// counts as deleted, and one that was inserted and then updated counts as updated.
  mutating func merge(_ later: Change) {
    guard let mine = rows, let others = later.rows else {
      rows = nil
      return
    }
    let merged = mine.merging(others) { _, later in later == .deleted ? .deleted : .updated }
    rows = merged.count > Commit.maximumRows ? nil : merged
  }
}
