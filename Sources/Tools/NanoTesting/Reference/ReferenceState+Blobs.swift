// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A blob with its chunks.
struct ReferenceBlob {
  var record: BlobRecord
  var chunks: [(bytes: [UInt8], state: [UInt8]?)] = []
}

extension ReferenceReader {
  private func stored(_ blob: BlobRecord, _ position: Int) -> (bytes: [UInt8], state: [UInt8]?)? {
    guard let found = state.blobs[blob.rowID], found.chunks.indices.contains(position) else {
      return nil
    }
    return found.chunks[position]
  }

  func blob(_ digest: BlobDigest) throws -> BlobRecord? {
    state.blobs.values.first { $0.record.digest == digest }?.record
  }

  func blobs(after rowID: Int64, limit: Int) throws -> [BlobRecord] {
    state.blobs.values.map(\.record).filter { $0.rowID > rowID }.sorted { $0.rowID < $1.rowID }
      .prefix(limit).map(\.self)
  }

  func chunk(
    _ position: Int, of blob: BlobRecord,
    _ visit: (UnsafeRawBufferPointer, _ state: [UInt8]?) throws -> Void
  ) throws -> Bool {
    guard let chunk = stored(blob, position) else { return false }
    try chunk.bytes.withUnsafeBytes { try visit($0, chunk.state) }
    return true
  }

  func chunkState(_ position: Int, of blob: BlobRecord) throws -> [UInt8]? {
    stored(blob, position)?.state
  }
}

extension ReferenceWriter {
  private func newRowID() -> Int64 { (state.blobs.keys.max() ?? 0) + 1 }

  private func renew(_ rowID: Int64, _ lease: BlobLease) {
    guard let blob = state.blobs[rowID] else { return }
    state.blobs[rowID]?.record.lease = blob.record.lease.renewed(by: lease)
  }

  func addBlob(_ blob: NewBlob, _ bytes: UnsafeRawBufferPointer) throws {
    if let existing = try self.blob(blob.digest) { return renew(existing.rowID, blob.lease) }
    let rowID = newRowID()
    let record = BlobRecord(
      rowID: rowID, digest: blob.digest, length: blob.length, chunkLength: 0, lease: blob.lease,
      sealed: blob.sealed)
    state.blobs[rowID] = ReferenceBlob(record: record, chunks: [(Array(bytes), nil)])
  }

  func beginBlob(chunkLength: Int, _ lease: BlobLease) throws -> BlobUpload {
    let rowID = newRowID()
    state.blobs[rowID] = ReferenceBlob(
      record: BlobRecord(
        rowID: rowID, digest: nil, length: 0, chunkLength: chunkLength, lease: lease))
    return BlobUpload(rowID: rowID, chunkLength: chunkLength, owner: lease.owner)
  }

  private func begun(_ upload: BlobUpload) throws(StoreError) -> ReferenceBlob {
    guard let blob = state.blobs[upload.rowID], blob.record.digest == nil,
      blob.record.lease.owner == upload.owner
    else { throw StoreError.blobIsGone }
    return blob
  }

  func continueBlob(_ upload: BlobUpload, touched: Int64) throws {
    var blob = try begun(upload)
    blob.record.lease.touched = touched
    state.blobs[upload.rowID] = blob
  }

  func appendChunk(
    _ bytes: UnsafeRawBufferPointer, state: [UInt8]?, to upload: inout BlobUpload
  ) throws {
    guard upload.count < BlobUpload.maximumChunks else { throw StoreError.blobTooLarge(upload) }
    self.state.blobs[upload.rowID]?.chunks.append((Array(bytes), state))
    upload.count += 1
  }

  func finishBlob(_ upload: BlobUpload, _ blob: NewBlob) throws {
    var found = try begun(upload)
    if let existing = try self.blob(blob.digest) {
      state.blobs[upload.rowID] = nil
      return renew(existing.rowID, blob.lease)
    }
    found.record.digest = blob.digest
    found.record.length = blob.length
    found.record.lease = blob.lease
    found.record.sealed = blob.sealed
    state.blobs[upload.rowID] = found
  }

  func resealBlob(_ blob: BlobRecord, as digest: BlobDigest, _ sealed: [UInt8]) throws {
    state.blobs[blob.rowID]?.record.digest = digest
    state.blobs[blob.rowID]?.record.sealed = sealed
  }

  func deleteBlobs(_ blobs: [BlobRecord]) throws -> Int {
    let unchanged = blobs.filter { state.blobs[$0.rowID]?.record == $0 }
    for blob in unchanged { state.blobs[blob.rowID] = nil }
    return unchanged.count
  }

  func endLeases(of blobs: [BlobRecord]) throws {
    for blob in blobs where state.blobs[blob.rowID]?.record == blob {
      state.blobs[blob.rowID]?.record.lease.owner = nil
    }
  }
}

/// A blob of a state, which is a value and therefore keeps it.
final class ReferenceKeptBlob: KeptBlob {
  let record: BlobRecord
  private let read: @Sendable () throws -> ReferenceState
  private let state: ReferenceState
  private let number: UInt32

  /// - Parameter read: Fails if the engine is closed.
  init(
    _ record: BlobRecord, _ state: ReferenceState, _ number: UInt32,
    _ read: @escaping @Sendable () throws -> ReferenceState
  ) {
    self.record = record
    self.state = state
    self.number = number
    self.read = read
  }

  func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result {
    _ = try read()
    try interruption?.check()
    return try work(ReferenceReader(state, number, CancellationFlag(), SystemClock()))
  }

  func close() {}
}
