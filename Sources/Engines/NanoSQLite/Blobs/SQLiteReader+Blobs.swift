// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader {
  func blob(_ digest: BlobDigest) throws -> BlobRecord? {
    guard try connection.hasBlobs() else { return nil }
    return try digest.bytes.withUnsafeBytes { bytes in
      try RowDamage.naming(BlobSchema.table) {
        try connection.with(
          "SELECT \(BlobSchema.columns) FROM nano_blobs WHERE digest = ?"
        ) { row in
          try row.bind(borrowedBlob: bytes, at: 1)
          return try row.step() ? BlobSchema.record(row) : nil
        }
      }
    }
  }

  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    guard try connection.hasBlobs() else { return [] }
    return try RowDamage.naming(BlobSchema.table) {
      try connection.all(
        SQLFragment(
          "SELECT \(BlobSchema.columns) FROM nano_blobs WHERE id > ? ORDER BY id LIMIT ?",
          [.int(rowID), .int(Int64(limit))])
      ) { try BlobSchema.record($0) }
    }
  }

  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    guard position < blob.chunkCount, try connection.hasBlobs() else { return false }
    guard blob.chunkLength > 0 else {
      return try RowDamage.naming(BlobSchema.table) {
        try connection.with(
          "SELECT NULL, bytes FROM nano_blobs WHERE id = ? AND bytes IS NOT NULL"
        ) { try pass($0, blob.rowID, visit) }
      }
    }
    return try RowDamage.naming(BlobSchema.chunks) {
      try connection.with("SELECT state, bytes FROM nano_chunks WHERE id = ?") {
        try pass($0, BlobSchema.chunkID(position, of: blob.rowID), visit)
      }
    }
  }

  private func pass(
    _ row: SQLiteStatement, _ id: Int64,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    row.bind(id, at: 1)
    guard try row.step() else { return false }
    let state = row.data(0).map(Array.init)
    try visit(row.blob(1), state)
    return true
  }

  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    guard blob.chunkLength > 0, try connection.hasBlobs() else { return nil }
    // The state precedes the bytes, so that SQLite does not read those.
    return try RowDamage.naming(BlobSchema.chunks) {
      try connection.with("SELECT state FROM nano_chunks WHERE id = ?") { row in
        row.bind(BlobSchema.chunkID(position, of: blob.rowID), at: 1)
        return try row.step() ? row.data(0).map(Array.init) : nil
      }
    }
  }
}

extension SQLiteStatement {
  /// The bytes of a blob. Valid until the next step.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Binds a blob that remains valid until the statement is reset.
  func bind(borrowedBlob bytes: UnsafeRawBufferPointer, at index: Int32) throws(StoreError) {
    // Marks the parameter as bound.
    bind(0 as Int64, at: index)
    // A null pointer would bind NULL instead of no bytes.
    let code =
      bytes.isEmpty
      ? sqlite3_bind_zeroblob(handle, index, 0)
      : sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    if code != SQLITE_OK { throw failure(code) }
  }
}
