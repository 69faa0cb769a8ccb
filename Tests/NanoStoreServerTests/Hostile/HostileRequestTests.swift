// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

@testable import NanoStoreServer

@Suite("Requests that a client should not send")
struct HostileRequestTests {
  private func server() async throws -> TestServer {
    let server = try TestServer()
    for target in ["/notes", "/notes/a", "/notes/b"] {
      _ = try await server.send("PUT", target, Array("{}".utf8))
    }
    return server
  }

  @Test(
    "Numbers beyond every document list none",
    arguments: [
      "skip=9223372036854775807&startkey=%22b%22",
      "skip=9223372036854775807&limit=9223372036854775807&startkey=%22b%22",
      "skip=9223372036854775807&descending=true&startkey=%22a%22",
      "skip=9223372036854775807&keys=%5B%22a%22%5D", "limit=0",
    ])
  func numbers(_ query: String) async throws {
    let server = try await server()

    let answer = try await server.send("GET", "/notes/_all_docs?\(query)")

    #expect(answer.status == 200)
    #expect(answer.json.object?["rows"] == [])
  }

  @Test("Numbers beyond every document list none in a body, either")
  func numbersInBody() async throws {
    let server = try await server()

    let listed = try await server.send(
      "POST", "/notes/_all_docs", ["skip": .int(.max), "startkey": "b"])
    let found = try await server.send(
      "POST", "/notes/_find", ["selector": [:], "skip": .int(.max), "limit": .int(.max)])

    #expect(listed.json.object?["rows"] == [])
    #expect(found.json.object?["docs"] == [])
  }

