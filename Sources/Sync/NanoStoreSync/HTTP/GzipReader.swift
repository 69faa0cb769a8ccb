// SPDX-License-Identifier: MIT

import CZlib
import NIOCore
import NanoSync

/// Decompresses a body as it arrives.
///
/// This is done here and not by the client, so that the digest of compressed attachments can be verified.
final class GzipReader {
  private let stream: UnsafeMutablePointer<z_stream>
  private var isAtEnd = false

  /// A window of 32 KB, and 32 for either the format of gzip or that of zlib.
  private static let windowBits: Int32 = 15 + 32
  /// Arbitrary.
  private static let outputLength = 64 << 10

  init() throws {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = inflateInit2_(
      stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw Self.malformed }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Returns the bytes for the next compressed ones.
  ///
  /// - Throws: ``PeerError`` for bytes that are not compressed.
  func read(_ piece: ByteBuffer) throws -> ByteBuffer {
    var output = ByteBuffer()
    var input = Array(piece.readableBytesView)
    guard !input.isEmpty else { return output }
    guard !isAtEnd else { throw Self.malformed }
    try input.withUnsafeMutableBufferPointer { input in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(input.count)
      var status = Z_OK
      var isFull = false
      repeat {
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.outputLength) { out in
          let room = UInt32(clamping: out.count)
          stream.pointee.next_out = out.bindMemory(to: UInt8.self).baseAddress
          stream.pointee.avail_out = room
          status = inflate(stream, Z_NO_FLUSH)
          isFull = stream.pointee.avail_out == 0
          return Int(room - stream.pointee.avail_out)
        }
        // It is not an error that no more can be done.
        guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else { throw Self.malformed }
      } while status == Z_OK && (isFull || stream.pointee.avail_in > 0)
      isAtEnd = status == Z_STREAM_END
      guard stream.pointee.avail_in == 0 else { throw Self.malformed }
    }
    return output
  }

  /// - Throws: ``PeerError`` if compressed bytes are missing.
  func finish() throws {
    guard isAtEnd else { throw Self.malformed }
  }

  private static var malformed: PeerError {
    PeerError(.invalidAnswer, "The peer's answer is not compressed as it says")
  }
}
