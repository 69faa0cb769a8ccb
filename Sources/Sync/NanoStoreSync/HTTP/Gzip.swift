// SPDX-License-Identifier: MIT

import CZlib

/// Compression of request bodies.
enum Gzip {
  /// The size from which compression is worth its time. Smaller requests fit into one packet of a network.
  static let minimumLength = 1 << 10

  /// A window of 32 KB, and 16 for the format of gzip.
  private static let windowBits: Int32 = 15 + 16
  /// The amount of memory that zlib uses by default.
  private static let memoryLevel: Int32 = 8

  /// Returns the bytes as one gzip member; nil if they do not become smaller.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count >= minimumLength, bytes.count <= Int(UInt32.max) else { return nil }
    var stream = z_stream()
    // The fastest level: requests are sent once, mostly over networks that are slower than it.
    guard
      deflateInit2_(
        &stream, Z_BEST_SPEED, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY,
        ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var input = bytes
    let compressed = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
      input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
      }
    }
    return compressed.isEmpty ? nil : compressed
  }
}