  @Test(
    "A body with a value of the wrong type is refused, not read as if it were missing",
    arguments: [
      ("POST", "/notes/_all_docs", #"{"skip":-1}"#),
      ("POST", "/notes/_all_docs", #"{"limit":"x"}"#),
      ("POST", "/notes/_find", #"{"selector":{},"limit":-1}"#),
      ("POST", "/notes/_find", #"{"selector":{},"skip":1.5}"#),
      ("POST", "/notes/_find", #"{"selector":{},"fields":"_id"}"#),
      ("POST", "/notes/_find", #"{"selector":{},"sort":"_id"}"#),
      ("POST", "/notes/_bulk_docs", #"{"new_edits":"false","docs":[{"_id":"c"}]}"#),
      ("PUT", "/notes/_security", #"{"members":1}"#),
      ("PUT", "/notes/_security", #"{"members":{"names":"anna"}}"#),
      ("PUT", "/notes/_security", #"{"admins":{"roles":[1]}}"#),
    ])
  func types(_ method: String, _ target: String, _ body: String) async throws {
    let server = try await server()

    let answer = try await server.send(method, target, Array(body.utf8))

    #expect(answer.status == 400)
    #expect(try await server.store["notes"].count() == 2)
    #expect(try await server.send("GET", "/notes/_security").json == [:])
  }

  @Test("Names of internal tables, and names without a meaning, are no databases")
  func databaseNames() async throws {
    let server = try await server()

    for name in ["nano_meta", "nano_revisions_notes", "sqlite_master", "..", "%2e%2e%2fx", "Upper"]
    {
      let created = try await server.send("PUT", "/\(name)")
      #expect(created.status == 400, "\(name)")
      #expect(created.error == "illegal_database_name", "\(name)")
      #expect(try await server.send("GET", "/\(name)").status == 404, "\(name)")
      #expect(try await server.send("GET", "/\(name)/x").status == 404, "\(name)")
      #expect(try await server.send("DELETE", "/\(name)").status == 404, "\(name)")
    }
    #expect(try await server.store.collections().map(\.name) == ["notes"])
  }

  @Test("A design or local document has a name")
  func emptyNames() async throws {
    let server = try await server()

    for target in ["/notes/_design", "/notes/_design/", "/notes/_design%2F", "/notes/_local/"] {
      #expect(try await server.send("PUT", target, Array("{}".utf8)).status == 400, "\(target)")
    }
    for id in ["_design/", "_local/"] {
      let answer = try await server.send(
        "POST", "/notes/_bulk_docs", ["docs": [["_id": .string(id)]]])
      #expect(answer.status == 400, "\(id)")
      #expect(answer.error == "illegal_docid", "\(id)")
    }
  }

  @Test("A copy under the name of a local document is one, and no document of the collection")
  func copyToLocal() async throws {
    let server = try await server()

    for destination in ["_local/c", "_local%2Fd"] {
      let copy = try await server.send("COPY", "/notes/a", headers: ["Destination": destination])
      #expect(copy.status == 201)
      #expect(copy.json.object?["rev"] == "0-1")
    }
    #expect(try await server.send("GET", "/notes/_local/c").status == 200)
    #expect(try await server.store["notes"].count() == 2)
    let elsewhere = try await server.send(
      "COPY", "/notes/a", headers: ["Destination": "http://elsewhere.example/notes/c"])
    #expect(elsewhere.status == 400)
  }

  @Test("Endpoints without a function say so")
  func unsupported() async throws {
    let server = try TestServer {
      $0.authenticate = { _ in SyncUser(name: "admin", roles: [SyncUser.administratorRole]) }
    }
    _ = try await server.send("PUT", "/notes")

    #expect(try await server.send("GET", "/_active_tasks").text == "[]\n")
    #expect(try await server.send("POST", "/notes/_index", ["index": [:]]).status == 501)
    #expect(try await server.send("POST", "/notes/_explain", ["selector": [:]]).status == 501)
    let put = try await server.send("PUT", "/notes/_purged_infos_limit", Array("5".utf8))
    #expect(put.status == 405 && put.header("Allow") == "GET,HEAD")
    #expect(try await server.send("GET", "/notes/_purged_infos_limit").text == "1000\n")
  }

  @Test("A document that is asked for many times is sent as often, one at a time")
  func repeated() async throws {
    let server = try await server()
    let text = String(repeating: "x", count: 20_000)
    _ = try await server.send("PUT", "/notes/long", ["text": .string(text)])
    let rows = DocumentValue.array((0..<120).map { _ in ["id": "long"] })
    let body = SyncJSON.bytes(["docs": rows] as DocumentObject)

    // The longest piece that is in memory at once, and the number of documents.
    func longest(_ target: String, _ body: [UInt8], accept: String) async throws -> (Int, Int) {
      let response = await server.respond(
        "POST", target, body, headers: ["Content-Type": "application/json", "Accept": accept])
      guard case .stream(let stream) = response.body else { return (0, 0) }
      var (longest, all) = (0, [UInt8]())
      try await stream.produce {
        longest = max(longest, $0.count)
        all += $0
      }
      return (longest, String(decoding: all, as: UTF8.self).components(separatedBy: text).count - 1)
    }

    let keys = SyncJSON.bytes(
      ["keys": .array((0..<120).map { _ in "long" })] as DocumentObject)
    for (target, body, accept) in [
      ("/notes/_bulk_get", body, "application/json"), ("/notes/_bulk_get", body, "multipart/mixed"),
      ("/notes/_all_docs?include_docs=true", keys, "application/json"),
    ] {
      let (length, count) = try await longest(target, body, accept: accept)
      #expect(count == 120, "\(target) \(accept)")
      #expect(length < PieceBuffer.length + 2 * text.utf8.count, "\(target) \(accept)")
    }
  }

  @Test("A search without a limit is sent document by document")
  func search() async throws {
    let server = try await server()
    let text = String(repeating: "x", count: 10_000)
    for index in 0..<300 {
      try await server.store["notes"].save(["text": .string(text)], key: "n\(index)")
    }

    let response = await server.respond(
      "POST", "/notes/_find", Array(#"{"selector":{"text":{"$gt":""}},"limit":1000000}"#.utf8),
      headers: ["Content-Type": "application/json"])

    guard case .stream(let stream) = response.body else {
      Issue.record("The documents are in memory")
      return
    }
    var (longest, all) = (0, [UInt8]())
    try await stream.produce {
      longest = max(longest, $0.count)
      all += $0
    }
    #expect(longest < PieceBuffer.length + 2 * text.utf8.count)
    let answer = try DocumentObject(json: all, dialect: .plain)
    #expect(answer["docs"]?.array?.count == 300)
    #expect(answer["bookmark"]?.string?.hasPrefix("n") == true)
  }

  @Test("Pages of a search continue at the bookmark, with the skipped ones in the first")
  func bookmarks() async throws {
    let server = try await server()
    for index in 100..<900 { try await server.store["notes"].save(["n": 1], key: "n\(index)") }
    var (found, bookmark) = ([String](), DocumentValue.null)

    for page in 0..<3 {
      let answer = try await server.send(
        "POST", "/notes/_find",
        [
          "selector": ["n": 1], "limit": 260, "skip": page == 0 ? 255 : 0, "bookmark": bookmark,
          "fields": ["_id"],
        ])
      found += answer.json.object?["docs"]?.array?.compactMap { $0.object?["_id"]?.string } ?? []
      bookmark = answer.json.object?["bookmark"] ?? .null
    }

    #expect(found == (355..<900).map { "n\($0)" })
  }

  @Test("A pattern that would need exponential time is found or not, at once")
  func pattern() async throws {
    let server = try await server()
    _ = try await server.send(
      "PUT", "/notes/p", ["text": .string(String(repeating: "a", count: 500) + "!")])

    let found = try await server.send(
      "POST", "/notes/_find", ["selector": ["text": ["$regex": "((((a*)*)*)*)*b"]]])
    let changes = try await server.send(
      "POST", "/notes/_changes?filter=_selector",
      ["selector": ["text": ["$regex": "^(a+)+!$"]]])

    #expect(found.json.object?["docs"] == [])
    #expect(changes.json.object?["results"]?.array?.count == 1)
  }

  @Test("A path does not write lines of the log")
  func log() throws {
    let forged = try #require(
      SyncRequest(method: "GET", target: "/x%0A2026-01-01T00:00:00Z%20error"))
    let usual = try #require(SyncRequest(method: "GET", target: "/notes/a"))

    #expect(SyncHandler.loggedDatabase(forged) == "")
    #expect(SyncHandler.loggedDatabase(usual) == "notes")
  }

  @Test("Clients with many addresses do not fill the memory of the rate limit")
  func addresses() {
    let limiter = RateLimiter(SyncRateLimit(requestsPerSecond: 0, burst: 1))
    let now = ContinuousClock.now

    for index in 0..<25_000 { _ = limiter.secondsToWait("address \(index)", now: now) }

    #expect(limiter.clients <= 10_000)
    // A limit of 0 has no time after which a request would be within it.
    #expect(limiter.secondsToWait("address 24999", now: now) == 3_600)
  }

  @Test("A document that is too large is refused in a list too, whether it is local or not")
  func tooLarge() async throws {
    let server = try TestServer { $0.maximumDocument = 1_000 }
    _ = try await server.send("PUT", "/notes")
    let text = String(repeating: "x", count: 1_000)
    for id in ["n1", "_local/n1"] {
      let document = #"{"_id":"\#(id)","text":"\#(text)"}"#
      let answers = [
        try await server.send("PUT", "/notes/\(id)", Array(document.utf8)),
        try await server.send("POST", "/notes/_bulk_docs", Array(#"{"docs":[\#(document)]}"#.utf8)),
      ]
      #expect(answers.map(\.status) == [413, 413])
      #expect(try await server.send("GET", "/notes/\(id)").status == 404)
    }
  }
}
