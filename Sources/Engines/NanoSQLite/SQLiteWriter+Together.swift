// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

/// Several new documents by one statement. SQLite opens the table and its indexes once for all of
/// them, which is a third of what a small document costs.
extension SQLiteWriter {
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    let table = try tableForWriting(collection)
    if documents.count == NewDocument.together, documents.allSatisfy(\.isPlain),
      try mayInsertTogether(table), let last = try insertTogether(documents, table)
    {
      let count = Int64(documents.count)
      rowIDs.append(contentsOf: last - count + 1...last)
      return
    }
    for document in documents { rowIDs.append(try insert(document, into: collection)) }
  }

  /// If a row is refused, SQLite undoes the whole statement, for which it copies each page before the
  /// first change. With indexes, where each row changes pages of its own, that costs more than is
  /// gained. A trigger of another program may insert rows between ours, and beyond the largest id
  /// SQLite looks for free ones: then the ids would not follow each other.
  private func mayInsertTogether(_ table: CollectionTable) throws -> Bool {
    guard table.nextRowID == nil, table.leaves == nil, table.indexes.isEmpty,
      table.unfinished.isEmpty, connection.isUTF8
    else { return false }
    if let known = togetherState, known.table === table { return known.isAllowed }
    let isAllowed = try connection.with(table, .mayInsertTogether) { row in
      try row.step() && row.int(0) != 0
    }
    togetherState = (table, isAllowed)
    return isAllowed
  }

  /// The id of the last row; nil if one was refused and nothing was inserted.
  private func insertTogether(
    _ documents: [NewDocument], _ table: CollectionTable
  ) throws -> Int64? {
    for document in documents {
      try table.paths.observe(document.body)
      table.note(document)
    }
    do {
      try connection.with(table, .insertTogether) { statement in
        var index: Int32 = 1
        for document in documents {
          try statement.bind(document.key, at: index)
          statement.bind(document.added, at: index + 1)
          try statement.bind(borrowedText: document.body, at: index + 2)
          index += 3
        }
        _ = try statement.step()
      }
    } catch let error as StoreError where error.isConstraint || error.code == .documentTooLarge {
      return nil
    }
    table.writes += documents.count
    for _ in documents { try noteWritten(table) }
    return sqlite3_last_insert_rowid(connection.handle)
  }
}

extension NewDocument {
  /// Whether nothing has to be written but what every document has.
  @inline(__always)
  fileprivate var isPlain: Bool { type == nil && version == nil }
}
