// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import NanoDocument
import NanoStoreCore
import NanoSync

// Attachments on their own.
extension SyncHandler {
  func attachment(
    _ name: String, of id: String, _ access: Access
  ) async throws -> SyncResponse {
    switch access.request.verb {
    case "GET": return try await readAttachment(name, of: id, access)
    case "PUT": return try await putAttachment(name, of: id, access)
    case "DELETE": return try await deleteAttachment(name, of: id, access)
    default: throw MethodNotAllowed.error(["DELETE", "GET", "PUT"])
    }
  }

  private func readAttachment(
    _ name: String, of id: String, _ access: Access
  ) async throws -> SyncResponse {
    guard let revisions = try await access.served.revisions(of: id) else {
      throw ProtocolError.missing
    }
    var document = try Self.document(try access.request.revision(), isLatest: false, revisions)
    guard access.visibility.allows(document) else { throw ProtocolError.missing }
    document = try await access.served.restoringAttachments(of: document)
    guard let attachment = document.attachments.first(where: { $0.name.hasSameBytes(as: name) }),
      let content = attachment.content
    else { throw ProtocolError.missingAttachment }
    let tag = "\"\(attachment.digest.replacing("md5-", with: "", maxReplacements: 1))\""
    if access.request.hasCopy(tag) { return .notModified(tag) }
    var headers: HTTPFields = [:]
    headers[.eTag] = tag
    headers[.acceptRanges] = "bytes"
    // An attachment that is a page must not act as a page of this server.
    headers[.contentSecurityPolicy] = "sandbox"
    headers[.xContentTypeOptions] = "nosniff"
    let length = Int(content.length)
    let type = attachment.contentType.headerText
    let store = access.served.store
    let ranges = try ByteRanges.ranges(access.request.range(of: tag), of: length)
    guard let ranges, access.request.method == "GET" else {
      let short = access.request.method == "GET" ? try await Self.short(content, in: store) : nil
      return .stream(contentType: type, length: length, headers: headers) { write in
        if let short { return try await write(Array(short)) }
        // In pieces, each read on its own: a stream would occupy a connection of the store for as long as the client reads.
        try await ByteRanges.write(0..<length, of: content, in: store, write)
      }
    }
    if ranges.count == 1 {
      let range = ranges[0]
      headers[.contentRange] = ByteRanges.header(range, of: length)
      return .stream(status: 206, contentType: type, length: range.count, headers: headers) {
        write in
        try await ByteRanges.write(range, of: content, in: store, write)
      }
    }
    let boundary = RandomID.text()
    return .stream(status: 206, contentType: "multipart/byteranges; boundary=\"\(boundary)\"") {
      write in
      for range in ranges {
        let head =
          "--\(boundary)\r\nContent-Type: \(type)\r\n"
          + "Content-Range: \(ByteRanges.header(range, of: length))\r\n\r\n"
        try await write(Array(head.utf8))
        try await ByteRanges.write(range, of: content, in: store, write)
        try await write(Array("\r\n".utf8))
      }
      try await write(Array("--\(boundary)--".utf8))
    }
  }

  /// Returns the whole content if it is short; nil if it is long and its first chunk can be read.
  ///
  /// A client takes a response that breaks off for a failure of the network, and repeats the request forever.
  ///
  /// - Throws: ``ProtocolError/missingAttachment`` if it is damaged, or gone since the document was read.
  private static func short(_ content: Attachment, in store: Store) async throws -> Data? {
    do {
      if content.length <= ByteRanges.pieceLength { return try await store.data(of: content) }
      _ = try await store.data(of: content, in: 0..<1)
      return nil
    } catch let error as StoreError where error.concernsContent {
      throw ProtocolError.missingAttachment
    }
  }

  private func putAttachment(
    _ name: String, of id: String, _ access: Access
  ) async throws -> SyncResponse {
    try access.requireWriting()
    try WireAttachment.check(name: name)
    try WireDocument.check(id: id)
    let request = access.request
    let parent = try request.namedRevision()
    // Before the content arrives, which may be long.
    let before = try await editable(id, parent, access)
    let encoding = request.headers[.contentEncoding]?.lowercased()
    guard encoding == nil || encoding == "gzip" || encoding == "identity" else {
      throw ProtocolError(
        415, "bad_content_type", "\(encoding ?? "") is not a supported content encoding.")
    }
    let intake = AttachmentIntake(
      store: access.served.store, limit: configuration.maximumAttachment)
    let attachment = try await intake.store(
      AttachmentIntake.Expectation(
        name: name,
        contentType: request.headers[.contentType] ?? Attachment.unknownContentType,
        isCompressed: encoding == "gzip")
    ) { try await request.body.next() }
    var edit = DocumentEdit(
      id: id, parent: before?.revision, body: before?.body ?? [:],
      attachments: before?.attachments ?? [])
    if let index = edit.attachments.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
      edit.attachments[index] = attachment
    } else {
      edit.attachments.append(attachment)
    }
    let revision = try await self.edit(edit, access)
    var headers: HTTPFields = [:]
    headers[.location] = request.location([access.served.name, id, name])
    return .json(Self.outcome(id, revision), status: 201, headers: headers)
  }

  private func deleteAttachment(
    _ name: String, of id: String, _ access: Access
  ) async throws -> SyncResponse {
    try access.requireWriting()
    guard let before = try await editable(id, try access.request.namedRevision(), access) else {
      throw ProtocolError.missing
    }
    guard before.attachments.contains(where: { $0.name.hasSameBytes(as: name) }) else {
      throw ProtocolError.missingAttachment
    }
    let revision = try await edit(
      DocumentEdit(
        id: id, parent: before.revision, body: before.body,
        attachments: before.attachments.filter { !$0.name.hasSameBytes(as: name) }), access)
    return .json(Self.outcome(id, revision))
  }

  /// Returns the revision that an edit follows; nil for a new document.
  ///
  /// - Throws: ``ProtocolError/conflict`` unless the revision is a leaf.
  private func editable(
    _ id: String, _ parent: RevisionID?, _ access: Access
  ) async throws -> SyncDocument? {
    guard let revisions = try await access.served.revisions(of: id), let winner = revisions.winner
    else {
      guard parent == nil else { throw ProtocolError.conflict }
      return nil
    }
    guard let parent else {
      guard winner.isDeleted else { throw ProtocolError.conflict }
      return nil
    }
    // The new revision would have the content of one that the user may not read.
    guard let leaf = revisions.tree.leaf(parent), let document = revisions[leaf.id],
      access.visibility.allows(document)
    else { throw ProtocolError.conflict }
    return document
  }
}

extension ProtocolError {
  static let missingAttachment = ProtocolError(
    404, "not_found", "Document is missing attachment")
}
