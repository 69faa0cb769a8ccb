// SPDX-License-Identifier: MIT

import HTTPTypes
import NanoDocument
import NanoSync

// Writes of single documents.
extension SyncHandler {
  func putDocument(_ id: String, _ access: Access) async throws -> SyncResponse {
    try access.requireWriting()
    try WireDocument.check(id: id)
    let request = access.request
    let isReplicated = request["new_edits"] == "false"
    var (document, attachments) = try await receive(access, isReplicated: isReplicated)
    // The path decides.
    document.id = id
    let revision: RevisionID
    if isReplicated {
      let stored = try document.document(id: id, attachments: attachments)
      try await requireStubs([stored], access)
      revision = stored.revision
      if let failure = try await replicate([stored], access).first { throw failure.error }
    } else {
      let parent = try Self.parent(document, try request.namedRevision())
      revision = try await edit(
        DocumentEdit(
          id: id, parent: parent, isDeleted: document.isDeleted, body: document.body,
          attachments: attachments), access)
    }
    var headers: HTTPFields = [:]
    headers[.eTag] = "\"\(revision)\""
    headers[.location] = request.location([access.served.name, id])
    let status = document.isDeleted ? 200 : request["batch"] == "ok" ? 202 : 201
    return .json(Self.outcome(id, revision), status: status, headers: headers)
  }

  func postDocument(_ access: Access) async throws -> SyncResponse {
    try access.request.requireJSON()
    try access.requireWriting()
    let (document, attachments) = try await receive(access, isReplicated: false)
    let id = document.id ?? RandomID.text()
    if id.hasExactPrefix("_local/") {
      throw ProtocolError.badRequest("Local documents are written with PUT.")
    }
    let revision = try await edit(
      DocumentEdit(
        id: id, parent: document.revision, isDeleted: document.isDeleted, body: document.body,
        attachments: attachments), access)
    var headers: HTTPFields = [:]
    headers[.location] = access.request.location([access.served.name, id])
    return .json(
      Self.outcome(id, revision), status: access.request["batch"] == "ok" ? 202 : 201,
      headers: headers)
  }

  func deleteDocument(_ id: String, _ access: Access) async throws -> SyncResponse {
    try access.requireWriting()
    guard let winner = try await access.served.revisions(of: id)?.winner else {
      throw ProtocolError.missing
    }
    let parent = try access.request.namedRevision()
    if winner.isDeleted, parent == nil || parent == winner.revision { throw ProtocolError.deleted }
    guard let parent else { throw ProtocolError.conflict }
    let revision = try await edit(
      DocumentEdit(id: id, parent: parent, isDeleted: true), access)
    var headers: HTTPFields = [:]
    headers[.eTag] = "\"\(revision)\""
    return .json(Self.outcome(id, revision), headers: headers)
  }

  func copyDocument(_ id: String, _ access: Access) async throws -> SyncResponse {
    try access.requireWriting()
    guard let destination = access.request.header("Destination") else {
      throw ProtocolError.badRequest("Destination header is mandatory for COPY.")
    }
    guard !destination.contains("://") else {
      throw ProtocolError.badRequest("Destination URL must be relative.")
    }
    guard let target = SyncRequest(method: "GET", target: "/" + destination), !target.path.isEmpty
    else { throw ProtocolError.badRequest("The destination is malformed.") }
    let newID = target.path.joined(separator: "/")
    try WireDocument.check(id: newID)
    guard let revisions = try await access.served.revisions(of: id) else {
      throw ProtocolError.missing
    }
    var document = try Self.document(try access.request.revision(), isLatest: false, revisions)
    guard access.visibility.allows(document) else { throw ProtocolError.missing }
    if let local = DocumentPath([newID]).localID {
      return try await putLocal(local, document.body, 0, access)
    }
    document = try await access.served.restoringAttachments(of: document)
    let revision = try await edit(
      DocumentEdit(
        id: newID, parent: try target.revision(), body: document.body,
        attachments: try Self.copies(of: document)), access)
    var headers: HTTPFields = [:]
    headers[.eTag] = "\"\(revision)\""
    headers[.location] = access.request.location([access.served.name, newID])
    return .json(Self.outcome(newID, revision), status: 201, headers: headers)
  }

  /// The attachments of a document as new ones of another document.
  ///
  /// - Throws: ``ProtocolError`` with status 412 for one whose content the store lacks: it would take that of the other
  ///   document's attachment.
  private static func copies(of document: SyncDocument) throws(ProtocolError) -> [SyncAttachment] {
    var copies = document.attachments
    for index in copies.indices {
      guard copies[index].content != nil else {
        throw ProtocolError(SyncDatabase.missingStub(document.id, copies[index].name))
      }
      copies[index].formerContent = nil
      copies[index].generation = 0
    }
    return copies
  }

  static func outcome(_ id: String, _ revision: RevisionID) -> DocumentValue {
    ["ok": true, "id": .string(id), "rev": .string("\(revision)")]
  }

  /// The revision that a document follows, named in it or beside it.
  private static func parent(
    _ document: WireDocument, _ named: RevisionID?
  ) throws(ProtocolError) -> RevisionID? {
    if let own = document.revision, let named, own != named {
      throw .badRequest(
        "Document rev from request body and query string have different values")
    }
    return document.revision ?? named
  }
}

extension SyncHandler {
  /// Receives a document with its attachments, which are stored.
  private func receive(
    _ access: Access, isReplicated: Bool
  ) async throws -> (WireDocument, [SyncAttachment]) {
    let request = access.request
    let intake = AttachmentIntake(
      store: access.served.store, limit: configuration.maximumAttachment)
    if let boundary = MultipartReader.boundary(of: request.headers[.contentType] ?? "") {
      return try await receiveMultipart(boundary, access, intake, isReplicated: isReplicated)
    }
    let bytes = try await request.plainBody(limit: configuration.maximumBody)
      .collect(limit: configuration.maximumBody)
    let document = try parse(bytes)
    return (document, try await intake.attachments(of: document, isReplicated: isReplicated))
  }

  private func parse(_ bytes: [UInt8]) throws -> WireDocument {
    let object = try DocumentParser.object(bytes)
    // CouchDB has no revision of generation 0 to follow.
    if object["_rev"]?.string?.hasPrefix("0-") == true { throw ProtocolError.conflict }
    let document = try DocumentParser.document(object)
    if bytes.count > configuration.maximumDocument {
      try DocumentParser.checkSize(document, limit: configuration.maximumDocument)
    }
    return document
  }

  private func receiveMultipart(
    _ boundary: String, _ access: Access, _ intake: AttachmentIntake, isReplicated: Bool
  ) async throws -> (WireDocument, [SyncAttachment]) {
    let body = access.request.body
    let reader = MultipartReader(boundary: boundary) { try await body.next() }
    guard try await reader.nextPart() != nil else {
      throw MultipartReader.Malformed(reason: "it has no parts")
    }
    let json = try await reader.collect(limit: configuration.maximumBody)
    let document = try parse(json)
    let attachments = try await intake.attachments(
      of: document, isReplicated: isReplicated
    ) { wire, expected in
      // Parts belong to attachments by their order.
      guard let headers = try await reader.nextPart() else {
        throw MultipartReader.Malformed(reason: "the attachment '\(wire.name)' is missing")
      }
      var expected = expected
      if headers.first(where: { $0.name == "content-encoding" })?.value.lowercased() == "gzip" {
        expected.isCompressed = true
      }
      return try await intake.store(expected) { try await reader.nextPiece() }
    }
    // The message may have been cut off after the attachments.
    while try await reader.nextPart() != nil {}
    return (document, attachments)
  }
}
