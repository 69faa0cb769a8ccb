// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A collection that a transaction uses, with what it has locked there and its changes.
///
/// Confined to the writer.
final class WriterTable {
  var collection: PostgresCollection
  var paths: PathTrie
  /// Whether no other transaction writes to the collection.
  private(set) var isWhole: Bool
  /// The next row ID, while no other transaction takes one; `nil` if it has not been read.
  var nextRowID: Int64?
  /// Whether ``nextRowID`` must be written to the sequence.
  var hasNewRowIDs = false
  /// The keys that are locked.
  var lockedKeys: Set<DocumentKey> = []
  /// The documents that the transaction has locked and read.
  var known = KnownDocuments()
  /// Whether documents were written or removed, or query results changed otherwise.
  private(set) var hasNewDocuments = false
  /// Whether other connections must reload the definitions.
  var hasNewDefinitions = false
  private(set) var rows: [Int64: Change.Kind]? = [:]
  /// Whether observers must be notified of more than the documents that the change feed has.
  private(set) var hasUnlistedChanges = false
  /// Whether there were expired documents when that was last determined.
  var hasExpiredRows = false
  /// Whether there may be expired documents, which the transaction must not mistake for existing ones: others let
  /// documents expire unless the collection is locked as a whole.
  var mayHaveExpiredRows: Bool { hasExpiredRows || !isWhole && collection.hasExpirations }

  init(_ collection: PostgresCollection, isWhole: Bool, _ paths: PathTrie) {
    self.collection = collection
    self.isWhole = isWhole
    self.paths = paths
  }

  /// Whether a document with the key is known to exist.
  func isStored(_ key: DocumentKey) -> Bool {
    if case .stored = known[.key(key)] { true } else { false }
  }

  func noteWhole() { isWhole = true }

  var isChanged: Bool { hasNewDocuments || hasNewDefinitions || !paths.changed.isEmpty }

  func note(_ rowID: Int64, _ kind: Change.Kind) {
    hasNewDocuments = true
    guard rows != nil else { return }
    switch (rows?[rowID], kind) {
    case (.inserted?, .updated): break
    case (.inserted?, .deleted): rows?[rowID] = nil
    case (.deleted?, .inserted): rows?[rowID] = .updated
    default: rows?[rowID] = kind
    }
    if (rows?.count ?? 0) > Commit.maximumRows { rows = nil }
  }

  /// Whether the transaction is known not to have written a document.
  func hasNotWritten(_ rowID: Int64) -> Bool { rows.map { $0[rowID] == nil } ?? false }

  /// Records that any document may have changed.
  func noteAll() {
    hasNewDocuments = true
    hasUnlistedChanges = true
    rows = nil
    known.removeAll()
  }

  func noteUnlistedChange() { hasUnlistedChanges = true }

  var change: Change? {
    guard hasNewDocuments, rows?.isEmpty != true else { return nil }
    return Change(collection.description.name, rows)
  }

  /// The state that rolling back to a savepoint restores. The server releases the locks that were acquired since.
  struct SavepointState {
    fileprivate var isWhole: Bool
    fileprivate var nextRowID: Int64?
    fileprivate var hasNewRowIDs: Bool
    fileprivate var lockedKeys: Set<DocumentKey>
    fileprivate var hasNewDocuments: Bool
    fileprivate var hasNewDefinitions: Bool
    fileprivate var rows: [Int64: Change.Kind]?
    fileprivate var hasUnlistedChanges: Bool
    fileprivate var hasExpiredRows: Bool
  }

  var savepointState: SavepointState {
    SavepointState(
      isWhole: isWhole, nextRowID: nextRowID, hasNewRowIDs: hasNewRowIDs, lockedKeys: lockedKeys,
      hasNewDocuments: hasNewDocuments, hasNewDefinitions: hasNewDefinitions, rows: rows,
      hasUnlistedChanges: hasUnlistedChanges, hasExpiredRows: hasExpiredRows)
  }

  func restore(_ state: SavepointState) {
    isWhole = state.isWhole
    nextRowID = state.nextRowID
    hasNewRowIDs = state.hasNewRowIDs
    lockedKeys = state.lockedKeys
    hasNewDocuments = state.hasNewDocuments
    hasNewDefinitions = state.hasNewDefinitions
    rows = state.rows
    hasUnlistedChanges = state.hasUnlistedChanges
    hasExpiredRows = state.hasExpiredRows
    known.removeAll()
  }
}
