// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A transaction in progress on the writing connection.
final class SQLiteWriter: SQLiteReader, EngineWriter {
  /// The collections whose paths may have changed, by the name with which they were created.
  var touched: [ExactName: CollectionTable] = [:]
  var last: (name: String, table: CollectionTable)?
  var savepoints = 0
  /// The documents inserted by the innermost block of ``insertAtomically(_:into:_:)``.
  var insertions: UndoableInsertions?
  /// Whether the first decimals of a field may be written.
  var preparesDecimals = false
  /// The number of documents that were replaced before the definitions of their tables were checked.
  var replaced = 0
  /// The unused row IDs of tables for which the transaction requested them, usually few.
  var freeRowIDs: [FreeRowIDs] = []
  /// The number of documents that the transaction has written.
  var written = 0
  /// Whether the transaction has written chunks of attachments.
  var appendedChunks = false
  var expiry = ExpiryLog()
  /// Whether indexes are being built while a progress closure of the caller runs.
  var isReorganizing = false

  override func identity(of collection: String) throws -> CollectionIdentity {
    try existing(collection)?.description.identity ?? .key
  }

  /// Flushes pending changes so that the user-supplied statement sees them, and discards cached metadata that it
  /// may have changed.
  override func aroundForeignStatement<Result>(_ work: () throws -> Result) throws -> Result {
    try requireFree()
    try flush()
    connection.fireTriggers()
    defer {
      forgetTables()
      freeRowIDs.removeAll()
    }
    return try work()
  }

  override func noteForeignWrite() { connection.recorder?.noteEverything() }

  /// `nil`, because what the transaction sees may be rolled back.
  override func committedState() throws -> CommittedState? { nil }

  /// Flushes the paths of the transaction's own documents first.
  override func observedPaths(in collection: String) throws -> [ObservedPath] {
    try requireFree()
    try flush()
    return try super.observedPaths(in: collection)
  }

  /// Flushes pending index entries before a query uses the indexes.
  override func prepareForQuery(_ table: CollectionTable) throws {
    try requireFree()
    try table.wildcardIndex?.flush(connection)
    try table.text?.flush(connection)
  }

  /// Returns the table of a collection, creating it if necessary.
  func tableForWriting(_ name: String) throws -> CollectionTable {
    try requireFree()
    if let last, last.name.hasSameBytes(as: name) { return last.table }
    connection.currentCollection = name
    let used = try touchedTable(name)
    let table = try used ?? firstUse(of: name)
    touched[ExactName(table.description.name)] = table
    if used == nil { moveFreeRowIDs(to: table) }
    last = (name, table)
    if used == nil, table.expiry != nil { try sweep(table) }
    return table
  }

  /// Metadata that was loaded again replaces that with which row IDs were requested.
  private func moveFreeRowIDs(to table: CollectionTable) {
    for index in freeRowIDs.indices
    where freeRowIDs[index].table.description.name.hasSameBytes(as: table.description.name) {
      freeRowIDs[index].table = table
    }
  }

  private func firstUse(of name: String) throws -> CollectionTable {
    let table = try existingOrNew(name)
    table.firstNumber = table.nextNumber
    return table
  }

  private func existingOrNew(_ name: String) throws -> CollectionTable {
    if let table = cachedTable(name) { return table }
    if let table = try connection.table(name) {
      try prepareRowIDs(table)
      return table
    }
    try createCollection(CollectionDescription(name: name))
    guard let table = try connection.table(name) else {
      throw StoreError(.database, "A collection could not be created", [.collection: name])
    }
    return table
  }

  /// Returns a cached table if no other connection has committed since this one did, so that the cache is
  /// current.
  private func cachedTable(_ name: String) -> CollectionTable? {
    guard connection.isUnchanged,
      let table = connection.lastTable(name) ?? connection.tables[ExactName(name)],
      table.isPrepared
    else { return nil }
    connection.noteLast(name, table)
    return table
  }

