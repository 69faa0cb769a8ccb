// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

/// Insertion of several new documents by one statement. SQLite opens the table and its indexes only once for all
/// of them, which accounts for a third of the time of inserting a small document.
extension SQLiteWriter {
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    let table = try tableForWriting(collection)
    if documents.count == NewDocument.batchSize, try mayInsertBatch(table),
      // Through a pointer: elements of an array are copied, with all their fields, in each pass.
      try documents.withUnsafeBufferPointer({ try insertAtOnce($0, table, &rowIDs) })
    {
      return
    }
    for document in documents { rowIDs.append(try insert(document, into: collection)) }
  }

  /// Inserts documents by one statement if possible.
  ///
  /// - Returns: Whether they were inserted, or else none was.
  private func insertAtOnce(
    _ documents: UnsafeBufferPointer<NewDocument>, _ table: CollectionTable,
    _ rowIDs: inout [Int64]
  ) throws -> Bool {
    if documents.indices.allSatisfy({ documents[$0].isPlain }) || haveNextRowIDs(documents, table) {
      guard let last = try insertBatch(documents, table, .insertBatch, bindPlain) else {
        return false
      }
      let count = Int64(documents.count)
      if let expected = documents[documents.count - 1].rowID, expected != last {
        throw StoreError(
          .database, "Documents did not receive the row IDs assigned to them",
          [.collection: table.description.name])
      }
      rowIDs.append(contentsOf: last - count + 1...last)
      return true
    }
    guard
      documents.indices.allSatisfy({
        documents[$0].hasRowIDAndNoType && isFree(documents[$0].rowID, table)
          && table.isNumber(documents[$0].rowID ?? 0)
      }), try insertBatch(documents, table, .insertBatchAt, bindAt) != nil
    else { return false }
    for index in documents.indices {
      let rowID = documents[index].rowID ?? 0
      noteInserted(rowID, table)
      rowIDs.append(rowID)
    }
    return true
  }

  /// Returns whether documents may be inserted by one statement.
  ///
  /// If a row is rejected, SQLite rolls back the whole statement, for which it copies each page before the first
  /// change. With indexes, where each row changes different pages, that costs more than it saves. A trigger of
  /// another program may insert rows in between, and beyond the largest ID SQLite searches for free ones: in
  /// both cases the IDs would not be consecutive.
  private func mayInsertBatch(_ table: CollectionTable) throws -> Bool {
    guard table.nextRowID == nil, table.wildcardIndex == nil, table.text == nil,
      !table.hasExpiredRows, table.settings.expiration == nil,
      table.indexes.isEmpty, table.unfinished.isEmpty, connection.isUTF8
    else { return false }
    if let known = table.takesBatches, known.transaction == connection.transactions {
      return known.isAllowed
    }
    let isAllowed = try connection.with(table, .mayInsertBatch) { row in
      try row.step() && row.int(0) != 0
    }
    table.takesBatches = (connection.transactions, isAllowed)
    return isAllowed
  }

  /// Returns whether the row IDs requested for the documents are those that SQLite would assign itself, which
  /// saves a search per document.
  private func haveNextRowIDs(
    _ documents: UnsafeBufferPointer<NewDocument>, _ table: CollectionTable
  ) -> Bool {
    guard var next = freeRowIDs.first(where: { $0.table === table })?.next else { return false }
    for index in documents.indices {
      guard documents[index].rowID == next, documents[index].type == nil,
        documents[index].version == nil
      else { return false }
      next &+= 1
    }
    return true
  }

  /// Inserts the documents and returns the ID of the last row; `nil` if one was rejected and nothing was
  /// inserted.
  private func insertBatch(
    _ documents: UnsafeBufferPointer<NewDocument>, _ table: CollectionTable,
    _ kind: CollectionTable.Statement,
    _ bind: (borrowing NewDocument, inout Int32, SQLiteStatement) throws -> Void
  ) throws -> Int64? {
    let position = table.paths.position
    for index in documents.indices {
      try table.paths.observe(documents[index].body)
      table.note(documents[index])
    }
    do {
      try connection.with(table, kind) { statement in
        var parameter: Int32 = 1
        for index in documents.indices { try bind(documents[index], &parameter, statement) }
        _ = try statement.step()
      }
    } catch let error as StoreError where error.isConstraint || error.code == .documentTooLarge {
      table.paths.forget(after: position)
      return nil
    }
    table.writes += documents.count
    let last = sqlite3_last_insert_rowid(connection.handle)
    noteUndoable(documents, kind, last: last)
    for _ in documents { try noteWritten(table) }
    table.noteRowID(last)
    noteInserted(last, table)
    return last
  }

  private func noteUndoable(
    _ documents: UnsafeBufferPointer<NewDocument>, _ kind: CollectionTable.Statement, last: Int64
  ) {
    guard insertions != nil else { return }
    if kind == .insertBatch {
      insertions?.note(last - Int64(documents.count) + 1...last)
    } else {
      for document in documents { document.rowID.map { insertions?.note($0...$0) } }
    }
  }

  @inline(__always)
  private func bindPlain(
    _ document: borrowing NewDocument, _ index: inout Int32, _ statement: SQLiteStatement
  ) throws {
    try statement.bind(document.key, at: index)
    statement.bind(document.added, at: index + 1)
    try statement.bind(borrowedText: document.body, at: index + 2)
    index += 3
  }

  @inline(__always)
  private func bindAt(
    _ document: borrowing NewDocument, _ index: inout Int32, _ statement: SQLiteStatement
  ) throws {
    statement.bind(document.rowID, at: index)
    try statement.bind(document.key, at: index + 1)
    statement.bind(document.version, at: index + 2)
    statement.bind(document.added, at: index + 3)
    try statement.bind(borrowedText: document.body, at: index + 4)
    index += 5
  }
}

extension NewDocument {
  /// Whether the document uses only the columns that every document has.
  @inline(__always)
  fileprivate var isPlain: Bool { rowID == nil && type == nil && version == nil }
  @inline(__always)
  fileprivate var hasRowIDAndNoType: Bool { rowID != nil && type == nil }
}
