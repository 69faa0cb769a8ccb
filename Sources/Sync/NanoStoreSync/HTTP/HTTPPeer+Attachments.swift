// SPDX-License-Identifier: MIT

import Foundation
import NIOCore
import NIOHTTP1
import NanoDocument
package import NanoStoreCore
package import NanoSync
import Synchronization

extension HTTPPeer {
  package func attachment(
    _ attachment: WireAttachment, of id: String, revision: RevisionID, in store: Store
  ) async throws -> SyncAttachment {
    if case .data(let data) = attachment.source {
      return try await SyncAttachment(attachment, data: data, in: store)
    }
    let path = PeerURL.attachment(attachment.name, of: id)
    var call = HTTPCall(.GET, url.text(path, [("rev", "\(revision)")]))
    call.headers = ["Accept": "*/*", "Accept-Encoding": "gzip"]
    return try await connector.send(call) { answer in
      if answer.status == 404 {
        let failure = try await answer.failure()
        if failure.kind == .noDatabase { throw failure }
        throw PeerError(
          .missingAttachment, "The peer lacks the content of an attachment", status: answer.status)
      }
      guard answer.status == 200 else { throw try await answer.failure() }
      let content = AttachmentContent(answer, attachment)
      let stored = try await store.addAttachment(
        pieces: content, contentType: attachment.contentType)
      let digest = content.digest
      return SyncAttachment(
        name: attachment.name, contentType: attachment.contentType,
        generation: attachment.generation, digest: digest,
        foreignDigest: attachment.digest.flatMap { $0.hasSameBytes(as: digest) ? nil : $0 },
        length: stored.length, content: stored)
    }
  }
}

/// The content of an attachment as it arrives, which is verified at its end.
private struct AttachmentContent: AsyncSequence, Sendable {
  typealias Element = Data

  private let answer: HTTPAnswer
  private let attachment: WireAttachment
  private let result = Result()

  private final class Result: Sendable {
    let state = Mutex(State())
  }

  private struct State {
    var plain = AttachmentDigest()
    /// The digest of the bytes as they arrived, which may be compressed.
    var arrived = AttachmentDigest()
    var length = Int64(0)
  }

  init(_ answer: HTTPAnswer, _ attachment: WireAttachment) {
    self.answer = answer
    self.attachment = attachment
  }

  /// The digest of the content.
  var digest: String { result.state.withLock { $0.plain.text() } }

  private func add(_ piece: ByteBuffer) throws -> Data {
    let total = result.state.withLock { state in
      piece.withUnsafeReadableBytes { state.plain.update($0) }
      state.length += Int64(piece.readableBytes)
      return state.length
    }
    guard total <= attachment.length ?? .max else { throw differs("is longer than") }
    return Data(piece.readableBytesView)
  }

  private func verify() throws {
    let (arrived, length) = result.state.withLock { ($0.arrived.text(), $0.length) }
    guard length == attachment.length ?? length else { throw differs("is shorter than") }
    guard let expected = attachment.digest, Self.isMD5(expected) else { return }
    // CouchDB tells the digest of what it stores, which it sends as it is if that is compressed.
    if expected.hasSameBytes(as: digest) || expected.hasSameBytes(as: arrived) { return }
    guard mayBeDecompressed else { throw differs("has another digest than") }
  }

  private static func isMD5(_ digest: String) -> Bool {
    digest.utf8.starts(with: "md5-".utf8)
      && Data(base64Encoded: String(digest.dropFirst(4)))?.count == 16
  }

  /// Whether the peer or a proxy may have decompressed what is stored compressed, so that the digest cannot be verified.
  private var mayBeDecompressed: Bool {
    guard answer.headers.first(name: "Content-Encoding") == nil else { return false }
    let type = attachment.contentType.lowercased()
    return attachment.encoding != nil || answer.headers.first(name: "Accept-Ranges") == "none"
      || type.hasPrefix("text/")
      || ["javascript", "json", "xml"].contains { type.hasPrefix("application/\($0)") }
  }

  private func differs(_ how: String) -> PeerError {
    PeerError(
      .invalidAnswer, "The content of an attachment \(how) the document says", status: answer.status
    )
  }

  func makeAsyncIterator() -> Iterator { Iterator(content: self) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let content: AttachmentContent
    private var pieces: HTTPAnswer.Pieces?

    fileprivate init(content: AttachmentContent) { self.content = content }

    mutating func next() async throws -> Data? {
      var pieces = try self.pieces ?? content.pieces()
      let piece = try await pieces.next()
      self.pieces = pieces
      guard let piece else {
        try content.verify()
        return nil
      }
      return try content.add(piece)
    }
  }

  private func pieces() throws -> HTTPAnswer.Pieces {
    var pieces = try answer.pieces()
    pieces.onArrival = { [result] piece in
      result.state.withLock { state in piece.withUnsafeReadableBytes { state.arrived.update($0) } }
    }
    return pieces
  }
}
