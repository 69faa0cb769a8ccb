// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreServer
import NanoSync
import NanoTestSupport
import Testing

@Suite("Attachments over HTTP")
struct AttachmentTests {
  private func server() async throws -> TestServer {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    return server
  }

  private func put(
    _ server: TestServer, _ target: String, _ bytes: [UInt8], type: String = "image/png"
  ) async throws -> TestServer.Answer {
    try await server.send("PUT", target, bytes, headers: ["Content-Type": type])
  }

  @Test("An attachment comes back byte by byte, and belongs to the document of the application")
  func roundTrip() async throws {
    let server = try await server()
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    let written = try await put(server, "/notes/n1/dir/%C3%A4%20b%2Bc.png", bytes)
    let read = try await server.send("GET", "/notes/n1/dir/%C3%A4%20b%2Bc.png")

    #expect(written.status == 201)
    #expect(read.bytes == bytes)
    #expect(read.header("Content-Type") == "image/png")
    #expect(read.header("Content-Security-Policy") == "sandbox")
    #expect(
      try await server.store["notes"].attachments(of: "n1").data("dir/ä b+c.png") == Data(bytes))
    let tag = try #require(read.header("ETag"))
    let again = try await server.send(
      "GET", "/notes/n1/dir/%C3%A4%20b%2Bc.png", headers: ["If-None-Match": tag])
    #expect(again.status == 304)
    let head = try await server.send("HEAD", "/notes/n1/dir/%C3%A4%20b%2Bc.png")
    #expect(head.bytes.isEmpty)
    #expect(head.header("Content-Length") == "300000")
  }

  @Test("A content type with quoted parameters stays as it is, without control characters")
  func contentType() async throws {
    let server = try await server()
    let type = #"text/plain; charset="utf-8""#
    _ = try await put(server, "/notes/n1/a", [1], type: type)
    #expect(try await server.send("GET", "/notes/n1/a").header("Content-Type") == type)

    try await server.store["notes"].attach(
      .data(Data([1])), named: "b", contentType: "a\r\nX: \"b\"", to: "n1")
    let read = try await server.send("GET", "/notes/n1/b")
    #expect(read.header("Content-Type") == #"a__X: "b""#)
  }

  @Test(
    "A range has these bytes only",
    arguments: [
      ("bytes=0-1", 0..<2), ("bytes=299990-", 299_990..<300_000), ("bytes=-5", 299_995..<300_000),
      ("bytes=100-999999", 100..<300_000), ("bytes=0-299999", 0..<300_000),
    ])
  func range(_ header: String, _ range: Range<Int>) async throws {
    let server = try await server()
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    _ = try await put(server, "/notes/n1/a", bytes)

    let part = try await server.send("GET", "/notes/n1/a", headers: ["Range": header])

    #expect(part.status == 206)
    #expect(part.bytes == Array(bytes[range]))
    #expect(
      part.header("Content-Range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/300000")
  }

  @Test(
    "An attachment has its own length, whichever the document states",
    arguments: [0, 3, 9, 1 << 38])
  func wrongLength(_ length: Int64) async throws {
    let server = try await server()
    try await save("n1", length, to: server)

    let whole = try await server.send("GET", "/notes/n1/a")
    let end = try await server.send("GET", "/notes/n1/a", headers: ["Range": "bytes=-2"])
    let head = try await server.send("HEAD", "/notes/n1/a")
    let multipart = ["Accept": "multipart/related"]
    let parts = try await server.send(
      "GET", "/notes/n1?attachments=true", headers: multipart)
    let partsHead = try await server.send(
      "HEAD", "/notes/n1?attachments=true", headers: multipart)

    #expect(whole.bytes == Array("hello".utf8))
    #expect(head.header("Content-Length") == "5")
    #expect(end.bytes == Array("lo".utf8))
    #expect(partsHead.header("Content-Length") == "\(parts.bytes.count)")
    #expect(String(decoding: parts.bytes, as: UTF8.self).contains("hello"))
  }

  @Test("Content that arrives after its document is served whole, whichever length that states")
  func lateContent() async throws {
    let server = try await server()
    let content = Data("hello".utf8)
    var attachment = try await anyStore().addAttachment(.data(content), contentType: "text/plain")
    attachment.length = 3
    try await server.store["notes"].save(
      [Attachment.field: ["a": attachment.documentValue]], key: "n1")
    #expect(try await server.send("GET", "/notes/n1/a").status == 404)
    let document = try await server.send("GET", "/notes/n1?attachments=true")
    #expect(document.status == 200)

    _ = try await server.store.addAttachment(.data(content), contentType: "text/plain")

    let head = try await server.send("HEAD", "/notes/n1/a")
    let end = try await server.send("GET", "/notes/n1/a", headers: ["Range": "bytes=-2"])
    #expect(try await server.send("GET", "/notes/n1/a").text == "hello")
    #expect(head.header("Content-Length") == "5")
    #expect(end.text == "lo")
  }

  @Test(
    "A document with an impossible length is not served, and the server goes on",
    arguments: [-1, .min, .max, 1 << 38 + 1] as [Int64])
  func impossibleLength(_ length: Int64) async throws {
    let server = try await server()
    try await save("n1", length, to: server)
    try await save("n2", 5, to: server)

    for target in ["/notes/n1/a", "/notes/n1", "/notes/n1?attachments=true"] {
      #expect(try await server.send("GET", target).status == 404)
    }
    #expect(try await server.send("GET", "/notes/n2/a").bytes == Array("hello".utf8))
  }

  /// Saves a document with an attachment as an application does that computes the length itself.
  private func save(_ key: String, _ length: Int64, to server: TestServer) async throws {
    var attachment = try await server.store.addAttachment(
      .data(Data("hello".utf8)), contentType: "text/plain")
    attachment.length = length
    try await server.store["notes"].save(
      [Attachment.field: ["a": attachment.documentValue]], key: key)
  }

  @Test(
    "A range that is beyond the end or reversed is refused, another unit ignored",
    arguments: [
      ("bytes=4-", 416), ("bytes=3-1", 416), ("bytes=-0", 416), ("items=0-1", 200),
      ("bytes=x", 200),
    ])
  func badRange(_ header: String, _ status: Int) async throws {
    let server = try await server()
    _ = try await put(server, "/notes/n1/a", [1, 2, 3, 4])

    #expect(
      try await server.send("GET", "/notes/n1/a", headers: ["Range": header]).status == status)
  }

  @Test("A multipart document stores its attachments, and is answered as one")
  func multipart() async throws {
    let server = try await server()
    let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 1) }
    let json =
      #"{"_id":"m","_rev":"1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","_attachments":{"#
      + #""one.txt":{"follows":true,"content_type":"text/plain","length":3,"revpos":1},"#
      + #""two":{"follows":true,"length":200000,"revpos":1},"three":{"follows":true,"length":0}}}"#
    var body = Array(
      "--B\r\nContent-Type: application/json\r\n\r\n\(json)\r\n--B\r\n\r\none\r\n--B\r\n".utf8)
    body += Array("Content-Disposition: attachment; filename=\"x\"\r\n\r\n".utf8) + large
    body += Array("\r\n--B\r\n\r\n\r\n--B--".utf8)

    let written = try await server.send(
      "PUT", "/notes/m?new_edits=false", body,
      headers: ["Content-Type": "multipart/related; boundary=\"B\""])
    let related = try await server.send("GET", "/notes/m?attachments=true")
    let mixed = try await server.send(
      "GET", #"/notes/m?open_revs=["1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","9-b"]"#,
      headers: ["Accept": "multipart/mixed"])

    #expect(written.status == 201)
    #expect(try await server.send("GET", "/notes/m/one.txt").text == "one")
    #expect(try await server.send("GET", "/notes/m/two").bytes == large)
    #expect(try await server.send("GET", "/notes/m/three").bytes == [])
    for answer in [related, mixed] {
      let length: Int
      switch await server.respond("GET", "/notes/m?attachments=true").body {
      case .stream(let stream): length = stream.length ?? 0
      case .bytes: length = 0
      }
      if answer.bytes == related.bytes { #expect(answer.bytes.count == length) }
    }
    let parts = try await parts(related.bytes, related.header("Content-Type"))
    try #require(parts.count == 4)
    #expect(parts[1].bytes == Array("one".utf8))
    #expect(parts[2].bytes == large)
    let outer = try await self.parts(mixed.bytes, mixed.header("Content-Type"))
    try #require(outer.count == 2)
    let inner = try await self.parts(outer[0].bytes, outer[0].type)
    #expect(inner.map(\.bytes) == parts.map(\.bytes))
    #expect(outer[1].type == #"application/json; error="true""#)
  }

  private func parts(
    _ bytes: [UInt8], _ type: String?
  ) async throws -> [(type: String?, bytes: [UInt8])] {
    let boundary = try #require(MultipartReader.boundary(of: type ?? ""))
    var rest: [UInt8]? = bytes
    let reader = MultipartReader(boundary: boundary) {
      defer { rest = nil }
      return rest
    }
    var parts: [(type: String?, bytes: [UInt8])] = []
    while let headers = try await reader.nextPart() {
      parts.append(
        (
          headers.first { $0.name == "content-type" }?.value,
          try await reader.collect(limit: .max)
        ))
    }
    return parts
  }

  @Test("Compressed content is stored as it was before, under both digests")
  func compressed() async throws {
    let server = try await server()
    // "abcabcabc"
    let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA0tMSk4EIwAYSC1GCQAAAA=="))
    let json =
      #"{"_id":"m","_rev":"1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","_attachments":{"a":{"follows":true,"#
      + #""content_type":"text/plain","revpos":1,"digest":"md5-/FMmIPpdT4L0Y45fZ3NoEg==","#
      + #""length":9,"encoding":"gzip","encoded_length":\#(gzip.count)}}}"#
    var body = Array("--B\r\nContent-Type: application/json\r\n\r\n\(json)\r\n--B\r\n".utf8)
    body += Array("Content-Encoding: gzip\r\n\r\n".utf8) + gzip + Array("\r\n--B--".utf8)

    let written = try await server.send(
      "PUT", "/notes/m?new_edits=false", body,
      headers: ["Content-Type": "multipart/related; boundary=B"])
    // CouchDB names the attachment by the digest that it knows.
    let kept = try await server.send(
      "PUT", "/notes/m?new_edits=false",
      Array(
        (#"{"_id":"m","_revisions":{"start":2,"ids":["bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]},"#
          + #""_attachments":{"a":{"stub":true,"digest":"md5-/FMmIPpdT4L0Y45fZ3NoEg=="}}}"#).utf8))

    #expect(written.status == 201, "\(written.text)")
    #expect(kept.status == 201, "\(kept.text)")
    #expect(try await server.send("GET", "/notes/m/a").text == "abcabcabc")
  }

  @Test("Content that is not what the document says is refused, and nothing is stored")
  func mismatch() async throws {
    let server = try await server()
    func send(_ properties: String, _ content: String) async throws -> Int {
      let json = #"{"_attachments":{"a":{"follows":true,\#(properties)}}}"#
      let body = "--B\r\n\r\n\(json)\r\n--B\r\n\r\n\(content)\r\n--B--"
      return try await server.send(
        "PUT", "/notes/m", Array(body.utf8),
        headers: ["Content-Type": "multipart/related; boundary=B"]
      ).status
    }

    #expect(try await send(#""length":2"#, "three") == 400)
    #expect(try await send(#""length":9"#, "three") == 400)
    #expect(try await send(#""length":5,"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==""#, "three") == 500)
    #expect(try await send(#""length":5,"encoding":"gzip","encoded_length":5"#, "three") == 400)
    #expect(try await server.store["notes"].count() == 0)
    #expect(try await send(#""length":5"#, "three") == 201)
  }

  @Test(
    "A multipart message that ends early is refused",
    arguments: ["", "--B", "--B\r\n\r\n{}", "--B\r\n\r\n{}\r\n--B\r\n"])
  func truncated(_ body: String) async throws {
    let server = try await server()

    let answer = try await server.send(
      "PUT", "/notes/m", Array(body.utf8),
      headers: ["Content-Type": "multipart/related; boundary=B"])

    #expect(answer.status == 400)
    #expect(try await server.store["notes"].count() == 0)
  }

  @Test("atts_since leaves out what the client has")
  func known() async throws {
    let server = try await server()
    let first = try await put(server, "/notes/n1/a", [1])
    let one = try #require(first.json.object?["rev"]?.string)
    let second = try await put(server, "/notes/n1/b?rev=\(one)", [2])
    let two = try #require(second.json.object?["rev"]?.string)

    let answer = try await server.send(
      "GET", #"/notes/n1?open_revs=["\#(two)"]&atts_since=["\#(one)"]&revs=true"#,
      headers: ["Accept": "multipart/mixed"])

    let outer = try await parts(answer.bytes, answer.header("Content-Type"))
    let message = try #require(outer.first)
    let inner = try await parts(message.bytes, message.type)
    try #require(inner.count == 2)
    #expect(inner[1].bytes == [2])
    let stubs = try DocumentObject(json: inner[0].bytes, dialect: .plain)["_attachments"]?.object
    #expect(stubs?["a"]?.object?["stub"] == true)
    #expect(stubs?["b"]?.object?["follows"] == true)
    // CouchDB's replicator waits for the parts of a message that has none.
    let all = try await server.send(
      "GET", #"/notes/n1?open_revs=["\#(two)"]&atts_since=["\#(two)"]"#,
      headers: ["Accept": "multipart/mixed"])
    #expect(
      try await parts(all.bytes, all.header("Content-Type")).map(\.type) == ["application/json"])
  }

  @Test("An attachment of an unknown generation is sent to a client that has no revision")
  func unknownGeneration() async throws {
    let server = try await server()
    let content = try await server.store.addAttachment(
      .data(Data("hello".utf8)), contentType: "text/plain")
    let attachment = SyncAttachment(
      name: "a", contentType: "text/plain", generation: 0,
      digest: "md5-XUFAKrxLKna5cZ2REBfFkg==", length: 5, content: content)
    let revision = try #require(RevisionID("1-a"))
    let failures = try SyncDatabase(server.store["notes"]).replicate([
      SyncDocument(id: "n1", revision: revision, attachments: [attachment])
    ])
    #expect(failures.isEmpty)

    let document = try await server.send(
      "GET", "/notes/n1?attachments=true", headers: ["Accept": "application/json"])
    let mixed = try await server.send(
      "GET", #"/notes/n1?open_revs=["1-a"]"#, headers: ["Accept": "multipart/mixed"])

    let stored = document.json.object?["_attachments"]?.object?["a"]?.object
    #expect(stored?["data"] == "aGVsbG8=")
    let message = try #require(
      try await parts(mixed.bytes, mixed.header("Content-Type")).first)
    #expect(try await parts(message.bytes, message.type).last?.bytes == Array("hello".utf8))
  }

  @Test("Attachments whose names differ in a slash at the end are two")
  func slashAtEnd() async throws {
    let server = try await server()
    var revision = ""
    for id in ["n1", "_design/d"] {
      for (name, byte) in [("a", 1), ("a/", 2), ("/", 3)] as [(String, UInt8)] {
        let query = revision.isEmpty ? "" : "?rev=\(revision)"
        let answer = try await put(server, "/notes/\(id)/\(name)\(query)", [byte])
        revision = try #require(answer.json.object?["rev"]?.string, "\(answer.text)")
      }
      revision = ""

      for (name, byte) in [("a", 1), ("a/", 2), ("/", 3)] as [(String, UInt8)] {
        #expect(try await server.send("GET", "/notes/\(id)/\(name)").bytes == [byte])
      }
      let document = try await server.send("GET", "/notes/\(id)/").json.object
      let names = document?["_attachments"]?.object?.names ?? []
      #expect(Set(names) == ["a", "a/", "/"])
    }
  }

  @Test("Attachments of former revisions are answered until the store is compacted")
  func former() async throws {
    let server = try await server()
    func revision(_ answer: TestServer.Answer) throws -> String {
      try #require(answer.json.object?["rev"]?.string, "\(answer.text)")
    }
    let one = try revision(try await put(server, "/notes/n1/a", Array("old".utf8)))
    let two = try revision(try await put(server, "/notes/n1/a?rev=\(one)", Array("new".utf8)))
    let three = try revision(try await server.send("DELETE", "/notes/n1/a?rev=\(two)"))
    func formerContents() async throws -> [String] {
      let document = try await server.send(
        "GET", "/notes/n1?rev=\(one)&attachments=true", headers: ["Accept": "application/json"])
      let bulk = try await server.send(
        "POST", "/notes/_bulk_get?attachments=true",
        ["docs": [["id": "n1", "rev": .string(two)]]], headers: ["Accept": "application/json"])
      let result = bulk.json.object?["results"]?.array?.first?.object?["docs"]?.array?.first
      return [document.json, result?.object?["ok"] ?? .null].map {
        $0.object?["_attachments"]?.object?["a"]?.object?["data"]?.string ?? "stub"
      }
    }

    #expect(try await server.send("GET", "/notes/n1/a?rev=\(one)").text == "old")
    #expect(try await server.send("GET", "/notes/n1/a?rev=\(two)").text == "new")
    #expect(try await server.send("GET", "/notes/n1/a?rev=\(three)").status == 404)
    #expect(try await server.send("GET", "/notes/n1/a").status == 404)
    #expect(try await formerContents() == ["b2xk", "bmV3"])

    try await server.store.compact(attachmentLease: .zero)

    #expect(try await server.send("GET", "/notes/n1/a?rev=\(one)").status == 404)
    #expect(try await formerContents() == ["stub", "stub"])
    #expect(try await server.store.verify().isEmpty)
  }

  @Test("A copy of a former revision has its attachments, or is refused without their content")
  func copied() async throws {
    let server = try await server()
    func revision(_ answer: TestServer.Answer) throws -> String {
      try #require(answer.json.object?["rev"]?.string, "\(answer.text)")
    }
    func copy(_ source: String, _ target: String) async throws -> TestServer.Answer {
      try await server.send("COPY", "/notes/\(source)", headers: ["Destination": target])
    }
    let one = try revision(try await put(server, "/notes/n1/a", Array("old".utf8)))
    _ = try await put(server, "/notes/n1/a?rev=\(one)", Array("new".utf8))
    let other = try revision(try await put(server, "/notes/n2/a", Array("other".utf8)))

    let answer = try await copy("n1?rev=\(one)", "n2?rev=\(other)")

    let copied = try revision(answer)
    #expect(try await server.send("GET", "/notes/n2/a").text == "old")
    let document = try await server.send("GET", "/notes/n2").json.object
    #expect(document?["_attachments"]?.object?["a"]?.object?["revpos"] == 2)

    let lost = try revision(try await put(server, "/notes/n3/a", Array("lost".utf8)))
    _ = try await put(server, "/notes/n3/a?rev=\(lost)", Array("newer".utf8))
    try await server.store.compact(attachmentLease: .zero)
    #expect(try await copy("n3?rev=\(lost)", "n2?rev=\(copied)").status == 412)
    #expect(try await server.send("GET", "/notes/n2/a").text == "old")
  }

  @Test("An edit keeps the attachments of the revision that it follows, of no other generation")
  func keptByEdit() async throws {
    let server = try await server()
    let first = try await put(server, "/notes/n1/a", Array("text".utf8))
    let one = try #require(first.json.object?["rev"]?.string)
    func edit(_ stub: DocumentObject, name: String = "a") async throws -> TestServer.Answer {
      try await server.send(
        "PUT", "/notes/n1?rev=\(one)",
        ["n": 1, "_attachments": .object([name: .object(stub)])] as DocumentValue)
    }

    for refused in [
      try await edit(["stub": true, "revpos": 2]), try await edit(["stub": true], name: "b"),
      try await edit(["stub": true, "digest": "md5-AAAAAAAAAAAAAAAAAAAAAA=="]),
    ] {
      #expect(refused.status == 412)
      #expect(refused.error == "missing_stub")
    }
    let kept = try await edit(["stub": true, "revpos": 1])
    #expect(kept.status == 201, "\(kept.text)")
    #expect(try await server.send("GET", "/notes/n1/a").text == "text")
  }

  @Test("A request with one attachment that is unknown is refused as a whole")
  func unknownInBulk() async throws {
    let server = try await server()

    let answer = try await server.send(
      "POST", "/notes/_bulk_docs",
      [
        "docs": [
          ["_id": "n1", "n": 1], ["_id": "_local/l", "n": 1],
          ["_id": "n2", "_attachments": ["a": ["stub": true]]],
        ]
      ])

    #expect(answer.status == 412)
    #expect(answer.error == "missing_stub")
    #expect(try await server.store["notes"].count() == 0)
    #expect(try await server.send("GET", "/notes/_local/l").status == 404)
  }

  @Test("A replicated revision keeps the attachment with its digest, not another of its name")
  func keptByDigest() async throws {
    let server = try await server()
    func send(_ document: String) async throws -> Int {
      try await server.send("PUT", "/notes/n1?new_edits=false", Array(document.utf8)).status
    }
    // Two branches with an attachment of the same name and generation each.
    for (hash, data) in [("a", "YWE="), ("b", "YmI=")] {
      let document =
        #"{"_id":"n1","_revisions":{"start":2,"ids":["\#(hash)","r"]},"#
        + #""_attachments":{"f":{"data":"\#(data)","revpos":2}}}"#
      #expect(try await send(document) == 201)
    }
    let digest = try #require(
      try await server.send("GET", "/notes/n1?rev=2-a").json.object?["_attachments"]?.object?["f"]?
        .object?["digest"]?.string)

    let document =
      #"{"_id":"n1","_revisions":{"start":3,"ids":["c","a","r"]},"#
      + #""_attachments":{"f":{"stub":true,"revpos":2,"digest":"\#(digest)"}}}"#
    #expect(try await send(document) == 201)

    #expect(try await server.send("GET", "/notes/n1/f?rev=3-c").text == "aa")
    #expect(try await server.send("GET", "/notes/n1/f?rev=2-b").text == "bb")
  }

  @Test("An attachment above the limit is refused while it arrives")
  func tooLarge() async throws {
    let server = try TestServer { $0.maximumAttachment = 10_000 }
    _ = try await server.send("PUT", "/notes")
    let bytes = [UInt8](repeating: 0, count: 20_000)

    #expect(try await put(server, "/notes/n1/a", bytes).status == 413)
    // A kilobyte can expand to a megabyte.
    #expect(try await server.store["notes"].count() == 0)
  }
}
