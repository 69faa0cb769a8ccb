// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync

// `_bulk_get`: many revisions in one response.
extension SyncHandler {
  func bulkGet(_ access: Access) async throws -> SyncResponse {
    try access.call.require("POST")
    try access.request.requireJSON()
    let body = try await access.request.object(limit: configuration.maximumBody)
    guard let list = body["docs"]?.array else {
      throw ProtocolError.badRequest("Missing JSON list of 'docs'.")
    }
    let rows = try list.map { value in
      guard let object = value.object, let id = object["id"]?.string else {
        throw ProtocolError.badRequest("Document id is missing")
      }
      return BulkGetRow(id, object)
    }
    let reader = BulkGetReader(
      served: access.served, visibility: access.visibility,
      content: DocumentContent(access.request, access.visibility),
      isLatest: access.request.isTrue("latest"))
    metrics.documentsRead.increment(by: rows.count)
    let accepted = access.request.accepted
    if accepted.contains("multipart/mixed") || accepted.contains("multipart/related") {
      return try await multipart(rows, reader, access, accepted)
    }
    // The first part is read before the response begins, so that its errors are reported.
    let first = try await reader.results(rows.prefix(BulkGetReader.pageLength))
    return .stream { write in
      try await write(Array("{\"results\":[".utf8))
      var (isFirst, pieces) = (true, PieceBuffer())
      try await reader.forEach(first, rows) { row, results in
        let json = try await reader.json(row, results)
        try await pieces.append((isFirst ? [] : Array(",".utf8)) + json, write)
        isFirst = false
      }
      try await pieces.flush(write)
      try await write(Array("]}\n".utf8))
    }
  }

  private func multipart(
    _ rows: [BulkGetRow], _ reader: BulkGetReader, _ access: Access, _ accepted: [String]
  ) async throws -> SyncResponse {
    let boundary = RandomID.text()
    let kind = accepted.contains("multipart/mixed") ? "mixed" : "related"
    let first = try await reader.results(rows.prefix(BulkGetReader.pageLength))
    let store = access.served.store
    return .stream(contentType: "multipart/\(kind); boundary=\"\(boundary)\"") { write in
      try await reader.forEach(first, rows) { row, results in
        var message = MultipartMessage(boundary: boundary)
        for result in results { message.append(result, of: row, reader.content) }
        try await message.write(from: store, write)
      }
      var end = MultipartMessage(boundary: boundary)
      end.close()
      try await end.write(from: store, write)
    }
  }
}

extension MultipartMessage {
  fileprivate mutating func append(
    _ result: BulkGetReader.Found, of row: BulkGetRow, _ content: DocumentContent
  ) {
    switch result {
    case .found(let document, let revisions):
      var content = content
      content.known = row.known
      append(
        document, revisions, content,
        headers: [("X-Doc-Id", row.id.headerText), ("X-Rev-Id", "\(document.revision)")])
    case .failed(let error):
      append(json: SyncJSON.bytes(error), parameters: "; error=\"true\"")
    }
  }
}

/// A revision that a client asks for.
struct BulkGetRow: Sendable {
  let id: String
  /// The text of the revision; nil for all leaves.
  let revision: String?
  /// Revisions that the client has.
  let known: [RevisionID]

  init(_ id: String, _ object: DocumentObject) {
    self.id = id
    revision = object["rev"] == .null ? nil : object["rev"].map { $0.string ?? "" }
    known = object["atts_since"]?.array?.compactMap { $0.string.flatMap { RevisionID($0) } } ?? []
  }
}

/// Reads the revisions of a request.
struct BulkGetReader: Sendable {
  let served: ServedDatabase
  let visibility: Visibility
  let content: DocumentContent
  let isLatest: Bool

  /// The number of documents that are in memory at a time. Arbitrary.
  static let pageLength = 50

  enum Found: Sendable {
    case found(SyncDocument, DocumentRevisions)
    case failed(DocumentObject)
  }

