// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreServer
import NanoSync
import Testing

/// Anna's documents belong to her; Bert, who may write to the database, knows their IDs and revisions.
@Suite("Revisions that a user may not read")
struct HiddenRevisionTests {
  private let server: TestServer
  private let revision: String
  private let bert = TestServer.basic("bert", "secret")

  init() async throws {
    server = try TestServer { configuration in
      configuration.authenticate = { credentials in
        guard case .password(let name, "secret") = credentials else { return nil }
        return SyncUser(name: name, roles: name == "admin" ? [SyncUser.administratorRole] : [])
      }
      configuration.rules.isVisible = { user, _, document in
        document.isDeleted || document.fields["owner"]?.string == user.name
      }
    }
    _ = try await server.send("PUT", "/notes", headers: TestServer.basic("admin", "secret"))
    let written = try await server.send(
      "PUT", "/notes/m",
      Array(#"{"owner":"anna","_attachments":{"f":{"data":"c2VjcmV0"}}}"#.utf8),
      headers: TestServer.basic("anna", "secret"))
    revision = try #require(written.json.object?["rev"]?.string)
  }

  private func send(
    _ method: String, _ target: String, _ body: String = "", headers: [String: String] = [:]
  ) async throws -> TestServer.Answer {
    try await server.send(
      method, target, Array(body.utf8), headers: bert.merging(headers) { _, given in given })
  }

  @Test("Their attachments cannot be taken over by a revision that names them")
  func stubs() async throws {
    let stub = #""_attachments":{"f":{"stub":true,"revpos":1}}"#
    let digest =
      #""_attachments":{"f":{"stub":true,"revpos":1,"digest":"md5-Xr4ilOzQ4PCOq3aQ0qbuaQ=="}}"#

    for attachments in [stub, digest] {
      let body = #"{"_id":"m","owner":"bert","_rev":"2-abc",\#(attachments)}"#
      let single = try await send("PUT", "/notes/m?new_edits=false", body)
      let bulk = try await send(
        "POST", "/notes/_bulk_docs", #"{"new_edits":false,"docs":[\#(body)]}"#)
      let edit = try await send(
        "PUT", "/notes/m?rev=\(revision)", #"{"owner":"bert",\#(attachments)}"#)
      #expect(single.status == 412)
      #expect(bulk.status == 412)
      #expect(edit.status == 412)
    }
    #expect(try await send("GET", "/notes/m/f?rev=2-abc").status == 404)
  }

  @Test("Who may read a revision keeps its attachments by naming them")
  func ownStubs() async throws {
    let anna = TestServer.basic("anna", "secret")
    let body = #"{"_id":"m","owner":"anna","_attachments":{"f":{"stub":true,"revpos":1}}}"#

    let edit = try await server.send(
      "PUT", "/notes/m?rev=\(revision)", Array(body.utf8), headers: anna)
    let second = try #require(edit.json.object?["rev"]?.string)
    let replicated = try await server.send(
      "POST", "/notes/_bulk_docs",
      Array(
        #"{"new_edits":false,"docs":[{"_id":"m","_revisions":{"start":3,"ids":["abc","\#(second.dropFirst(2))"]},"owner":"anna","_attachments":{"f":{"stub":true,"revpos":1}}}]}"#
          .utf8), headers: anna)

    #expect(edit.status == 201)
    #expect(replicated.json == [])
    #expect(try await server.send("GET", "/notes/m/f", headers: anna).text == "secret")
  }

  @Test("Their content cannot be changed attachment by attachment")
  func attachments() async throws {
    #expect(try await send("PUT", "/notes/m/g?rev=\(revision)", "x").status == 409)
    #expect(try await send("DELETE", "/notes/m/f?rev=\(revision)").status == 409)
    #expect(try await send("GET", "/notes/m/f").status == 404)
    #expect(try await send("GET", "/notes/m/f?rev=\(revision)").status == 404)
    #expect(try await send("HEAD", "/notes/m/f", headers: ["Range": "bytes=0-1"]).status == 404)
  }

  @Test("They are missing from the revisions that the database has")
  func difference() async throws {
    _ = try await send("PUT", "/notes/own", #"{"owner":"bert"}"#)
    let own = try #require(
      try await send("GET", "/notes/own").json.object?["_rev"]?.string)

    let answer = try await send(
      "POST", "/notes/_revs_diff", #"{"m":["\#(revision)","2-abc"],"own":["\#(own)","2-abc"]}"#)
    let missing = try await send("POST", "/notes/_missing_revs", #"{"m":["\#(revision)"]}"#)

    #expect(
      answer.json == [
        "m": ["missing": [.string(revision), "2-abc"]],
        "own": ["missing": ["2-abc"], "possible_ancestors": [.string(own)]],
      ])
    #expect(missing.json == ["missing_revs": ["m": [.string(revision)]]])
  }

  @Test("A conflicting revision of a visible document has no name")
  func conflicts() async throws {
    _ = try await send(
      "POST", "/notes/_bulk_docs",
      #"{"new_edits":false,"docs":[{"_id":"m","_rev":"2-abc","owner":"bert"}]}"#)
    let json = ["Accept": "application/json"]

    let document = try await send("GET", "/notes/m?conflicts=true&meta=true")
    let open = try await send("GET", "/notes/m?open_revs=all", headers: json)
    let asked = try await send(
      "GET", "/notes/m?open_revs=%5B%22\(revision)%22%5D&latest=true", headers: json)
    let changes = try await send(
      "GET", "/notes/_changes?style=all_docs&include_docs=true&conflicts=true")

    #expect(document.json.object?["_rev"] == "2-abc")
    #expect(document.json.object?["_conflicts"] == nil)
    #expect(open.json.array?.count == 1)
    #expect(asked.json == [["missing": .string(revision)]])
    for answer in [document, open, changes] { #expect(!answer.text.contains(revision)) }
  }

  @Test("Listings do not tell between which IDs they are")
  func offsets() async throws {
    let answer = try await send("GET", "/notes/_all_docs?startkey=%22m%22")

    #expect(answer.json.object?["offset"] == .null)
    #expect(answer.json.object?["rows"] == [])
  }

  @Test("They are not found by a search, whatever its conditions")
  func search() async throws {
    for body in [
      #"{"selector":{"owner":"anna"}}"#, #"{"selector":{},"sort":["owner"]}"#,
      #"{"selector":{"$not":{"owner":"bert"}}}"#, #"{"selector":{"_id":"m"},"fields":["_rev"]}"#,
    ] {
      #expect(try await send("POST", "/notes/_find", body).json.object?["docs"] == [])
    }
    let changes = try await send(
      "POST", "/notes/_changes?filter=_selector&include_docs=true&style=all_docs",
      #"{"selector":{"owner":"anna"}}"#)
    #expect(changes.json.object?["results"] == [])
    for accept in ["application/json", "multipart/mixed"] {
      let rows = try await send(
        "POST", "/notes/_bulk_get?attachments=true&revs=true&latest=true",
        #"{"docs":[{"id":"m"},{"id":"m","rev":"\#(revision)"}]}"#, headers: ["Accept": accept])
      #expect(!rows.text.contains("anna"))
      #expect(!rows.text.contains("_attachments"))
    }
  }

  @Test("A collection that a user may not read is not set up for sync by a request")
  func setUp() async throws {
    let store = try Store(.memory)
    try await store["secret"].save(["a": 1], key: "k")
    let server = TestServer(store) {
      $0.rules.canRead = { _, name in name != "secret" }
    }

    #expect(try await server.send("GET", "/secret").status == 401)
    #expect(try await server.send("GET", "/secret/_changes").status == 401)
    #expect(try await server.send("GET", "/_all_dbs").json == [])

    #expect(try !SyncDatabase(store["secret"]).isEnabled())
  }

  @Test("The checkpoints of others are not listed")
  func checkpoints() async throws {
    _ = try await send("PUT", "/notes/_local/c", "{}")

    #expect(try await send("GET", "/notes/_local_docs").status == 403)
    #expect(try await send("GET", "/notes/_local/c").status == 200)
    let listed = try await server.send(
      "GET", "/notes/_local_docs", headers: TestServer.basic("admin", "secret"))
    #expect(listed.json.object?["rows"]?.array?.count == 1)
  }

  @Test("A database with members is listed for them only")
  func listing() async throws {
    let admin = TestServer.basic("admin", "secret")
    _ = try await server.send(
      "PUT", "/notes/_security", Array(#"{"members":{"names":["anna"]}}"#.utf8), headers: admin)

    #expect(try await send("GET", "/_all_dbs").json == [])
    #expect(
      try await server.send("GET", "/_all_dbs", headers: TestServer.basic("anna", "secret")).json
        == ["notes"])
    #expect(try await server.send("GET", "/_all_dbs", headers: admin).json == ["notes"])
  }
}
