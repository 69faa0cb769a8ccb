// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import NanoDocument
import NanoSync

// Documents.
extension SyncHandler {
  func document(_ id: String, _ access: Access) async throws -> SyncResponse {
    switch access.request.verb {
    case "GET": return try await readDocument(id, access)
    case "PUT": return try await putDocument(id, access)
    case "DELETE": return try await deleteDocument(id, access)
    case "COPY": return try await copyDocument(id, access)
    default:
      throw MethodNotAllowed.error(["DELETE", "GET", "POST", "PUT", "COPY"])
    }
  }

  private func readDocument(_ id: String, _ access: Access) async throws -> SyncResponse {
    try Self.checkReadable(id)
    let request = access.request
    var content = DocumentContent(request, access.visibility)
    if let known = try request.json("atts_since")?.array {
      content.known = known.compactMap { $0.string.flatMap { RevisionID($0) } }
      if !content.known.isEmpty { content.hasAttachments = true }
    }
    if content.hasLocalSequence {
      content.localSequence = try await access.served.run { try $0.changeNumber(of: id) }
    }
    if let open = try OpenRevisions(request) {
      return try await readRevisions(id, open, content, access)
    }
    let asked = try request.revision()
    guard let revisions = try await access.served.revisions(of: id) else {
      throw ProtocolError.missing
    }
    var document = try Self.document(asked, isLatest: request.isTrue("latest"), revisions)
    guard access.visibility.allows(document) else { throw ProtocolError.missing }
    if content.hasAttachments {
      document = try await access.served.restoringAttachments(of: document)
    }
    metrics.documentsRead.increment()
    let tag = "\"\(document.revision)\""
    var headers: HTTPFields = [:]
    if content.isConstant {
      if request.hasCopy(tag) { return .notModified(tag) }
      headers[.eTag] = tag
    }
    if content.hasAttachments, !content.attachmentsToSend(document).isEmpty,
      request.accepts("multipart/related")
    {
      return multipartRelated(document, revisions, content, access, headers)
    }
    return .json(try await content.json(document, revisions, in: access.served), headers: headers)
  }

  private static func checkReadable(_ id: String) throws(ProtocolError) {
    // An unknown endpoint is a document that does not exist.
    guard id.hasExactPrefix("_"), !id.hasExactPrefix("_design/") else { return }
    throw .missing
  }

  /// Returns the revision that a client asks for: a certain one, or the winner.
  static func document(
    _ asked: RevisionID?, isLatest: Bool, _ revisions: DocumentRevisions
  ) throws(ProtocolError) -> SyncDocument {
    guard let asked else {
      guard let winner = revisions.winner else { throw .missing }
      guard !winner.isDeleted else { throw .deleted }
      return winner
    }
    let wanted = isLatest ? revisions.tree.leaves(from: asked).first?.id ?? asked : asked
    guard let found = revisions[wanted] else { throw .missing }
    return found
  }
}

/// The parameter `open_revs`.
enum OpenRevisions: Sendable {
  case all
  case list([(text: String, id: RevisionID?)])

  /// Nil if the parameter is missing or an empty list.
  init?(_ request: SyncRequest) throws {
    guard let text = request["open_revs"] else { return nil }
    if text == "all" {
      self = .all
      return
    }
    guard let list = try SyncRequest.value(Array(text.utf8)).array else {
      throw ProtocolError.badRequest("open_revs has to be a list or `all`.")
    }
    guard !list.isEmpty else { return nil }
    self = .list(
      try list.map { value in
        guard let text = value.string, let id = RevisionID(text) else {
          throw ProtocolError.badRequest("Invalid rev format")
        }
        return (text, id)
      })
  }

  /// Returns the revisions with their content, or the text of one that is missing.
  func results(
    _ revisions: DocumentRevisions?, isLatest: Bool, _ visibility: Visibility
  ) -> [(document: SyncDocument?, text: String)] {
    func visible(_ id: RevisionID) -> SyncDocument? {
      revisions?[id].flatMap { visibility.allows($0) ? $0 : nil }
    }
    switch self {
    case .all:
      // In ascending order, as CouchDB has them.
      return (revisions?.leaves ?? []).map(\.id).sorted().compactMap { id in
        visible(id).map { ($0, "\(id)") }
      }
    case .list(let list):
      var results: [(document: SyncDocument?, text: String)] = []
      for (text, id) in list {
        guard let id, let revisions else {
          results.append((nil, text))
          continue
        }
        let leaves = isLatest ? revisions.tree.leaves(from: id).map(\.id) : []
        for wanted in leaves.isEmpty ? [id] : leaves {
          // Two revisions may have one descendant.
          if results.contains(where: { $0.document?.revision == wanted }) { continue }
          // A descendant that is not visible has no name.
          let hasOwnName = leaves.isEmpty || visibility.isLimited
          results.append((visible(wanted), hasOwnName ? text : "\(wanted)"))
        }
      }
      return results
    }
  }
}

extension SyncHandler {
  private func readRevisions(
    _ id: String, _ open: OpenRevisions, _ content: DocumentContent, _ access: Access
  ) async throws -> SyncResponse {
    let revisions = try await access.served.revisions(of: id)
    var results = open.results(
      revisions, isLatest: access.request.isTrue("latest"), access.visibility)
    if case .all = open, results.isEmpty { throw ProtocolError.missing }
    metrics.documentsRead.increment(by: results.count)
    let isMultipart =
      !access.request.accepted.contains(SyncResponse.json)
      && access.request.accepts("multipart/mixed")
    if isMultipart || content.hasAttachments {
      for (index, result) in results.enumerated() {
        guard let document = result.document else { continue }
        results[index].document = try await access.served.restoringAttachments(of: document)
      }
    }
    if isMultipart {
      return multipartMixed(results, revisions, content, access)
    }
    let served = access.served
    return .stream { [results] write in
      try await write(Array("[".utf8))
      for (index, (document, text)) in results.enumerated() {
        var row = Array(index > 0 ? ",".utf8 : "".utf8)
        if let document, let revisions {
          row += "{\"ok\":".utf8
          row += try await content.json(document, revisions, in: served)
        } else {
          row += "{\"missing\":".utf8
          row += SyncJSON.bytes(DocumentValue.string(text))
        }
        row.append(UInt8(ascii: "}"))
        try await write(row)
      }
      try await write(Array("]\n".utf8))
    }
  }
}
