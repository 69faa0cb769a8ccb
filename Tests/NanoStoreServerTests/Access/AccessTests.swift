// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreServer
import NanoTestSupport
import Synchronization
import Testing

@Suite("Access to a sync server")
struct AccessTests {
  /// A server with an administrator, two writers, a reader and a stranger.
  private func server(
    _ configure: (inout SyncServerConfiguration) -> Void = { _ in }
  ) async throws -> TestServer {
    let server = try TestServer { configuration in
      configuration.authenticate = { credentials in
        switch credentials {
        case .password(let name, "secret"):
          SyncUser(name: name, roles: name == "admin" ? [SyncUser.administratorRole] : [])
        case .token("a-token"): SyncUser(name: "robot", roles: ["writers"])
        case .none, .password, .token: nil
        }
      }
      configuration.rules.canRead = { user, _ in user.name != "stranger" }
      configuration.rules.canWrite = { user, _ in user.name != "reader" }
      configure(&configuration)
    }
    let created = try await server.send(
      "PUT", "/notes", headers: TestServer.basic("admin", "secret"))
    #expect(created.status == 201)
    return server
  }

  @Test("A request without credentials is refused, except to the root and the session")
  func anonymous() async throws {
    let server = try await server()

    #expect(try await server.send("GET", "/").status == 200)
    #expect(try await server.send("GET", "/_up").status == 200)
    let refused = try await server.send("GET", "/notes/n1")
    #expect(refused.status == 401)
    #expect(refused.reason == "You are not authorized to access this db.")
    // Whether a database exists is a secret.
    #expect(try await server.send("GET", "/missing").status == 401)
    let session = try await server.send("GET", "/_session")
    #expect(session.json.object?["userCtx"]?.object?["name"] == .null)
  }

  @Test("Basic authentication, a bearer token and a session identify the same users")
  func identification() async throws {
    let server = try await server()

    let basic = try await server.send("GET", "/notes", headers: TestServer.basic("anna", "secret"))
    let token = try await server.send("GET", "/notes", headers: ["Authorization": "Bearer a-token"])
    let wrong = try await server.send("GET", "/notes", headers: TestServer.basic("anna", "wrong"))
    let malformed = try await server.send("GET", "/notes", headers: ["Authorization": "Basic !"])

    #expect(basic.status == 200)
    #expect(token.status == 200)
    #expect(wrong.status == 401)
    #expect(wrong.reason == "Name or password is incorrect.")
    #expect(malformed.status == 400)
  }

