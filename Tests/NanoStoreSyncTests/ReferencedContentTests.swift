// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStoreSync
import NanoTestSupport
import Testing

/// Content to which fields refer, through a server.
@Suite(.timeLimit(.minutes(15))) struct ReferencedContentTests {
  @Test(arguments: [5, 300_000, 3_000_000])
  func `The content of a field is on the server and on other devices`(length: Int) async throws {
    let (a, b, served) = (try anyStore(), try anyStore(), try anyStore())
    let content = Data(repeating: 7, count: length)
    let image = try await a.addAttachment(.data(content), contentType: "image/png")
    try await a["films"].save(["image": image.documentValue], key: "x")

    try await TrialServer.running(served) { port in
      for store in [a, b] {
        let status = try await store.replicate(
          ["films"], with: .url("http://127.0.0.1:\(port)"), mode: .once
        ).finish()
        #expect(status.failures.isEmpty)
      }
    }

    for store in [served, b] {
      #expect(try await store["films"].get("x")?["image"] == image.documentValue)
      #expect(try await store["films"].attachments(of: "x").all().isEmpty)
      #expect(try await store.data(of: image) == content)
      #expect(try await store.verify().isEmpty)
    }
  }
}
