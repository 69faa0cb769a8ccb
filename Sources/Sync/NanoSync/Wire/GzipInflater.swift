// SPDX-License-Identifier: MIT

import CZlib

/// Decompresses data in the gzip format (RFC 1952) that arrives in pieces.
///
/// What the caller has not received is bounded by what a piece expands to, and by the limit.
package final class GzipInflater {
  /// The error of data that is damaged, is not in the format, or expands beyond the limit.
  package enum Failure: Error, Sendable, Hashable {
    case damaged
    case tooLong
  }

  private let stream: UnsafeMutablePointer<z_stream>
  private let limit: Int
  private var total = 0
  /// Whether a member ended with the last piece; another one may follow.
  private var isAtEnd = false

  /// A window of 32 KB, and 32 for either the format of gzip or that of zlib, which the encoding `deflate` has.
  private static let windowBits: Int32 = 15 + 32
  /// Arbitrary.
  private static let outputLength = 64 << 10

  /// - Parameter limit: The maximum length of the decompressed data.
  package init(limit: Int = .max) {
    self.limit = limit
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // Fails only without memory; the first call of inflate then reports it.
    inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Returns what the next piece expands to.
  package func append(_ piece: [UInt8]) throws(Failure) -> [UInt8] {
    guard !piece.isEmpty else { return [] }
    var (output, failure) = ([UInt8](), Failure?.none)
    var input = piece
    input.withUnsafeMutableBufferPointer { input in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(input.count)
      while failure == nil, step(&output, &failure) {}
    }
    if let failure { throw failure }
    return output
  }

  /// Decompresses up to the length of the output, and returns whether there may be more.
  private func step(_ output: inout [UInt8], _ failure: inout Failure?) -> Bool {
    if isAtEnd {
      guard stream.pointee.avail_in > 0 else { return false }
      inflateReset(stream)
      isAtEnd = false
    }
    var status = Z_OK
    let room = UInt32(Self.outputLength)
    output += [UInt8](unsafeUninitializedCapacity: Self.outputLength) { out, count in
      stream.pointee.next_out = out.baseAddress
      stream.pointee.avail_out = room
      status = inflate(stream, Z_NO_FLUSH)
      count = Int(room - stream.pointee.avail_out)
    }
    let isFull = stream.pointee.avail_out == 0
    total += Int(room - stream.pointee.avail_out)
    guard total <= limit else {
      failure = .tooLong
      return false
    }
    switch status {
    case Z_STREAM_END:
      isAtEnd = true
      return stream.pointee.avail_in > 0
    case Z_OK: return isFull || stream.pointee.avail_in > 0
    // No more can be done without input.
    case Z_BUF_ERROR: return false
    default:
      failure = .damaged
      return false
    }
  }

  /// - Throws: ``Failure/damaged`` if data is missing.
  package func finish() throws(Failure) {
    guard isAtEnd else { throw .damaged }
  }
}
