// SPDX-License-Identifier: MIT

import CSHA256

/// Computes the SHA-256 digest of a blob as its bytes arrive, and the intermediate states that verify single chunks.
///
/// The state after a chunk is a digest of everything up to there. With the state before it, the chunk is verified
/// alone, so that a range is verified without reading the rest:
///
/// ```swift
/// var hasher = BlobHasher()
/// hasher.update(first)                                 // a multiple of 64 bytes
/// let state = hasher.state
/// var other = BlobHasher(resuming: state, after: first.count)
/// other?.update(second)
/// other?.digest()                                      // that of first + second
/// ```
package struct BlobHasher {
  /// The number of bytes that are hashed together; chunks are multiples of it.
  package static let blockLength = 64

  private var words: [UInt32]
  private var count: UInt64 = 0
  /// The bytes after the last whole block.
  private var rest: [UInt8] = []

  package init() {
    // FIPS 180-4, section 5.3.3.
    words = [
      0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB,
      0x5BE0_CD19,
    ]
    rest.reserveCapacity(2 * Self.blockLength)
  }

  /// Creates a hasher that continues after a number of bytes, a multiple of 64; `nil` for anything that is no state.
  package init?(resuming state: [UInt8], after count: Int64) {
    guard state.count == BlobDigest.length, count >= 0,
      count.isMultiple(of: Int64(Self.blockLength))
    else { return nil }
    self.init()
    self.count = UInt64(count)
    words = stride(from: 0, to: state.count, by: 4).map { index in
      state[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count += UInt64(bytes.count)
    var bytes = bytes
    if !rest.isEmpty {
      let missing = min(Self.blockLength - rest.count, bytes.count)
      rest.append(contentsOf: bytes[..<missing])
      bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
      guard rest.count == Self.blockLength else { return }
      let block = rest
      rest.removeAll(keepingCapacity: true)
      block.withUnsafeBytes { compress($0) }
    }
    let whole = bytes.count / Self.blockLength * Self.blockLength
    compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
    rest.append(contentsOf: bytes[whole...])
  }

  private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
    guard let start = blocks.baseAddress, blocks.count > 0 else { return }
    words.withUnsafeMutableBufferPointer {
      nano_sha256_blocks(
        $0.baseAddress, start.assumingMemoryBound(to: UInt8.self), blocks.count / Self.blockLength)
    }
  }

  /// The state after a multiple of 64 bytes; `nil` in between.
  package var state: [UInt8]? { rest.isEmpty ? serialized : nil }

  private var serialized: [UInt8] {
    words.map(\.bigEndian).withUnsafeBytes { Array($0) }
  }

  /// Returns the digest of all bytes so far.
  package func digest() -> BlobDigest {
    var copy = self
    let length = count &* 8
    var padding = rest
    padding.reserveCapacity(2 * Self.blockLength)
    padding.append(0x80)
    while padding.count % Self.blockLength != Self.blockLength - 8 { padding.append(0) }
    withUnsafeBytes(of: length.bigEndian) { padding.append(contentsOf: $0) }
    padding.withUnsafeBytes { copy.compress($0) }
    guard let digest = BlobDigest(copy.serialized) else { preconditionFailure("32 bytes") }
    return digest
  }

  /// Returns the digest of bytes that are in memory.
  package static func digest(of bytes: UnsafeRawBufferPointer) -> BlobDigest {
    var hasher = BlobHasher()
    hasher.update(bytes)
    return hasher.digest()
  }
}
