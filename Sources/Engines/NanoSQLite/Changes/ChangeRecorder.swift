// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoEngine

/// Writes down which rows a transaction changes, while somebody wants to know.
///
/// SQLite's update hook calls it for every row, also those that a condition or a trigger changed. It
/// is not called for a table that is dropped, for one that is emptied as a whole, and for rows that
/// `OR REPLACE` removes (https://www.sqlite.org/c3ref/update_hook.html). Our own code says so of the
/// first two and does without the third; what the code of others does counts as everything.
///
/// Confined to its connection.
final class ChangeRecorder {
  /// A place in what was written down.
  struct Mark { fileprivate let count: Int }

  private struct Table {
    let name: String
    let bytes: [CChar]
    /// Not one of ours without documents.
    let isWatched: Bool
    /// Known once a transaction has changed it; other programs' tables are left out.
    var isCollection = false
    var count = 0
    var isWhole = false
  }
  private struct Entry {
    let table: Int
    let rowID: Int64
    /// Nil for the whole table.
    let kind: Change.Kind?
  }
  private var tables: [Table] = []
  private var last = 0
  private var log: [Entry] = []
  /// How often the hook was called.
  private(set) var calls = 0
  /// Whether no trigger of another program does what is not shown; nil if that is to be looked up.
  var seesAll: Bool?
  /// A row of which updates say nothing new.
  private var passedOver: (table: String, rowID: Int64)?
  /// Whether nothing was written down.
  var isEmpty: Bool { log.isEmpty }

  /// Forgets what was written down, before a transaction.
  func begin() { undo(to: Mark(count: 0)) }

  /// Stands for every table.
  private static let everything = -1

  fileprivate func record(
    _ operation: Int32, _ name: UnsafePointer<CChar>, _ rowID: Int64
  ) {
    calls &+= 1
    let table = place(name)
    guard tables[table].isWatched, !tables[table].isWhole else { return }
    if let passedOver, operation == SQLITE_UPDATE, rowID == passedOver.rowID,
      tables[table].name == passedOver.table
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

  private func place(_ name: UnsafePointer<CChar>) -> Int {
    if last < tables.count, strcmp(tables[last].bytes, name) == 0 { return last }
    if let known = tables.firstIndex(where: { strcmp($0.bytes, name) == 0 }) {
      last = known
      return known
    }
    return add(String(cString: name))
  }

  private func add(_ name: String) -> Int {
    let isOurs = name.utf8.starts(with: "nano_".utf8)
    tables.append(
      Table(
        name: name, bytes: Array(name.utf8CString),
        isWatched: !isOurs || InternalCollection(named: name) != nil))
    last = tables.count - 1
    return last
  }

  /// Every document of a collection may have changed.
  func noteWhole(_ name: String) {
    let table = tables.firstIndex { $0.name == name } ?? add(name)
    tables[table].isCollection = true
    noteWhole(table)
  }

  private func noteWhole(_ table: Int) {
    tables[table].isWhole = true
    log.append(Entry(table: table, rowID: 0, kind: nil))
  }

  /// Anything may have changed.
  func noteEverything() {
    seesAll = nil
    log.append(Entry(table: Self.everything, rowID: 0, kind: nil))
  }

  /// Runs a block that updates a row and leaves what it means as it is.
  func passingOver(_ rowID: Int64, of table: String, _ update: () throws -> Void) rethrows {
    passedOver = (table, rowID)
    defer { passedOver = nil }
    try update()
  }

  /// A statement failed, and what it had done was undone. Which rows that were is not known.
  func noteFailure() {
    guard passedOver == nil else { return }
    for table in tables.indices where tables[table].count > 0 && !tables[table].isWhole {
      noteWhole(table)
    }
  }

  var mark: Mark { Mark(count: log.count) }

  /// Forgets what came after a place, because it was undone.
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

  /// Finds out which of the tables are collections. Only those that are stay known: another table may
  /// become one.
  func resolve(_ isCollection: (String) throws -> Bool) rethrows {
    for table in tables.indices where tables[table].count > 0 && !tables[table].isCollection {
      tables[table].isCollection = try isCollection(tables[table].name)
    }
  }

  /// What the transaction changed.
  var commit: Commit {
    guard !log.contains(where: { $0.table == Self.everything }) else { return .everything }
    var rows: [[Int64: Change.Kind]] = Array(repeating: [:], count: tables.count)
    for entry in log {
      guard let kind = entry.kind, !tables[entry.table].isWhole else { continue }
      rows[entry.table][entry.rowID] = Self.together(rows[entry.table][entry.rowID], kind)
    }
    return Commit(
      zip(tables, rows).compactMap { table, rows in
        guard table.isCollection, table.isWhole || !rows.isEmpty else { return nil }
        return Change(table.name, table.isWhole ? nil : rows)
      })
  }

  /// What one transaction did to one row, of which nobody saw the states between; nil if nothing.
  private static func together(_ first: Change.Kind?, _ second: Change.Kind) -> Change.Kind? {
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
  /// Writes down what the next transaction changes, or nothing any more.
  func record(_ isWanted: Bool) {
    guard isWanted != (recorder != nil) else {
      recorder?.begin()
      return
    }
    guard isWanted else {
      sqlite3_update_hook(handle, nil, nil)
      recorder = nil
      return
    }
    let recorder = ChangeRecorder()
    self.recorder = recorder
    // The connection holds the recorder for as long as SQLite holds this pointer.
    sqlite3_update_hook(
      handle,
      { recorder, operation, _, table, rowID in
        guard let recorder, let table else { return }
        Unmanaged<ChangeRecorder>.fromOpaque(recorder).takeUnretainedValue()
          .record(operation, table, rowID)
      }, Unmanaged.passUnretained(recorder).toOpaque())
  }
}
