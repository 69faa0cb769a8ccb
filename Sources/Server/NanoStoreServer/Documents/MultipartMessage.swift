// SPDX-License-Identifier: MIT

import HTTPTypes
import NanoDocument
import NanoStoreCore
import NanoSync

/// A multipart message that is written piece by piece; its length is known beforehand.
struct MultipartMessage: Sendable {
  private enum Segment: Sendable {
    case bytes([UInt8])
    case content(Attachment)
  }
  private var segments: [Segment] = []
  private(set) var length = 0
  let boundary: String

  /// - Parameter boundary: That of the message of which this is a piece.
  init(boundary: String = RandomID.text()) { self.boundary = boundary }

  private mutating func append(_ text: String) { append(Array(text.utf8)) }

  private mutating func append(_ bytes: [UInt8]) {
    length += bytes.count
    if case .bytes(let last)? = segments.last, last.count < 4_096 {
      segments[segments.count - 1] = .bytes(last + bytes)
    } else {
      segments.append(.bytes(bytes))
    }
  }

  private mutating func append(_ attachment: Attachment) {
    length += Int(attachment.length)
    segments.append(.content(attachment))
  }

  /// Appends a part with JSON.
  mutating func append(json: [UInt8], parameters: String = "", headers: [(String, String)] = []) {
    open(headers)
    append("Content-Type: application/json\(parameters)\r\n\r\n")
    append(json)
    append("\r\n")
  }

  private mutating func open(_ headers: [(String, String)]) {
    append("--\(boundary)\r\n")
    for (name, value) in headers { append("\(name): \(value)\r\n") }
  }

  /// Appends a revision with the content of attachments, as a message inside this one.
  mutating func append(
    json: [UInt8], attachments: [SyncAttachment], headers: [(String, String)] = []
  ) {
    var inner = MultipartMessage()
    inner.append(json: json)
    inner.append(attachments)
    inner.close()
    open(headers)
    append("Content-Type: multipart/related; boundary=\"\(inner.boundary)\"\r\n\r\n")
    segments += inner.segments
    length += inner.length
    append("\r\n")
  }

  /// Appends the content of attachments, each as a part.
  mutating func append(_ attachments: [SyncAttachment]) {
    for attachment in attachments {
      guard let content = attachment.content else { continue }
      open([
        ("Content-Disposition", "attachment; filename=\"\(attachment.name.quotedHeaderText)\""),
        ("Content-Type", attachment.contentType.headerText),
        ("Content-Length", "\(content.length)"),
      ])
      append("\r\n")
      append(content)
      append("\r\n")
    }
  }

  mutating func close() { append("--\(boundary)--") }

  func write(from store: Store, _ write: SyncResponse.Stream.Write) async throws {
    for segment in segments {
      switch segment {
      case .bytes(let bytes): try await write(bytes)
      case .content(let attachment):
        try await ByteRanges.write(0..<Int(attachment.length), of: attachment, in: store, write)
      }
    }
  }
}

extension String {
  /// The text without characters that would end a header.
  var headerText: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }))
  }

  /// The text without characters that would end a header, or a quoted name in it.
  var quotedHeaderText: String {
    String(String.UnicodeScalarView(headerText.unicodeScalars.map { $0 == "\"" ? "_" : $0 }))
  }
}

extension SyncHandler {
  /// Responds with a revision and the content of its attachments.
  func multipartRelated(
    _ document: SyncDocument, _ revisions: DocumentRevisions, _ content: DocumentContent,
    _ access: Access, _ headers: HTTPFields
  ) -> SyncResponse {
    let attachments = content.attachmentsToSend(document)
    var message = MultipartMessage()
    message.append(
      json: document.json(
        content.options(
          document, revisions, attachments: .follows(Set(attachments.map { ExactName($0.name) })))))
    message.append(attachments)
    message.close()
    return response(message, "related", access, headers)
  }

  /// Responds with several revisions, each with the content of its attachments.
  func multipartMixed(
    _ results: [(document: SyncDocument?, text: String)], _ revisions: DocumentRevisions?,
    _ content: DocumentContent, _ access: Access
  ) -> SyncResponse {
    var message = MultipartMessage()
    for (document, text) in results {
      if let document, let revisions {
        message.append(document, revisions, content)
      } else {
        message.append(
          json: SyncJSON.bytes(["missing": .string(text)] as DocumentObject),
          parameters: "; error=\"true\"")
      }
    }
    message.close()
    return response(message, "mixed", access, [:])
  }

  func response(
    _ message: MultipartMessage, _ kind: String, _ access: Access, _ headers: HTTPFields
  ) -> SyncResponse {
    let store = access.served.store
    return .stream(
      contentType: "multipart/\(kind); boundary=\"\(message.boundary)\"", length: message.length,
      headers: headers
    ) { write in
      try await message.write(from: store, write)
    }
  }
}

extension MultipartMessage {
  /// Appends a revision, with the content of the attachments that the client lacks.
  mutating func append(
    _ document: SyncDocument, _ revisions: DocumentRevisions, _ content: DocumentContent,
    headers: [(String, String)] = []
  ) {
    let attachments = content.attachmentsToSend(document)
    // CouchDB's replicator would wait for parts of a message without any.
    guard !attachments.isEmpty else {
      append(json: document.json(content.options(document, revisions)), headers: headers)
      return
    }
    append(
      json: document.json(
        content.options(
          document, revisions, attachments: .follows(Set(attachments.map { ExactName($0.name) })))),
      attachments: attachments, headers: headers)
  }
}
