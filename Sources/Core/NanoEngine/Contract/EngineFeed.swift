// SPDX-License-Identifier: MIT

import NanoDocument

/// The change feeds of a snapshot, for engines with ``Capabilities/changeTracking``.
package protocol EngineFeedReader: AnyObject {
  /// Returns the state of the change feed of a collection; `nil` if its changes are not tracked, or if it does not
  /// exist.
  func feed(of collection: String) throws -> FeedState?
  /// Returns the entries after a cursor.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of entries, at least 1.
  ///   - settledOnly: Whether to leave out entries before which a running transaction may add others when it commits.
  ///     A reader that continues after the last entry misses nothing only then.
  func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows
  /// Returns the number of the newest entry of a document, the largest possible one if it has an entry without a
  /// number; `nil` if it has none.
  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64?
}

/// Tracking in a transaction, for engines with ``Capabilities/changeTracking``.
package protocol EngineFeedWriter: AnyObject {
  /// Turns tracking on, which begins a feed with the timeline, or off; creates the collection if it does not exist.
  /// Does nothing if it already is in that state.
  ///
  /// - Throws: ``StoreError/Code/unsupported``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/invalidName``.
  func setTracking(_ state: FeedState?, of collection: String) throws
  /// Adds entries of another store's feed of the same documents, in order, to a feed that has just begun. Entries
  /// without a number get one.
  func setFeedRows(_ rows: [FeedRow], of collection: String) throws
  /// Removes the entries of documents that were deleted before a time, and returns their number.
  ///
  /// - Parameter time: Seconds since 1970.
  func pruneTombstones(before time: Int64, in collection: String) throws -> Int
}

extension EngineFeedReader {
  package func feed(of collection: String) throws -> FeedState? { nil }
  package func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows { FeedRows([]) }
  package func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? { nil }
}

extension EngineFeedWriter {
  package func setTracking(_ state: FeedState?, of collection: String) throws {
    guard state != nil else { return }
    throw StoreError(
      .unsupported, "The engine does not track changes", [.capability: "changeTracking"])
  }
  package func setFeedRows(_ rows: [FeedRow], of collection: String) throws {}
  package func pruneTombstones(before time: Int64, in collection: String) throws -> Int { 0 }
}
