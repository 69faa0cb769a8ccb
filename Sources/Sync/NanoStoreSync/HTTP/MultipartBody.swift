// SPDX-License-Identifier: MIT

import Foundation
import NIOCore
import NanoStoreCore
import NanoSync

/// A document with its attachments as `multipart/related`, whose content is read from the store while it is sent.
struct MultipartBody: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  enum Part: Sendable {
    case bytes([UInt8])
    case content(Attachment)
  }

  private let parts: [Part]
  private let store: Store
  private let boundary: String
  let length: Int64

  /// - Parameters:
  ///   - json: The document, in which the attachments are marked with `follows`.
  ///   - attachments: In the order in which the document names them: receivers assign the parts by order.
  init(json: [UInt8], attachments: [(SyncAttachment, Attachment)], from store: Store) {
    // Random, so that content cannot contain it by chance.
    let boundary = "nanostore-" + UUID().uuidString.lowercased()
    var parts = [
      Part.bytes(Array("--\(boundary)\r\nContent-Type: application/json\r\n\r\n".utf8) + json)
    ]
    var length = Int64(0)
    for (attachment, content) in attachments {
      parts.append(.bytes(Array(Self.head(attachment, content.length, boundary).utf8)))
      parts.append(.content(content))
      length += content.length
    }
    parts.append(.bytes(Array("\r\n--\(boundary)--".utf8)))
    for case .bytes(let bytes) in parts { length += Int64(bytes.count) }
    self.parts = parts
    self.store = store
    self.boundary = boundary
    self.length = length
  }

  var contentType: String { "multipart/related; boundary=\"\(boundary)\"" }

  private static func head(
    _ attachment: SyncAttachment, _ length: Int64, _ boundary: String
  ) -> String {
    let name = attachment.name.unicodeScalars.reduce(into: "") { text, scalar in
      // Receivers ignore the name, which cannot have each character here.
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: text += "_"
      default: text.unicodeScalars.append(scalar)
      }
    }
    var head = "\r\n--\(boundary)\r\nContent-Disposition: attachment; filename=\"\(name)\"\r\n"
    let isValid = attachment.contentType.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    if isValid { head += "Content-Type: \(attachment.contentType)\r\n" }
    return head + "Content-Length: \(length)\r\n\r\n"
  }

  func makeAsyncIterator() -> Iterator { Iterator(rest: parts[...], store: store) }

  /// Reads each piece, a chunk, by itself. A stream holds a connection and a snapshot of the store, and a client whose request ended
  /// early may keep the iterator for as long as it lives.
  struct Iterator: AsyncIteratorProtocol {
    private var rest: ArraySlice<Part>
    private let store: Store
    private var current: (content: Attachment, sent: Int)?

    init(rest: ArraySlice<Part>, store: Store) {
      self.rest = rest
      self.store = store
    }

    mutating func next() async throws -> ByteBuffer? {
      while true {
        if let (content, sent) = current {
          let end = Swift.min(sent + BlobWriter.chunkLength, Int(content.length))
          if sent < end {
            current?.sent = end
            return ByteBuffer(bytes: try await store.data(of: content, in: sent..<end))
          }
          current = nil
        }
        switch rest.popFirst() {
        case .bytes(let bytes): return ByteBuffer(bytes: bytes)
        case .content(let content): current = (content, 0)
        case nil: return nil
        }
      }
    }
  }
}
