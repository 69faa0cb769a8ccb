// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport

/// Revisions and attachments to be written, and what a server received.
enum Outgoing {
  static func document(
    _ id: String, _ revision: String = "1-a", attachments: [SyncAttachment] = [],
    history: [String] = [], body: DocumentObject = [:]
  ) throws -> SyncDocument {
    SyncDocument(
      id: id, revision: try revision.revision, body: body, attachments: attachments,
      history: try history.map { try $0.revision })
  }

  static func attachment(
    _ name: String, _ bytes: [UInt8], generation: Int = 1,
    type: String = "application/octet-stream",
    in store: Store
  ) throws -> SyncAttachment {
    SyncAttachment(
      name: name, contentType: type, generation: generation, digest: AttachmentTests.digest(bytes),
      length: Int64(bytes.count),
      content: try store.addAttachment(.data(Data(bytes)), contentType: type))
  }

  static func ids(_ request: ScriptedServer.Request) -> [String] {
    request.json["docs"]?.array?.compactMap { $0.object?["_id"]?.string } ?? []
  }

  /// The fields of an attachment in the first document of a request.
  static func sent(_ request: ScriptedServer.Request, _ name: String) -> DocumentObject? {
    let document = request.json["docs"]?.array?.first?.object ?? request.json
    return document["_attachments"]?.object?[name]?.object
  }
}
