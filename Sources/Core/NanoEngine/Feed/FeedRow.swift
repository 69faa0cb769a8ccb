// SPDX-License-Identifier: MIT

package import NanoDocument

/// The state of the change feed of a collection.
package struct FeedState: Sendable, Hashable {
  /// A random number that identifies the feed. A backup gets another one.
  package var timeline: Int64
  /// The timeline that this one continues, in a store that was restored from a backup.
  package var origin: Int64?
  /// The largest number whose deletion was pruned; 0 if none was.
  package var pruned: Int64

  package init(timeline: Int64, origin: Int64? = nil, pruned: Int64 = 0) {
    self.timeline = timeline
    self.origin = origin
    self.pruned = pruned
  }

  /// The numbers that entries can have, which leave room for later ones. Zero is that of documents from before tracking.
  package static let numbers: ClosedRange<Int64> = 0...(3 << 61)

  /// Whether the feed has all deletions after a cursor. All entries of a server's transaction have the same number, so a
  /// cursor with the pruned number may be before deletions that were pruned.
  ///
  /// - Parameter floor: The largest pruned number when the reader began.
  package func hasDeletions(after cursor: FeedCursor, floor: Int64) -> Bool {
    pruned < cursor.number || pruned <= floor
  }

  /// Returns a random timeline: 52 bits, which other programs represent exactly.
  package static func newTimeline() -> Int64 { .random(in: 1..<(1 << 52)) }
}

/// An entry of a change feed: the newest state of a document, or that it was deleted.
package struct FeedRow: Sendable, Hashable {
  package var rowID: Int64
  package var place: Place
  package var key: DocumentKey?
  /// The class name; `nil` for the collection's default class.
  package var type: String?
  /// `nil` for a deleted document, and while another program was the last to write it.
  package var revision: Int64?
  /// When the document was deleted, in seconds since 1970; `nil` if it exists.
  package var deleted: Int64?
  package var isDeleted: Bool { deleted != nil }

  /// Where the entry is in the feed.
  package enum Place: Sendable, Hashable {
    /// A number that increases with each change. The number of a new document is its row ID.
    case number(Int64)
    /// After all others, in the order of row IDs: a document that another program inserted, until a store has adopted
    /// it. The value is the number of all these entries.
    case unnumbered(Int64)
  }

  package init(
    rowID: Int64, place: Place, key: DocumentKey?, type: String?, revision: Int64?,
    deleted: Int64?
  ) {
    self.rowID = rowID
    self.place = place
    self.key = key
    self.type = type
    self.revision = revision
    self.deleted = deleted
  }
}

/// The next entries of a change feed.
package struct FeedRows: Sendable, Hashable {
  /// In the order of the feed.
  package var rows: [FeedRow]
  /// Whether there are committed entries that are not returned before transactions that began earlier have ended.
  package var isDelayed: Bool

  package init(_ rows: [FeedRow], isDelayed: Bool = false) {
    self.rows = rows
    self.isDelayed = isDelayed
  }
}
