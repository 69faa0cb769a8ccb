// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@testable import NanoStoreSync

@Suite struct RevisionsTests {
  private static func document(_ id: String, _ revision: String, _ fields: String = "") -> String {
    let parts = revision.split(separator: "-", maxSplits: 1)
    return
      #"{"_id":"\#(id)","_rev":"\#(revision)","_revisions":{"start":\#(parts[0]),"ids":["\#(parts[1])"]}\#(fields)}"#
  }

  private static func row(_ id: String, _ entries: String...) -> String {
    #"{"id":"\#(id)","docs":[\#(entries.joined(separator: ","))]}"#
  }

  private static func ok(_ id: String, _ revision: String, _ fields: String = "") -> String {
    #"{"ok":\#(document(id, revision, fields))}"#
  }

  private static func answer(_ rows: String...) -> [ScriptedServer.Step] {
    .json(200, #"{"results":[\#(rows.joined(separator: ","))]}"#)
  }

  @Test("Many revisions come with one request, in which it says what is known")
  func bulk() async throws {
    try await ScriptedServer.serving { _ in
      Self.answer(
        Self.row("a", Self.ok("a", "2-b", #","x":1"#)),
        Self.row("b", #"{"error":{"id":"b","rev":"1-a","error":"not_found","reason":"missing"}}"#))
    } peer: { peer, server in
      var first = try wanted("a", "2-b")
      first.ancestors = [try "1-a".revision]
      let fetched = try await peer.revisions([first, wanted("b", "1-a")])
      #expect(fetched.summary == ["a 2-b", "b 1-a missing"])
      guard case .document(let document) = fetched[0] else { throw NotARevision() }
      #expect(document.body == ["x": 1])
      let request = try #require(server.requests.first)
      #expect(request.path == "/notes/_bulk_get")
      #expect(request.query["revs"] == "true" && request.query["latest"] == "true")
      #expect(
        request.text
          == #"{"docs":[{"id":"a","rev":"2-b","atts_since":["1-a"]},{"id":"b","rev":"1-a"}]}"#)
    }
  }

  @Test("A descendant that comes instead of a revision is returned")
  func latest() async throws {
    let newer =
      #"{"ok":{"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]}}}"#
    try await ScriptedServer.serving { _ in
      Self.answer(Self.row("a", newer, Self.ok("a", "3-d")))
    } peer: { peer, _ in
      let fetched = try await peer.revisions([wanted("a", "2-b")])
      #expect(fetched.summary == ["a 3-c", "a 3-d"])
    }
  }

  @Test("One malformed document does not make the others useless")
  func malformedDocument() async throws {
    try await ScriptedServer.serving { _ in
      Self.answer(
        Self.row("a", Self.ok("a", "1-a")),
        Self.row("b", #"{"ok":{"_id":"b","_rev":"1-a","x":1e999}}"#),
        Self.row("c", #"{"ok":{"_id":"c","_rev":"1-a","_unknown":1}}"#),
        Self.row("d", Self.ok("other", "1-a")), Self.row("e", #"{"ok":{"_id":"e"}}"#),
        Self.row("f", #"{"ok":{"_id":"f","_rev":"x"}}"#),
        Self.row("g", #"{"error":{"error":"forbidden","reason":"no"}}"#),
        Self.row("h", Self.ok("h", "1-a")))
    } peer: { peer, _ in
      let fetched = try await peer.revisions(try "abcdefgh".map { try wanted("\($0)", "1-a") })
      #expect(
        fetched.summary == [
          "a 1-a", "b 1-a invalid", "c 1-a invalid", "d 1-a invalid", "e 1-a invalid",
          "f 1-a invalid", "g 1-a invalid", "h 1-a",
        ])
    }
  }

  @Test("A document as deep as values can be is read, and keeps special values")
  func depth() async throws {
    let deep = #","x":\#(String(repeating: "[", count: 511))\#(String(repeating: "]", count: 511))"#
    try await ScriptedServer.serving { _ in
      Self.answer(
        Self.row("a", Self.ok("a", "1-a", deep)),
        Self.row("b", Self.ok("b", "1-a", #","x":12345678901234567890123"#)))
    } peer: { peer, _ in
      let fetched = try await peer.revisions([wanted("a", "1-a"), wanted("b", "1-a")])
      #expect(fetched.summary == ["a 1-a", "b 1-a"])
    }
  }

  @Test("What is missing in the answer is asked for again, one document at a time")
  func incomplete() async throws {
    let answers = [
      // A row without documents, one of another document, one that is no row.
      #"{"results":[{"id":"a","docs":[]},{"id":"z","docs":[{"ok":{}}]},5]}"#,
      #"{"results":[]}"#, #"{"results":[{"id":"a","#, "<html>", "[]", "",
    ]
    for text in answers {
      try await ScriptedServer.serving { request in
        if request.method == "POST" { return .json(200, text) }
        let id = String(request.path.split(separator: "/")[1])
        return .json(200, "[\(Self.ok(id, "1-a"))]")
      } peer: { peer, _ in
        let fetched = try await peer.revisions([wanted("a", "1-a"), wanted("b", "1-a")])
        #expect(fetched.summary == ["a 1-a", "b 1-a"])
      }
    }
  }

  @Test("A server that groups revisions of a document is understood")
  func grouped() async throws {
    try await ScriptedServer.serving { request in
      guard request.method == "POST" else { return .missing }
      return Self.answer(
        Self.row("b", Self.ok("b", "1-a")),
        Self.row("a", Self.ok("a", "2-a"), Self.ok("a", "2-b")))
    } peer: { peer, server in
      let fetched = try await peer.revisions([
        wanted("a", "2-a"), wanted("a", "2-b"), wanted("b", "1-a"),
      ])
      #expect(fetched.summary == ["a 2-a", "a 2-b", "b 1-a"])
      #expect(server.log == ["POST /notes/_bulk_get"])
    }
  }

  @Test(
    "A server without _bulk_get is asked for one document at a time from then on",
    arguments: [400, 404, 405, 415, 500, 501])
  func withoutBulk(_ status: Int) async throws {
    try await ScriptedServer.serving { request in
      if request.method == "POST" {
        return .json(status, #"{"error":"not_found","reason":"missing"}"#)
      }
      return request.path == "/notes/_design%2Fx" || request.path == "/notes/_design/x"
        ? .json(200, #"[{"missing":"1-b"},\#(Self.ok("_design/x", "1-a"))]"#) : .missing
    } peer: { peer, server in
      for _ in 0..<2 {
        let fetched = try await peer.revisions([
          wanted("_design/x", "1-a"), wanted("_design/x", "1-b"), wanted("b", "1-a"),
        ])
        #expect(fetched.summary == ["_design/x 1-a", "_design/x 1-b missing", "b 1-a missing"])
      }
      #expect(server.log.filter { $0 == "POST /notes/_bulk_get" }.count == 1)
      #expect(server.log.filter { $0 == "GET /notes/_design/x" }.count == 2)
      let single = try #require(server.requests.first { $0.path == "/notes/_design/x" })
      #expect(single.query["open_revs"] == #"["1-a","1-b"]"#)
      #expect(single.headers["accept"] == "application/json")
    }
  }

  @Test("URLs stay shorter than servers accept")
  func longURLs() async throws {
    try await ScriptedServer.serving { request in
      guard request.method == "GET" else { return .missing }
      let list = try? DocumentValue(json: request.query["open_revs"] ?? "", dialect: .plain)
      let entries = list?.array?.map { Self.ok("a", $0.string ?? "") } ?? []
      return .json(200, "[\(entries.joined(separator: ","))]")
    } peer: { peer, server in
      let revisions = (1...500).map { "\($0)-\(hash("a"))" }
      let fetched = try await peer.revisions(try revisions.map { try wanted("a", $0) })
      #expect(fetched.summary == revisions.map { "a \($0)" }.sorted())
      let gets = server.requests.filter { $0.method == "GET" }
      #expect(gets.count > 1)
      #expect(gets.allSatisfy { ($0.query["open_revs"]?.utf8.count ?? 0) < 7_000 })
    }
  }

  @Test("A single document that is malformed is invalid, one that the server refuses too")
  func singleFailures() async throws {
    try await ScriptedServer.serving { request in
      switch request.path {
      case "/notes/_bulk_get": .json(404, "{}")
      case "/notes/a": .json(200, #"[{"ok":{"_id":"a","_rev":"1-a","x":}}]"#)
      case "/notes/b": .json(200, "<html>")
      case "/notes/c": .json(414, "")
      case "/notes/d": .json(200, #"{"_id":"d","_rev":"1-a"}"#)
      default: .json(200, "[]")
      }
    } peer: { peer, _ in
      let fetched = try await peer.revisions(try "abcde".map { try wanted("\($0)", "1-a") })
      #expect(fetched.summary == "abcde".map { "\($0) 1-a invalid" })
    }
  }

  @Test(
    "Failures of the server or the connection are not failures of documents",
    arguments: [401, 403, 429, 502, 503])
  func failures(_ status: Int) async throws {
    for isBulk in [true, false] {
      try await ScriptedServer.serving { request in
        !isBulk && request.method == "POST" ? .json(405, "{}") : .json(status, "{}")
      } peer: { peer, _ in
        #expect(await failure { try await peer.revisions([wanted("a", "1-a")]) }?.status == status)
      }
    }
  }

  @Test("An answer that is cut anywhere makes the peer unreachable")
  func cuts() async throws {
    let text = #"{"results":[\#(Self.row("a", Self.ok("a", "1-a")))]}"#
    for length in 1..<text.utf8.count {
      let error = try await ScriptedServer.serving { _ in
        [
          .head(200, ["Content-Length": "\(text.utf8.count)"]),
          .send(Array(text.utf8.prefix(length))), .close,
        ]
      } peer: { peer, _ in
        await failure { try await peer.revisions([wanted("a", "1-a")]) }
      }
      #expect(error?.kind == .unreachable, "after \(length) bytes")
    }
  }

  @Test("IDs that differ only in their normal form are different documents")
  func normalForms() async throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    try await ScriptedServer.serving { _ in
      Self.answer(
        Self.row(composed, Self.ok(composed, "1-a")),
        Self.row(decomposed, Self.ok(decomposed, "1-b")))
    } peer: { peer, _ in
      let fetched = try await peer.revisions([wanted(composed, "1-a"), wanted(decomposed, "1-b")])
      let ids = fetched.compactMap { entry -> [UInt8]? in
        if case .document(let document) = entry { Array((document.id ?? "").utf8) } else { nil }
      }
      #expect(ids == [Array(composed.utf8), Array(decomposed.utf8)])
    }
  }
}
