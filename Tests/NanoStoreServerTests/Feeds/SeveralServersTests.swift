// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServerSupport
import NanoStore
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

@testable import NanoStoreServer

/// Several servers of one PostgreSQL database, each with its own store, as of several processes.
@Suite("Several servers of one database", .postgres, .timeLimit(.minutes(15)))
struct SeveralServersTests {
  private func servers(_ count: Int = 2) async throws -> [TestServer] {
    let schema = try ServerSchema()
    let servers = try (0..<count).map { _ in TestServer(try schema.store()) }
    #expect(try await servers[0].send("PUT", "/notes").status == 201)
    return servers
  }

  @Test("Of writes of one document to several servers, one succeeds and the others are conflicts")
  func writes() async throws {
    let servers = try await servers()
    var revision: String?
    for round in 0..<10 {
      let query = revision.map { "?rev=\($0)" } ?? ""
      let answers = try await withThrowingTaskGroup(of: TestServer.Answer.self) { group in
        for number in 0..<4 {
          group.addTask {
            try await servers[number % 2].send(
              "PUT", "/notes/a\(query)",
              ["round": .int(Int64(round)), "n": .int(Int64(number))])
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.map(\.status).sorted() == [201, 409, 409, 409])
      revision = try #require(
        answers.first { $0.status == 201 }?.json.object?["rev"]?.string)
      for server in servers {
        let answer = try await server.send("GET", "/notes/a?conflicts=true")
        #expect(answer.json.object?["_rev"]?.string == revision)
        #expect(answer.json.object?["_conflicts"] == nil)
      }
    }
  }

  @Test("Replicated revisions of one document are leaves, whichever server receives them")
  func leaves() async throws {
    let servers = try await servers()
    try await withThrowingTaskGroup { group in
      for (number, letter) in "abcd".enumerated() {
        group.addTask {
          let revision = "1-" + String(repeating: letter, count: 32)
          let answer = try await servers[number % 2].send(
            "PUT", "/notes/a?new_edits=false", ["_rev": .string(revision)])
          #expect(answer.status == 201)
        }
      }
      try await group.waitForAll()
    }
    for server in servers {
      let answer = try await server.send("GET", "/notes/_changes?style=all_docs")
      let rows = try #require(answer.json.object?["results"]?.array)
      #expect(rows.count == 1)
      #expect(rows.first?.object?["changes"]?.array?.count == 4)
    }
  }

  @Test("A write is in the changes of its server at once, beside a transaction that stays open")
  func ownWrites() async throws {
    let servers = try await servers()
    let store = try ServerSchema().store()
    let other = OpenTransaction(store) { try store["other"].save(["n": 1], key: "a") }
    defer { other.end() }
    for (number, server) in servers.enumerated() {
      let put = try await server.send("PUT", "/notes/put\(number)", [:])
      try await server.store["notes"].save(["n": 1], key: "saved\(number)")
      let answer = try await server.send("GET", "/notes/_changes")
      let rows = try #require(answer.json.object?["results"]?.array).compactMap(\.object)
      #expect(rows.count == 2 * (number + 1))
      let revision = put.json.object?["rev"]?.string
      #expect(rows.contains { $0["changes"] == [["rev": .string(revision ?? "")]] })
      #expect(rows.contains { $0["id"]?.string == "saved\(number)" })
      let info = try await server.send("GET", "/notes")
      #expect(info.json.object?["doc_count"] == .int(Int64(rows.count)))
      #expect(info.json.object?["update_seq"] == answer.json.object?["last_seq"])
    }
  }

  /// A client that reads a continuous feed.
  private final class Listener: Sendable {
    private let received = Received()
    private let task: Task<Void, any Error>

    init(_ server: TestServer) {
      task = Task { [received] in
        let response = await server.respond(
          "GET", "/notes/_changes?feed=continuous&heartbeat=1000")
        if case .stream(let stream) = response.body {
          try await stream.produce { received.add($0) }
        }
      }
    }

    var rows: [DocumentObject] { received.rows }

    func end() async {
      task.cancel()
      _ = await task.result
    }
  }

  private final class Received: Sendable {
    private let bytes = Mutex([UInt8]())
    func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
    /// The lines that have arrived as a whole.
    var rows: [DocumentObject] {
      let all = bytes.withLock { $0 }
      let end = all.lastIndex(of: UInt8(ascii: "\n")) ?? 0
      return all[..<end].split(separator: UInt8(ascii: "\n")).compactMap {
        try? DocumentObject(json: String(decoding: $0, as: UTF8.self), dialect: .plain)
      }
    }
  }

  @Test("Listeners of all servers miss nothing, receive nothing twice, and see one order")
  func listeners() async throws {
    let servers = try await servers(3)
    let listeners = servers.map { Listener($0) }
    let elsewhere = try ServerSchema().store()
    let rounds = 15
    try await withThrowingTaskGroup { group in
      for (number, server) in servers.enumerated() {
        group.addTask {
          for round in 0..<rounds {
            let put = try await server.send("PUT", "/notes/put\(number)-\(round)", [:])
            #expect(put.status == 201)
            let bulk = try await server.send(
              "POST", "/notes/_bulk_docs",
              ["docs": [["_id": .string("bulk\(number)-\(round)")], ["_id": "shared"]]])
            #expect(bulk.status == 201)
          }
        }
        group.addTask {
          // The application beside the server.
          for round in 0..<rounds {
            try await server.store["notes"].save(["n": 1], key: "saved\(number)-\(round)")
          }
        }
      }
      group.addTask {
        await onThreads(1) { _ in
          for _ in 0..<4 {
            let other = OpenTransaction(elsewhere) {
              try elsewhere["other"].save(["n": 1], key: "a")
            }
            usleep(200_000)
            other.end()
          }
        }
      }
      try await group.waitForAll()
    }
    _ = try await servers[0].send("PUT", "/notes/last", [:])
    for listener in listeners {
      while !listener.rows.contains(where: { $0["id"] == "last" }) {
        try await Task.sleep(for: .milliseconds(20))
      }
      await listener.end()
    }

    var ids = Set(["shared", "last"])
    for number in servers.indices {
      for kind in ["put", "bulk", "saved"] {
        for round in 0..<rounds { ids.insert("\(kind)\(number)-\(round)") }
      }
    }
    var orders: [[String]] = []
    for listener in listeners {
      let rows = listener.rows
      // Documents that are written once are reported once.
      #expect(rows.count == ids.count)
      #expect(Set(rows.compactMap { $0["id"]?.string }) == ids)
      let sequences = try rows.map { row in
        try #require(row["seq"]?.string.flatMap { RevisionChange.Sequence($0) }).position
      }
      #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
      orders.append(sequences.map(\.description))
    }
    #expect(Set(orders).count == 1)
  }
}
