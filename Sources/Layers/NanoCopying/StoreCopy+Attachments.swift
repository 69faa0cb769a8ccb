// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// The content of attachments.
extension StoreCopy {
  /// The name of attachments among definitions.
  static let attachmentsName = "attachments"

  /// The number of chunks in one transaction. Arbitrary: a few megabytes.
  private static let chunksPerTransaction = 8

  /// Copies content that documents refer to and the target lacks. Equal content has an equal digest, so that what an
  /// earlier copy wrote is not written again.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for content that is damaged, or in a record that does not decrypt.
  func copyAttachments() throws {
    guard try !source.blobs(after: 0, limit: 1).isEmpty else { return }
    let marks = try BlobMarks(source)
    var last: Int64 = 0
    while true {
      let blobs = try source.blobs(after: last, limit: 1_000)
      guard let end = blobs.last?.rowID else { break }
      for blob in blobs {
        guard let digest = blob.digest, marks.digests.contains(digest),
          try target.read(.call, nil, { try $0.blob(digest) }) == nil
        else { continue }
        guard try isSupported() else { return }
        try copy(blob, digest)
        try reportProgress()
      }
      last = end
    }
    for digest in try marks.unreadable(in: source)
    where try target.read(.call, nil, { try $0.blob(digest) }) == nil {
      guard try isSupported() else { return }
      throw StoreError.damagedBlob(digest, "its key does not decrypt")
    }
  }

  private func isSupported() throws -> Bool {
    guard !target.capabilities.contains(.blobs) else { return true }
    guard options.skippingUnsupported else { throw StoreError.blobsUnsupported }
    omit(Self.attachmentsName, of: "", .blobsUnsupported)
    return false
  }

  /// - Throws: ``StoreError/Code/corruptFile`` for content that is damaged.
  private func copy(_ blob: BlobRecord, _ digest: BlobDigest) throws {
    var verifier = try BlobVerifier(blob, source)
    let new = NewBlob(
      digest, length: blob.length, BlobLease(owner: nil, touched: Clock.microseconds()))
    guard blob.chunkLength > 0 else {
      return try verifier.next(source) { bytes in
        try target.write(nil) { try $0.addBlob(new, bytes) }
      }
    }
    let owner = BlobOwner()
    defer { owner.end() }
    var upload: BlobUpload?
    var hasher = BlobHasher()
    while !verifier.isAtEnd {
      upload = try target.write(nil) { writer in
        let now = Clock.microseconds()
        if let upload { try writer.continueBlob(upload, touched: now) }
        var next =
          try upload
          ?? writer.beginBlob(
            chunkLength: blob.chunkLength, BlobLease(owner: owner.text, touched: now))
        for _ in 0..<Self.chunksPerTransaction where !verifier.isAtEnd {
          try verifier.next(source) { bytes in
            hasher.update(bytes)
            try writer.appendChunk(bytes, state: hasher.state, to: &next)
          }
        }
        if verifier.isAtEnd { try writer.finishBlob(next, new) }
        return next
      }
    }
  }
}
