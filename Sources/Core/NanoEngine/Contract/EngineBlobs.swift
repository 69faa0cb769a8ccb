// SPDX-License-Identifier: MIT

package import NanoDocument

/// The blobs of a snapshot, for engines with ``Capabilities/blobs``.
package protocol EngineBlobReader: AnyObject {
  /// Returns the blob with a digest; `nil` if there is none.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for a record that is damaged.
  func blob(_ digest: BlobDigest) throws -> BlobRecord?
  /// Returns the records after a row ID, sorted by row ID, at most `limit`, including those of blobs that are being
  /// written.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for a record that is damaged.
  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord]
  /// Passes a chunk to the closure, with the state of ``BlobHasher`` after it if that is stored.
  ///
  /// - Returns: Whether the chunk exists.
  /// - Throws: ``StoreError/Code/corruptFile`` for a chunk that does not decrypt.
  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool
  /// Returns the stored state after a chunk, without reading the chunk; `nil` if none is stored.
  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]?
}

/// Blobs in a transaction, for engines with ``Capabilities/blobs``.
///
/// A blob is either added as a whole, or begun, appended to in any number of transactions, and finished. The engine
/// stores the digest that the caller specifies; readers verify it.
package protocol EngineBlobWriter: AnyObject {
  /// Adds a blob as a single chunk. If one with the digest exists, renews its lease instead.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` without ``Capabilities/blobs``.
  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws
  /// Begins a blob.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` without ``Capabilities/blobs``.
  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload
  /// Extends the lease of a blob that was begun, at the beginning of each later transaction that appends to it.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if it was deleted, also if its row ID is that of another blob.
  func continueBlob(_ upload: BlobUpload, touched: Int64) throws
  /// Appends a chunk to a blob that was begun.
  ///
  /// - Throws: ``StoreError/Code/documentTooLarge`` beyond ``BlobUpload/maximumChunks``.
  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws
  /// Makes a blob visible under its digest. If one with the digest exists, renews its lease and deletes what was
  /// appended.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if it was deleted.
  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws
  /// Changes the digest of a stored blob, and the data that an encrypting engine has stored with it.
  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws
  /// Deletes blobs, with their chunks, unless their lease has changed or this process reads them, and returns their
  /// number. Readers keep what is in their snapshot.
  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int
  /// Removes the owner from the leases of blobs that documents refer to, unless they have changed.
  func endLeases(of blobs: [BlobRecord]) throws
}

extension EngineBlobReader {
  package func blob(_ digest: BlobDigest) throws -> BlobRecord? { nil }
  package func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] { [] }
  package func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool { false }
  package func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? { nil }
}

extension EngineBlobWriter {
  package func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    throw StoreError.blobsUnsupported
  }
  package func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    throw StoreError.blobsUnsupported
  }
  package func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    throw StoreError.blobIsGone
  }
  package func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {}
  package func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    throw StoreError.blobIsGone
  }
  package func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {}
  package func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int { 0 }
  package func endLeases(of blobs: [BlobRecord]) throws {}
}

extension Engine {
  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? { nil }
}

extension StoreError {
  package static let blobsUnsupported = StoreError(
    .unsupported, "The engine does not store attachments", [.capability: "blobs"])

  package static let blobIsGone = StoreError(
    .notFound, "An unfinished attachment was removed while it was being written",
    [.hint: "attach it again; 'compact' removes what was not written to for a long time"])

  /// The error of a blob with too many chunks.
  package static func blobTooLarge(_ upload: BlobUpload) -> StoreError {
    StoreError(
      .documentTooLarge, "An attachment is too large",
      [.limit: "\(BlobUpload.maximumChunks * upload.chunkLength) bytes"])
  }

  /// The error of a blob whose bytes are not those that its digest identifies.
  package static func damagedBlob(_ digest: BlobDigest?, _ reason: String) -> StoreError {
    StoreError(
      .corruptFile, "The content of an attachment is damaged",
      [.actual: reason, .value: digest?.text ?? "unfinished"])
  }
}
