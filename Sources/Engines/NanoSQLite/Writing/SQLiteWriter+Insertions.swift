// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Insertions that are undone by deleting the documents.
///
/// SQLite keeps a copy of each page that changes in a savepoint, in a temporary file if there are many. Documents change
/// pages throughout an index: copying the pages took a quarter of the time of inserting 100,000 documents, 1,000 at a time,
/// into a collection with three indexes.
struct UndoableInsertions {
  let collection: String
  private(set) var rowIDs: [ClosedRange<Int64>] = []
  /// The savepoint of what was written after ``SQLiteWriter/prepareForOtherUse()``.
  var savepoint: String?

  init(_ collection: String) { self.collection = collection }

  mutating func note(_ new: ClosedRange<Int64>) {
    guard savepoint == nil else { return }
    if let last = rowIDs.last, last.upperBound < .max, new.lowerBound == last.upperBound + 1 {
      rowIDs[rowIDs.count - 1] = last.lowerBound...new.upperBound
    } else {
      rowIDs.append(new)
    }
  }
}

extension SQLiteWriter {
  func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result {
    guard count >= Self.leastInsertions, let table = try existing(collection),
      try isUndoable(in: table)
    else { return try savepoint(work) }
    // Changes made before survive, and so must their paths.
    try flush()
    let outer = insertions
    insertions = UndoableInsertions(table.description.name)
    defer { insertions = outer }
    return try undoing {
      let result = try work()
      if let savepoint = insertions?.savepoint {
        try connection.executeSavepoint("RELEASE \(savepoint)")
        savepoints -= 1
        insertions?.savepoint = nil
      }
      return result
    } undo: {
      removeInserted()
    }
  }

  func prepareForOtherUse() throws {
    guard insertions != nil, insertions?.savepoint == nil else { return }
    try connection.requireTransaction()
    let name = "nano_\(savepoints + 1)"
    // Otherwise, what the caller writes next could not be undone.
    try connection.completely { try connection.executeSavepoint("SAVEPOINT \(name)") }
    savepoints += 1
    insertions?.savepoint = name
  }

  /// The minimum number of documents for which reading the definitions of a table, which scans the whole schema, pays
  /// off. Arbitrary.
  private static let leastInsertions = 100

  /// Returns whether deleting documents undoes everything that inserting them changed, except their paths.
  private func isUndoable(in table: CollectionTable) throws -> Bool {
    try table.wildcardIndex == nil && table.text == nil && table.expiry == nil
      && table.settings.expiration == nil && hasOwnDefinitionsOnly(table)
  }

  /// Deletes the documents of the block. If that fails, the transaction is lost.
  private func removeInserted() {
    guard let insertions else { return }
    if let savepoint = insertions.savepoint {
      connection.undo(to: savepoint)
      savepoints -= 1
    }
    guard (try? connection.requireTransaction()) != nil, !insertions.rowIDs.isEmpty else { return }
    do {
      let name = insertions.collection
      let highWater = try connection.first(
        SQLFragment("SELECT high_water FROM main.nano_collections WHERE name = ?", [.text(name)])
      ) { $0.int(0) }
      for ids in insertions.rowIDs {
        // SQLite keeps the IDs of all rows that a statement deletes.
        for start in stride(from: ids.lowerBound, through: ids.upperBound, by: Self.rowsPerDeletion)
        {
          let count = min(Int64(Self.rowsPerDeletion), ids.upperBound - start + 1)
          try connection.run(
            SQLFragment(
              "DELETE FROM main.\(SQLName.quoted(name)) WHERE id BETWEEN ? AND ?",
              [.int(start), .int(start + (count - 1))]))
        }
      }
      // A trigger has recorded row IDs that no other transaction has seen.
      try connection.run(
        SQLFragment(
          "UPDATE main.nano_collections SET high_water = ? WHERE name = ?",
          [.int(highWater ?? 0), .text(name)]))
    } catch {
      connection.lose(error)
    }
  }
}
