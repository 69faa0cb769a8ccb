// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import NanoStoreServer
import NanoTestSupport
import Testing

@Suite("The order of changes")
struct ChangeOrderTests {
  @Test("Every document is in the changes, in whatever order documents were updated")
  func everyOrder() async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    for id in ["a", "b", "c", "d", "e"] { _ = try await server.send("PUT", "/notes/\(id)", [:]) }

    var generator = SystemRandomNumberGenerator()
    for round in 1...40 {
      let ids = ["a", "b", "c", "d", "e"].shuffled(using: &generator)
      for id in ids { try await server.store["notes"].save(["n": .int(Int64(round))], key: id) }

      let answer = try await server.send("GET", "/notes/_changes")
      let found = answer.json.object?["results"]?.array?.compactMap { $0.object?["id"]?.string }
      // On a server, changes that get revisions in one transaction are in the order of their rows.
      #expect(TestEngine.isServer ? found?.sorted() == ids.sorted() : found == ids)
    }
  }
}
