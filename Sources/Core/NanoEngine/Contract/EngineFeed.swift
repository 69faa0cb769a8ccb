// SPDX-License-Identifier: MIT

package import NanoDocument

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
  /// Returns the keys of the documents that last had these row IDs and were deleted, by row ID, whether or not another
  /// document has the ID now. The feed has no entry for a deletion whose row ID is in use again.
  func formerKeys(ofRows rowIDs: [Int64], in collection: String) throws -> [Int64: DocumentKey]
  /// Returns whether the collection keeps the body that a document had before its next update.
  func keepsPreviousBodies(in collection: String) throws -> Bool
  /// Passes a document to a closure as it was before the first update since its kept body was removed, with the row
  /// ID, key, class, version, insertion date and revision that it had then.
  ///
  /// An update by any program counts that changes the body, key, class or version. One that writes the same values
  /// does not, except in an encrypted collection, where they are encrypted differently. The body of a document that
  /// is deleted later remains; a new document with its row ID does not have it. A document without a previous body
  /// may be new, unchanged, or have been replaced by a statement that runs no triggers, as `INSERT OR REPLACE` in
  /// SQLite.
  ///
  /// References to attachments in kept bodies do not keep the content, which may be gone.
  ///
  /// - Returns: `false` if none is kept.
  /// - Throws: ``StoreError/Code/corruptDocument`` if it does not decrypt.
  func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool
  /// Passes all kept bodies after a row ID to a closure, ordered by row ID, including those of a former document
  /// whose row ID another one has now. Wrappers that encrypt documents read them.
  ///
  /// - Parameter limit: The maximum number, at least 1.
  /// - Throws: ``StoreError/Code/corruptDocument`` if one does not decrypt.
  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws
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
  /// Begins or ends keeping the bodies that documents had before their next update; ending removes them. The
  /// collection exists. Does nothing if it already is in that state.
  ///
  /// - Throws: ``StoreError/Code/unsupported``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/invalidName``.
  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws
  /// Removes the kept bodies of rows, so that their next update keeps one again.
  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws
  /// Replaces a kept body by the same one in another form, as encrypted with another key; does nothing if none is
  /// kept.
  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws
}

extension EngineFeedReader {
  package func feed(of collection: String) throws -> FeedState? { nil }
  package func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows { FeedRows([]) }
  package func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? { nil }
  package func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] { [:] }
  package func keepsPreviousBodies(in collection: String) throws -> Bool { false }
  package func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool { false }
  package func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws {}
}

extension EngineFeedWriter {
  package func setTracking(_ state: FeedState?, of collection: String) throws {
    guard state != nil else { return }
    throw StoreError(
      .unsupported, "The engine does not track changes", [.capability: "changeTracking"])
  }
  package func setFeedRows(_ rows: [FeedRow], of collection: String) throws {}
  package func pruneTombstones(before time: Int64, in collection: String) throws -> Int { 0 }
  package func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    guard keeps else { return }
    throw StoreError(
      .unsupported, "The engine does not keep previous bodies", [.capability: "changeTracking"])
  }
  package func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {}
  package func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {}
}
