// SPDX-License-Identifier: MIT

import NanoDocument
import Testing

@testable import NanoStoreServer

@Suite("Downloads that are resumed")
struct ResumedDownloadTests {
  private func put(
    _ server: TestServer, _ target: String, _ bytes: [UInt8]
  ) async throws -> TestServer.Answer {
    try await server.send("PUT", target, bytes, headers: ["Content-Type": "image/png"])
  }

  @Test("A range of content that was replaced is the whole new content")
  func replacedRange() async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    _ = try await put(server, "/notes/n1/a", Array("hello".utf8))
    let whole = try await server.send("GET", "/notes/n1/a")
    let tag = try #require(whole.header("ETag"))
    func rest(_ tag: String) async throws -> TestServer.Answer {
      try await server.send("GET", "/notes/n1/a", headers: ["Range": "bytes=3-", "If-Range": tag])
    }
    #expect(try await rest(tag).text == "lo")
    #expect(try await rest("W/\(tag)").text == "hello")
    let document = try await server.send("GET", "/notes/n1")
    let revision = try #require(document.json.object?["_rev"]?.string)

    _ = try await put(server, "/notes/n1/a?rev=\(revision)", Array("world".utf8))

    let replaced = try await rest(tag)
    #expect(replaced.status == 200)
    #expect(replaced.text == "world")
  }
}
