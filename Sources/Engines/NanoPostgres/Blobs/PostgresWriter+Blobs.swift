// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresWriter {
  /// Creates the tables with the first blob. Versions of the library that do not know them would not copy the blobs.
  private func createBlobTables() throws {
    noteWrite()
    guard try !hasBlobs() else { return }
    _ = try session.run(blobSchema.definitions)
    knowsBlobTables = true
  }

  /// Makes transactions that add blobs with the same digest wait for each other: a violation of the unique index would
  /// abort one of them.
  private func lock(_ digest: BlobDigest) throws {
    _ = try session.run(
      PostgresStatement(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        [.text("nanostore.blob.\(names.schema).\(digest.text)")]))
  }

  /// Renews the lease of the blob with a digest, and returns whether there is one. Its row is locked, so that it is not
  /// deleted before the end of the transaction.
  private func renew(_ digest: BlobDigest, _ lease: BlobLease) throws -> Bool {
    let rows = try session.run(
      PostgresStatement(
        "SELECT \(PostgresBlobSchema.columns) FROM \(blobSchema.blobs) WHERE digest = $1 FOR UPDATE",
        [.bytes(digest.bytes)]))
    guard rows.count > 0 else { return false }
    let record = try PostgresBlobSchema.record(rows, 0)
    let renewed = record.lease.renewed(by: lease)
    guard renewed != record.lease else { return true }
    _ = try session.run(
      PostgresStatement(
        "UPDATE \(blobSchema.blobs) SET owner = $2, touched = $3 WHERE id = $1",
        [.int(record.rowID), value(renewed.owner), .int(renewed.touched)]))
    return true
  }

  private func value(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null }
  private func value(_ bytes: [UInt8]?) -> PostgresValue { bytes.map { .bytes($0) } ?? .null }

  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    try createBlobTables()
    try lock(blob.digest)
    guard try !renew(blob.digest, blob.lease) else { return }
    _ = try session.run(
      PostgresStatement(
        """
        INSERT INTO \(blobSchema.blobs) (digest, length, chunk_length, owner, touched, sealed, bytes) \
        VALUES ($1, $2, 0, $3, $4, $5, $6)
        """,
        [
          .bytes(blob.digest.bytes), .int(blob.length), value(blob.lease.owner),
          .int(blob.lease.touched), value(blob.sealed), .bytes(Array(bytes)),
        ]))
  }

  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    try createBlobTables()
    let rows = try session.run(
      PostgresStatement(
        """
        INSERT INTO \(blobSchema.blobs) (length, chunk_length, owner, touched) \
        VALUES (0, $1, $2, $3) RETURNING id
        """, [.int(Int64(chunkLength)), value(lease.owner), .int(lease.touched)]))
    return BlobUpload(rowID: rows.int(0, 0), chunkLength: chunkLength, owner: lease.owner)
  }

  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    guard try hasBlobs() else { throw StoreError.blobIsGone }
    noteWrite()
    let rows = try session.run(
      PostgresStatement(
        """
        UPDATE \(blobSchema.blobs) SET touched = $2 \
        WHERE id = $1 AND digest IS NULL AND owner IS NOT DISTINCT FROM $3
        """, [.int(upload.rowID), .int(touched), value(upload.owner)]))
    guard rows.changes == 1 else { throw StoreError.blobIsGone }
  }

  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {
    guard upload.count < BlobUpload.maximumChunks else { throw StoreError.blobTooLarge(upload) }
    noteWrite()
    _ = try session.run(
      PostgresStatement(
        "INSERT INTO \(blobSchema.chunks) (blob, position, state, bytes) VALUES ($1, $2, $3, $4)",
        [
          .int(upload.rowID), .int(Int64(upload.count)), value(state), .bytes(Array(bytes)),
        ]))
    upload.count += 1
  }

  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    try continueBlob(upload, touched: blob.lease.touched)
    try lock(blob.digest)
    guard try !renew(blob.digest, blob.lease) else { return try deleteRows(of: upload.rowID) }
    _ = try session.run(
      PostgresStatement(
        """
        UPDATE \(blobSchema.blobs) SET digest = $2, length = $3, owner = $4, sealed = $5 \
        WHERE id = $1
        """,
        [
          .int(upload.rowID), .bytes(blob.digest.bytes), .int(blob.length),
          value(blob.lease.owner), value(blob.sealed),
        ]))
  }

  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    guard try hasBlobs() else { return }
    noteWrite()
    _ = try session.run(
      PostgresStatement(
        "UPDATE \(blobSchema.blobs) SET digest = $2, sealed = $3 WHERE id = $1",
        [.int(blob.rowID), .bytes(digest.bytes), .bytes(sealed)]))
  }

  /// The condition that a blob is as its record, whose parameters begin with `$1`.
  private static let isUnchanged = """
    id = $1 AND touched = $2 AND owner IS NOT DISTINCT FROM $3 AND digest IS NOT DISTINCT FROM $4
    """

  private func parameters(_ blob: BlobRecord) -> [PostgresValue] {
    [
      .int(blob.rowID), .int(blob.lease.touched), value(blob.lease.owner),
      value(blob.digest?.bytes),
    ]
  }

  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int {
    guard try !blobs.isEmpty && hasBlobs() else { return 0 }
    noteWrite()
    var count = 0
    for blob in blobs {
      let rows = try session.run(
        PostgresStatement(
          "DELETE FROM \(blobSchema.blobs) WHERE \(Self.isUnchanged)", parameters(blob)))
      guard rows.changes == 1 else { continue }
      try deleteRows(of: blob.rowID)
      count += 1
    }
    return count
  }

  func endLeases(of blobs: [BlobRecord]) throws {
    guard try !blobs.isEmpty && hasBlobs() else { return }
    noteWrite()
    for blob in blobs {
      _ = try session.run(
        PostgresStatement(
          "UPDATE \(blobSchema.blobs) SET owner = NULL WHERE \(Self.isUnchanged)",
          parameters(blob)))
    }
  }

  private func deleteRows(of rowID: Int64) throws {
    _ = try session.run([
      PostgresStatement("DELETE FROM \(blobSchema.chunks) WHERE blob = $1", [.int(rowID)]),
      PostgresStatement("DELETE FROM \(blobSchema.blobs) WHERE id = $1", [.int(rowID)]),
    ])
  }
}
