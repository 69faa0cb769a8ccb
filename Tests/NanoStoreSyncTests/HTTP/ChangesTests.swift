// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@testable import NanoStoreSync

@Suite struct ChangesTests {
  private static func row(_ number: Int, _ sequence: String? = nil) -> String {
    #"{"seq":\#(sequence ?? "\"\(number)-x\""),"id":"n\#(number)","changes":[{"rev":"1-\#(number)"}]}"#
  }

  private static func feed(_ rows: [String], _ rest: String = #","last_seq":"9-x","pending":4"#)
    -> String
  {
    "{\"results\":[\n\(rows.joined(separator: ",\n"))\n]\(rest)}\n"
  }

  @Test("A page of changes has the leaves, the position and the number of changes after it")
  func page() async throws {
    let row = #"{"seq":"1-x","id":"a/ü","changes":[{"rev":"2-b"},{"rev":"2-a"}],"deleted":true}"#
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed([row, Self.row(2)]))
    } peer: {
      peer, server in
      let page = try await peer.changes(since: nil, limit: 2, filter: .all, waits: false)
      #expect(page.changes.map(\.id) == ["a/ü", "n2"])
      #expect(page.changes[0].revisions.map { "\($0)" } == ["2-b", "2-a"])
      #expect(page.last == "9-x")
      #expect(page.pending == 4)
      #expect(page.hasMore)
      let request = try #require(server.requests.first)
      #expect(request.method == "GET")
      #expect(request.query == ["style": "all_docs", "since": "0", "limit": "2"])
    }
  }

  @Test("A number of remaining changes that cannot be right is limited")
  func pendingOutOfRange() async throws {
    for (number, expected) in [("9223372036854775807", Int(Int32.max)), ("-5", 0)] {
      try await ScriptedServer.serving { _ in
        .json(200, Self.feed([Self.row(1)], #","last_seq":"9-x","pending":\#(number)"#))
      } peer: { peer, _ in
        let page = try await peer.changes(since: nil, limit: 2, filter: .all, waits: false)
        #expect(page.pending == expected)
      }
    }
  }

  @Test("A position of any form is passed back as it came")
  func positions() async throws {
    let forms = [
      (#""12-g1AAA_-=&+""#, "12-g1AAA_-=&+"), ("17", "17"), (#"[3,"abc"]"#, #"[3,"abc"]"#),
    ]
    for (json, text) in forms {
      try await ScriptedServer.serving { _ in
        .json(200, #"{"results":[],"last_seq":\#(json)}"#)
      } peer: { peer, server in
        let page = try await peer.changes(since: nil, limit: 5, filter: .all, waits: false)
        #expect(page.last == text)
        #expect(!page.hasMore)
        _ = try await peer.changes(since: page.last, limit: 5, filter: .all, waits: false)
        #expect(server.requests.last?.query["since"] == text)
      }
    }
  }

  @Test("Without the number of remaining changes, a full page has more")
  func hasMore() async throws {
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed([Self.row(1), Self.row(2)], ""))
    } peer: { peer, _ in
      for (limit, hasMore) in [(2, true), (3, false)] {
        let page = try await peer.changes(since: nil, limit: limit, filter: .all, waits: false)
        #expect(page.hasMore == hasMore)
        // Without a position of the page, that of the last row.
        #expect(page.last == "2-x")
      }
    }
  }

  @Test("Of a server that ignores the limit, as many rows are read as were asked for")
  func ignoredLimit() async throws {
    try await ScriptedServer.serving { _ in
      let rows = (1...500).map { Self.row($0) + "," }
      // The end never comes.
      return [ScriptedServer.Step].chunked(200, [#"{"results":["#] + rows).dropLast() + [.hang]
    } peer: { peer, server in
      let page = try await peer.changes(since: nil, limit: 10, filter: .all, waits: false)
      #expect(page.changes.map(\.id) == (1...10).map { "n\($0)" })
      #expect(page.last == "10-x")
      #expect(page.hasMore)
      await server.hungUp.wait()
    }
  }

  @Test("A row without a position is not the end of a page that is cut off")
  func nullPositions() async throws {
    let rows = [Self.row(1), Self.row(2, "null"), Self.row(3, "null"), Self.row(4)]
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed(rows))
    } peer: { peer, _ in
      let page = try await peer.changes(since: nil, limit: 3, filter: .all, waits: false)
      #expect(page.changes.count == 3)
      #expect(page.last == "1-x")
      #expect(page.hasMore)
    }
  }

  @Test("A server that has more, but sends nothing and stays at its position, has no more")
  func wrongPending() async throws {
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed([], #","last_seq":"1-x","pending":1"#))
    } peer: { peer, _ in
      for (since, hasMore) in [(nil, true), ("1-x", false)] as [(String?, Bool)] {
        let page = try await peer.changes(since: since, limit: 5, filter: .all, waits: false)
        #expect(page.changes.isEmpty)
        #expect(page.last == "1-x")
        #expect(page.hasMore == hasMore)
      }
    }
  }

  @Test("A page with more after it that ends where it began is invalid", arguments: [1, 2])
  func standstill(_ limit: Int) async throws {
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed([Self.row(1), Self.row(2, "\"1-x\"")], ""))
    } peer: { peer, _ in
      let error = await failure {
        try await peer.changes(since: "1-x", limit: limit, filter: .all, waits: false)
      }
      #expect(error?.kind == .invalidAnswer)
    }
  }

  @Test("Rows without a position are not collected without end")
  func noPositions() async throws {
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed((1...10_010).map { Self.row($0, "null") }))
    } peer: { peer, _ in
      let error = await failure {
        try await peer.changes(since: nil, limit: 5, filter: .all, waits: false)
      }
      #expect(error?.kind == .invalidAnswer)
    }
  }

  @Test("IDs and selectors are sent as filters of the server")
  func filters() async throws {
    try await ScriptedServer.serving { _ in
      .json(200, Self.feed([]))
    } peer: { peer, server in
      _ = try await peer.changes(
        since: "3-x", limit: 7, filter: .ids(["a", "e\u{301}", "\u{E9}"]), waits: false)
      var request = try #require(server.requests.last)
      #expect(request.method == "POST")
      #expect(request.query["filter"] == "_doc_ids")
      #expect(request.query["since"] == "3-x")
      #expect(request.text == "{\"doc_ids\":[\"a\",\"e\u{301}\",\"\u{E9}\"]}")
      #expect(request.headers["content-type"] == "application/json")
      let selector: DocumentObject = [
        "year": ["$gt": 1980], "$or": [["a": 1], ["b": ["$date": "x"]]],
      ]
      _ = try await peer.changes(since: nil, limit: 7, filter: .selector(selector), waits: false)
      request = try #require(server.requests.last)
      #expect(request.query["filter"] == "_selector")
      #expect(
        request.text
          == #"{"selector":{"year":{"$gt":1980},"$or":[{"a":1},{"b":{"$date":"x"}}]}}"#)
    }
  }

  @Test("Waiting reads over heartbeats until a change comes")
  func heartbeats() async throws {
    let (asked, changed) = (Gate(), Gate())
    let beat = ScriptedServer.Step.chunk("\n")
    try await ScriptedServer.serving { _ in
      asked.open()
      let start: [ScriptedServer.Step] = [
        .head(200, ["Transfer-Encoding": "chunked"]), .chunk("{\"results\":[\n"), beat, beat,
        .wait(changed), beat, .chunk(Self.row(1)),
        .chunk("\n],\"last_seq\":\"1-x\",\"pending\":0}"), .text("0\r\n\r\n"),
      ]
      return start
    } peer: { peer, server in
      async let page = peer.changes(since: "0-x", limit: 5, filter: .all, waits: true)
      await asked.wait()
      changed.open()
      let changes = try await page.changes
      #expect(changes.map(\.id) == ["n1"])
      #expect(server.requests.first?.query["feed"] == "longpoll")
      #expect(server.requests.first?.query["heartbeat"] == "10000")
    }
  }

  @Test("Waiting ends without changes after a while, at the position where it began")
  func waitingEnds() async throws {
    try await ScriptedServer.serving { _ in
      [.head(200, [:]), .text("{\"results\":[\n"), .hang]
    } while: { server in
      var limits = HTTPLimits()
      limits.waiting = .milliseconds(50)
      let peer = try server.peer(limits: limits)
      for since in ["5-x", nil] {
        let page = try await peer.changes(since: since, limit: 5, filter: .all, waits: true)
        #expect(page.changes.isEmpty)
        #expect(page.last == since ?? "0")
        #expect(!page.hasMore)
      }
    }
  }

  @Test("A feed in which nothing comes, not even heartbeats, is a broken connection")
  func silence() async throws {
    try await ScriptedServer.serving { _ in
      [.head(200, [:]), .text("{\"results\":[\n"), .hang]
    } while: { server in
      var limits = HTTPLimits.short
      limits.waiting = .seconds(3_600)
      let peer = try server.peer(limits: limits)
      let error = await failure {
        try await peer.changes(since: "5-x", limit: 5, filter: .all, waits: true)
      }
      #expect(error?.kind == .unreachable)
    }
  }

  @Test(
    "A list that is malformed is invalid, not shorter",
    arguments: [
      #"{"results":[{"seq":1,"id":"a"}],"last_seq":1}"#, #"{"results":[5],"last_seq":1}"#,
      #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"x"}]}],"last_seq":1}"#,
      #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"1-a"}]}"#, #"{"last_seq":1}"#, "",
      #"{"results":[{"seq":null,"id":"a","changes":[{"rev":"1-a"}]}]}"#, "<html>",
      #"{"results":[]"last_seq":1}"#,
    ])
  func malformed(_ text: String) async throws {
    try await ScriptedServer.serving { _ in
      .json(200, text)
    } peer: { peer, _ in
      let error = await failure {
        try await peer.changes(since: nil, limit: 5, filter: .all, waits: false)
      }
      #expect(error?.kind == .invalidAnswer)
    }
  }

  @Test("A list that is cut anywhere makes the peer unreachable")
  func cuts() async throws {
    let text = Self.feed([Self.row(1), Self.row(2)])
    for length in 0..<text.utf8.count {
      let error = try await ScriptedServer.serving { _ in
        [
          .head(200, ["Transfer-Encoding": "chunked"]), .chunk(String(text.prefix(length))), .close,
        ]
      } peer: { peer, _ in
        await failure { try await peer.changes(since: nil, limit: 5, filter: .all, waits: false) }
      }
      // A chunk of no bytes is the end of a body.
      #expect(error?.kind == (length == 0 ? .invalidAnswer : .unreachable), "after \(length) bytes")
    }
  }

  @Test("A database that is gone is not a filter that is unknown")
  func gone() async throws {
    try await ScriptedServer.serving { request in
      request.query["since"] == "gone"
        ? .json(404, #"{"error":"not_found","reason":"Database does not exist."}"#)
        : .json(404, #"{"error":"not_found","reason":"missing json key: filters"}"#)
    } peer: { peer, _ in
      for (since, kind) in [("gone", PeerError.Kind.noDatabase), ("0", .refused)] {
        let error = await failure {
          try await peer.changes(since: since, limit: 5, filter: .ids(["a"]), waits: false)
        }
        #expect(error?.kind == kind)
      }
      let error = await failure {
        try await peer.changes(since: "0", limit: 5, filter: .all, waits: false)
      }
      #expect(error?.kind == .noDatabase)
    }
  }
}
