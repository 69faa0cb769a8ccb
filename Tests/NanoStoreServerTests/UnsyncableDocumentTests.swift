// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import Testing

@testable import NanoStoreServer

@Suite("Documents that can no longer be synced")
struct UnsyncableDocumentTests {
  @Test(
    "They do not keep others from being read",
    arguments: [
      ("POST", "/notes/_bulk_get", #"{"docs":[{"id":"n1"},{"id":"n2"}]}"#),
      ("POST", "/notes/_all_docs?include_docs=true", #"{"keys":["n1","n2"]}"#),
      ("GET", "/notes/_all_docs?include_docs=true", ""),
      ("GET", "/notes/_changes?include_docs=true", ""),
      ("GET", "/notes/n2", ""),
    ])
  func others(_ method: String, _ target: String, _ body: String) async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    let notes = server.store["notes"]
    for key in ["n1", "n2"] { try await notes.save(["text": .string("text of \(key)")], key: key) }
    #expect(try await server.send("GET", "/notes/n1").status == 200)
    try await notes.save(["_mine": true], key: "n1")

    let answer = try await server.send(method, target, Array(body.utf8))

    #expect(answer.status == 200)
    #expect(String(decoding: answer.bytes, as: UTF8.self).contains("text of n2"))
    #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("_mine"))
  }
}
