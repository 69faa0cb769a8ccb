// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

@Suite struct AttachmentGenerationTests {
  @Test(arguments: [0, -1])
  func `A pulled attachment of an unknown generation has that of its revision`(
    _ generation: Int
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let content = try await b.store.addAttachment(
      .data(Data("hello".utf8)), contentType: "text/plain")
    let history = try [#require(RevisionID("2-b")), #require(RevisionID("1-a"))]
    let attachment = SyncAttachment(
      name: "a", contentType: "text/plain", generation: generation,
      digest: "md5-XUFAKrxLKna5cZ2REBfFkg==", length: 5, content: content)
    let failures = try b.replicate([
      SyncDocument(id: "x", revision: history[0], attachments: [attachment], history: history)
    ])
    #expect(failures.isEmpty)

    var options = ReplicationOptions()
    options.pushes = false
    try await Replication(a, with: LocalPeer(b), options) { _ in }.run()

    let pulled = try #require(try a.revisions(["x"])["x"]?.winner?.attachments.first)
    #expect(pulled.generation == 2)
    #expect(pulled.content?.length == 5)
  }
}
