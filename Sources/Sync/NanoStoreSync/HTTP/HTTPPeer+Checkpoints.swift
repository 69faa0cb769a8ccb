// SPDX-License-Identifier: MIT

import NIOCore
package import NanoDocument
import NanoSync

/// Local documents of the peer.
extension HTTPPeer {
  package func checkpoint(_ id: String) async throws -> DocumentObject? {
    try await stored(id)?.body
  }

  package func setCheckpoint(_ id: String, _ body: DocumentObject) async throws {
    // Another session may write the same one: once more with its revision.
    if try await !set(id, body, isFinal: false) { _ = try await set(id, body, isFinal: true) }
  }

  private func path(_ id: String) -> String { url.text(PeerURL.document("_local/" + id)) }

  private func stored(_ id: String) async throws -> (revision: String?, body: DocumentObject)? {
    try await connector.send(HTTPCall(.GET, path(id))) { answer in
      if answer.status == 404 {
        let failure = try await answer.failure()
        if failure.kind == .noDatabase { throw failure }
        return nil
      }
      guard answer.status == 200 else { throw try await answer.failure() }
      let bytes = try await answer.bytes()
      guard var body = try? SyncJSON.object(bytes) else { throw answer.invalid() }
      let revision = body["_rev"]?.string
      for name in ["_id", "_rev", "_revisions"] { body[name] = nil }
      return (revision, body)
    }
  }

  /// Returns false if the stored document changed meanwhile.
  private func set(_ id: String, _ body: DocumentObject, isFinal: Bool) async throws -> Bool {
    var object: DocumentObject = ["_id": .string("_local/" + id)]
    let stored = try await stored(id)
    if let revision = stored?.revision { object["_rev"] = .string(revision) }
    object.merge(SyncCheckpoint.body(body, over: stored?.body))
    var call = HTTPCall(.PUT, path(id), .json(SyncJSON.bytes(object)))
    call.patience = .writing
    return try await connector.send(call) { answer in
      if answer.status == 409, !isFinal {
        await answer.discard()
        return false
      }
      guard answer.isSuccess else { throw try await answer.failure() }
      await answer.discard()
      return true
    }
  }
}
