// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import Synchronization
import Testing

@testable import NanoStoreServer

@Suite("Feeds of changes", .timeLimit(.minutes(10)))
struct FeedTests {
  /// What a feed has sent so far.
  final class Received: Sendable {
    private let state = Mutex("")
    var text: String { state.withLock { $0 } }
    func add(_ bytes: [UInt8]) { state.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }

    func wait(for part: String) async throws {
      while !text.contains(part) { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  private func begin(
    _ server: TestServer, _ target: String, _ received: Received
  ) -> Task<Void, any Error> {
    Task {
      let response = await server.respond("GET", target)
      switch response.body {
      case .bytes(let bytes): received.add(bytes)
      case .stream(let stream): try await stream.produce { received.add($0) }
      }
    }
  }

  private func server() async throws -> TestServer {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    return server
  }

  @Test("A continuous feed sends changes of clients and of the application, a line each")
  func continuous() async throws {
    let server = try await server()
    let received = Received()
    let feed = begin(server, "/notes/_changes?feed=continuous&heartbeat=60000", received)
    try await received.wait(for: "\n")

    _ = try await server.send("PUT", "/notes/a", [:])
    try await received.wait(for: #""id":"a""#)
    try await server.store["notes"].save(["x": 1], key: "b")
    try await received.wait(for: #""id":"b""#)

    feed.cancel()
    _ = await feed.result
    let lines = received.text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    #expect(server.handler.databases.openFeeds == 0)
  }

  @Test("A continuous feed without a heartbeat ends with the position after its timeout")
  func timeout() async throws {
    let server = try await server()
    _ = try await server.send("PUT", "/notes/a", [:])

    let answer = try await server.send("GET", "/notes/_changes?feed=continuous&timeout=50")

    let lines = answer.text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix(#"{"last_seq":"#) == true)
  }

  @Test("A continuous feed ends when its limit is reached")
  func limit() async throws {
    let server = try await server()
    for id in ["a", "b", "c"] { _ = try await server.send("PUT", "/notes/\(id)", [:]) }

    let answer = try await server.send(
      "GET", "/notes/_changes?feed=continuous&heartbeat=60000&limit=2")

    #expect(answer.text.contains(#""id":"b""#))
    #expect(!answer.text.contains(#""id":"c""#))
  }

  @Test("A longpoll feed waits for a change, and is JSON with its heartbeats")
  func longpoll() async throws {
    let server = try await server()
    let received = Received()
    let feed = begin(
      server, "/notes/_changes?feed=longpoll&since=now&heartbeat=50", received)
    try await received.wait(for: "\n\n")

    _ = try await server.send("PUT", "/notes/a", [:])
    try await feed.value

    let json = try DocumentObject(json: received.text, dialect: .plain)
    #expect(json["results"]?.array?.count == 1)
    #expect(json["last_seq"]?.string != nil)
  }

  @Test("A longpoll feed answers at once if there are changes, and empty after its timeout")
  func longpollEnds() async throws {
    let server = try await server()
    _ = try await server.send("PUT", "/notes/a", [:])

    let now = try await server.send("GET", "/notes/_changes?feed=longpoll")
    let later = try await server.send("GET", "/notes/_changes?feed=longpoll&since=now&timeout=50")

    #expect(now.json.object?["results"]?.array?.count == 1)
    #expect(later.json.object?["results"] == [])
    #expect(later.json.object?["last_seq"] == now.json.object?["last_seq"])
  }

  @Test("A longpoll feed with more changes than it returns says how many remain")
  func longpollPending() async throws {
    let server = try await server()
    for number in 0..<4 { _ = try await server.send("PUT", "/notes/\(number)", [:]) }

    let answer = try await server.send("GET", "/notes/_changes?feed=longpoll&limit=3")

    #expect(answer.json.object?["results"]?.array?.count == 3)
    #expect(answer.json.object?["pending"] == 1)
  }

  @Test(
    "A feed ends before it delivers a change that the user may no longer read",
    arguments: ["continuous", "longpoll"], ["rule", "members"])
  func revoked(feed: String, by means: String) async throws {
    let isRevoked = Mutex(false)
    let server = try TestServer { configuration in
      configuration.authenticate = { credentials in
        guard case .password(let name, _) = credentials else { return nil }
        return SyncUser(name: name, roles: name == "admin" ? [SyncUser.administratorRole] : [])
      }
      configuration.rules.canRead = { user, _ in
        user.isAdministrator || !isRevoked.withLock(\.self)
      }
    }
    let admin = TestServer.basic("admin", "secret")
    _ = try await server.send("PUT", "/notes", headers: admin)
    let received = Received()
    let feed = Task {
      let response = await server.respond(
        "GET", "/notes/_changes?feed=\(feed)&since=now&heartbeat=60000&include_docs=true",
        headers: TestServer.basic("anna", "secret"))
      guard case .stream(let stream) = response.body else { return }
      try await stream.produce { received.add($0) }
    }
    try await received.wait(for: "\n")

    if means == "rule" {
      isRevoked.withLock { $0 = true }
    } else {
      let members: DocumentValue = ["members": ["names": ["bob"], "roles": []]]
      _ = try await server.send("PUT", "/notes/_security", members, headers: admin)
    }
    _ = try await server.send("PUT", "/notes/secret", [:], headers: admin)
    try await feed.value

    #expect(received.text.contains("last_seq"))
    #expect(!received.text.contains("secret"))
  }

  @Test("A longpoll feed with a filter waits for a change that passes it")
  func filteredLongpoll() async throws {
    let server = try await server()
    let received = Received()
    let feed = begin(
      server,
      #"/notes/_changes?feed=longpoll&since=now&heartbeat=50&filter=_doc_ids&doc_ids=["b"]"#,
      received)
    try await received.wait(for: "\n\n")

    _ = try await server.send("PUT", "/notes/a", [:])
    _ = try await server.send("PUT", "/notes/b", [:])
    try await feed.value

    #expect(received.text.contains(#""id":"b""#))
    #expect(!received.text.contains(#""id":"a""#))
  }

  @Test("An event source has events with positions, from which it continues")
  func eventSource() async throws {
    let server = try await server()
    _ = try await server.send("PUT", "/notes/a", [:])
    _ = try await server.send("PUT", "/notes/b", [:])

    let first = try await server.send(
      "GET", "/notes/_changes?feed=eventsource&heartbeat=60000&limit=1")
    let id = try #require(
      first.text.split(separator: "\n").first { $0.hasPrefix("id: ") }?.dropFirst(4))
    let second = try await server.send(
      "GET", "/notes/_changes?feed=eventsource&heartbeat=60000&limit=1",
      headers: ["Last-Event-ID": String(id)])

    #expect(first.header("Content-Type") == "text/event-stream")
    #expect(first.text.contains("data: {") && first.text.contains(#""id":"a""#))
    #expect(second.text.contains(#""id":"b""#))
  }

  @Test("Feeds end when the server stops, and when the database is deleted")
  func ends() async throws {
    let server = try await server()
    _ = try await server.send("PUT", "/other")
    let (first, second) = (Received(), Received())
    let deleted = begin(server, "/other/_changes?feed=continuous&heartbeat=60000", first)
    let stopped = begin(server, "/notes/_changes?feed=continuous&heartbeat=60000", second)
    try await first.wait(for: "\n")
    try await second.wait(for: "\n")

    _ = try await server.send("DELETE", "/other")
    try await deleted.value
    server.handler.shutDown()
    try await stopped.value

    #expect(first.text.contains("last_seq"))
    #expect(second.text.contains("last_seq"))
  }

  @Test("A feed notices changes of another program that opened the same file")
  func otherProcess() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a.db").path
    let server = TestServer(try Store(.file(path)))
    _ = try await server.send("PUT", "/notes")
    let received = Received()
    let feed = begin(server, "/notes/_changes?feed=continuous&heartbeat=60000", received)
    try await received.wait(for: "\n")

    let other = try Store(.file(path))
    try await other["notes"].save(["x": 1], key: "b")
    try await received.wait(for: #""id":"b""#)

    feed.cancel()
    _ = await feed.result
    try other.close()
  }

  @Test("Many listeners of one database each receive every change once")
  func manyListeners() async throws {
    let server = try await server()
    let all = (0..<200).map { _ in Received() }
    let feeds = all.map { begin(server, "/notes/_changes?feed=continuous&heartbeat=60000", $0) }
    for received in all { try await received.wait(for: "\n") }

    for id in ["a", "b", "c"] { _ = try await server.send("PUT", "/notes/\(id)", [:]) }
    for received in all { try await received.wait(for: #""id":"c""#) }

    for feed in feeds { feed.cancel() }
    for feed in feeds { _ = await feed.result }
    for received in all {
      for id in ["a", "b", "c"] {
        #expect(received.text.components(separatedBy: #""id":"\#(id)""#).count == 2)
      }
    }
  }

  @Test(
    "Feeds of databases that are used after the server stopped end, and begin when it runs again")
  func endedServer() async throws {
    let server = try await server()
    server.handler.shutDown()
    try await server.store.createCollection("late")

    let late = try await server.send("GET", "/late/_changes?feed=continuous&heartbeat=60000")
    #expect(late.text.contains("last_seq"))

    server.handler.begin()
    for name in ["notes", "late"] {
      let received = Received()
      let feed = begin(server, "/\(name)/_changes?feed=continuous&heartbeat=60000", received)
      try await received.wait(for: "\n")
      try await server.store[name].save(["x": 1], key: "a")
      try await received.wait(for: #""id":"a""#)
      feed.cancel()
      _ = await feed.result
    }
  }
}
