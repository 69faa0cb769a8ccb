// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Synchronization
import Testing

@testable import NanoStoreSync

@Suite struct DiffAndCheckpointTests {
  @Test("The server tells which revisions it lacks")
  func diff() async throws {
    try await ScriptedServer.serving { _ in
      .json(
        200,
        #"{"a":{"missing":["3-b","2-a"],"possible_ancestors":["1-a"]},"b":{"missing":[]},"e\u0301":{"missing":["1-x"]}}"#
      )
    } peer: { peer, server in
      let missing = try await peer.missing([
        "a": ["2-a".revision, "3-b".revision], "b": ["1-a".revision], "e\u{301}": ["1-x".revision],
      ])
      #expect(missing.count == 2)
      #expect(missing["a"]?.missing.map { "\($0)" } == ["2-a", "3-b"])
      #expect(missing["a"]?.ancestors.map { "\($0)" } == ["1-a"])
      #expect(missing["e\u{301}"]?.missing.map { "\($0)" } == ["1-x"])
      #expect(missing["\u{E9}"] == nil)
      #expect(server.requests.first?.json["a"] == ["2-a", "3-b"])
    }
  }

  @Test("A server that cannot tell gets everything", arguments: [404, 405])
  func withoutDiff(_ status: Int) async throws {
    try await ScriptedServer.serving { _ in
      .json(status, #"{"error":"not_found","reason":"missing"}"#)
    } peer: {
      peer, server in
      for _ in 0..<2 {
        let missing = try await peer.missing(["a": ["2-a".revision]])
        #expect(missing["a"]?.missing.map { "\($0)" } == ["2-a"])
      }
      #expect(server.log.count == 1)
    }
  }

  @Test("An answer that is not about revisions is invalid")
  func invalidDiff() async throws {
    for text in [#"{"a":5}"#, #"{"a":{"missing":["x"]}}"#, "[]", "<html>"] {
      try await ScriptedServer.serving { _ in
        .json(200, text)
      } peer: { peer, _ in
        #expect(
          await failure { try await peer.missing(["a": ["2-a".revision]]) }?.kind == .invalidAnswer)
      }
    }
    try await ScriptedServer.serving { _ in
      .json(404, #"{"error":"not_found","reason":"Database does not exist."}"#)
    } peer: { peer, _ in
      #expect(
        await failure { try await peer.missing(["a": ["2-a".revision]]) }?.kind == .noDatabase)
    }
  }

  /// A server with one local document, which checks its revision.
  private static func withLocalDocument(
    _ work: @escaping @Sendable (HTTPPeer, ScriptedServer) async throws -> Void
  ) async throws {
    let stored = Mutex((count: 0, body: DocumentObject()))
    try await ScriptedServer.serving({ request in
      stored.withLock { stored in
        if request.method == "GET" {
          guard stored.count > 0 else { return .missing }
          var body = stored.body
          body["_rev"] = .string("0-\(stored.count)")
          return .json(200, body.jsonString(dialect: .plain))
        }
        let revision = stored.count == 0 ? nil : "0-\(stored.count)"
        guard request.json["_rev"]?.string == revision else {
          return .json(409, #"{"error":"conflict","reason":"Document update conflict."}"#)
        }
        stored = (stored.count + 1, request.json)
        return .json(201, #"{"ok":true,"id":"x","rev":"0-\#(stored.count)"}"#)
      }
    }) { server in try await work(try server.peer(), server) }
  }

  @Test("A checkpoint is stored and read without the fields of the server")
  func checkpoint() async throws {
    try await Self.withLocalDocument { peer, server in
      #expect(try await peer.checkpoint("a/b==") == nil)
      for number in 1...3 {
        let body: DocumentObject = ["last_seq": .int(Int64(number)), "history": [["$date": "x"]]]
        try await peer.setCheckpoint("a/b==", body)
        #expect(try await peer.checkpoint("a/b==") == body)
      }
      #expect(server.requests.allSatisfy { $0.path == "/notes/_local/a%2Fb%3D%3D" })
      #expect(server.requests.last { $0.method == "PUT" }?.json["_id"] == "_local/a/b==")
    }
  }

  @Test("A checkpoint that another client wrote meanwhile is replaced, but not fought over")
  func conflict() async throws {
    for refusals in 1...2 {
      let count = Counter()
      try await ScriptedServer.serving { request in
        if request.method == "GET" { return .json(200, #"{"_id":"_local/x","_rev":"0-5"}"#) }
        return count.next() < refusals ? .json(409, #"{"error":"conflict"}"#) : .json(201, "{}")
      } peer: { peer, server in
        let error = await failure { try await peer.setCheckpoint("x", [:]) }
        #expect(error?.status == (refusals == 1 ? nil : 409))
        #expect(
          server.log == [
            "GET /notes/_local/x", "PUT /notes/_local/x", "GET /notes/_local/x",
            "PUT /notes/_local/x",
          ])
      }
    }
  }

  @Test("A user who may only read cannot write checkpoints")
  func forbidden() async throws {
    try await ScriptedServer.serving { request in
      request.method == "GET" ? .missing : .json(403, #"{"error":"forbidden","reason":"no"}"#)
    } peer: { peer, _ in
      #expect(await failure { try await peer.setCheckpoint("x", [:]) }?.kind == .forbidden)
    }
  }

  @Test("A checkpoint that is not a document is an invalid answer, not an absent one")
  func invalid() async throws {
    for text in ["[]", "<html>", ""] {
      try await ScriptedServer.serving { _ in
        .json(200, text)
      } peer: { peer, _ in
        #expect(await failure { try await peer.checkpoint("x") }?.kind == .invalidAnswer)
      }
    }
  }

  @Test func `A checkpoint whose answer breaks off is tried again`() async throws {
    try await ScriptedServer.serving { _ in
      [.head(200, ["Content-Length": "100"]), .text(#"{"_id":"_local/x","#), .close]
    } peer: { peer, _ in
      #expect(await failure { try await peer.checkpoint("x") }?.kind == .unreachable)
    }
  }
}
