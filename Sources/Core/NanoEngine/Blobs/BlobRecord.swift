// SPDX-License-Identifier: MIT

/// What an engine knows about a blob: an immutable sequence of bytes, identified by its digest.
package struct BlobRecord: Sendable, Hashable {
  /// Identifies the row; later blobs may have the row ID of a deleted one.
  package var rowID: Int64
  /// The digest; `nil` as long as the blob is being written, in which case it cannot be read.
  package var digest: BlobDigest?
  /// The number of bytes; of a blob that is being written, 0.
  package var length: Int64
  /// The number of bytes of each chunk except the last; 0 if the blob is a single chunk.
  package var chunkLength: Int
  package var lease: BlobLease
  /// Data of an engine that encrypts blobs.
  package var sealed: [UInt8]?

  package init(
    rowID: Int64, digest: BlobDigest?, length: Int64, chunkLength: Int, lease: BlobLease,
    sealed: [UInt8]? = nil
  ) {
    self.rowID = rowID
    self.digest = digest
    self.length = length
    self.chunkLength = chunkLength
    self.lease = lease
    self.sealed = sealed
  }

  /// Whether a row may have these values. Other programs and damage can write any, and sums with others overflow.
  package static func isPossible(length: Int64, chunkLength: Int64) -> Bool {
    length >= 0 && (0...Int64(Int32.max)).contains(chunkLength)
      && (chunkLength == 0 || length <= chunkLength * Int64(BlobUpload.maximumChunks))
  }

  /// The number of chunks. An empty blob is one empty chunk.
  package var chunkCount: Int {
    guard chunkLength > 0 else { return 1 }
    return max(1, Int((length + Int64(chunkLength) - 1) / Int64(chunkLength)))
  }

  /// Returns the range of bytes of a chunk.
  package func range(ofChunk position: Int) -> Range<Int64> {
    guard chunkLength > 0 else { return 0..<length }
    let start = Int64(position) * Int64(chunkLength)
    return start..<min(length, start + Int64(chunkLength))
  }

  /// Returns the position of the chunk that contains a byte.
  package func chunk(containing offset: Int64) -> Int {
    chunkLength > 0 ? Int(offset / Int64(chunkLength)) : 0
  }
}

/// What an engine stores about a new blob.
package struct NewBlob: Sendable {
  package var digest: BlobDigest
  /// The number of bytes, which is that of the caller, also if an engine that encrypts stores more.
  package var length: Int64
  package var lease: BlobLease
  /// Data of an engine that encrypts blobs.
  package var sealed: [UInt8]?

  package init(
    _ digest: BlobDigest, length: Int64, _ lease: BlobLease, sealed: [UInt8]? = nil
  ) {
    self.digest = digest
    self.length = length
    self.lease = lease
    self.sealed = sealed
  }
}

/// What protects a blob that no document refers to yet.
package struct BlobLease: Sendable, Hashable {
  /// The process that will refer to it; `nil` if it is collected as soon as no document refers to it. An empty text
  /// represents several owners.
  package var owner: String?
  /// The time of the last write, in microseconds since 1970.
  package var touched: Int64

  package init(owner: String?, touched: Int64) {
    self.owner = owner
    self.touched = touched
  }

  /// Returns the lease of an existing blob after it was added again.
  package func renewed(by other: BlobLease) -> BlobLease {
    guard let owner = other.owner else { return self }
    let isSame = self.owner == nil || self.owner == owner
    return BlobLease(owner: isSame ? owner : "", touched: max(touched, other.touched))
  }
}

/// A blob that is being written in several transactions. Its rows are not visible as a blob before it is finished.
package struct BlobUpload: Sendable {
  package let rowID: Int64
  package let chunkLength: Int
  /// The owner of its lease. Another upload may have the row ID of a deleted one.
  package let owner: String?
  /// The number of chunks that were appended.
  package var count = 0
  /// The secret of an engine that encrypts blobs.
  package var secret: [UInt8]?

  package init(rowID: Int64, chunkLength: Int, owner: String?, secret: [UInt8]? = nil) {
    self.rowID = rowID
    self.chunkLength = chunkLength
    self.owner = owner
    self.secret = secret
  }

  /// The maximum number of chunks, on every engine. A blob of chunks of 256 KiB has at most 256 GiB.
  package static let maximumChunks = 1 << 20
}
