// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoTestSupport
import Testing

@Suite("Documents that look like a form of Extended JSON")
struct DocumentFormTests {
  @Test("A document with only fields of a form is answered as it was written")
  func roundTrip() async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    let fields = #""$date":"2020-01-01T00:00:00.000Z""#
    func count(_ answer: TestServer.Answer) -> Int {
      answer.text.components(separatedBy: fields).count - 1
    }

    for (method, target, body) in [
      ("PUT", "/notes/a", "{\(fields)}"), ("PUT", "/notes/b", "{\"_id\":\"b\",\(fields)}"),
      ("POST", "/notes", "{\(fields)}"), ("PUT", "/notes/_local/l", "{\(fields)}"),
      ("POST", "/notes/_bulk_docs", "{\"docs\":[{\(fields)},{\"_id\":\"c\",\(fields)}]}"),
    ] {
      let answer = try await server.send(method, target, Array(body.utf8))
      #expect(answer.status == 201, "\(target): \(answer.text)")
    }

    let local = try await server.send("GET", "/notes/_local/l")
    #expect(count(local) == 1)
    let all = try await server.send("GET", "/notes/_all_docs?include_docs=true")
    #expect(count(all) == 5)
    for sort in ["[]", #"["_id"]"#] {
      let body = #"{"selector":{"_id":{"$gt":""}},"fields":["$date"],"sort":\#(sort)}"#
      let found = try await server.send("POST", "/notes/_find", Array(body.utf8))
      #expect(count(found) == 5, "\(found.text)")
      #expect(found.json.object?["bookmark"]?.string?.isEmpty == false)
    }
  }
}
