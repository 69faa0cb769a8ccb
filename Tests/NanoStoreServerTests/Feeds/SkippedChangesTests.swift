// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStore
import Testing

@testable import NanoStoreServer

@Suite("Feeds whose filter skips changes")
struct SkippedChangesTests {
  /// Sends the feed of a database of which the selector accepts only one change, in the third page.
  private func feed(_ parameters: String, _ number: Int64 = 599) async throws -> TestServer.Answer {
    let server = try TestServer { $0.maximumSilence = .zero }
    _ = try await server.send("PUT", "/notes")
    try await server.store.write {
      for number in 0..<600 {
        try server.store["notes"].save(["n": .int(Int64(number))], key: "d\(1_000 + number)")
      }
    }
    return try await server.send(
      "POST", "/notes/_changes?filter=_selector&limit=1&\(parameters)",
      ["selector": ["n": .int(number)]])
  }

  @Test(
    "A feed sends white space, and is JSON",
    arguments: [("feed=normal", 599), ("descending=true", 0)] as [(String, Int64)])
  func normal(_ parameters: String, _ number: Int64) async throws {
    let answer = try await feed(parameters, number)

    #expect(answer.text.hasPrefix("{\"results\":[\n\n\n{"))
    #expect(answer.json.object?["results"]?.array?.count == 1)
  }

  @Test("A longpoll feed begins before it has found a change, and is JSON")
  func longpoll() async throws {
    let answer = try await feed("feed=longpoll")

    #expect(answer.text.hasPrefix("{\"results\":[\n\n{"))
    #expect(answer.json.object?["results"]?.array?.count == 1)
    #expect(answer.json.object?["last_seq"]?.string != nil)
  }

  @Test("A continuous feed sends empty lines")
  func continuous() async throws {
    let answer = try await feed("feed=continuous")

    #expect(answer.text.hasPrefix("\n\n\n{"))
    #expect(answer.text.split(separator: "\n").count == 2)
  }

  @Test("An event source sends heartbeats")
  func eventSource() async throws {
    let answer = try await feed("feed=eventsource")

    let heartbeat = "event: heartbeat\ndata: \n\n"
    #expect(answer.text.hasPrefix("\n\(heartbeat)\(heartbeat)data: {"))
  }
}
