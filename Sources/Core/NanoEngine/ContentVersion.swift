// SPDX-License-Identifier: MIT

package import NanoQuery

/// Identifies one version of a row's content.
///
/// Two documents with the same row ID and equal versions have equal keys, classes, and fields, so a document
/// that was read once need not be read again.
@usableFromInline package struct ContentVersion: Sendable, Hashable {
  /// Distinguishes a collection from a dropped one of the same name.
  @usableFromInline package var incarnation: Int64
  /// See ``StoredDocument/revision``.
  @usableFromInline package var revision: Int64

  @inlinable
  package init(incarnation: Int64, revision: Int64) {
    self.incarnation = incarnation
    self.revision = revision
  }
}

extension Int64 {
  /// The revision after this one; `nil` after the largest, which only another program can write, since the engine
  /// selects one.
  package var nextRevision: Int64? {
    let (next, overflow) = addingReportingOverflow(1)
    return overflow ? nil : next
  }
}

/// Identifies the committed state of a database that a reader sees.
///
/// Equal states contain the same documents. Unequal states may contain the same documents too: each connection
/// counts commits separately.
package struct CommittedState: Sendable, Hashable {
  /// The connection that counts. Small numbers starting at 1, so that callers can keep something for each.
  package var observer: UInt32
  /// The connection's commit count.
  package var count: UInt32

  @inlinable
  package init(observer: UInt32, count: UInt32) {
    self.observer = observer
    self.count = count
  }
}

/// Identifies a commit to a database, whichever connection or process made it.
package struct CommitStamp: Sendable, Hashable {
  /// What the engine distinguishes commits by.
  package var words: SIMD8<UInt32>
  /// The number of commits, as far as the engine counts them.
  package var count: UInt32

  @inlinable
  package init(words: SIMD8<UInt32>, count: UInt32) {
    self.words = words
    self.count = count
  }
}

/// The row IDs of a query's results, in order, and the state that they were read from.
package struct RowIDResult: Sendable, Hashable {
  package var rowIDs: [Int64]
  /// See ``ContentVersion/incarnation``; `nil` if the engine does not report it, or if the collection does not
  /// exist.
  @usableFromInline package var incarnation: Int64?
  /// See ``EngineDocumentReader/committedState()``.
  package var state: CommittedState?

  @inlinable
  package init(_ rowIDs: [Int64], incarnation: Int64?, state: CommittedState?) {
    self.rowIDs = rowIDs
    self.incarnation = incarnation
    self.state = state
  }
}

extension EngineReader {
  package func committedState() throws -> CommittedState? { nil }

  package func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    var version: ContentVersion?
    try get(.rowID(rowID), in: collection) { version = $0.contentVersion }
    return version
  }

  package func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    try rowIDsOfFound(query, in: collection)
  }

  /// Returns the row IDs of the results of ``find(_:in:_:)``, for engines that have no faster method.
  package func rowIDsOfFound(_ query: Query, in collection: String) throws -> RowIDResult {
    var query = query
    query.fields = []
    var ids: [Int64] = []
    var incarnation: Int64?
    try find(query, in: collection) { document in
      incarnation = document.incarnation
      ids.append(document.rowID)
      return true
    }
    return RowIDResult(ids, incarnation: incarnation, state: try committedState())
  }
}
