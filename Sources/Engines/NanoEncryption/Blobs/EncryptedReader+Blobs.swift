// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// The content of attachments is encrypted in every encrypted store, whichever collections are encrypted.
extension EncryptedReader {
  func blob(_ digest: BlobDigest) throws -> BlobRecord? {
    if let found = try encryptedBlob(digest) { return found }
    // Written before the store was encrypted.
    guard !ring.isStrict, let plain = try inner.blob(digest), plain.sealed == nil else {
      return nil
    }
    return plain
  }

  private func encryptedBlob(_ digest: BlobDigest) throws -> BlobRecord? {
    guard var found = try inner.blob(BlobHeader.identity(of: digest, ring.values)) else {
      return nil
    }
    guard try BlobHeader(found, ring).digest == digest else {
      throw StoreError.damagedBlob(digest, "its record was changed")
    }
    found.digest = digest
    return found
  }

  /// A record that does not decrypt has the digest that it is stored with: it can be deleted, but not read. Content
  /// that was encrypted since it was written has no digest and no owner, so that it is collected.
  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    try inner.blobs(after: rowID, limit: limit).map { record in
      if try isSuperseded(record) {
        return BlobRecord(
          rowID: record.rowID, digest: nil, length: 0, chunkLength: record.chunkLength,
          lease: BlobLease(owner: nil, touched: record.lease.touched))
      }
      guard record.sealed != nil, let header = try? BlobHeader(record, ring) else { return record }
      var record = record
      record.digest = header.digest
      return record
    }
  }

  /// Whether a record of the inner engine is not encrypted, and not read either, because an encrypted one has its
  /// content.
  private func isSuperseded(_ record: BlobRecord) throws -> Bool {
    guard ring.isStrict, record.sealed == nil, let digest = record.digest,
      let found = try inner.blob(BlobHeader.identity(of: digest, ring.values))
    else { return false }
    return (try? BlobHeader(found, ring))?.digest == digest
  }

  /// Returns a record as it is stored in the inner engine.
  func storedRecord(_ rowID: Int64) throws -> BlobRecord? {
    let found = try inner.blobs(after: rowID - 1, limit: 1).first
    return found?.rowID == rowID ? found : nil
  }

  /// Returns the record of the inner engine, and its header; `nil` if the record is not encrypted or does not decrypt.
  private func innerRecord(_ blob: BlobRecord) -> (record: BlobRecord, header: BlobHeader?) {
    guard blob.sealed != nil, let digest = blob.digest else { return (blob, nil) }
    var record = blob
    record.digest = BlobHeader.identity(of: digest, ring.values)
    guard let header = try? BlobHeader(record, ring) else { return (blob, nil) }
    return (record, header)
  }

  fileprivate func innerRecords(_ blobs: [BlobRecord]) throws -> [BlobRecord] {
    try blobs.map { blob in
      guard blob.digest == nil, let stored = try storedRecord(blob.rowID),
        try isSuperseded(stored)
      else { return innerRecord(blob).record }
      return stored
    }
  }

  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    guard blob.sealed != nil else { return try inner.chunk(position, of: blob, visit) }
    let header = try innerRecord(blob).header ?? BlobHeader(blob, ring)
    return try inner.chunk(position, of: blob) { sealed, _ in
      let plain = try header.cipher.open(sealed, position, of: blob)
      try plain.withUnsafeBytes { try visit($0, nil) }
    }
  }

  /// Intermediate digests of an encrypted attachment are not stored: they would reveal what it begins with.
  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    blob.sealed == nil ? try inner.chunkState(position, of: blob) : nil
  }
}

extension EncryptedWriter {
  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    let cipher = BlobCipher()
    let sealed = try cipher.seal(bytes, 0)
    try sealed.withUnsafeBytes { try writer.addBlob(try encrypted(blob, cipher), $0) }
  }

  private func encrypted(_ blob: NewBlob, _ cipher: BlobCipher) throws(StoreError) -> NewBlob {
    NewBlob(
      BlobHeader.identity(of: blob.digest, ring.values), length: blob.length, blob.lease,
      sealed: try BlobHeader(cipher, blob.digest, blob.length).sealed(ring.values))
  }

  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    var upload = try writer.beginBlob(chunkLength: chunkLength, lease)
    upload.secret = BlobCipher().bytes
    return upload
  }

  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    try writer.continueBlob(upload, touched: touched)
  }

  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {
    let sealed = try BlobCipher(upload.secret ?? []).seal(bytes, upload.count)
    try sealed.withUnsafeBytes { try writer.appendChunk($0, state: nil, to: &upload) }
  }

  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    try writer.finishBlob(upload, try encrypted(blob, BlobCipher(upload.secret ?? [])))
  }

  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    try writer.resealBlob(blob, as: digest, sealed)
  }

  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int {
    try writer.deleteBlobs(try innerRecords(blobs))
  }

  func endLeases(of blobs: [BlobRecord]) throws {
    try writer.endLeases(of: try innerRecords(blobs))
  }
}

extension EncryptedEngine {
  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    // Each lookup has a snapshot of its own. Meanwhile, another connection may encrypt plain content, and then replace
    // the keys, which a read determines: the third attempt finds what both moved.
    for _ in 0..<3 {
      let ring = keyring
      let identity = BlobHeader.identity(of: digest, ring.values)
      if let kept = try inner.keepBlob(identity, interruption) {
        return try EncryptedKeptBlob(kept, digest, ring)
      }
      try read(.call, interruption) { _ in }
      guard !keyring.isStrict else { continue }
      if let plain = try inner.keepBlob(digest, interruption), plain.record.sealed == nil {
        return plain
      }
    }
    return nil
  }
}

/// A blob that is decrypted as it is read.
private final class EncryptedKeptBlob: KeptBlob {
  let record: BlobRecord
  private let inner: any KeptBlob
  private let cipher: BlobCipher

  init(_ inner: any KeptBlob, _ digest: BlobDigest, _ ring: Keyring) throws {
    cipher = try BlobHeader(inner.record, ring).cipher
    var record = inner.record
    record.digest = digest
    self.record = record
    self.inner = inner
  }

  func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result {
    try inner.read(interruption) { try work(Reader(inner: $0, cipher: cipher)) }
  }

  func close() { inner.close() }

  private final class Reader: EngineBlobReader {
    let inner: any EngineBlobReader
    let cipher: BlobCipher

    init(inner: any EngineBlobReader, cipher: BlobCipher) {
      self.inner = inner
      self.cipher = cipher
    }

    func chunk(
      _ position: Int, of blob: BlobRecord,
      _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
    ) throws -> Bool {
      try inner.chunk(position, of: blob) { sealed, _ in
        let plain = try cipher.open(sealed, position, of: blob)
        try plain.withUnsafeBytes { try visit($0, nil) }
      }
    }
  }
}
