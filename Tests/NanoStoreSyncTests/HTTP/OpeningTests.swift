// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct OpeningTests {
  @Test("Opening returns the position of the newest change")
  func opens() async throws {
    try await ScriptedServer.serving { _ in
      .database
    } peer: { peer, server in
      let state = try await peer.open(creates: false)
      #expect(state.lastSequence == "3-abc")
      #expect(server.log == ["GET /notes/"])
      #expect(peer.identity == "\(server.url)/notes")
    }
  }

  @Test(
    "A database that does not exist is created if that is wanted, even if another client is faster")
  func creates() async throws {
    for status in [201, 202, 412] {
      let exists = Flag()
      try await ScriptedServer.serving { request in
        if request.method == "PUT" {
          exists.set()
          return .json(status, "{}")
        }
        return exists.isSet
          ? .database : .json(404, #"{"error":"not_found","reason":"no_db_file"}"#)
      } peer: { peer, server in
        let error = await failure { try await peer.open(creates: false) }
        #expect(error?.kind == .noDatabase)
        #expect(server.log == ["GET /notes/"])
        _ = try await peer.open(creates: true)
        #expect(server.log.suffix(3) == ["GET /notes/", "PUT /notes/", "GET /notes/"])
      }
    }
  }

  @Test(
    "A collection of another store that does not exist is created only by a push that may do so",
    arguments: [SyncDirection.pull, .push], [false, true])
  func createsCollection(direction: SyncDirection, creates: Bool) async throws {
    let (mine, other) = (try anyStore(), try anyStore())
    try await mine["films"].save(["n": 1], key: "a")
    var options = SyncOptions()
    options.createsDatabases = creates
    let sync = try mine.replicate(
      ["films"], with: .store(other), direction: direction, mode: .once, options: options)
    if direction == .push, creates {
      #expect(try await sync.finish().pushed == 1)
    } else {
      let error = await #expect(throws: SyncError.self) { try await sync.finish() }
      #expect(error?.kind == .notFound)
      #expect(try await other.collections().isEmpty)
    }
  }

  @Test(
    "A database that does not exist, and that the user may not create, is missing; the login is not blamed",
    arguments: [401, 403])
  func mayNotCreate(_ status: Int) async throws {
    try await ScriptedServer.serving { request in
      request.method == "PUT"
        ? .json(status, #"{"error":"unauthorized","reason":"You are not a server admin."}"#)
        : .json(404, #"{"error":"not_found","reason":"no_db_file"}"#)
    } peer: { peer, _ in
      let error = await failure { try await peer.open(creates: true) }
      #expect(error?.kind == .noDatabase)
      #expect(error?.status == status)
    }
  }

  @Test(
    "The status of an answer determines the kind of an error",
    arguments: [
      (400, .refused), (401, .unauthorized), (403, .forbidden), (404, .noDatabase), (405, .refused),
      (408, .unavailable), (413, .tooLarge), (429, .unavailable), (500, .unavailable),
      (502, .unavailable), (503, .unavailable), (504, .unavailable), (204, .invalidAnswer),
    ] as [(Int, PeerError.Kind)])
  func statuses(_ status: Int, _ kind: PeerError.Kind) async throws {
    try await ScriptedServer.serving { _ in
      status == 204 ? .answer(204, []) : .json(status, #"{"error":"name","reason":"why"}"#)
    } peer: { peer, _ in
      let error = await failure { try await peer.open(creates: false) }
      #expect(error?.kind == kind)
      #expect(error?.status == status)
      #expect(error?.isTransient == (kind == .unavailable))
    }
  }

  @Test(
    "An answer that is not about a database is invalid",
    arguments: [
      "<html></html>", "[]", "5", "", #"{"couchdb":"Welcome"}"#, #"{"db_name":"#, "null",
    ])
  func invalid(_ text: String) async throws {
    try await ScriptedServer.serving { _ in
      .json(200, text)
    } peer: { peer, _ in
      #expect(await failure { try await peer.open(creates: true) }?.kind == .invalidAnswer)
    }
  }

  @Test("An answer that is not HTTP is invalid")
  func notHTTP() async throws {
    try await ScriptedServer.serving { _ in
      [.text("220 mail\r\n\r\n"), .close]
    } peer: {
      peer, _ in
      #expect(await failure { try await peer.open(creates: false) }?.kind == .invalidAnswer)
    }
  }

  @Test("The name and the reason of an error are in its message, shortened")
  func reasons() async throws {
    let long = String(repeating: "x", count: 5_000)
    try await ScriptedServer.serving { _ in
      .json(403, #"{"error":"forbidden","reason":"members only \#(long)"}"#)
    } peer: { peer, _ in
      let message = await failure { try await peer.open(creates: false) }?.message ?? ""
      #expect(message.contains("forbidden: members only"))
      #expect(message.utf8.count < 500)
    }
  }

  @Test("A server asks to wait, in seconds or until a date")
  func retryAfter() async throws {
    try await ScriptedServer.serving { _ in
      .json(429, "{}", ["Retry-After": "17"])
    } peer: { peer, _ in
      #expect(await failure { try await peer.open(creates: false) }?.retryAfter == .seconds(17))
    }
    let now = Date(timeIntervalSince1970: 784_111_777)
    #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:49:47 GMT", now: now) == .seconds(10))
    #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:49:07 GMT", now: now) == .zero)
    for year in [2094, 9999] {
      let date = "Sun, 06 Nov \(year) 08:49:07 GMT"
      #expect(RetryAfter.duration(date, now: now) == .seconds(3_600))
    }
    for text in [
      "", "-1", "soon", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:07 GMT",
      "Sun, 06 Nov 9223372036854775807 08:49:07 GMT", "Sun, 32 Nov 1994 08:49:07 GMT",
      "Sun, 06 Nov 1994 08:49:9223372036854775807 GMT", "Sun, 06 Nov 1994 -8:49:07 GMT",
    ] {
      #expect(RetryAfter.duration(text, now: now) == nil)
    }
  }

  @Test("A server that does not run is unreachable")
  func refused() async throws {
    // A port of other systems' services, on which nothing listens here.
    let peer = try HTTPPeer(server: "http://127.0.0.1:1", database: "notes")
    #expect(await failure { try await peer.open(creates: false) }?.kind == .unreachable)
  }

  @Test("A server that accepts a request and sends nothing is unreachable")
  func silent() async throws {
    try await ScriptedServer.serving { _ in
      [.hang]
    } while: { server in
      let peer = try server.peer(limits: .short)
      #expect(await failure { try await peer.open(creates: false) }?.kind == .unreachable)
    }
  }

  @Test("A server that stops in its answer is unreachable")
  func stops() async throws {
    try await ScriptedServer.serving { _ in
      [.head(200, ["Content-Length": "1000"]), .text("{"), .hang]
    } while: { server in
      let peer = try server.peer(limits: .short)
      #expect(await failure { try await peer.open(creates: false) }?.kind == .unreachable)
    }
  }

  @Test("Canceling ends a request, before its answer and in it")
  func cancels() async throws {
    let starts: [[ScriptedServer.Step]] = [
      [], [.head(200, ["Content-Length": "1000"]), .text("{")],
    ]
    for start in starts {
      let arrived = Gate()
      try await ScriptedServer.serving { _ in
        arrived.open()
        return start + [.hang]
      } peer: { peer, server in
        let task = Task { try await peer.open(creates: false) }
        await arrived.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await server.hungUp.wait()
      }
    }
  }

  @Test("An answer that is cut anywhere makes the peer unreachable")
  func cuts() async throws {
    let body = #"{"db_name":"notes","update_seq":"3-abc"}"#
    let chunks = [String(body.prefix(7)), String(body.dropFirst(7))]
    let whole: [[ScriptedServer.Step]] = [.json(200, body), .chunked(200, chunks)]
    for steps in whole {
      let bytes = steps.bytes
      for length in 0..<bytes.count {
        let error = try await ScriptedServer.serving { _ in
          [.send(Array(bytes.prefix(length))), .close]
        } peer: { peer, _ in
          await failure { try await peer.open(creates: false) }
        }
        #expect(
          error?.kind == .unreachable, "after \(length) of \(bytes.count) bytes: \(error as Any)")
      }
    }
  }

  @Test("An answer may arrive byte by byte")
  func bytewise() async throws {
    try await ScriptedServer.serving { _ in
      [ScriptedServer.Step].database.bytes.map { .send([$0]) }
    } peer: { peer, _ in
      let state = try await peer.open(creates: false)
      #expect(state.lastSequence == "3-abc")
    }
  }
}
