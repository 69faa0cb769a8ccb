// SPDX-License-Identifier: MIT

import NanoStoreCore

/// The live results of a context, which unsaved changes can affect.
struct LiveQueries {
  private struct Query {
    weak var table: ObjectTable?
    weak var results: AnyObject?
    /// Evaluates the query again.
    let invalidate: () -> Void
  }

  private var queries: [ObjectIdentifier: Query] = [:]
  /// Whether an evaluation since the last operation without unsaved changes may have considered some.
  var hadUnsavedChanges = false

  var isEmpty: Bool { queries.isEmpty }

  mutating func add<Object: GraphObject>(_ results: LiveResults<Object>, _ table: ObjectTable) {
    prune()
    queries[ObjectIdentifier(results)] = Query(table: table, results: results) {
      [weak results] in results?.invalidate()
    }
    table.watchEachChange()
    hadUnsavedChanges = true
  }

  /// Called when objects of a class change, or of any class. Whatever a query depends on may have changed, also that of
  /// another class to which its objects refer.
  func invalidate() { for query in queries.values { query.invalidate() } }

  private mutating func prune() {
    queries = queries.filter { $0.value.results != nil && $0.value.table != nil }
  }
}

extension ObjectTable {
  /// Makes each change of an unsaved object notify the context, not only the first one since the last save or group of
  /// changes.
  func watchEachChange() {
    for object in unsaved where !object._$object.isWatched {
      object._$object.flags.formUnion([.watched, .recorded])
    }
  }

  /// Called before a change of a watched object.
  ///
  /// - Returns: Whether an earlier change has been recorded, and with it the state before this one.
  func isRecorded(_ object: any GraphObject) -> Bool {
    if !context.liveQueries.isEmpty {
      context.liveQueries.hadUnsavedChanges = true
      context.liveQueries.invalidate()
    }
    return object._$object.flags.contains(.recorded)
  }

  /// Called after a change was recorded.
  func keepWatching(_ object: any GraphObject) {
    guard !context.liveQueries.isEmpty else { return }
    object._$object.flags.formUnion([.watched, .recorded])
  }
}

extension ObjectContext {
  /// Evaluates the live results again after an operation of the context, unless it has no unsaved changes.
  func invalidateLiveQueries() {
    guard !liveQueries.isEmpty else { return }
    let hasChanges = allTables.contains { !$0.counts.isEmpty }
    if hasChanges || liveQueries.hadUnsavedChanges { liveQueries.invalidate() }
    liveQueries.hadUnsavedChanges = hasChanges
  }
}
