// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct CompressionTests {
  @Test("Large requests are compressed, if the server understands that")
  func compression() async throws {
    let store = try anyStore()
    let document = try Outgoing.document(
      "a", body: ["x": .string(String(repeating: "hello ", count: 1_000))])
    try await ScriptedServer.serving { _ in
      .json(201, "[]")
    } while: { server in
      let peer = try server.peer(compresses: true)
      _ = try await peer.write([document], ancestors: [:], from: store)
      _ = try await peer.write([try Outgoing.document("b")], ancestors: [:], from: store)
      #expect(server.requests.map { $0.headers["content-encoding"] } == ["gzip", nil])
      #expect(server.requests[0].body.starts(with: [0x1F, 0x8B]))
      #expect(server.requests[0].body.count < 1_000)
    }
    for status in [400, 415] {
      try await ScriptedServer.serving { request in
        request.headers["content-encoding"] == nil ? .json(201, "[]") : .json(status, "{}")
      } while: { server in
        let peer = try server.peer(compresses: true)
        for _ in 0..<2 {
          #expect(try await peer.write([document], ancestors: [:], from: store).isEmpty)
        }
        #expect(server.requests.map { $0.headers["content-encoding"] } == ["gzip", nil, nil])
      }
    }
  }

  @Test("What is compressed comes back as it was")
  func roundTrip() async throws {
    for text in ["x", String(repeating: "ab\"\u{E9}", count: 100_000)] {
      let object: DocumentObject = ["db_name": .string(text), "update_seq": "1-x"]
      let plain = SyncJSON.bytes(object)
      let bytes = Gzip.compressed(plain)
      #expect((bytes == nil) == (plain.count < Gzip.minimumLength))
      guard let bytes else { continue }
      try await ScriptedServer.serving { _ in
        .answer(200, bytes, ["Content-Encoding": "gzip"])
      } peer: { peer, server in
        let state = try await peer.open(creates: false)
        #expect(state.lastSequence == "1-x")
        #expect(server.requests.first?.headers["accept-encoding"] == "gzip")
      }
    }
  }
}
