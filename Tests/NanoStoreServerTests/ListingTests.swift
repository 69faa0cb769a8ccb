// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

@testable import NanoStoreServer

@Suite("Listings and searches")
struct ListingTests {
  private func server() async throws -> TestServer {
    let server = try TestServer()
    for target in ["/notes", "/notes/a", "/notes/b", "/notes/_design/c"] {
      _ = try await server.send("PUT", target, Array("{}".utf8))
    }
    return server
  }

  private func rows(_ answer: TestServer.Answer) -> [DocumentObject] {
    answer.json.object?["rows"]?.array?.compactMap(\.object) ?? []
  }

  @Test("The parameters of a body apply like those of the URL", arguments: [true, false])
  func body(_ hasKeys: Bool) async throws {
    let server = try await server()
    var parameters: DocumentObject = ["include_docs": true, "update_seq": true]
    if hasKeys { parameters["keys"] = ["a", "b"] }

    let answer = try await server.send("POST", "/notes/_all_docs", .object(parameters))

    let found = rows(answer)
    #expect(found.count == (hasKeys ? 2 : 3))
    #expect(found.allSatisfy { $0["doc"]?.object?["_id"] == $0["id"] })
    #expect(answer.json.object?["update_seq"]?.string != nil)
  }

  @Test(
    "A listing of design documents has no others",
    arguments: [
      (#"{"keys":["a","_design/c"]}"#, ["_design/c"]), (#"{"key":"a"}"#, []),
      (#"{"endkey":"z"}"#, ["_design/c"]), (#"{"startkey":"A"}"#, ["_design/c"]),
      (#"{"startkey":"z","descending":true}"#, ["_design/c"]),
    ])
  func designDocuments(_ body: String, _ expected: [String]) async throws {
    let server = try await server()

    let answer = try await server.send("POST", "/notes/_design_docs", Array(body.utf8))

    #expect(rows(answer).compactMap { $0["id"]?.string } == expected)
  }

  @Test("Pages of a sorted search continue after a document that is changed or deleted")
  func sortedPages() async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    let notes = server.store["notes"]
    for n in 1...6 as ClosedRange<Int64> { try await notes.save(["n": .int(n)], key: "d\(n)") }
    var (found, bookmark) = ([[String]](), DocumentValue.null)
    func page() async throws {
      let answer = try await server.send(
        "POST", "/notes/_find",
        ["selector": [:], "sort": ["n"], "limit": 2, "fields": ["_id"], "bookmark": bookmark])
      let documents = answer.json.object?["docs"]?.array ?? []
      found.append(documents.compactMap { $0.object?["_id"]?.string })
      bookmark = answer.json.object?["bookmark"] ?? .null
    }

    try await page()
    try await notes.save(["n": 0], key: "d2")
    try await page()
    try await notes.delete("d4")
    try await page()
    try await page()

    #expect(found == [["d1", "d2"], ["d3", "d4"], ["d5", "d6"], []])
  }

  @Test("A bookmark of another search is an error", arguments: ["d2", "WyJkMiJd"])
  func foreignBookmark(_ bookmark: String) async throws {
    let server = try await server()

    let answer = try await server.send(
      "POST", "/notes/_find",
      ["selector": [:], "sort": ["n"], "bookmark": .string(bookmark)])

    #expect(answer.status == 400)
    #expect(answer.error == "invalid_bookmark")
  }

  @Test("A collection whose name sync refuses is no database")
  func refusedName() async throws {
    let server = try await server()
    try await server.store.createCollection("a/security")

    let names = try await server.send("GET", "/_all_dbs")

    #expect(names.json == ["notes"])
    #expect(try await server.send("GET", "/a%2Fsecurity").status == 404)
    #expect(try await server.send("PUT", "/b%2Fsecurity").error == "illegal_database_name")
  }

  @Test("The local sequence of a document is that of its last change, in each form")
  func localSequence() async throws {
    let server = try await server()
    let data = DocumentValue.string(Data("hello".utf8).base64EncodedString())
    _ = try await server.send(
      "PUT", "/notes/x", ["_attachments": ["t": ["content_type": "text/plain", "data": data]]])
    let changes = try await server.send("GET", "/notes/_changes?descending=true&limit=1")
    let sequence = try #require(
      changes.json.object?["results"]?.array?.first?.object?["seq"]?.string)
    let number = sequence.prefix { $0 != "-" }
    _ = try await server.send("PUT", "/notes/y", Array("{}".utf8))
    let target = "/notes/x?local_seq=true&attachments=true"

    let json = try await server.send("GET", target, headers: ["Accept": "application/json"])
    let multipart = try await server.send(
      "GET", target, headers: ["Accept": "multipart/related"])

    #expect(json.json.object?["_local_seq"]?.int64.map { "\($0)" } == String(number))
    #expect(
      json.json.object?["_attachments"]?.object?["t"]?.object?["data"] == data)
    #expect(multipart.text.contains("\"_local_seq\":\(number)"))
    #expect(multipart.text.contains("hello"))
  }
}
