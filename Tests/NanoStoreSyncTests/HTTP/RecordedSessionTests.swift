// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct RecordedSessionTests {
  @Test(
    "What CouchDB sent to other clients is understood",
    arguments: [
      ("pouchdb9-07-attachments-pull", 2, 2), ("pouchdb9-14-unusual-attachments", 6, 6),
      ("couchdb-14-unusual-pull", 19, 0),
    ])
  func pulls(_ name: String, _ documents: Int, _ attachments: Int) async throws {
    let recorded = try RecordedServer(name)
    let store = try anyStore()
    try await ScriptedServer.serving {
      recorded.answer($0)
    } peer: { peer, _ in
      #expect(try await peer.open(creates: false).lastSequence != nil)
      let page = try await peer.changes(since: nil, limit: 1_000, filter: .all, waits: false)
      #expect(page.changes.count >= documents)
      #expect(!page.hasMore)
      let fetched = try await peer.revisions(
        page.changes.filter { !$0.id.hasPrefix("_design/") }.flatMap { change in
          change.revisions.map { WantedRevision(id: change.id, revision: $0, ancestors: []) }
        })
      #expect(fetched.count == documents)
      var count = 0
      for entry in fetched {
        guard case .document(let document) = entry, let revision = document.revision else {
          Issue.record("\(entry)")
          continue
        }
        let original = recorded.revisions.lazy.compactMap { row in
          row["docs"]?.array?.first?.object?["ok"]?.object
        }.first { $0["_id"]?.string == document.id && $0["_rev"]?.string == "\(revision)" }
        let fields = try #require(original).filter { !$0.name.hasPrefix("_") }
        #expect(document.body == DocumentObject(fields.map { ($0.name, $0.value) }))
        for attachment in document.attachments {
          count += 1
          let stored = try await peer.attachment(
            attachment, of: document.id ?? "", revision: revision, in: store)
          #expect(stored.hasDigest(attachment.digest ?? ""))
          #expect(stored.length == attachment.length)
        }
      }
      #expect(count == attachments)
    }
  }

  @Test("The answers of CouchDB to a push are understood")
  func pushes() async throws {
    let recorded = try RecordedServer("pouchdb9-04-conflict-sync")
    try await ScriptedServer.serving {
      recorded.answer($0)
    } peer: { peer, _ in
      let revision = try "2-f640bb892408d63463994e66c6fff88e".revision
      let missing = try await peer.missing(["n1": [revision]])
      #expect(missing["n1"] == MissingRevisions(missing: [revision]))
      let known = try await peer.missing([
        "n1": ["3-3c61e9f48400b25043cb8937e95d7c03".revision, revision]
      ])
      #expect(known.isEmpty)
      #expect(try await peer.checkpoint("JGynO83DvtWuEdqHohMBiQ==") == nil)
      #expect(try await peer.checkpoint("dztSHagpIcw0bTlX8Pk3OA==")?["session_id"] != nil)
    }
  }
}
