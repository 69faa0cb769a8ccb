// SPDX-License-Identifier: MIT

/// Where a reader is in a change feed: after an entry.
///
/// Entries are ordered by their numbers, and those with the same number by row ID. At the end are the documents that
/// another program inserted and that do not have a number yet, in the order of their row IDs.
package struct FeedCursor: Sendable, Hashable, Comparable {
  /// The number of the last entry that has one; 0 before the first.
  package var number: Int64
  package var rowID: Int64
  /// The progress in the entries without a number.
  package var unnumbered: Unnumbered?

  /// The entries without a number that have been read.
  package struct Unnumbered: Sendable, Hashable {
    /// The number of all these entries. While it and the cursor's number are the same, none was added: an entry leaves
    /// them only by getting a number, or with a later entry for its deletion. Only a statement that replaces such a row
    /// under the same ID is not noticed, until it gets a number.
    package var count: Int64
    /// The row ID of the last one that was read.
    package var rowID: Int64

    package init(count: Int64, rowID: Int64) {
      self.count = count
      self.rowID = rowID
    }
  }

  package init(number: Int64, rowID: Int64, unnumbered: Unnumbered? = nil) {
    self.number = number
    self.rowID = rowID
    self.unnumbered = unnumbered
  }

  /// Before the first entry.
  package static let start = FeedCursor(number: 0, rowID: .min)

  /// Moves the cursor after an entry.
  package mutating func advance(_ row: FeedRow) {
    switch row.place {
    case .number(let number): self = FeedCursor(number: number, rowID: row.rowID)
    case .unnumbered(let count): unnumbered = Unnumbered(count: count, rowID: row.rowID)
    }
  }

  package static func < (a: FeedCursor, b: FeedCursor) -> Bool {
    (a.number, a.rowID, a.unnumbered?.count ?? -1, a.unnumbered?.rowID ?? 0)
      < (b.number, b.rowID, b.unnumbered?.count ?? -1, b.unnumbered?.rowID ?? 0)
  }
}
