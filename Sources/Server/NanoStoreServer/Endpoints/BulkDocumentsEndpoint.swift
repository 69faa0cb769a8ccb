// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

// `_bulk_docs`: many writes in one request.
extension SyncHandler {
  func bulkDocuments(_ access: Access) async throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    try access.requireWriting()
    let bytes = try await access.request.plainBody(limit: configuration.maximumBody)
      .collect(limit: configuration.maximumBody)
    let request = try DocumentParser.object(bytes, documents: .elements(of: "docs"))
    guard let list = request["docs"] else {
      throw ProtocolError.badRequest("POST body must include `docs` parameter.")
    }
    guard let values = list.array else {
      throw ProtocolError.badRequest("`docs` parameter must be an array.")
    }
    guard request["new_edits"].map({ $0.bool != nil }) ?? true else {
      throw ProtocolError.badRequest("`new_edits` parameter must be a boolean.")
    }
    let isReplicated = request["new_edits"] == false
    // One that is malformed rejects all, before anything is stored.
    let items = try values.map { value in
      let object = try DocumentParser.object(value)
      let item = try BulkItem(object, isReplicated: isReplicated)
      if bytes.count > configuration.maximumDocument {
        switch item {
        case .document(let document):
          try DocumentParser.checkSize(document, limit: configuration.maximumDocument)
        case .local(let name, let body, _):
          try DocumentParser.checkSize(
            body ?? [:], of: "_local/\(name)", limit: configuration.maximumDocument)
        }
      }
      return item
    }
    let rows =
      isReplicated
      ? try await replicate(items, access) : try await edit(items, access)
    return .json(.array(rows), status: 201)
  }

  private func edit(_ items: [BulkItem], _ access: Access) async throws -> [DocumentValue] {
    let intake = intake(access)
    var rows = [DocumentValue?](repeating: nil, count: items.count)
    var edits: [(index: Int, edit: DocumentEdit)] = []
    for case (let index, .document(let document)) in items.enumerated() {
      let attachments = try await intake.attachments(of: document, isReplicated: false)
      edits.append(
        (
          index,
          DocumentEdit(
            id: document.id ?? RandomID.text(), parent: document.revision,
            isDeleted: document.isDeleted, body: document.body, attachments: attachments)
        ))
    }
    if !edits.isEmpty {
      let results = try await edit(edits.map(\.edit), access)
      for ((index, edit), result) in zip(edits, results) {
        switch result {
        case .success(let revision): rows[index] = Self.outcome(edit.id, revision)
        case .failure(let error):
          let error = ProtocolError(reporting: error)
          guard error.status != 412, error.status < 500 else { throw error }
          rows[index] = Self.row(edit.id, nil, error)
        }
      }
    }
    // After the documents, which may refuse the request.
    for case (let index, .local(let name, let body, let count)) in items.enumerated() {
      let stored = try await setLocal(name, body, count, access)
      rows[index] = ["ok": true, "id": .string("_local/\(name)"), "rev": .string("0-\(stored)")]
    }
    return rows.compactMap { $0 }
  }

  /// Stores revisions of other stores, and returns rows for those that were rejected only.
  private func replicate(_ items: [BulkItem], _ access: Access) async throws -> [DocumentValue] {
    let intake = intake(access)
    var documents: [SyncDocument] = []
    for case .document(let document) in items {
      let attachments = try await intake.attachments(of: document, isReplicated: true)
      documents.append(
        try document.document(id: document.id ?? RandomID.text(), attachments: attachments))
    }
    try await requireStubs(documents, access)
    for case .local(let name, let body, let count) in items {
      _ = try await setLocal(name, body, count - 1, access)
    }
    return try await replicate(documents, access).map { failure in
      let error = ProtocolError(reporting: failure.error)
      guard error.status < 500 else { throw error }
      return Self.row(failure.id, failure.revision, error)
    }
  }

  /// Stores or removes a local document, and returns how often it was written.
  private func setLocal(
    _ name: String, _ body: DocumentObject?, _ count: Int, _ access: Access
  ) async throws -> Int {
    try await access.served.write { database in
      if let body { return try database.setLocal(name, body, count: count) }
      _ = try database.removeLocal(name)
      return 0
    }
  }

  private func intake(_ access: Access) -> AttachmentIntake {
    AttachmentIntake(store: access.served.store, limit: configuration.maximumAttachment)
  }

  private static func row(
    _ id: String, _ revision: RevisionID?, _ error: ProtocolError
  ) -> DocumentValue {
    var row: DocumentObject = ["id": .string(id)]
    if let revision { row["rev"] = .string("\(revision)") }
    row["error"] = .string(error.name)
    row["reason"] = .string(error.reason)
    return .object(row)
  }
}

/// An element of `docs`.
private enum BulkItem: Sendable {
  case document(WireDocument)
  /// The body is nil if the document is deleted.
  case local(name: String, DocumentObject?, count: Int)

  init(_ object: DocumentObject, isReplicated: Bool) throws(ProtocolError) {
    if let id = object["_id"]?.string, id.hasExactPrefix("_local/") {
      try WireDocument.check(id: id)
      let (body, count) = try SyncHandler.localBody(object)
      self = .local(
        name: String(id.dropFirst(7)), object["_deleted"] == true ? nil : body, count: count)
      return
    }
    let document = try DocumentParser.document(object)
    if isReplicated, document.revision == nil {
      throw .badRequest(
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
    }
    self = .document(document)
  }
}
