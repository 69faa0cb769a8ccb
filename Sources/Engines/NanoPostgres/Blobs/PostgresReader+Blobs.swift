// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresReader {
  var blobSchema: PostgresBlobSchema { PostgresBlobSchema(names: names) }

  /// Whether the tables of attachments exist. In most stores they do not.
  func hasBlobs() throws -> Bool {
    if core.knowsBlobTables.load(ordering: .relaxed) { return true }
    if let writer = self as? PostgresWriter {
      if writer.knowsBlobTables { return true }
      writer.knowsBlobTables = try session.run(blobSchema.exists).bool(0, 0)
      return writer.knowsBlobTables
    }
    let exists = try session.run(blobSchema.exists).bool(0, 0)
    if exists { core.knowsBlobTables.store(true, ordering: .relaxed) }
    return exists
  }

  /// The names of the tables of attachments, if they exist.
  func blobTableNames() throws -> [String] {
    try hasBlobs() ? [blobSchema.blobs, blobSchema.chunks] : []
  }

  func blob(_ digest: BlobDigest) throws -> BlobRecord? {
    guard try hasBlobs() else { return nil }
    let rows = try session.run(
      PostgresStatement(
        "SELECT \(PostgresBlobSchema.columns) FROM \(blobSchema.blobs) WHERE digest = $1",
        [.bytes(digest.bytes)]))
    return rows.count > 0 ? try PostgresBlobSchema.record(rows, 0) : nil
  }

  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    guard try hasBlobs() else { return [] }
    let rows = try session.run(
      PostgresStatement(
        """
        SELECT \(PostgresBlobSchema.columns) FROM \(blobSchema.blobs) WHERE id > $1 \
        ORDER BY id LIMIT $2
        """, [.int(rowID), .int(Int64(limit))]))
    return try (0..<rows.count).map { try PostgresBlobSchema.record(rows, $0) }
  }

  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    guard position < blob.chunkCount, try hasBlobs() else { return false }
    let rows = try session.run(
      blob.chunkLength == 0
        ? PostgresStatement(
          "SELECT NULL::bytea, bytes FROM \(blobSchema.blobs) WHERE id = $1 AND bytes IS NOT NULL",
          [.int(blob.rowID)])
        : PostgresStatement(
          "SELECT state, bytes FROM \(blobSchema.chunks) WHERE blob = $1 AND position = $2",
          [.int(blob.rowID), .int(Int64(position))]))
    guard rows.count > 0 else { return false }
    try visit(rows.bytes(0, 1), rows.isNull(0, 0) ? nil : Array(rows.bytes(0, 0)))
    return true
  }

  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    guard blob.chunkLength > 0, try hasBlobs() else { return nil }
    let rows = try session.run(
      PostgresStatement(
        "SELECT state FROM \(blobSchema.chunks) WHERE blob = $1 AND position = $2",
        [.int(blob.rowID), .int(Int64(position))]))
    guard rows.count > 0, !rows.isNull(0, 0) else { return nil }
    return Array(rows.bytes(0, 0))
  }
}
