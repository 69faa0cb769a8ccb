// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteWriter {
  /// Creates the tables with the first blob. Versions of the library that do not know them would not copy the blobs.
  private func createBlobTables() throws {
    try requireFree()
    try connection.requireTransaction()
    guard try !connection.hasBlobs() else { return }
    try connection.execute(BlobSchema.create)
    try connection.raiseFormat(to: Schema.newestFormatVersion)
  }

  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    try createBlobTables()
    if let existing = try self.blob(blob.digest) { return try renew(existing, blob.lease) }
    try connection.with(
      "INSERT INTO nano_blobs(digest, length, chunk_length, owner, touched, sealed, bytes) "
        + "VALUES (?, ?, 0, ?, ?, ?, ?)"
    ) { statement in
      defer { sqlite3_clear_bindings(statement.handle) }
      try statement.bind(Data(blob.digest.bytes), at: 1)
      statement.bind(blob.length, at: 2)
      if let owner = blob.lease.owner {
        try statement.bind(owner, at: 3)
      } else {
        statement.bindNull(at: 3)
      }
      statement.bind(blob.lease.touched, at: 4)
      if let sealed = blob.sealed {
        try statement.bind(Data(sealed), at: 5)
      } else {
        statement.bindNull(at: 5)
      }
      try statement.bind(borrowedBlob: bytes, at: 6)
      try statement.run()
    }
  }

  private func renew(_ blob: BlobRecord, _ lease: BlobLease) throws {
    let renewed = blob.lease.renewed(by: lease)
    guard renewed != blob.lease else { return }
    try connection.run(
      SQLFragment(
        "UPDATE nano_blobs SET owner = ?, touched = ? WHERE id = ?",
        [renewed.owner.map { .text($0) } ?? .null, .int(renewed.touched), .int(blob.rowID)]))
  }

  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    try createBlobTables()
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_blobs(length, chunk_length, owner, touched) VALUES (0, ?, ?, ?)",
        [
          .int(Int64(chunkLength)), lease.owner.map { .text($0) } ?? .null, .int(lease.touched),
        ]))
    return BlobUpload(
      rowID: sqlite3_last_insert_rowid(connection.handle), chunkLength: chunkLength,
      owner: lease.owner)
  }

  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    try requireFree()
    try connection.requireTransaction()
    guard try connection.hasBlobs() else { throw StoreError.blobIsGone }
    try connection.run(
      SQLFragment(
        "UPDATE nano_blobs SET touched = ? WHERE id = ? AND digest IS NULL AND owner IS ?",
        [.int(touched), .int(upload.rowID), upload.owner.map { .text($0) } ?? .null]))
    guard connection.changes == 1 else { throw StoreError.blobIsGone }
  }

  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {
    try connection.requireTransaction()
    guard upload.count < BlobUpload.maximumChunks else { throw StoreError.blobTooLarge(upload) }
    try connection.with("INSERT INTO nano_chunks(id, state, bytes) VALUES (?, ?, ?)") { statement in
      defer { sqlite3_clear_bindings(statement.handle) }
      statement.bind(BlobSchema.chunkID(upload.count, of: upload.rowID), at: 1)
      if let state {
        try statement.bind(Data(state), at: 2)
      } else {
        statement.bindNull(at: 2)
      }
      try statement.bind(borrowedBlob: bytes, at: 3)
      try statement.run()
    }
    upload.count += 1
    appendedChunks = true
  }

  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    try continueBlob(upload, touched: blob.lease.touched)
    if let existing = try self.blob(blob.digest) {
      try deleteRows(of: upload.rowID)
      return try renew(existing, blob.lease)
    }
    try connection.run(
      SQLFragment(
        "UPDATE nano_blobs SET digest = ?, length = ?, owner = ?, sealed = ? WHERE id = ?",
        [
          .data(Data(blob.digest.bytes)), .int(blob.length),
          blob.lease.owner.map { .text($0) } ?? .null,
          blob.sealed.map { .data(Data($0)) } ?? .null, .int(upload.rowID),
        ]))
  }

  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    try requireFree()
    try connection.requireTransaction()
    guard try connection.hasBlobs() else { return }
    try connection.run(
      SQLFragment(
        "UPDATE nano_blobs SET digest = ?, sealed = ? WHERE id = ?",
        [.data(Data(digest.bytes)), .data(Data(sealed)), .int(blob.rowID)]))
  }

  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int {
    try requireFree()
    try connection.requireTransaction()
    var count = 0
    for blob in blobs where connection.blobPins?.contains(blob.rowID) != true {
      guard try isUnchanged(blob) else { continue }
      try deleteRows(of: blob.rowID)
      count += 1
    }
    return count
  }

  func endLeases(of blobs: [BlobRecord]) throws {
    try requireFree()
    try connection.requireTransaction()
    for blob in blobs where try isUnchanged(blob) {
      try connection.run(
        SQLFragment("UPDATE nano_blobs SET owner = NULL WHERE id = ?", [.int(blob.rowID)]))
    }
  }

  private func isUnchanged(_ blob: BlobRecord) throws -> Bool {
    guard try connection.hasBlobs() else { return false }
    let current = try connection.first(
      SQLFragment(
        "SELECT \(BlobSchema.columns) FROM nano_blobs WHERE id = ?", [.int(blob.rowID)])
    ) { try BlobSchema.record($0) }
    return current == blob
  }

  private func deleteRows(of rowID: Int64) throws {
    let chunks = BlobSchema.chunkIDs(of: rowID)
    try connection.run(
      SQLFragment(
        "DELETE FROM nano_chunks WHERE id BETWEEN ? AND ?",
        [.int(chunks.lowerBound), .int(chunks.upperBound)]))
    try connection.run(SQLFragment("DELETE FROM nano_blobs WHERE id = ?", [.int(rowID)]))
  }
}
