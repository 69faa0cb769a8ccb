// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A collection that a transaction has locked, with the transaction's changes to it.
///
/// Confined to the writer.
final class WriterTable {
  var collection: PostgresCollection
  var paths: PathTrie
  var state: CollectionState
  /// The next row ID at the time of the lock.
  let firstRowID: Int64
  /// Whether documents were written or removed, or query results changed otherwise.
  private(set) var hasNewDocuments = false
  /// Whether other connections must reload the definitions.
  var hasNewDefinitions = false
  private(set) var rows: [Int64: Change.Kind]? = [:]

  init(_ collection: PostgresCollection, _ state: CollectionState, _ paths: PathTrie) {
    self.collection = collection
    self.state = state
    self.paths = paths
    firstRowID = state.nextRowID
  }

  var isChanged: Bool {
    hasNewDocuments || hasNewDefinitions || state.nextRowID != firstRowID || !paths.changed.isEmpty
  }

  func note(_ rowID: Int64, _ kind: Change.Kind) {
    hasNewDocuments = true
    guard rows != nil else { return }
    switch (rows?[rowID], kind) {
    case (.inserted?, .updated): break
    case (.inserted?, .deleted): rows?[rowID] = nil
    default: rows?[rowID] = kind
    }
    if (rows?.count ?? 0) > Commit.maximumRows { rows = nil }
  }

  /// Records that any document may have changed.
  func noteAll() {
    hasNewDocuments = true
    rows = nil
  }

  var change: Change? {
    guard hasNewDocuments, rows?.isEmpty != true else { return nil }
    return Change(collection.description.name, rows)
  }

  /// The state that rolling back to a savepoint restores.
  struct SavepointState {
    var state: CollectionState
    var hasNewDocuments: Bool
    var hasNewDefinitions: Bool
    var rows: [Int64: Change.Kind]?
  }

  var savepointState: SavepointState {
    SavepointState(
      state: state, hasNewDocuments: hasNewDocuments, hasNewDefinitions: hasNewDefinitions,
      rows: rows)
  }

  func restore(_ savepointState: SavepointState) {
    state = savepointState.state
    hasNewDocuments = savepointState.hasNewDocuments
    hasNewDefinitions = savepointState.hasNewDefinitions
    rows = savepointState.rows
  }
}