  @Test("A login by form or JSON sets a cookie that is accepted until it expires, and no other")
  func session() async throws {
    let server = try await server()

    let form = try await server.send(
      "POST", "/_session", Array("name=anna&password=secret".utf8),
      headers: ["Content-Type": "application/x-www-form-urlencoded"])
    let json = try await server.send(
      "POST", "/_session", ["name": "anna", "password": "secret"])
    let failed = try await server.send(
      "POST", "/_session", ["name": "anna", "password": "guess"])

    #expect(form.status == 200)
    #expect(form.json.object?["name"] == "anna")
    #expect(failed.status == 401)
    #expect(failed.header("Set-Cookie")?.hasPrefix("AuthSession=;") == true)
    let cookie = try #require(
      json.header("Set-Cookie")?.split(separator: ";").first.map(String.init))
    let reading = try await server.send("GET", "/notes", headers: ["Cookie": cookie])
    #expect(reading.status == 200)
    let who = try await server.send("GET", "/_session", headers: ["Cookie": cookie])
    #expect(who.json.object?["userCtx"]?.object?["name"] == "anna")
    #expect(who.json.object?["info"]?.object?["authenticated"] == "cookie")
    let forged = cookie.dropLast(2) + (cookie.hasSuffix("AA") ? "BB" : "AA")
    #expect(
      try await server.send("GET", "/notes", headers: ["Cookie": String(forged)]).status == 401)
    let broken = try await server.send("GET", "/notes", headers: ["Cookie": "AuthSession=x"])
    #expect(broken.status == 400)
    #expect(broken.reason?.hasPrefix("Malformed AuthSession cookie") == true)
    // Another server has another key.
    let other = try await self.server()
    #expect(try await other.send("GET", "/notes", headers: ["Cookie": cookie]).status == 401)
  }

  @Test("An expired session is not accepted")
  func expiry() async throws {
    let server = try await server { $0.sessionLifetime = .zero }

    let login = try await server.send("POST", "/_session", ["name": "anna", "password": "secret"])

    let cookie = try #require(
      login.header("Set-Cookie")?.split(separator: ";").first.map(String.init))
    #expect(try await server.send("GET", "/notes", headers: ["Cookie": cookie]).status == 401)
  }

  @Test("A user who may not read a database learns nothing of its documents")
  func reading() async throws {
    let server = try await server()
    let stranger = TestServer.basic("stranger", "secret")

    for target in ["/notes", "/notes/n1", "/notes/_changes", "/notes/_all_docs", "/notes/_local/x"]
    {
      let answer = try await server.send("GET", target, headers: stranger)
      #expect(answer.status == 403)
      #expect(answer.reason == "You are not allowed to access this db.")
    }
    let databases = try await server.send("GET", "/_all_dbs", headers: stranger)
    #expect(databases.json == [])
  }

  @Test("A user who may only read can write checkpoints, and nothing else")
  func readOnly() async throws {
    let server = try await server()
    let reader = TestServer.basic("reader", "secret")

    let checkpoint = try await server.send(
      "PUT", "/notes/_local/c", Array("{}".utf8), headers: reader)
    let document = try await server.send("PUT", "/notes/n1", Array("{}".utf8), headers: reader)
    let bulk = try await server.send(
      "POST", "/notes/_bulk_docs", Array(#"{"docs":[{"_id":"n1"}]}"#.utf8), headers: reader)
    let attachment = try await server.send("PUT", "/notes/n1/a", Array("x".utf8), headers: reader)

    #expect(checkpoint.status == 201)
    #expect(document.status == 403)
    #expect(bulk.status == 403)
    #expect(attachment.status == 403)
    #expect(try await server.store["notes"].count() == 0)
  }

  @Test("Validation rejects documents one by one, in every kind of write")
  func validation() async throws {
    let server = try await server {
      $0.rules.validate = { user, write in
        if write.new.fields["kind"] == "secret" { throw SyncRejection.unauthorized("log in first") }
        if write.new.fields["kind"] == "salt" { throw SyncRejection.forbidden("no salt please") }
        if let owner = write.old?.fields["owner"], owner.string != user.name {
          throw SyncRejection.forbidden("not yours")
        }
      }
    }
    let anna = TestServer.basic("anna", "secret")
    let first = try await server.send(
      "PUT", "/notes/mine", Array(#"{"owner":"anna"}"#.utf8), headers: anna)
    let revision = try #require(first.json.object?["rev"]?.string)

    let bulk = try await server.send(
      "POST", "/notes/_bulk_docs",
      Array(#"{"docs":[{"_id":"a","kind":"salt"},{"_id":"b","kind":"secret"},{"_id":"c"}]}"#.utf8),
      headers: anna)
    let replicated = try await server.send(
      "POST", "/notes/_bulk_docs",
      Array(
        #"{"new_edits":false,"docs":[{"_id":"d","_rev":"1-abc","kind":"salt"},{"_id":"e","_rev":"1-abc"}]}"#
          .utf8),
      headers: anna)
    let foreign = try await server.send(
      "DELETE", "/notes/mine?rev=\(revision)", headers: TestServer.basic("bert", "secret"))
    let attachment = try await server.send(
      "PUT", "/notes/mine/a.txt?rev=\(revision)", Array("x".utf8),
      headers: TestServer.basic("bert", "secret"))

    let rows = try #require(bulk.json.array)
    #expect(bulk.status == 201)
    try #require(rows.count == 3)
    #expect(rows[0] == ["id": "a", "error": "forbidden", "reason": "no salt please"])
    #expect(rows[1] == ["id": "b", "error": "unauthorized", "reason": "log in first"])
    #expect(rows[2].object?["ok"] == true)
    #expect(replicated.status == 201)
    #expect(
      replicated.json == [
        ["id": "d", "rev": "1-abc", "error": "forbidden", "reason": "no salt please"]
      ])
    #expect(foreign.status == 403)
    #expect(foreign.reason == "not yours")
    #expect(attachment.status == 403)
    #expect(try await server.store["notes"].get("e") != nil)
    #expect(try await server.store["notes"].get("d") == nil)
  }

  @Test("An error of a rule other than a rejection is reported without its details")
  func ruleFails() async throws {
    struct Secret: Error {}
    let server = try await server { $0.rules.validate = { _, _ in throw Secret() } }

    let answer = try await server.send(
      "PUT", "/notes/n1", Array("{}".utf8), headers: TestServer.basic("anna", "secret"))

    #expect(answer.status == 403)
    #expect(!answer.text.contains("Secret"))
  }

  @Test("A document that a user may not see is missing from every kind of read")
  func visibility() async throws {
    let server = try await server {
      $0.rules.isVisible = { user, _, document in
        user.isAdministrator || document.isDeleted || document.fields["owner"]?.string == user.name
      }
    }
    let admin = TestServer.basic("admin", "secret")
    for (id, owner) in [("a", "anna"), ("b", "bert")] {
      _ = try await server.send(
        "PUT", "/notes/\(id)",
        Array(#"{"owner":"\#(owner)","_attachments":{"f":{"data":"aGk="}}}"#.utf8), headers: admin)
    }
    let anna = TestServer.basic("anna", "secret")
    func ids(_ target: String, _ member: String) async throws -> [String] {
      let answer = try await server.send("GET", target, headers: anna)
      return answer.json.object?[member]?.array?.compactMap { $0.object?["id"]?.string } ?? []
    }

    #expect(try await ids("/notes/_changes", "results") == ["a"])
    #expect(try await ids("/notes/_changes?style=all_docs&limit=1", "results") == ["a"])
    #expect(try await ids("/notes/_changes?descending=true", "results") == ["a"])
    #expect(try await ids("/notes/_all_docs?include_docs=true", "rows") == ["a"])
    #expect(try await ids(#"/notes/_all_docs?keys=["a","b"]"#, "rows") == ["a"])
    #expect(try await server.send("GET", "/notes/a", headers: anna).status == 200)
    #expect(try await server.send("GET", "/notes/b", headers: anna).status == 404)
    #expect(try await server.send("GET", "/notes/b/f", headers: anna).status == 404)
    let open = try await server.send(
      "GET", "/notes/b?open_revs=all",
      headers: anna.merging(["Accept": "application/json"]) { a, _ in a })
    #expect(open.status == 404)
    let bulk = try await server.send(
      "POST", "/notes/_bulk_get", Array(#"{"docs":[{"id":"a"},{"id":"b"}]}"#.utf8), headers: anna)
    let results = try #require(bulk.json.object?["results"]?.array)
    try #require(results.count == 2)
    #expect(results[0].object?["docs"]?.array?.first?.object?["ok"] != nil)
    #expect(results[1].object?["docs"]?.array?.first?.object?["error"] != nil)
    let found = try await server.send(
      "POST", "/notes/_find", Array(#"{"selector":{}}"#.utf8), headers: anna)
    #expect(found.json.object?["docs"]?.array?.count == 1)
    let copy = try await server.send(
      "COPY", "/notes/b", headers: anna.merging(["Destination": "c"]) { a, _ in a })
    #expect(copy.status == 404)
  }

  @Test("The members of _security may use a database, its administrators may configure it")
  func security() async throws {
    let server = try await server()
    let admin = TestServer.basic("admin", "secret")
    let anna = TestServer.basic("anna", "secret")
    let set = try await server.send(
      "PUT", "/notes/_security",
      Array(
        #"{"members":{"names":["bert"],"roles":["writers"]},"admins":{"names":["anna"]}}"#.utf8),
      headers: admin)

    #expect(set.status == 200)
    #expect(
      try await server.send("GET", "/notes", headers: TestServer.basic("carl", "secret")).status
        == 403)
    #expect(
      try await server.send("GET", "/notes", headers: TestServer.basic("bert", "secret")).status
        == 200)
    #expect(
      try await server.send("GET", "/notes", headers: ["Authorization": "Bearer a-token"]).status
        == 200)
    let design = try await server.send("PUT", "/notes/_design/d", Array("{}".utf8), headers: anna)
    #expect(design.status == 201)
    let other = try await server.send(
      "PUT", "/notes/_design/e", Array("{}".utf8), headers: TestServer.basic("bert", "secret"))
    #expect(other.status == 403)
    #expect(other.reason == "You are not a db or server admin.")
    #expect(
      try await server.send("PUT", "/notes/_revs_limit", Array("5".utf8), headers: anna).status
        == 200)
  }

  @Test("Only administrators create and delete databases, and only if the server allows it")
  func databases() async throws {
    let server = try await server()
    let anna = TestServer.basic("anna", "secret")
    let strict = try await self.server()
    let admin = TestServer.basic("admin", "secret")

    #expect(try await server.send("PUT", "/other", headers: anna).status == 401)
    #expect(try await server.send("DELETE", "/notes", headers: anna).status == 401)
    #expect(try await strict.send("DELETE", "/notes?rev=1-abc", headers: admin).status == 400)
    let closed = TestServer(server.store) {
      $0.allowsCreatingDatabases = false
      $0.allowsDeletingDatabases = false
    }
    #expect(try await closed.send("PUT", "/other").status == 403)
    #expect(try await closed.send("PUT", "/notes").status == 412)
    #expect(try await closed.send("DELETE", "/notes").status == 403)
    #expect(try await server.store.collections().contains { $0.name == "notes" })
  }

  @Test("Only the configured collections are served")
  func selection() async throws {
    let store = try anyStore()
    for name in ["notes", "private", "Upper"] { try await store[name].save(["a": 1], key: "k") }
    let server = TestServer(store) { $0.databases = .only(["notes", "later"]) }

    #expect(try await server.send("GET", "/_all_dbs").json == ["notes"])
    #expect(try await server.send("GET", "/private").status == 404)
    #expect(try await server.send("GET", "/Upper").status == 404)
    #expect(try await server.send("PUT", "/more").status == 403)
    #expect(try await server.send("PUT", "/later").status == 201)
    // The internal collections of sync are no databases.
    #expect(try await server.send("GET", "/nano_sync_state").status == 404)
  }

  @Test("Without users, requests under a foreign host name are refused")
  func rebinding() async throws {
    let server = try TestServer { $0.hostNames = ["server.example"] }

    for host in ["127.0.0.1:5984", "localhost:5984", "[::1]:5984", "server.example", "192.168.1.2"]
    {
      #expect(try await server.send("GET", "/", headers: ["Host": host]).status == 200)
    }
    #expect(try await server.send("GET", "/", headers: ["Host": "evil.example:5984"]).status == 421)
  }

  @Test("A response to too many requests says how long to wait")
  func rateLimit() async throws {
    let server = try TestServer {
      $0.rateLimit = SyncRateLimit(requestsPerSecond: 0.001, burst: 3)
    }

    for _ in 0..<3 { #expect(try await server.send("GET", "/", address: "10.0.0.1").status == 200) }
    let refused = try await server.send("GET", "/", address: "10.0.0.1")

    #expect(refused.status == 429)
    #expect(refused.header("Retry-After").flatMap { Int($0) } ?? 0 > 0)
    #expect(refused.error == "too_many_requests")
    #expect(try await server.send("GET", "/", address: "10.0.0.2").status == 200)
  }

  @Test("Users at one address are counted separately, and failed logins together")
  func rateLimitOfUsers() async throws {
    let server = try await self.server {
      $0.rateLimit = SyncRateLimit(requestsPerSecond: 0.001, burst: 3)
    }
    func status(_ name: String, _ password: String) async throws -> Int {
      try await server.send(
        "GET", "/notes", headers: TestServer.basic(name, password), address: "10.0.0.1"
      ).status
    }

    for name in ["anna", "robert"] {
      for _ in 0..<3 { #expect(try await status(name, "secret") == 200) }
      #expect(try await status(name, "secret") == 429)
    }

    for _ in 0..<3 { #expect(try await status("eve", "wrong") == 401) }
    // Not even the right password gets through, or it could be guessed.
    #expect(try await status("eve", "secret") == 429)
  }

  @Test("Failed logins of clients whose address is unknown count together")
  func rateLimitWithoutAddress() async throws {
    let server = try await self.server {
      $0.rateLimit = SyncRateLimit(requestsPerSecond: 0.001, burst: 3)
    }
    let wrong = TestServer.basic("anna", "wrong")

    for _ in 0..<3 {
      #expect(try await server.send("GET", "/notes", headers: wrong).status == 401)
    }
    #expect(try await server.send("GET", "/notes", headers: wrong).status == 429)
  }

  @Test("A password may begin with a combining mark")
  func combiningMark() async throws {
    let password = "\u{301}secret"
    let server = try TestServer {
      $0.authenticate = { login in
        guard case .password(let name, let given) = login, given.utf8.elementsEqual(password.utf8)
        else { return nil }
        return SyncUser(name: name)
      }
    }

    let answer = try await server.send(
      "GET", "/_session", headers: TestServer.basic("anna", password))

    #expect(answer.json.object?["userCtx"]?.object?["name"] == "anna")
  }

  @Test("A longer history of a known deletion does not delete a document without validation")
  func forgedHistory() async throws {
    let server = try await self.server {
      $0.rules.validate = { user, write in
        for revision in [write.old, write.new].compactMap({ $0 }) where !revision.isDeleted {
          guard revision.fields["owner"]?.string == user.name else {
            throw SyncRejection.forbidden("A document belongs to its owner.")
          }
        }
      }
    }
    let (anna, eve) = (TestServer.basic("anna", "secret"), TestServer.basic("eve", "secret"))
    let (first, deletion) = (String(repeating: "a", count: 32), String(repeating: "f", count: 32))
    let known = try await server.send(
      "PUT", "/notes/p?new_edits=false",
      ["_rev": .string("3-\(deletion)"), "_deleted": true], headers: eve)
    #expect(known.status < 300)
    let written = try await server.send(
      "PUT", "/notes/p?new_edits=false",
      ["_rev": .string("1-\(first)"), "owner": "anna"], headers: anna)
    #expect(written.status == 201)

    let middle = DocumentValue.string(String(repeating: "e", count: 32))
    let forged = try await server.send(
      "POST", "/notes/_bulk_docs",
      [
        "new_edits": false,
        "docs": [
          [
            "_id": "p", "_rev": .string("3-\(deletion)"), "_deleted": true,
            "_revisions": ["start": 3, "ids": [.string(deletion), middle, .string(first)]],
          ]
        ],
      ], headers: eve)

    #expect(forged.json.array?.first?.object?["error"] == "forbidden")
    let kept = try await server.send("GET", "/notes/p", headers: anna)
    #expect(kept.json.object?["owner"] == "anna")
    #expect(try await server.store["notes"].get("p") != nil)
  }
}
