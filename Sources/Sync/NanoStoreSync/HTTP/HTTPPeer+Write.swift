// SPDX-License-Identifier: MIT

import NIOCore
import NIOHTTP1
import NanoDocument
package import NanoStoreCore
package import NanoSync

extension HTTPPeer {
  /// The size from which a request is sent. Arbitrary: what callers send at once fits, unless there are attachments.
  private static let batchBytes = 4 << 20

  package func write(
    _ documents: [SyncDocument], ancestors: IDMap<[RevisionID]>, from store: Store
  ) async throws -> [PeerRefusal] {
    try await write(
      documents.map { OutgoingRevision($0, ancestors: ancestors[$0.id] ?? []) }, from: store)
  }

  private func write(
    _ revisions: [OutgoingRevision], from store: Store
  ) async throws -> [PeerRefusal] {
    var refusals: [PeerRefusal] = []
    var batch: [BatchEntry] = []
    var size = 0
    for revision in revisions {
      try Task.checkCancellation()
      guard revision.isInline else {
        // The deletions of a document come before its other revisions, see `groupedByID`.
        if batch.contains(where: { $0.revision.document.id.hasSameBytes(as: revision.document.id) })
        {
          refusals += try await post(batch, from: store)
          (batch, size) = ([], 0)
        }
        refusals += try await put(revision, from: store)
        continue
      }
      let json: [UInt8]
      do {
        json = try await revision.inlineJSON(from: store)
      } catch let error as StoreError where error.concernsContent {
        refusals.append(revision.refusal(PeerError(.missingAttachment, error.message)))
        continue
      }
      batch.append(BatchEntry(revision: revision, json: json))
      size += json.count
      if size >= Self.batchBytes {
        refusals += try await post(batch, from: store)
        (batch, size) = ([], 0)
      }
    }
    if !batch.isEmpty { refusals += try await post(batch, from: store) }
    return refusals
  }

  /// Sends revisions again, with the content of all attachments: the peer lacks the former revisions that were counted on.
  private func writeComplete(
    _ revisions: [OutgoingRevision], from store: Store
  ) async throws -> [PeerRefusal] {
    try await write(revisions.map(\.complete), from: store)
  }

  // MARK: Many at once

  private struct BatchEntry: Sendable {
    var revision: OutgoingRevision
    var json: [UInt8]
  }

  private enum BatchOutcome: Sendable {
    case refusals([PeerRefusal])
    /// The peer refuses the request as a whole.
    case refused(PeerError)
  }

  private func post(_ batch: [BatchEntry], from store: Store) async throws -> [PeerRefusal] {
    switch try await post(batch) {
    case .refusals(let refusals):
      // Stubs that the peer does not know, if it reports them one by one.
      let unknown = refusals.filter { $0.error.status == 412 }
      let again = batch.map(\.revision).filter { revision in
        revision.hasStubs && unknown.contains { $0.concerns(revision) }
      }
      guard !again.isEmpty else { return refusals }
      let rest = refusals.filter { refusal in
        !(refusal.error.status == 412 && again.contains { refusal.concerns($0) })
      }
      return rest + (try await writeComplete(again, from: store))
    case .refused(let error):
      if error.status == 412, batch.contains(where: { $0.revision.hasStubs }) {
        // The others were not stored either.
        return try await write(
          batch.map { $0.revision.hasStubs ? $0.revision.complete : $0.revision }, from: store)
      }
      guard batch.count > 1 else { return batch.map { $0.revision.refusal(error) } }
      // One of them is the reason.
      let middle = batch.count / 2
      return try await post(Array(batch[..<middle]), from: store)
        + post(Array(batch[middle...]), from: store)
    }
  }

  private func post(_ batch: [BatchEntry]) async throws -> BatchOutcome {
    var json = Array(#"{"new_edits":false,"docs":["#.utf8)
    json.reserveCapacity(batch.reduce(64) { $0 + $1.json.count + 1 })
    for (index, entry) in batch.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      json += entry.json
    }
    json += "]}".utf8
    var call = HTTPCall(.POST, url.text("_bulk_docs"), .json(json))
    call.headers.add(name: "X-Couch-Full-Commit", value: "false")
    call.patience = .writing
    return try await connector.send(call) { answer in
      switch answer.status {
      case 200..<300: return .refusals(try Self.refusals(try await answer.value(), answer))
      case 400, 409, 412, 413, 422: return .refused(try await answer.failure())
      case 404: throw await Self.noDatabase(answer)
      default: throw try await answer.failure()
      }
    }
  }

  /// Interprets the rows of an answer. Those without an error are not listed by CouchDB, but by others.
  private static func refusals(
    _ value: DocumentValue, _ answer: HTTPAnswer
  ) throws -> [PeerRefusal] {
    guard let rows = value.array else { throw answer.invalid() }
    return try rows.compactMap { row in
      guard let row = row.object else { throw answer.invalid() }
      guard let name = row["error"]?.string else { return nil }
      guard let id = row["id"]?.string else { throw answer.invalid() }
      return PeerRefusal(
        id: id, revision: row["rev"]?.string.flatMap { RevisionID($0) },
        error: PeerError(
          status: status(of: name), name: name, reason: row["reason"]?.string ?? ""))
    }
  }

  /// The status with which CouchDB would report an error of a single request.
  private static func status(of name: String) -> Int {
    switch name {
    // Thrown by a validation function: the user may not write this document, but others.
    case "forbidden", "unauthorized": 403
    case "not_found": 404
    case "conflict": 409
    case "missing_stub": 412
    case "document_too_large", "attachment_too_large": 413
    case "internal_server_error", "unknown_error", "timeout", "service_unavailable": 503
    default: 400
    }
  }

  // MARK: One with large attachments

  /// Sends a revision alone, with its attachments as parts of the body.
  private func put(_ revision: OutgoingRevision, from store: Store) async throws -> [PeerRefusal] {
    let path = PeerURL.document(revision.document.id)
    var call = HTTPCall(
      .PUT, url.text(path, [("new_edits", "false")]),
      .multipart(revision.multipart(from: store)))
    call.headers.add(name: "X-Couch-Full-Commit", value: "false")
    call.patience = .writing
    let refused: PeerError?
    do {
      refused = try await connector.send(call) { answer -> PeerError? in
        if answer.isSuccess {
          await answer.discard()
          return nil
        }
        let failure = try await answer.failure()
        switch answer.status {
        case 400, 401, 403, 409, 412, 413, 415, 422: return failure
        default: throw failure
        }
      }
    } catch let error as StoreError where error.concernsContent {
      refused = PeerError(.missingAttachment, error.message)
    }
    guard let refused else { return [] }
    if refused.status == 412, revision.hasStubs {
      return try await writeComplete([revision], from: store)
    }
    // Either the document is refused or the user: then everything is.
    if refused.kind == .unauthorized || refused.kind == .forbidden {
      _ = try await open(creates: false)
    }
    return [revision.refusal(refused)]
  }
}

extension PeerRefusal {
  /// Whether a revision was refused. Some peers tell the ID only.
  fileprivate func concerns(_ revision: OutgoingRevision) -> Bool {
    id.hasSameBytes(as: revision.document.id)
      && self.revision.map { $0 == revision.document.revision } ?? true
  }
}
