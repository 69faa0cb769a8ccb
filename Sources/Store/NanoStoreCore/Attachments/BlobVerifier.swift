// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// Reads chunks of a blob in order and verifies each before it is passed on.
///
/// A chunk is verified by the digest of everything up to its end. If reading begins in the middle, the computation
/// begins with the stored state before the first chunk. An engine that encrypts stores no states and authenticates each
/// chunk; there the digest is verified after the last one.
package struct BlobVerifier {
  package let record: BlobRecord
  /// The position of the next chunk.
  package private(set) var position: Int
  /// `nil` if chunks cannot be verified, because reading begins in the middle of a blob without states.
  private var hasher: BlobHasher?

  package init(_ record: BlobRecord, from position: Int = 0, _ reader: any EngineBlobReader) throws
  {
    self.record = record
    self.position = position
    guard position > 0 else {
      hasher = BlobHasher()
      return
    }
    if let state = try reader.chunkState(position - 1, of: record) {
      guard
        let resumed = BlobHasher(
          resuming: state, after: record.range(ofChunk: position).lowerBound)
      else { throw StoreError.damagedBlob(record.digest, "a checksum has an invalid length") }
      hasher = resumed
    }
  }

  /// Whether all chunks were read.
  package var isAtEnd: Bool { position >= record.chunkCount }

  /// Reads the next chunk and passes it to a closure if it is intact.
  ///
  /// - Throws: ``StoreError/Code/corruptFile``.
  package mutating func next(
    _ reader: any EngineBlobReader, _ visit: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var (hasher, position, record) = (hasher, position, record)
    let exists = try reader.chunk(position, of: record) { bytes, state in
      let range = record.range(ofChunk: position)
      guard bytes.count == range.count else {
        throw StoreError.damagedBlob(
          record.digest, "chunk \(position) has \(bytes.count) of \(range.count) bytes")
      }
      hasher?.update(bytes)
      let isLast = position == record.chunkCount - 1
      if let hasher {
        let isIntact =
          isLast ? hasher.digest() == record.digest : state == nil || hasher.state == state
        guard isIntact else {
          throw StoreError.damagedBlob(record.digest, "chunk \(position) was changed")
        }
      }
      try visit(bytes)
    }
    guard exists else {
      throw StoreError.damagedBlob(record.digest, "chunk \(position) is missing")
    }
    position += 1
    (self.hasher, self.position) = (hasher, position)
  }

  /// Reads the next chunk into a buffer, whose contents it replaces.
  ///
  /// - Throws: ``StoreError/Code/corruptFile``.
  mutating func next(_ reader: any EngineBlobReader, into piece: inout [UInt8]) throws {
    piece.removeAll(keepingCapacity: true)
    try next(reader) { piece.append(contentsOf: $0) }
  }
}
