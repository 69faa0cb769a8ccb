// SPDX-License-Identifier: MIT

import NIOCore
import NanoSync

/// Decompresses a body as it arrives.
///
/// This is done here and not by the client, so that the digest of compressed attachments can be verified.
final class GzipReader {
  private let inflater = GzipInflater()

  /// Returns the bytes for the next compressed ones.
  ///
  /// - Throws: ``PeerError`` for bytes that are not compressed.
  func read(_ piece: ByteBuffer) throws -> ByteBuffer {
    do throws(GzipInflater.Failure) {
      return ByteBuffer(bytes: try inflater.append(Array(piece.readableBytesView)))
    } catch {
      throw Self.malformed
    }
  }

  /// - Throws: ``PeerError`` if compressed bytes are missing.
  func finish() throws {
    do throws(GzipInflater.Failure) { try inflater.finish() } catch { throw Self.malformed }
  }

  private static var malformed: PeerError {
    PeerError(.invalidAnswer, "The peer's answer is not compressed as it says")
  }
}
