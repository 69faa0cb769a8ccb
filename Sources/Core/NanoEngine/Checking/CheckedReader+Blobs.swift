// SPDX-License-Identifier: MIT

import NanoDocument

/// Blobs.
extension CheckedReader {
  func blob(_ digest: BlobDigest) throws -> BlobRecord? {
    try checked { check in
      let found = try base.blob(digest)
      check.require(found == nil || found?.digest == digest, .wrongResult)
      return found
    }
  }

  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    try checked { check in
      let found = try base.blobs(after: rowID, limit: limit)
      let isSorted = zip(found, found.dropFirst()).allSatisfy { $0.rowID < $1.rowID }
      check.require(isSorted && found.allSatisfy { $0.rowID > rowID }, .notSorted)
      check.require(found.count <= limit, .beyondLimit)
      return found
    }
  }

  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    try checked { check in
      let exists = try base.chunk(position, of: blob) { bytes, state in
        try check.callerClosure { try visit(bytes, state) }
      }
      check.require(check.count == (exists ? 1 : 0), .wrongResult)
      return exists
    }
  }

  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    try checked { _ in try base.chunkState(position, of: blob) }
  }
}

extension CheckedWriter {
  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    try checked { _ in try writer.addBlob(blob, bytes) }
  }

  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    try checked { check in
      let upload = try writer.beginBlob(chunkLength: chunkLength, lease)
      check.require(upload.chunkLength == chunkLength && upload.count == 0, .wrongResult)
      return upload
    }
  }

  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    try checked { _ in try writer.continueBlob(upload, touched: touched) }
  }

  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {
    try checked { check in
      let before = upload.count
      try writer.appendChunk(bytes, state: state, to: &upload)
      check.require(upload.count == before + 1, .wrongResult)
    }
  }

  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    try checked { _ in try writer.finishBlob(upload, blob) }
  }

  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    try checked { _ in try writer.resealBlob(blob, as: digest, sealed) }
  }

  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int {
    try checked { check in
      check.requireCount(try writer.deleteBlobs(blobs), limit: blobs.count)
    }
  }

  func endLeases(of blobs: [BlobRecord]) throws {
    try checked { _ in try writer.endLeases(of: blobs) }
  }
}
