// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The content of attachments that was written before the store was encrypted.
extension EncryptedEngine {
  /// Encrypts such content, in transactions of a few chunks.
  ///
  /// Content that is pinned (see ``BlobPins``) stays next to its encrypted copy, until it is collected.
  ///
  /// - Parameter didWrite: Called after each transaction, outside of it.
  func encryptBlobs(_ didWrite: () throws -> Void) throws {
    var last: Int64 = 0
    while true {
      let found = try read(.snapshot, nil) { reader in
        // Of the inner engine, since the encrypted one hides content that was encrypted before.
        try ((reader as? EncryptedReader)?.inner ?? reader).blobs(after: last, limit: 100)
      }
      guard let end = found.last?.rowID else { return }
      for blob in found where blob.sealed == nil && blob.digest != nil {
        var upload: BlobUpload?
        repeat {
          upload = try writeEncrypted { try $0.encryptChunks(of: blob, upload) }
          try didWrite()
        } while upload != nil
      }
      last = end
    }
  }
}

extension EncryptedWriter {
  /// The number of chunks that are encrypted in one transaction. Arbitrary: a few megabytes.
  private static let chunksPerTransaction = 8

  /// Encrypts the next chunks of content, and deletes what is not encrypted after the last one.
  ///
  /// - Parameters:
  ///   - blob: A record of the inner engine.
  ///   - upload: What the previous call returned; `nil` for the first one.
  /// - Returns: What another transaction is to continue; `nil` if there is nothing left to do.
  fileprivate func encryptChunks(
    of blob: BlobRecord, _ upload: BlobUpload?
  ) throws -> BlobUpload? {
    guard let digest = blob.digest, let plain = try unencrypted(blob) else {
      if let upload { try discard(upload) }
      return nil
    }
    let new = NewBlob(digest, length: plain.length, plain.lease)
    guard plain.chunkLength > 0 else {
      let exists = try writer.chunk(0, of: plain) { bytes, _ in try addBlob(new, bytes) }
      guard exists else {
        try requireDeleted(blob, missing: 0)
        return nil
      }
      _ = try writer.deleteBlobs([plain])
      return nil
    }
    let now = SystemClock().now()
    if let upload { try continueBlob(upload, touched: now) }
    // Owned by several processes: kept for a while, and collected if the encryption is interrupted.
    let lease = BlobLease(owner: "", touched: now)
    var next = try upload ?? beginBlob(chunkLength: plain.chunkLength, lease)
    let end = min(next.count + Self.chunksPerTransaction, plain.chunkCount)
    for position in next.count..<end {
      let exists = try writer.chunk(position, of: plain) { bytes, _ in
        try appendChunk(bytes, state: nil, to: &next)
      }
      guard exists else {
        try requireDeleted(blob, missing: position)
        try discard(next)
        return nil
      }
    }
    guard next.count == plain.chunkCount else { return next }
    try finishBlob(next, new)
    _ = try writer.deleteBlobs([plain])
    return nil
  }

  /// Returns a record with its current lease, which other connections change; `nil` if one of them deleted the
  /// record, because the content was encrypted or collected.
  private func unencrypted(_ blob: BlobRecord) throws -> BlobRecord? {
    guard let current = try storedRecord(blob.rowID) else { return nil }
    var expected = blob
    expected.lease = current.lease
    return current == expected ? current : nil
  }

  /// Checks that content without a chunk was deleted since its record was read, which weak isolation permits.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for damaged content, whose other bytes must remain.
  private func requireDeleted(_ blob: BlobRecord, missing position: Int) throws {
    guard try unencrypted(blob) != nil else { return }
    throw StoreError.damagedBlob(blob.digest, "chunk \(position) is missing")
  }

  private func discard(_ upload: BlobUpload) throws {
    guard let record = try storedRecord(upload.rowID), record.digest == nil else { return }
    _ = try writer.deleteBlobs([record])
  }
}