  /// Returns the revisions of each row, in order.
  func results(_ rows: ArraySlice<BulkGetRow>) async throws -> [(BulkGetRow, [Found])] {
    let found = try await served.revisions(rows.map(\.id))
    var answers: [(BulkGetRow, [Found])] = []
    for row in rows {
      var results = results(row, found[row.id])
      for (index, result) in results.enumerated() {
        guard case .found(let document, let revisions) = result else { continue }
        results[index] = .found(
          try await served.restoringAttachments(of: document), revisions)
      }
      answers.append((row, results))
    }
    return answers
  }

  /// Passes the results of each row to a closure, in order, and reads them page by page: rows may name a long document many
  /// times.
  ///
  /// - Parameter first: The results of the first page.
  func forEach(
    _ first: [(BulkGetRow, [Found])], _ rows: [BulkGetRow],
    _ body: (BulkGetRow, [Found]) async throws -> Void
  ) async throws {
    for (row, results) in first { try await body(row, results) }
    for start in stride(from: Self.pageLength, to: rows.count, by: Self.pageLength) {
      let page = rows[start..<min(start + Self.pageLength, rows.count)]
      for (row, results) in try await results(page) { try await body(row, results) }
    }
  }

  private func results(_ row: BulkGetRow, _ revisions: DocumentRevisions?) -> [Found] {
    guard let text = row.revision else {
      let leaves = revisions.map { revisions in
        revisions.leaves.map(\.id).sorted(by: >).compactMap { revisions[$0] }.filter {
          visibility.allows($0)
        }
        .map { Found.found($0, revisions) }
      }
      return leaves.flatMap { $0.isEmpty ? nil : $0 }
        ?? [.failed(failure(row, "undefined", .missing))]
    }
    guard let id = RevisionID(text) else {
      return [.failed(failure(row, text, .badRequest("Invalid rev format")))]
    }
    guard let revisions else { return [.failed(failure(row, text, .missing))] }
    let latest = isLatest ? revisions.tree.leaves(from: id).map(\.id) : []
    return (latest.isEmpty ? [id] : latest).map { wanted in
      guard let document = revisions[wanted], visibility.allows(document) else {
        // A client takes a missing one for one that was replaced.
        let isUnreadable = revisions.isUnreadable(wanted) && !visibility.isLimited
        return .failed(failure(row, text, isUnreadable ? .unreadable : .missing))
      }
      return .found(document, revisions)
    }
  }

  private func failure(
    _ row: BulkGetRow, _ revision: String, _ error: ProtocolError
  ) -> DocumentObject {
    [
      "id": .string(row.id), "rev": .string(revision), "error": .string(error.name),
      "reason": .string(error.reason),
    ]
  }

  /// Returns a row as JSON.
  func json(_ row: BulkGetRow, _ results: [Found]) async throws -> [UInt8] {
    var output = Array("{\"id\":".utf8)
    output += SyncJSON.bytes(DocumentValue.string(row.id))
    output += ",\"docs\":[".utf8
    for (index, result) in results.enumerated() {
      if index > 0 { output += ",".utf8 }
      switch result {
      case .found(let document, let revisions):
        var content = content
        content.known = row.known
        do {
          let json = try await content.json(document, revisions, in: served, isComplete: true)
          output += "{\"ok\":".utf8
          output += json
        } catch let error as StoreError where error.concernsContent {
          // Not a stub: a replica that stores it would lack the content.
          output += "{\"error\":".utf8
          output += SyncJSON.bytes(
            failure(row, "\(document.revision)", .missingAttachment))
        }
      case .failed(let error):
        output += "{\"error\":".utf8
        output += SyncJSON.bytes(error)
      }
      output += "}".utf8
    }
    output += "]}".utf8
    return output
  }
}

extension ProtocolError {
  fileprivate static let unreadable = ProtocolError(
    500, "internal_server_error", PeerError.unreadable.message)
}
