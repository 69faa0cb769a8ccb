// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// Writes the content of a new attachment in transactions of bounded size, the last of which makes it visible.
///
/// Other writers wait for one of these transactions at most, and memory and write-ahead log stay small. Inside a
/// transaction of the caller, everything is written in that.
package final class BlobWriter: Sendable {
  /// The number of bytes of a chunk: the unit in which content is read and verified. Larger ones are no faster.
  package static let chunkLength = 256 << 10
  /// The maximum number of bytes of content that is stored as a single chunk. Arbitrary.
  static let wholeLength = 64 << 10
  /// The number of bytes that are written in one transaction, and the most that is in memory.
  static let batchLength = 8 * chunkLength

  private struct State {
    var buffer: [UInt8] = []
    var hasher = BlobHasher()
    /// The number of bytes in finished transactions.
    var written: Int64 = 0
    var upload: BlobUpload?
    var sealed: Sealed?
  }
  /// The content's last bytes, after all of it was passed.
  private struct Sealed {
    let digest: BlobDigest
    let states: [[UInt8]]
  }
  private let state = Mutex(State())
  private let store: Store
  private let owner = BlobOwner()

  init(_ store: Store) { self.store = store }

  deinit { owner.end() }

  /// Appends bytes, and writes them once there are enough.
  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      var rest = bytes
      while !rest.isEmpty {
        let count = min(rest.count, Self.batchLength - state.buffer.count)
        state.buffer.append(contentsOf: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        // The last batch is kept for the transaction that makes the content visible.
        if !rest.isEmpty { try writeBatch(&state) }
      }
    }
  }

  private func writeBatch(_ state: inout State) throws {
    let states = Self.hash(state.buffer, &state.hasher)
    let (buffer, before) = (state.buffer, state.upload)
    state.upload = try store.writing { writer in
      try self.upload(before, buffer, states, to: writer)
    }
    state.written += Int64(state.buffer.count)
    state.buffer.removeAll(keepingCapacity: true)
  }

  /// Returns the states after each chunk but an incomplete one.
  private static func hash(_ buffer: [UInt8], _ hasher: inout BlobHasher) -> [[UInt8]] {
    var states: [[UInt8]] = []
    eachChunk(buffer) { chunk in
      hasher.update(chunk)
      if chunk.count == chunkLength, let state = hasher.state { states.append(state) }
    }
    return states
  }

  private static func eachChunk(
    _ buffer: [UInt8], _ visit: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try buffer.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: chunkLength) {
        let end = min(bytes.count, start + chunkLength)
        try visit(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      }
    }
  }

  private func upload(
    _ upload: BlobUpload?, _ buffer: [UInt8], _ states: [[UInt8]], to writer: any EngineWriter
  ) throws -> BlobUpload {
    let now = Clock.microseconds()
    var current: BlobUpload
    if let upload {
      try writer.continueBlob(upload, touched: now)
      current = upload
    } else {
      current = try writer.beginBlob(
        chunkLength: Self.chunkLength, BlobLease(owner: owner.text, touched: now))
    }
    var index = 0
    try Self.eachChunk(buffer) { chunk in
      try writer.appendChunk(
        chunk, state: index < states.count ? states[index] : nil, to: &current)
      index += 1
    }
    return current
  }

  /// Computes the digest once all bytes were appended. Can be repeated, with the call that finishes the content.
  func seal(contentType: String) -> Attachment {
    state.withLock { state in
      var hasher = state.hasher
      let states = Self.hash(state.buffer, &hasher)
      let digest = hasher.digest()
      state.sealed = Sealed(digest: digest, states: states)
      return Attachment(
        digest: digest.text, length: state.written + Int64(state.buffer.count),
        contentType: contentType)
    }
  }

  /// Makes the sealed content visible in a transaction. Has no other effect, so it can be repeated.
  func finish(in writer: any EngineWriter, owner: String?) throws {
    try state.withLock { state in
      guard let sealed = state.sealed else { preconditionFailure("The content is not sealed") }
      let blob = NewBlob(
        sealed.digest, length: state.written + Int64(state.buffer.count),
        BlobLease(owner: owner, touched: Clock.microseconds()))
      if state.upload == nil, state.buffer.count <= Self.wholeLength {
        return try state.buffer.withUnsafeBytes { try writer.addBlob(blob, $0) }
      }
      // Written before chunks, which are deleted again, if the store has it.
      let upload = try upload(state.upload, state.buffer, sealed.states, to: writer)
      try writer.finishBlob(upload, blob)
    }
  }

  /// Deletes what was written, after a failure. What cannot be deleted now is collected later.
  func discard() {
    owner.end()
    let upload = state.withLock { state in
      defer { state.upload = nil }
      return state.upload
    }
    guard let upload else { return }
    try? store.writing { writer in
      let rows = try writer.blobs(after: upload.rowID - 1, limit: 1)
      let own = rows.filter {
        $0.rowID == upload.rowID && $0.digest == nil && $0.lease.owner == upload.owner
      }
      _ = try writer.deleteBlobs(own)
    }
  }
  /// The asynchronous form of `discard()`, which does not block the calling thread, and runs in a canceled task too.
  func discard() async { try? await store.onMaintenanceThread { self.discard() } }
}
