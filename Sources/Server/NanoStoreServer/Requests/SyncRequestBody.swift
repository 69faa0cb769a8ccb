// SPDX-License-Identifier: MIT

import NanoSync

/// The body of a request, which is received in pieces.
package struct SyncRequestBody {
  private let receive: () async throws -> [UInt8]?

  package init(_ receive: @escaping () async throws -> [UInt8]?) { self.receive = receive }

  package static var empty: SyncRequestBody { SyncRequestBody { nil } }

  package init(_ bytes: [UInt8]) {
    var rest: [UInt8]? = bytes.isEmpty ? nil : bytes
    self.init {
      defer { rest = nil }
      return rest
    }
  }

  /// Returns the next piece; nil at the end.
  package func next() async throws -> [UInt8]? { try await receive() }

  /// Returns the whole body.
  ///
  /// - Throws: ``ProtocolError`` with status 413 if it is longer than the limit.
  func collect(limit: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await receive() {
      guard bytes.count + piece.count <= limit else { throw Self.tooLarge }
      bytes += piece
    }
    return bytes
  }

  static let tooLarge = ProtocolError(413, "document_too_large", "")

  /// The body without its compression.
  ///
  /// - Parameter limit: The maximum length of the decompressed body.
  func decompressed(limit: Int) -> SyncRequestBody {
    let inflater = GzipInflater(limit: limit)
    var isFinished = false
    return SyncRequestBody {
      do {
        while !isFinished {
          guard let piece = try await receive() else {
            isFinished = true
            try inflater.finish()
            return nil
          }
          let bytes = try inflater.append(piece)
          if !bytes.isEmpty { return bytes }
        }
        return nil
      } catch GzipInflater.Failure.tooLong {
        throw Self.tooLarge
      } catch is GzipInflater.Failure {
        throw ProtocolError.badRequest("Request body is not properly gzipped.")
      }
    }
  }
}

extension SyncRequest {
  /// The body without its compression.
  ///
  /// - Throws: ``ProtocolError`` with status 415 for another compression than gzip.
  func plainBody(limit: Int) throws(ProtocolError) -> SyncRequestBody {
    switch headers[.contentEncoding]?.lowercased() {
    case nil, "", "identity": return body
    case "gzip": return body.decompressed(limit: limit)
    case let other?:
      throw ProtocolError(
        415, "bad_content_type", "\(other) is not a supported content encoding.")
    }
  }
}
