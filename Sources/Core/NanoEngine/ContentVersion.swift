// SPDX-License-Identifier: MIT

package import NanoQuery

/// What a row holds, told from everything else that a row of this id held or will hold.
///
/// Two documents of one row id and equal versions are equal, key, class and fields; so what was read
/// once need not be read again.
@usableFromInline package struct ContentVersion: Sendable, Hashable {
  /// Tells a collection from one of the same name that was dropped.
  @usableFromInline package var incarnation: Int64
  /// As in ``StoredDocument/revision``.
  @usableFromInline package var revision: Int64

  @inlinable
  package init(incarnation: Int64, revision: Int64) {
    self.incarnation = incarnation
    self.revision = revision
  }
}

/// What a reader sees of a database, told from what is seen before and after a commit.
///
/// Equal states hold the same documents. Unequal ones may do so too: each connection counts commits
/// by itself.
package struct CommittedState: Sendable, Hashable {
  /// Who counts; small numbers from 1, so that something may be kept for each.
  package var observer: UInt32
  /// What it counts.
  package var count: UInt32

  @inlinable
  package init(observer: UInt32, count: UInt32) {
    self.observer = observer
    self.count = count
  }
}

/// The row ids of what a query finds, in order, and what they were found in.
package struct RowIDResult: Sendable, Hashable {
  package var rowIDs: [Int64]
  /// See ``ContentVersion/incarnation``; nil if the engine does not tell, or there is no collection.
  @usableFromInline package var incarnation: Int64?
  /// See ``EngineReader/committedState()``.
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

  /// The row ids of what ``find(_:in:_:)`` shows, for engines that have no shorter way.
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
