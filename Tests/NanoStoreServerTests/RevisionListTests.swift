// SPDX-License-Identifier: MIT

import NanoDocument
import Testing

@testable import NanoStoreServer

@Suite("Lists of revisions in requests")
struct RevisionListTests {
  @Test("An ID that occurs twice has the revisions of both lists")
  func duplicates() async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")
    let body = #" { "a": ["1-x", "2-y"] , "b,[\"":["1-z"],"a":["3-w"],"c":[]} "#

    let answer = try await server.send("POST", "/notes/_revs_diff", Array(body.utf8))

    #expect(answer.status == 200)
    #expect(
      answer.json == [
        "a": ["missing": ["1-x", "2-y", "3-w"]], "b,[\"": ["missing": ["1-z"]],
      ])
  }

  @Test(
    "A malformed request is refused as a whole",
    arguments: [
      "", "[]", "{", #"{"a"}"#, #"{"a":["1-x"],}"#, #"{,}"#, #"{"a":1}"#, #"{"a":["x"]}"#,
      #"{"a":["1-x"]"b":[]}"#, #"{"a":["1-x"]} {}"#,
    ])
  func malformed(_ body: String) async throws {
    let server = try TestServer()
    _ = try await server.send("PUT", "/notes")

    #expect(try await server.send("POST", "/notes/_revs_diff", Array(body.utf8)).status == 400)
  }
}