  /// Determines the next row ID, and adopts foreign rows.
  ///
  /// SQLite assigns the largest existing ID plus one, which would reuse the ID of a deleted last row; in that
  /// case the writer assigns the ID.
  ///
  /// - Parameter isNew: Whether the transaction uses the table for the first time, so that adopting rows of
  ///   other programs that failed before is attempted again.
  private func prepareRowIDs(_ table: CollectionTable, isNew: Bool = true) throws {
    let name = table.description.name
    let (next, highest, hasForeignRows) = try connection.with(table, .rowIDState) { row in
      try row.bind(name, at: 1)
      guard try row.step() else { return (nil as Int64?, 0 as Int64, false) }
      guard row.isInt(0), row.int(0) >= 0 else { throw try connection.damage(toCollection: name) }
      let isReused = row.int(0) > row.int(1) && row.int(0) < Int64.max
      return (isReused ? row.int(0) + 1 : nil, row.int(1), row.int(2) != 0)
    }
    table.nextRowID = next
    try prepareNumbers(table, highestRowID: highest)
    table.isPrepared = true
    guard hasForeignRows, !table.hasStuckRows || isNew else { return }
    // An error in between would leave rows with a revision whose paths are not recorded.
    try connection.completely { try adoptForeignRows(table) }
  }

  func existing(_ name: String) throws -> CollectionTable? {
    try requireFree()
    if let last, last.name.hasSameBytes(as: name) { return last.table }
    if let table = try touchedTable(name) { return table }
    guard try cachedTable(name) != nil || connection.table(name) != nil else { return nil }
    return try tableForWriting(name)
  }

  private func touchedTable(_ name: String) throws -> CollectionTable? {
    if let table = touched[ExactName(name)] { return table }
    guard !touched.isEmpty, let table = try connection.table(name) else { return nil }
    return touched[ExactName(table.description.name)]
  }

  /// Updates the next row ID after rows were deleted, possibly the last ones.
  func removed(_ count: Int, from table: CollectionTable) throws {
    guard count > 0 else { return }
    // Those that the transaction has used may be those of the deleted rows.
    for index in freeRowIDs.indices where freeRowIDs[index].table === table {
      freeRowIDs[index].from = freeRowIDs[index].next
    }
    try prepareRowIDs(table, isNew: false)
  }
}

extension SQLiteWriter {
  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try connection.requireTransaction()
    // Changes made before the savepoint survive its rollback, and so must their paths and index entries.
    try flush()
    savepoints += 1
    defer { savepoints -= 1 }
    let name = "nano_\(savepoints)"
    try connection.executeSavepoint("SAVEPOINT \(name)")
    return try undoing {
      let result = try work()
      try connection.executeSavepoint("RELEASE \(name)")
      return result
    } undo: {
      connection.undo(to: name)
    }
  }

  /// Runs a block. If it throws, undoes its changes in the file and then in memory.
  func undoing<Result>(_ work: () throws -> Result, undo: () -> Void) throws -> Result {
    let mark = connection.recorder?.mark
    let (swept, free) = (expiry.swept, freeRowIDs)
    do {
      return try work()
    } catch {
      undo()
      if let mark { connection.recorder?.undo(to: mark) }
      expiry.swept = swept
      // Discards cached collections and paths that the block added.
      forgetTables()
      freeRowIDs = free
      throw error
    }
  }

  /// Writes pending paths, attributes, and index entries to the file, before the commit.
  func flush() throws {
    for table in touched.values { try flushPaths(of: table) }
    for table in touched.values {
      if table.loggedBytes > 0 { try foldLongLog(of: table) }
      try table.wildcardIndex?.flush(connection)
      try table.text?.flush(connection)
    }
  }

  /// Writes new paths, types, and attributes of documents.
  func flushPaths(of table: CollectionTable) throws {
    guard !table.paths.changed.isEmpty || table.hasNewParts else { return }
    if table.paths.hasNewDecimals { try noteDecimals(table) }
    try connection.completely { try writeChanges(of: table) }
  }

  private func writeChanges(of table: CollectionTable) throws {
    let name = table.description.name
    if let parts = table.takeNewParts() {
      try connection.run(
        SQLFragment(
          "UPDATE nano_collections SET parts = parts | ? WHERE name = ?",
          [.int(parts.rawValue), .text(name)]))
    }
    for node in table.paths.takeChanged() {
      try connection.run(
        SQLFragment(
          "INSERT INTO nano_paths(collection, path, types, attribute) VALUES (?, ?, ?, ?) "
            + "ON CONFLICT (collection, path) DO UPDATE SET types = types | excluded.types",
          [
            .text(name), .text(table.paths.path(of: node).text),
            .int(Int64(table.paths.nodes[Int(node)].types)),
            .int(Int64(table.paths.nodes[Int(node)].attribute)),
          ]))
    }
    try writeNextGeneration(name)
    table.generation += 1
  }
}

/// Row IDs of a table that callers may assign in advance.
struct FreeRowIDs {
  var table: CollectionTable
  /// No row with this ID or a larger one existed before the transaction, or was deleted by it.
  var from: Int64
  /// The ID that SQLite assigns to the next row without an explicit one.
  var next: Int64
}
