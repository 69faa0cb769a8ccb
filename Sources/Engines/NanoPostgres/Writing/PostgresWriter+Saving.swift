// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresWriter {
  /// Arbitrary: larger batches are hardly faster per document, and their bodies must fit in memory.
  var preferredBatchSize: Int { 2_000 }

  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    let table = try tableForWriting(collection)
    let keys = documents.compactMap(\.key)
    // Documents that may be rejected are written individually. A repeated key is one document saved twice.
    let isPlain = !table.collection.hasUniqueIndexes && table.collection.fullTextIndexes.isEmpty
    guard isPlain, documents.count > 1, keys.count == documents.count,
      Set(keys).count == keys.count
    else {
      for document in documents { rowIDs.append(try save(document, into: collection)) }
      return
    }
    let existing = try existingIDs(keys, table)
    var next = table.state.nextRowID
    var rows: [DocumentRow] = []
    rows.reserveCapacity(documents.count)
    for (document, key) in zip(documents, keys) {
      try table.paths.observe(document.body)
      rows.append(
        try DocumentRow(document, id: existing[key] ?? next, revision: 1, table.collection))
      if existing[key] == nil { next += 1 }
    }
    try upsert(rows, table)
    table.state.nextRowID = next
    for (row, key) in zip(rows, keys) {
      table.note(row.id, existing[key] == nil ? .inserted : .updated)
      rowIDs.append(row.id)
    }
  }

  /// Returns the row IDs of documents that already exist.
  private func existingIDs(
    _ keys: [DocumentKey], _ table: WriterTable
  ) throws -> [DocumentKey: Int64] {
    let found = try session.run(
      PostgresStatement(
        "SELECT key, id FROM \(table.collection.table) WHERE key = ANY($1) AND key IS NOT NULL",
        [.texts(keys.map(\.description))]))
    var existing: [DocumentKey: Int64] = [:]
    for row in 0..<found.count { existing[try DocumentKey(found.text(row, 0))] = found.int(row, 1) }
    return existing
  }

  private func upsert(_ rows: [DocumentRow], _ table: WriterTable) throws {
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    _ = try session.run(
      PostgresStatement(
        """
        INSERT INTO \(table.collection.table) AS t (\(columns)) SELECT * FROM unnest($1::bigint[], \
        $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::jsonb[], $8::text[])\
        \(DocumentRow.onConflictReplace(table.collection))
        """, DocumentRow.arrays(rows)))
  }
}
