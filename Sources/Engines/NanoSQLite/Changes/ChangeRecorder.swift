// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoEngine

/// Records the rows that a transaction changes, while there are observers.
///
/// SQLite calls its update hook for every changed row, including changes by conditions and triggers. It does not
/// call the hook when a table is dropped or truncated as a whole, nor for rows deleted by `OR REPLACE`
/// (https://www.sqlite.org/c3ref/update_hook.html). The engine reports the first two cases itself and does not
/// use the third; changes by other code count as a change of everything.
///
/// Confined to its connection.
final class ChangeRecorder {
  /// A position in the recorded changes.
  struct Mark { fileprivate let count: Int }

  private struct Table {
    let name: String
    let bytes: [CChar]
    /// `false` for internal tables without documents.
    let isWatched: Bool
    /// Set once a transaction has changed the collection's table; tables of other programs are excluded.
    var isCollection = false
    var count = 0
    var isWhole = false
  }
  private struct Entry {
    let table: Int
    let rowID: Int64
    /// `nil` for the whole table.
    let kind: Change.Kind?
  }
  private var tables: [Table] = []
  private var last = 0
  private var log: [Entry] = []
  /// The number of hook calls.
  private(set) var calls = 0
  /// Whether the hook sees all changes because no other program has defined triggers; `nil` if that must be
  /// checked again.
  var seesAllChanges: Bool?
  /// A row whose updates are not recorded.
  private var ignoredRow: (table: String, rowID: Int64)?
  /// Whether nothing was recorded.
  var isEmpty: Bool { log.isEmpty }

  /// Clears the recorded changes before a transaction.
  func begin() { undo(to: Mark(count: 0)) }

  /// The table index that stands for every table.
  private static let everything = -1

  fileprivate func record(
    _ operation: Int32, _ name: UnsafePointer<CChar>, _ rowID: Int64
  ) {
    calls &+= 1
    let table = tableIndex(name)
    guard tables[table].isWatched, !tables[table].isWhole else { return }
    if let ignoredRow, operation == SQLITE_UPDATE, rowID == ignoredRow.rowID,
      tables[table].name.hasSameBytes(as: ignoredRow.table)
    {
      return
    }
    guard tables[table].count < Commit.maximumRows else { return noteWhole(table) }
    tables[table].count += 1
    let kind: Change.Kind =
      switch operation {
      case SQLITE_INSERT: .inserted
      case SQLITE_DELETE: .deleted
      default: .updated
      }
    log.append(Entry(table: table, rowID: rowID, kind: kind))
  }

  private func tableIndex(_ name: UnsafePointer<CChar>) -> Int {
    if last < tables.count, strcmp(tables[last].bytes, name) == 0 { return last }
    if let index = tables.firstIndex(where: { strcmp($0.bytes, name) == 0 }) {
      last = index
      return index
    }
    return add(String(cString: name))
  }

  private func add(_ name: String) -> Int {
    let isInternal = name.utf8.starts(with: "nano_".utf8)
    tables.append(
      Table(
        name: name, bytes: Array(name.utf8CString),
        isWatched: !isInternal || InternalCollection(named: name) != nil))
    last = tables.count - 1
    return last
  }

  /// Records that every document of a collection may have changed.
  func noteWhole(_ name: String) {
    let table = tables.firstIndex { $0.name.hasSameBytes(as: name) } ?? add(name)
    tables[table].isCollection = true
    noteWhole(table)
  }

  private func noteWhole(_ table: Int) {
    tables[table].isWhole = true
    log.append(Entry(table: table, rowID: 0, kind: nil))
  }

  /// Records that anything may have changed.
  func noteEverything() {
    seesAllChanges = nil
    log.append(Entry(table: Self.everything, rowID: 0, kind: nil))
  }

  /// Runs a block that updates a row without changing its meaning, and does not record the update.
  func ignoringUpdates(_ rowID: Int64, of table: String, _ update: () throws -> Void) rethrows {
    ignoredRow = (table, rowID)
    defer { ignoredRow = nil }
    try update()
  }

  /// Handles a statement that failed and was rolled back by SQLite: the affected rows are unknown.
  func noteFailure() {
    guard ignoredRow == nil else { return }
    for table in tables.indices where tables[table].count > 0 && !tables[table].isWhole {
      noteWhole(table)
    }
  }

  var mark: Mark { Mark(count: log.count) }

  /// Discards the changes recorded after a mark, because they were rolled back.
  func undo(to mark: Mark) {
    log.removeLast(log.count - mark.count)
    for table in tables.indices { (tables[table].count, tables[table].isWhole) = (0, false) }
    for entry in log where entry.table >= 0 {
      if entry.kind == nil {
        tables[entry.table].isWhole = true
      } else {
        tables[entry.table].count += 1
      }
    }
  }

  /// Determines which of the changed tables are collections. Only positive results are cached: another table may
  /// become a collection.
  func resolve(_ isCollection: (String) throws -> Bool) rethrows {
    for table in tables.indices where tables[table].count > 0 && !tables[table].isCollection {
      tables[table].isCollection = try isCollection(tables[table].name)
    }
  }

  /// The changes of the transaction.
  var commit: Commit {
    guard !log.contains(where: { $0.table == Self.everything }) else { return .everything }
    var rows: [[Int64: Change.Kind]] = Array(repeating: [:], count: tables.count)
    for entry in log {
      guard let kind = entry.kind, !tables[entry.table].isWhole else { continue }
      rows[entry.table][entry.rowID] = Self.combined(rows[entry.table][entry.rowID], kind)
    }
    return Commit(
      zip(tables, rows).compactMap { table, rows in
        guard table.isCollection, table.isWhole || !rows.isEmpty else { return nil }
        return Change(table.name, table.isWhole ? nil : rows)
      })
  }

  /// Combines two changes of a row within one transaction, whose intermediate states were never visible; `nil`
  /// if they cancel out.
  private static func combined(_ first: Change.Kind?, _ second: Change.Kind) -> Change.Kind? {
    switch (first, second) {
    case (nil, _): second
    case (.inserted, .deleted): nil
    case (.inserted, _): .inserted
    case (_, .deleted): .deleted
    default: .updated
    }
  }
}

extension SQLiteConnection {
  /// Starts recording the changes of the next transaction, or stops recording.
  func record(_ isEnabled: Bool) {
    guard isEnabled != (recorder != nil) else {
      recorder?.begin()
      return
    }
    guard isEnabled else {
      sqlite3_update_hook(handle, nil, nil)
      recorder = nil
      return
    }
    let recorder = ChangeRecorder()
    self.recorder = recorder
    // The connection keeps the recorder alive while SQLite holds this pointer.
    sqlite3_update_hook(
      handle,
      { recorder, operation, _, table, rowID in
        guard let recorder, let table else { return }
        Unmanaged<ChangeRecorder>.fromOpaque(recorder).takeUnretainedValue()
          .record(operation, table, rowID)
      }, Unmanaged.passUnretained(recorder).toOpaque())
  }
}
