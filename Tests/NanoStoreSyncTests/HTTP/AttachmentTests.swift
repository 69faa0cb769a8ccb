// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoStore
import NanoStoreCore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct AttachmentTests {
  /// A stub as a document of CouchDB has it.
  static func stub(
    _ name: String, type: String = "application/octet-stream", digest: String?, length: Int?,
    encoding: String? = nil
  ) throws -> WireAttachment {
    var properties: DocumentObject = [
      "content_type": .string(type), "revpos": 2, "stub": true,
    ]
    if let digest { properties["digest"] = .string(digest) }
    if let length { properties["length"] = .int(Int64(length)) }
    if let encoding { properties["encoding"] = .string(encoding) }
    return try #require(try WireAttachment.list(.object([name: .object(properties)])).first)
  }

  static func digest(_ bytes: [UInt8]) -> String {
    var digest = AttachmentDigest()
    bytes.withUnsafeBytes { digest.update($0) }
    return digest.text()
  }

  private static let hello = Array("hello".utf8)
  /// The digests of CouchDB for the plain and the compressed bytes.
  private static let plain = "md5-XUFAKrxLKna5cZ2REBfFkg=="
  private static let compressed = "md5-iMaiC8wqiFlD2NjLTemvCQ=="

  private static func fetch(
    _ attachment: WireAttachment, _ steps: [ScriptedServer.Step]
  ) async throws -> (SyncAttachment, Data, ScriptedServer.Request) {
    let store = try anyStore()
    return try await ScriptedServer.serving { _ in
      steps
    } peer: { peer, server in
      let fetched = try await peer.attachment(
        attachment, of: "a/b", revision: "2-x".revision, in: store)
      let content = try #require(fetched.content)
      return (fetched, try await store.data(of: content), try #require(server.requests.first))
    }
  }

  @Test("The content of an attachment is stored and verified")
  func content() async throws {
    let stub = try Self.stub("dir/ü x.bin", digest: Self.plain, length: 5)
    let (fetched, data, request) = try await Self.fetch(stub, .answer(200, Self.hello))
    #expect(Array(data) == Self.hello)
    #expect(fetched.digest == Self.plain)
    #expect(fetched.foreignDigest == nil)
    #expect(fetched.length == 5)
    #expect(fetched.generation == 2)
    #expect(fetched.name == "dir/ü x.bin")
    #expect(request.path == "/notes/a%2Fb/dir/%C3%BC%20x.bin")
    #expect(request.query["rev"] == "2-x")
    #expect(request.headers["accept-encoding"] == "gzip")
  }

  @Test("The digest of compressed content is kept as one of the server")
  func foreignDigest() async throws {
    for stub in [
      try Self.stub("a", type: "text/plain", digest: Self.compressed, length: 5),
      try Self.stub("a", digest: Self.compressed, length: 5, encoding: "gzip"),
      try Self.stub("a", digest: "sha1-abc", length: 5),
    ] {
      let (fetched, data, _) = try await Self.fetch(stub, .answer(200, Self.hello))
      #expect(Array(data) == Self.hello)
      #expect(fetched.digest == Self.plain)
      #expect(fetched.foreignDigest == stub.digest)
      #expect(fetched.hasDigest(Self.plain))
    }
    let stub = try Self.stub("a", digest: Self.compressed, length: 5)
    let (fetched, _, _) = try await Self.fetch(
      stub, .answer(200, Self.hello, ["Accept-Ranges": "none"]))
    #expect(fetched.foreignDigest == Self.compressed)
  }

  @Test("Compressed content is decompressed, and verified with the digest of either form")
  func gzip() async throws {
    let bytes = Array(String(repeating: "hello ", count: 1_000).utf8)
    let gzip = try #require(Gzip.compressed(bytes))
    let answer = [ScriptedServer.Step].answer(200, gzip, ["Content-Encoding": "gzip"])
    for digest in [Self.digest(bytes), Self.digest(gzip)] {
      let stub = try Self.stub("a", type: "text/plain", digest: digest, length: bytes.count)
      let (fetched, data, _) = try await Self.fetch(stub, answer)
      #expect(Array(data) == bytes)
      #expect(fetched.digest == Self.digest(bytes))
      #expect(fetched.hasDigest(digest))
    }
    let stub = try Self.stub("a", type: "text/plain", digest: Self.plain, length: bytes.count)
    #expect(try await Self.failing(stub, answer)?.kind == .invalidAnswer)
    var damaged = gzip
    damaged[gzip.count / 2] ^= 4
    for wrong in [damaged, gzip + [0], gzip.dropLast(), Array(bytes), []] as [[UInt8]] {
      let stub = try Self.stub("a", digest: nil, length: nil)
      let steps = [ScriptedServer.Step].answer(200, wrong, ["Content-Encoding": "gzip"])
      #expect(try await Self.failing(stub, steps)?.kind == .invalidAnswer)
    }
  }

  /// Fetches an attachment that is not what the document says.
  private static func failing(
    _ stub: WireAttachment, _ steps: [ScriptedServer.Step]
  ) async throws -> PeerError? {
    let store = try anyStore()
    let error = try await ScriptedServer.serving { _ in
      steps
    } peer: { peer, _ in
      await failure {
        try await peer.attachment(stub, of: "a", revision: "2-x".revision, in: store)
      }
    }
    // Nothing of it is in the store.
    #expect(try store.reading(.snapshot) { try $0.blobs(after: 0, limit: 10).isEmpty })
    return error
  }

  @Test("Content of another length or with another digest is not stored")
  func wrong() async throws {
    let stub = try Self.stub("a", digest: Self.plain, length: 5)
    for text in ["", "hell", "hello!", "hallo"] {
      let error = try await Self.failing(stub, .answer(200, Array(text.utf8)))
      #expect(error?.kind == .invalidAnswer, "\(text)")
    }
    let text = try Self.stub("a", type: "text/plain", digest: Self.compressed, length: 5)
    #expect(try await Self.failing(text, .answer(200, Array("hell".utf8)))?.kind == .invalidAnswer)
  }

  @Test("Content that is cut anywhere is not stored")
  func cuts() async throws {
    let stub = try Self.stub("a", digest: Self.plain, length: 5)
    for steps in [[ScriptedServer.Step].answer(200, Self.hello), .chunked(200, ["he", "llo"])] {
      let bytes = steps.bytes
      for length in stride(from: 0, to: bytes.count, by: 3) {
        let error = try await Self.failing(stub, [.send(Array(bytes.prefix(length))), .close])
        #expect(error?.kind == .unreachable, "after \(length) bytes")
      }
    }
    // Without a length, the end of the connection is that of the body.
    let error = try await Self.failing(
      stub, [.head(200, ["Connection": "close"]), .text("hel"), .close])
    #expect(error?.kind == .invalidAnswer)
  }

  @Test("An attachment that the server lacks is reported")
  func missing() async throws {
    let stub = try Self.stub("a", digest: Self.plain, length: 5)
    #expect(try await Self.failing(stub, .missing)?.kind == .missingAttachment)
    #expect(try await Self.failing(stub, .json(503, "{}"))?.kind == .unavailable)
    let gone = #"{"error":"not_found","reason":"Database does not exist."}"#
    #expect(try await Self.failing(stub, .json(404, gone))?.kind == .noDatabase)
  }

  @Test("A large attachment is stored piece by piece, however long the store takes")
  func large() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let stub = try Self.stub("a", digest: Self.digest(bytes), length: bytes.count)
    let (fetched, data, _) = try await Self.fetch(stub, .answer(200, bytes))
    #expect(fetched.length == 3_000_000)
    #expect(Array(data) == bytes)
  }

  @Test("Canceling ends the transfer, and nothing is stored")
  func cancels() async throws {
    let stub = try Self.stub("a", digest: Self.plain, length: 5)
    let (store, arrived) = (try anyStore(), Gate())
    try await ScriptedServer.serving { _ in
      arrived.open()
      return [.head(200, ["Content-Length": "5"]), .text("hel"), .hang]
    } peer: { peer, server in
      let task = Task {
        try await peer.attachment(stub, of: "a", revision: "2-x".revision, in: store)
      }
      await arrived.wait()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      await server.hungUp.wait()
    }
  }
}
