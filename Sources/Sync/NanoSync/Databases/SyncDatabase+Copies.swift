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
      var stored: [Int64: Document] = [:]
      try writer.get(rowIDs: step.map(\.row.rowID).sorted(), in: name) { document in
        stored[document.rowID] = Document(document, in: name)
      }
      let records = try records(step.map(\.key), writer)
      var connected: [RevisionRecord] = []
      for (key, row) in step {
        guard let document = stored[row.rowID], var record = records[key] else { continue }
        // No document has revision 0, so a changed one gets a revision when the feed is read.
        let isChanged = try changed.contains(row.rowID) && !Self.isWinner(document, record)
        record.row?.revision = isChanged ? 0 : document.revision
        if record.row != row { connected.append(record) }
      }
      try save(connected, writer)
    }
  }

  /// Returns whether a document is the winning revision of its record, as far as the identifier tells: the feed may not have
  /// been read up to changes that were made with their revisions.
  ///
  /// It does not tell if a number was changed. Such a document gets another revision with the same content.
  private static func isWinner(_ document: Document, _ record: RevisionRecord) throws -> Bool {
    guard let winner = record.tree.winner, record.attachments.isEmpty,
      let parts = try? DocumentMapping.parts(of: document), parts.contents.isEmpty
    else { return false }
    let parent = record.tree.history(of: winner.id).dropFirst().first
    return try RevisionID(
      parent: parent, isDeleted: false, body: SyncJSON.plain(parts.body), attachments: [])
      == winner.id
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
