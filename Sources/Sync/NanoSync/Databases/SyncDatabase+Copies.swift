// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

// Collections that were copied into another store.
extension SyncDatabase {
  /// Connects the records with the documents of a copy, whose revisions in the store begin with 1 again.
  ///
  /// Otherwise, a document that was changed in the copy could have the number that its record has, and the change would get
  /// no revision.
  func connectCopies(_ state: SyncState, _ writer: any EngineWriter) throws {
    try adopt(writer)
    let changed = try changedRows(after: state.cursor, writer)
    var rows: [(key: DocumentKey, row: RevisionRecord.Row)] = []
    try writer.find(Query(), in: records) { stored in
      let record = try RevisionRecord(stored, in: records)
      if let row = record.row { rows.append((record.id, row)) }
      return true
    }
    for start in stride(from: 0, to: rows.count, by: Self.recordsPerStep) {
      let step = rows[start..<min(start + Self.recordsPerStep, rows.count)]
      var stored: [Int64: Int64?] = [:]
      try writer.get(rowIDs: step.map(\.row.rowID).sorted(), in: name) { document in
        stored[document.rowID] = document.revision
      }
      var connected: [DocumentKey: RevisionRecord.Row] = [:]
      for (key, row) in step {
        guard let revision = stored[row.rowID] else { continue }
        // No document has revision 0, so a changed one gets a revision when the feed is read.
        let current = changed.contains(row.rowID) ? 0 : revision
        if current != row.revision {
          connected[key] = RevisionRecord.Row(rowID: row.rowID, revision: current)
        }
      }
      var records = try records(connected.keys, writer)
      for (key, row) in connected { records[key]?.row = row }
      try save(Array(records.values), writer)
    }
  }

  /// Returns the row IDs of the documents that were changed after a position.
  private func changedRows(
    after cursor: FeedCursor, _ reader: any EngineReader
  ) throws -> Set<Int64> {
    var (cursor, changed) = (cursor, Set<Int64>())
    while true {
      let rows = try reader.feedRows(
        after: cursor, limit: Self.recordsPerStep, settledOnly: false, in: name
      ).rows
      guard !rows.isEmpty else { return changed }
      for row in rows {
        changed.insert(row.rowID)
        cursor.advance(row)
      }
    }
  }

  /// Arbitrary.
  private static let recordsPerStep = 1_000
}
