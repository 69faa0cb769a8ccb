// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoTestSupport
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

  @Test("Nor do those that cannot be read")
  func unreadable() async throws {
    let scratch = try Scratch()
    let server = TestServer(try Store(.file(scratch.file("a.db"))))
    _ = try await server.send("PUT", "/notes")
    let notes = server.store["notes"]
    for key in ["n1", "n2"] { try await notes.save(["text": .string("text of \(key)")], key: key) }
    let before = try await server.send("GET", "/notes/n1")
    let revision = try #require(before.json.object?["_rev"]?.string)

    try scratch.shell("a.db", "UPDATE notes SET body = '{' WHERE key = 'n1'")

    for list in ["_all_docs", "_changes"] {
      let answer = try await server.send("GET", "/notes/\(list)?include_docs=true")
      #expect(answer.status == 200)
      #expect(answer.text.contains("text of n2"))
    }
    let selected = try await server.send(
      "POST", "/notes/_changes?filter=_selector", ["selector": ["text": ["$exists": true]]])
    #expect(selected.text.contains(#""n1""#) && selected.text.contains(#""n2""#))
    // Not missing, which a client would take for a revision that was replaced.
    let bulk = try await server.send(
      "POST", "/notes/_bulk_get",
      ["docs": [["id": "n1", "rev": .string(revision)], ["id": "n2"]]])
    #expect(Self.errors(bulk) == ["internal_server_error", nil])
    #expect(bulk.text.contains("text of n2"))
  }

  /// The names of the errors in the rows of a `_bulk_get`.
  private static func errors(_ answer: TestServer.Answer) -> [String?] {
    (answer.json.object?["results"]?.array ?? []).map { row in
      row.object?["docs"]?.array?.first?.object?["error"]?.object?["error"]?.string
    }
  }

  @Test(
    "A damaged attachment is missing, and keeps nothing else from being read",
    arguments: [(600_000, 1), (1_200_000, 0)])
  func damagedAttachment(_ length: Int, _ chunk: Int) async throws {
    let scratch = try Scratch()
    let server = TestServer(try Store(.file(scratch.file("a.db"))))
    _ = try await server.send("PUT", "/notes")
    let notes = server.store["notes"]
    for key in ["n1", "n2"] { try await notes.save(["text": .string("text of \(key)")], key: key) }
    try await notes.attach(.data(Data(repeating: 7, count: length)), named: "a", to: "n1")
    #expect(try await server.send("GET", "/notes/n1/a").bytes.count == length)

    try scratch.shell(
      "a.db",
      "UPDATE nano_chunks SET bytes = zeroblob(length(bytes)) WHERE id & 1048575 = \(chunk)")

    let content = try await server.send("GET", "/notes/n1/a")
    #expect(content.status == 404)
    #expect(content.error == "not_found")
    let bulk = try await server.send(
      "POST", "/notes/_bulk_get?attachments=true", ["docs": [["id": "n1"], ["id": "n2"]]])
    #expect(Self.errors(bulk) == ["not_found", nil])
    #expect(bulk.text.contains("text of n2"))
    for list in ["_all_docs", "_changes"] {
      let answer = try await server.send(
        "GET", "/notes/\(list)?include_docs=true&attachments=true")
      #expect(answer.text.contains("text of n1"))
      #expect(answer.text.contains("text of n2"))
    }
  }
}
