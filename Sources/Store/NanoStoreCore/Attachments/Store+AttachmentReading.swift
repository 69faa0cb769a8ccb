// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

extension Store {
  /// In bytes. Arbitrary: the data of larger attachments grows while it is read.
  private static let largestReservation = 64 << 20

  /// Returns the content of an attachment, or a range of its bytes.
  ///
  /// - Parameter find: Finds the attachment, in the transaction that reads the content if it is small.
  func data(in wanted: Range<Int>? = nil, of find: () throws -> Attachment) throws -> Data {
    try reading(find) { record, reader in
      let end = Int(record.length)
      let range = wanted ?? 0..<end
      guard range.lowerBound >= 0 && range.upperBound <= end else {
        throw StoreError(
          .invalidArgument, "The range is not inside the attachment",
          [.limit: "\(end) bytes", .actual: "\(range)"])
      }
      // The length in a damaged row may exceed memory; it is compared with the chunks while they are read.
      var data = Data(capacity: min(range.count, Self.largestReservation))
      // An empty attachment has an empty chunk, which is verified too.
      guard !range.isEmpty || wanted == nil else { return data }
      let first = record.chunk(containing: Int64(range.lowerBound))
      var verifier = try BlobVerifier(record, from: first, reader)
      while !verifier.isAtEnd {
        let chunk = record.range(ofChunk: verifier.position)
        guard chunk.lowerBound < max(1, range.upperBound) else { break }
        try verifier.next(reader) { bytes in
          let start = max(0, range.lowerBound - Int(chunk.lowerBound))
          let stop = min(bytes.count, range.upperBound - Int(chunk.lowerBound))
          data.append(contentsOf: bytes[start..<max(start, stop)])
        }
      }
      return data
    }
  }

  /// Returns the length of the content that the store has. A document can contain any other length.
  package func storedLength(of attachment: Attachment) async throws -> Int64 {
    try await onReader { try self.reading({ attachment }) { record, _ in record.length } }
  }

  /// Runs a block with the record of an attachment and what reads its chunks.
  private func reading<Result>(
    _ find: () throws -> Attachment,
    _ work: (BlobRecord, any EngineBlobReader) throws -> Result
  ) throws -> Result {
    if let context = TransactionContext.current(of: self) {
      let record = try Self.record(Self.digest(of: find()), context.reader)
      return try work(record, context.reader)
    }
    waitForQueued()
    // A small one is read in the call that finds it, any other with bounded memory. The document may be among those that
    // are not written yet, which the call does not show.
    let known = withPending({ $0.isShown && !$0.isEmpty }) ? try find() : nil
    let (digest, small) = try engine().read(.snapshot, Interruption.current) {
      reader -> (BlobDigest, Result?) in
      let digest = try Self.digest(of: known ?? TransactionContext.reading(self, reader, find))
      let record = try Self.record(digest, reader)
      return (digest, record.chunkLength == 0 ? try work(record, reader) : nil)
    }
    if let small { return small }
    let kept = try keep(digest)
    defer { kept.close() }
    return try kept.read(Interruption.current) { try work(kept.record, $0) }
  }

  /// - Throws: ``StoreError/Code/notFound``.
  static func record(
    _ digest: BlobDigest, _ reader: any EngineBlobReader
  ) throws -> BlobRecord {
    guard let record = try reader.blob(digest) else { throw missing(digest) }
    return record
  }

  /// - Throws: ``StoreError/Code/notFound``.
  func keep(_ digest: BlobDigest) throws -> any KeptBlob {
    guard let kept = try engine().keepBlob(digest, Interruption.current) else {
      throw Self.missing(digest)
    }
    return kept
  }

  static func digest(of attachment: Attachment) throws(StoreError) -> BlobDigest {
    guard let digest = BlobDigest(text: attachment.digest) else {
      throw StoreError(
        .invalidArgument, "The digest of an attachment is not valid",
        [.expected: "sha256- and 64 hexadecimal digits", .value: attachment.digest])
    }
    return digest
  }

  private static func missing(_ digest: BlobDigest) -> StoreError {
    StoreError(
      .notFound, "The store does not have the content of an attachment",
      [
        .value: digest.text,
        .hint: "content that no document refers to is deleted when the store is compacted",
      ])
  }
}
