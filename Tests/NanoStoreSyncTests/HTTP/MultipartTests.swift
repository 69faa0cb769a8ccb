// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct MultipartTests {
  @Test("Large attachments follow the JSON, in its order and with an exact length")
  func multipart() async throws {
    let store = try anyStore()
    let large = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    let attachments = [
      try Outgoing.attachment("z.bin", large, generation: 2, in: store),
      try Outgoing.attachment("old", Array("old".utf8), generation: 1, in: store),
      try Outgoing.attachment(
        "a \"ü\".txt", Array("text".utf8), generation: 2, type: "text/plain", in: store),
    ]
    let document = try Outgoing.document(
      "a/b", "2-b", attachments: attachments, history: ["2-b", "1-a"], body: ["x": 1])
    try await ScriptedServer.serving { _ in
      .json(201, #"{"ok":true}"#)
    } peer: { peer, server in
      let refused = try await peer.write(
        [document], ancestors: ["a/b": ["1-a".revision]], from: store)
      #expect(refused.isEmpty)
      let request = try #require(server.requests.first)
      #expect(server.log == ["PUT /notes/a%2Fb"])
      #expect(request.query["new_edits"] == "false")
      let type = try #require(request.headers["content-type"])
      let boundary = try #require(type.split(separator: "\"").dropFirst().first)
      #expect(type == "multipart/related; boundary=\"\(boundary)\"")
      let parts = Self.parts(request.body, "--\(boundary)")
      #expect(parts.count == 3)
      let json = try DocumentObject(json: parts[0].body, dialect: .plain)
      let sent = try #require(json["_attachments"]?.object)
      #expect(sent.names == ["z.bin", "old", "a \"ü\".txt"])
      #expect(sent["z.bin"]?.object?["follows"] == true)
      #expect(sent["z.bin"]?.object?["digest"]?.string == AttachmentTests.digest(large))
      #expect(sent["old"]?.object?["stub"] == true)
      #expect(json["_revisions"]?.object?["ids"] == ["b", "a"])
      #expect(parts[1].body == large)
      #expect(parts[2].body == Array("text".utf8))
      #expect(parts[2].head.contains("Content-Type: text/plain\r\n"))
      #expect(parts[2].head.contains("filename=\"a \\\"ü\\\".txt\""))
    }
  }

  private static func parts(_ body: [UInt8], _ delimiter: String) -> [(head: String, body: [UInt8])]
  {
    let separator = Array("\r\n\(delimiter)".utf8)
    var rest = (Array("\r\n".utf8) + body)[...]
    var parts: [(head: String, body: [UInt8])] = []
    while let range = rest.firstRange(of: separator) {
      if !parts.isEmpty || range.lowerBound > rest.startIndex {
        let part = rest[..<range.lowerBound]
        if let end = part.firstRange(of: Array("\r\n\r\n".utf8)) {
          parts.append(
            (
              String(decoding: part[..<end.lowerBound], as: UTF8.self) + "\r\n",
              Array(part[end.upperBound...])
            ))
        }
      }
      rest = rest[range.upperBound...]
    }
    return Array(rest) == Array("--".utf8) ? parts : []
  }

  @Test("A content type with control characters cannot add headers")
  func injection() async throws {
    let store = try anyStore()
    let bytes = [UInt8](repeating: 7, count: 1_100_000)
    let evil = try Outgoing.attachment(
      "a\r\nX-Evil: 1", bytes, type: "text/plain\r\nX-Evil: 2", in: store)
    try await ScriptedServer.serving { _ in
      .json(201, "{}")
    } peer: { peer, server in
      _ = try await peer.write(
        [try Outgoing.document("a", attachments: [evil])], ancestors: [:], from: store)
      let request = try #require(server.requests.first)
      #expect(request.body.firstRange(of: Array("\r\nX-Evil".utf8)) == nil)
    }
  }

  @Test(
    "A single document that is refused is a refusal; a user who may not do anything is a failure")
  func singleRefusals() async throws {
    let store = try anyStore()
    let bytes = [UInt8](repeating: 7, count: 1_100_000)
    let document = try Outgoing.document(
      "a", attachments: [try Outgoing.attachment("b", bytes, in: store)])
    for (status, kind) in [
      (400, PeerError.Kind.refused), (401, .unauthorized), (403, .forbidden), (412, .refused),
      (413, .tooLarge), (415, .refused),
    ] {
      try await ScriptedServer.serving { request in
        request.method == "GET" ? .database : .json(status, #"{"error":"x","reason":"y"}"#)
      } peer: { peer, server in
        let refused = try await peer.write([document], ancestors: [:], from: store)
        #expect(refused.map(\.error.kind) == [kind])
        #expect(server.log.filter { $0 == "PUT /notes/a" }.count == 1)
      }
    }
    for status in [401, 403, 500, 503, 429] {
      try await ScriptedServer.serving { _ in
        .json(status, "{}")
      } peer: { peer, _ in
        let error = await failure { try await peer.write([document], ancestors: [:], from: store) }
        #expect(error?.status == status)
      }
    }
  }

  @Test("An answer that comes before the end of the content ends the transfer")
  func earlyAnswer() async throws { try await answerEarly(try anyStore()) }

  @Test(
    "A transfer that ended early leaves no transaction open", .postgres, .timeLimit(.minutes(15)))
  func earlyEnd() async throws {
    let schema = try ServerSchema()
    let store = try schema.store()
    try await answerEarly(store)
    // Its snapshot would keep the server from creating indexes concurrently, and from cleaning up.
    let open =
      "SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE ?"
    // A piece may just be read.
    while try await !store.sql(open, "%\(schema.name)%nano_chunks%").isEmpty {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private func answerEarly(_ store: Store) async throws {
    let bytes = [UInt8](repeating: 7, count: 20_000_000)
    let document = try Outgoing.document(
      "a", attachments: [try Outgoing.attachment("b", bytes, in: store)])
    let handler: ScriptedServer.Handler = { _ in
      .json(413, #"{"error":"too_large","reason":"x"}"#) + [.close]
    }
    try await ScriptedServer.serving(handler, answersEarly: true) { server in
      let peer = try server.peer()
      do {
        let refused = try await peer.write([document], ancestors: [:], from: store)
        #expect(refused.map(\.error.kind) == [.tooLarge])
      } catch let error as PeerError {
        // The reset connection may be noticed before the answer.
        #expect(error.kind == .unreachable)
      }
    }
  }

  @Test(
    "Content that the store cannot read is a refusal of its document only",
    arguments: [10, 1_100_000])
  func damagedContent(_ length: Int) async throws {
    let store = try anyStore()
    let bytes = [UInt8](repeating: 7, count: length)
    var attachment = try Outgoing.attachment("b", bytes, in: store)
    let other = try await anyStore().addAttachment(.data(Data(bytes.dropLast())))
    attachment.content = other
    let documents = [
      try Outgoing.document("a", attachments: [attachment]), try Outgoing.document("c"),
    ]
    try await ScriptedServer.serving { _ in
      .json(201, "[]")
    } peer: { peer, server in
      let refused = try await peer.write(documents, ancestors: [:], from: store)
      #expect(refused.map(\.id) == ["a"])
      #expect(refused.map(\.error.kind) == [.missingAttachment])
      #expect(server.requests.flatMap { Outgoing.ids($0) } == ["c"])
    }
  }
}
