// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreCore
import NanoSync

/// Stores the content of attachments while it arrives.
struct AttachmentIntake {
  let store: Store
  /// The maximum length of an attachment.
  let limit: Int

  /// What is known about content before it arrives.
  struct Expectation {
    var name: String
    var contentType: String
    /// Whether the bytes are compressed with gzip.
    var isCompressed = false
    /// The length of the bytes as they are sent.
    var length: Int64?
    /// The digest of the bytes as they are sent, or of the plain ones.
    var digest: String?
    var generation = 0
  }

  /// Stores content that arrives in pieces.
  ///
  /// - Throws: ``ProtocolError`` if it is not what was expected. The content is not in the store.
  func store(
    _ expected: Expectation, _ receive: @escaping () async throws -> [UInt8]?
  ) async throws -> SyncAttachment {
    let pieces = AttachmentPieces(expected, limit: limit, receive)
    let content = try await store.addAttachment(
      pieces: pieces, contentType: expected.contentType)
    return pieces.attachment(content)
  }

  /// Stores content that is in memory.
  func store(_ expected: Expectation, _ data: Data) async throws -> SyncAttachment {
    guard data.count <= limit else { throw SyncRequestBody.tooLarge }
    var digest = AttachmentDigest()
    data.withUnsafeBytes { digest.update($0) }
    let content = try await store.addAttachment(
      .data(data), contentType: expected.contentType)
    return SyncAttachment(
      name: expected.name, contentType: expected.contentType, generation: expected.generation,
      digest: digest.text(), length: Int64(data.count), content: content)
  }

  /// Stores the attachments of a document that are in its JSON.
  ///
  /// - Parameter follows: Returns an attachment whose content is in another part of the message.
  func attachments(
    of document: WireDocument, isReplicated: Bool,
    follows: (WireAttachment, Expectation) async throws -> SyncAttachment = { attachment, _ in
      throw ProtocolError.badRequest(
        "The content of the attachment '\(attachment.name)' is missing")
    }
  ) async throws -> [SyncAttachment] {
    var attachments: [SyncAttachment] = []
    for wire in document.attachments {
      // New content has the generation of the new revision, unless another program says in which it came in.
      let generation =
        !isReplicated
        ? 0 : wire.generation > 0 ? wire.generation : document.revision?.generation ?? 1
      let expected = Expectation(
        name: wire.name, contentType: wire.contentType, isCompressed: wire.encoding == "gzip",
        digest: wire.digest, generation: generation)
      switch wire.source {
      case .stub: attachments.append(wire.stub)
      case .data(let data): attachments.append(try await store(expected, data))
      case .follows(let length):
        var expected = expected
        expected.length = length
        attachments.append(try await follows(wire, expected))
      }
    }
    return attachments
  }
}

/// The pieces of an attachment, decompressed and checked on their way to the store.
private final class AttachmentPieces: AsyncSequence, AsyncIteratorProtocol {
  typealias Element = Data
  private let expected: AttachmentIntake.Expectation
  private let limit: Int
  private let receive: () async throws -> [UInt8]?
  private var inflater: GzipInflater?
  private var sentDigest = AttachmentDigest()
  private var plainDigest = AttachmentDigest()
  private var sentLength: Int64 = 0
  private var plainLength = 0
  private var isAtEnd = false

  init(
    _ expected: AttachmentIntake.Expectation, limit: Int,
    _ receive: @escaping () async throws -> [UInt8]?
  ) {
    self.expected = expected
    self.limit = limit
    self.receive = receive
    inflater = expected.isCompressed ? GzipInflater(limit: limit) : nil
  }

  func makeAsyncIterator() -> AttachmentPieces { self }

  func next() async throws -> Data? {
    while !isAtEnd {
      guard let piece = try await receive() else {
        isAtEnd = true
        try check()
        return nil
      }
      sentLength += Int64(piece.count)
      if let length = expected.length, sentLength > length {
        throw ProtocolError.badRequest("attachment longer than expected")
      }
      piece.withUnsafeBytes { sentDigest.update($0) }
      let plain = try inflated(piece)
      guard !plain.isEmpty else { continue }
      plainLength += plain.count
      guard plainLength <= limit else { throw SyncRequestBody.tooLarge }
      return Data(plain)
    }
    return nil
  }

  private func inflated(_ piece: [UInt8]) throws -> [UInt8] {
    guard inflater != nil else { return piece }
    do {
      guard let plain = try inflater?.append(piece) else { return piece }
      plain.withUnsafeBytes { plainDigest.update($0) }
      return plain
    } catch GzipInflater.Failure.tooLong {
      throw SyncRequestBody.tooLarge
    } catch {
      throw Self.damaged
    }
  }

  private static let damaged = ProtocolError.badRequest(
    "The attachment is not properly gzipped.")

  private func check() throws {
    if let length = expected.length, sentLength != length {
      throw ProtocolError.badRequest("attachment shorter than expected")
    }
    do { try inflater?.finish() } catch { throw Self.damaged }
    // Other kinds of digests, as PouchDB 2 has them, cannot be compared.
    guard let digest = expected.digest, digest.hasPrefix("md5-"), digest.utf8.count == 28 else {
      return
    }
    guard digest == sentDigest.text() || inflater != nil && digest == plainDigest.text() else {
      // Damaged on the way: the client tries again.
      throw ProtocolError(500, "md5_mismatch", "The digest of the attachment does not match.")
    }
  }

  func attachment(_ content: Attachment) -> SyncAttachment {
    let sent = sentDigest.text()
    return SyncAttachment(
      name: expected.name, contentType: expected.contentType, generation: expected.generation,
      digest: inflater == nil ? sent : plainDigest.text(),
      foreignDigest: inflater == nil ? nil : sent, length: Int64(plainLength), content: content)
  }
}
