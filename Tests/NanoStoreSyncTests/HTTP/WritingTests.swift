// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@testable import NanoStoreSync

@Suite struct WritingTests {
  @Test("Revisions go in one request with their history")
  func bulk() async throws {
    let store = try anyStore()
    try await ScriptedServer.serving { _ in
      .json(201, "[]")
    } peer: { peer, server in
      var deleted = try Outgoing.document("b", "2-b", history: ["2-b", "1-a"])
      deleted.isDeleted = true
      let refused = try await peer.write(
        [try Outgoing.document("a", body: ["x": 1, "$y": ["$date": "z"]]), deleted], ancestors: [:],
        from: store)
      #expect(refused.isEmpty)
      let request = try #require(server.requests.first)
      #expect(server.requests.count == 1)
      #expect(request.method == "POST" && request.path == "/notes/_bulk_docs")
      #expect(request.headers["x-couch-full-commit"] == "false")
      #expect(
        request.text
          == #"{"new_edits":false,"docs":[{"_id":"a","_rev":"1-a","x":1,"$y":{"$date":"z"},"_revisions":{"start":1,"ids":["a"]}},{"_id":"b","_rev":"2-b","_deleted":true,"_revisions":{"start":2,"ids":["b","a"]}}]}"#
      )
    }
  }

  @Test("Documents that the server refuses are reported one by one")
  func refusals() async throws {
    let rows = [
      #"{"id":"a","rev":"1-a","error":"forbidden","reason":"no"}"#,
      #"{"id":"b","rev":"1-a","error":"unauthorized","reason":"no"}"#,
      #"{"id":"c","error":"document_too_large","reason":""}"#,
      #"{"id":"d","rev":"1-a","error":"internal_server_error","reason":"timeout"}"#,
      #"{"id":"e","rev":"1-a","error":"conflict","reason":"x"}"#,
      #"{"ok":true,"id":"f","rev":"1-a"}"#,
    ]
    let store = try anyStore()
    try await ScriptedServer.serving { _ in
      .json(201, "[\(rows.joined(separator: ","))]")
    } peer: {
      peer, _ in
      let refused = try await peer.write(
        "abcdefg".map { try Outgoing.document("\($0)") }, ancestors: [:], from: store)
      #expect(refused.map(\.id) == ["a", "b", "c", "d", "e"])
      #expect(
        refused.map(\.error.kind) == [.forbidden, .forbidden, .tooLarge, .unavailable, .refused])
      #expect(refused[0].error.message.contains("forbidden: no"))
      #expect(refused[0].revision.map { "\($0)" } == "1-a")
    }
  }

  @Test(
    "A request that is refused as a whole is divided until the document is found",
    arguments: [(413, PeerError.Kind.tooLarge), (400, .refused), (412, .refused)])
  func halves(_ status: Int, _ kind: PeerError.Kind) async throws {
    let store = try anyStore()
    try await ScriptedServer.serving { request in
      Outgoing.ids(request).contains("c")
        ? .json(status, #"{"error":"x","reason":"y"}"#) : .json(201, "[]")
    } peer: { peer, server in
      let refused = try await peer.write(
        "abcdefgh".map { try Outgoing.document("\($0)") }, ancestors: [:], from: store)
      #expect(refused.map(\.id) == ["c"])
      #expect(refused.map(\.error.kind) == [kind])
      let stored = server.requests.map(Outgoing.ids).filter { !$0.contains("c") }.joined()
      #expect(stored.sorted() == ["a", "b", "d", "e", "f", "g", "h"])
    }
  }

  @Test(
    "Failures of the server or the user are not refusals of documents",
    arguments: [401, 403, 429, 500, 503])
  func failures(_ status: Int) async throws {
    let store = try anyStore()
    try await ScriptedServer.serving { _ in
      .json(status, "{}")
    } peer: { peer, _ in
      let error = await failure {
        try await peer.write([try Outgoing.document("a")], ancestors: [:], from: store)
      }
      #expect(error?.status == status)
    }
  }

  @Test("An answer about written documents that is not one is invalid")
  func invalid() async throws {
    let store = try anyStore()
    for text in ["{}", "<html>", "[5]", #"[{"error":"forbidden"}]"#] {
      try await ScriptedServer.serving { _ in
        .json(201, text)
      } peer: { peer, _ in
        let error = await failure {
          try await peer.write([try Outgoing.document("a")], ancestors: [:], from: store)
        }
        #expect(error?.kind == .invalidAnswer)
      }
    }
  }

  @Test("Small attachments are part of the JSON; those that the server has are not sent")
  func inline() async throws {
    let store = try anyStore()
    let old = try Outgoing.attachment("old", Array("old".utf8), generation: 1, in: store)
    let new = try Outgoing.attachment("new", Array("new".utf8), generation: 3, in: store)
    let document = try Outgoing.document(
      "a", "3-c", attachments: [old, new], history: ["3-c", "2-b", "1-a"])
    try await ScriptedServer.serving { _ in
      .json(201, "[]")
    } peer: { peer, server in
      _ = try await peer.write([document], ancestors: ["a": ["2-b".revision]], from: store)
      var request = try #require(server.requests.last)
      #expect(Outgoing.sent(request, "old")?["stub"] == true)
      #expect(Outgoing.sent(request, "old")?["data"] == nil)
      #expect(Outgoing.sent(request, "new")?["data"] == "bmV3")
      #expect(Outgoing.sent(request, "new")?["revpos"] == 3)
      // A leaf of another branch does not help, nor does no leaf.
      for ancestors in try [["a": ["2-x".revision]], [:]] as [IDMap<[RevisionID]>] {
        _ = try await peer.write([document], ancestors: ancestors, from: store)
        request = try #require(server.requests.last)
        #expect(Outgoing.sent(request, "old")?["data"] == "b2xk")
        #expect(Outgoing.sent(request, "new")?["data"] == "bmV3")
      }
    }
  }

  @Test("Attachments whose names differ only in their normal form have their own content")
  func normalForms() async throws {
    let store = try anyStore()
    let names = ["\u{E9}", "e\u{301}"]
    let attachments = try names.map { try Outgoing.attachment($0, Array($0.utf8), in: store) }
    try await ScriptedServer.serving { _ in
      .json(201, "[]")
    } peer: { peer, server in
      _ = try await peer.write(
        [try Outgoing.document("a", attachments: attachments)], ancestors: [:], from: store)
      let request = try #require(server.requests.first)
      for name in names {
        #expect(
          Outgoing.sent(request, name)?["data"]?.string == Data(name.utf8).base64EncodedString())
      }
    }
  }

  @Test("If the server lacks what it was expected to have, everything is sent")
  func missingStub() async throws {
    let store = try anyStore()
    let old = try Outgoing.attachment("old", Array("old".utf8), in: store)
    let documents = [
      try Outgoing.document("a", "2-b", attachments: [old], history: ["2-b", "1-a"]),
      try Outgoing.document("b"),
    ]
    let answers = [
      #"{"error":"missing_stub","reason":"Invalid attachment stub in a for old"}"#,
      #"[{"id":"a","rev":"2-b","error":"missing_stub","reason":"x"}]"#,
    ]
    for text in answers {
      try await ScriptedServer.serving { request in
        guard Outgoing.sent(request, "old")?["stub"] == true else { return .json(201, "[]") }
        return text.hasPrefix("[") ? .json(201, text) : .json(412, text)
      } peer: { peer, server in
        let refused = try await peer.write(
          documents, ancestors: ["a": ["1-a".revision]], from: store)
        #expect(refused.isEmpty)
        #expect(server.requests.count == 2)
        #expect(Outgoing.sent(try #require(server.requests.last), "old")?["data"] == "b2xk")
      }
    }
  }

  @Test(
    "An attachment of an unknown generation is sent to a server without a former revision",
    arguments: [0, -1])
  func unknownGeneration(_ generation: Int) async throws {
    let store = try anyStore()
    let old = try Outgoing.attachment("old", Array("old".utf8), generation: generation, in: store)
    let document = try Outgoing.document(
      "a", "2-b", attachments: [old], history: ["2-b", "1-a"])
    try await ScriptedServer.serving { _ in
      .json(412, #"{"error":"missing_stub","reason":"x"}"#)
    } peer: { peer, server in
      // Once as a stub if the server has one, once with the content.
      for (ancestors, count) in try [([:], 1), (["a": ["1-a".revision]], 3)]
        as [(IDMap<[RevisionID]>, Int)]
      {
        let refused = try await peer.write([document], ancestors: ancestors, from: store)
        #expect(refused.map(\.error.status) == [412])
        #expect(server.requests.count == count)
        #expect(Outgoing.sent(try #require(server.requests.last), "old")?["data"] == "b2xk")
      }
    }
  }

  @Test("An attachment without content that the server does not know is refused once")
  func unknownStub() async throws {
    let store = try anyStore()
    var old = try Outgoing.attachment("old", Array("old".utf8), in: store)
    old.content = nil
    let document = try Outgoing.document("a", "2-b", attachments: [old], history: ["2-b", "1-a"])
    try await ScriptedServer.serving { _ in
      .json(412, #"{"error":"missing_stub","reason":"x"}"#)
    } peer: { peer, server in
      let refused = try await peer.write(
        [document], ancestors: ["a": ["1-a".revision]], from: store)
      #expect(refused.map(\.error.status) == [412])
      #expect(server.requests.count == 1)
    }
  }
}
