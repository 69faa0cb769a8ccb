// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The tables of attachments, which exist once the store has had one.
///
/// A blob of a single chunk has its bytes in its own row, so that a small one costs a single insertion. Chunks are rows
/// of one tree in which those of a blob are adjacent: the position is the lower 20 bits of the ID, and the row ID of
/// the blob the others. A second index, or a table without row IDs, would cost more than it is worth for rows of this
/// size.
enum BlobSchema {
  static let table = "nano_blobs"
  static let chunks = "nano_chunks"

  static let create = """
    CREATE TABLE IF NOT EXISTS nano_blobs (
      id INTEGER PRIMARY KEY,
      digest BLOB,
      length INTEGER NOT NULL,
      chunk_length INTEGER NOT NULL,
      owner TEXT,
      touched INTEGER NOT NULL,
      sealed BLOB,
      bytes BLOB
    );
    CREATE UNIQUE INDEX IF NOT EXISTS nano_blobs_digest ON nano_blobs(digest);
    CREATE TABLE IF NOT EXISTS nano_chunks (
      id INTEGER PRIMARY KEY,
      state BLOB,
      bytes BLOB NOT NULL
    );
    """

  /// The columns of ``record(_:)``.
  static let columns = "id, digest, length, chunk_length, owner, touched, sealed"

  private static let positionBits: Int64 = 20

  static func chunkID(_ position: Int, of rowID: Int64) -> Int64 {
    rowID << positionBits | Int64(position)
  }

  /// The IDs of all chunks of a blob.
  static func chunkIDs(of rowID: Int64) -> ClosedRange<Int64> {
    chunkID(0, of: rowID)...chunkID(BlobUpload.maximumChunks - 1, of: rowID)
  }

  /// Returns the row ID of the blob that a chunk belongs to, and its position.
  static func parts(ofChunk id: Int64) -> (rowID: Int64, position: Int) {
    (id >> positionBits, Int(id & (1 << positionBits - 1)))
  }

  /// Reads the columns ``columns``.
  static func record(_ row: SQLiteStatement) throws(StoreError) -> BlobRecord {
    let digest = row.data(1)
    guard let record = record(row, digest.map(Array.init)) else {
      throw RowDamage.error(
        table, column: "digest, length, chunk_length", collection: nil, expected: "a blob",
        actual: .int(row.int(0)))
    }
    return record
  }

  private static func record(_ row: SQLiteStatement, _ bytes: [UInt8]?) -> BlobRecord? {
    let digest = bytes.flatMap { BlobDigest($0) }
    let (length, chunkLength) = (row.int(2), row.int(3))
    guard (digest == nil) == (bytes == nil),
      BlobRecord.isPossible(length: length, chunkLength: chunkLength)
    else { return nil }
    return BlobRecord(
      rowID: row.int(0), digest: digest, length: length, chunkLength: Int(chunkLength),
      lease: BlobLease(owner: row.text(4), touched: row.int(5)),
      sealed: row.data(6).map(Array.init))
  }
}

extension SQLiteConnection {
  /// Whether the file has the tables of attachments. Most files do not.
  func hasBlobs() throws -> Bool {
    if knowsBlobTables { return true }
    guard try hasTable(BlobSchema.chunks) else { return false }
    guard try hasTable(BlobSchema.table) else { throw SQLiteErrors.missing(BlobSchema.table) }
    knowsBlobTables = true
    return true
  }

  /// Makes versions of the library that do not know a feature of the file reject it.
  func raiseFormat(to version: Int64) throws {
    let current = try first(SQLFragment("PRAGMA user_version")) { $0.int(0) } ?? 0
    if current < version { try execute("PRAGMA user_version = \(version)") }
  }
}
