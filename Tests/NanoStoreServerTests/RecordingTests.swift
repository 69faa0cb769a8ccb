// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreServer
import Testing

@Suite("Recorded requests")
struct RecordingTests {
  /// Exchanges whose response differs by intent, with the reason.
  private static let deviations: [String: [Int: String]] = [
    "http-basics": [
      13: "a plus sign in a path is a plus sign", 14: "the database of 13 exists",
      15: "the server of this test has no users",
    ],
    "http-revisions": [
      60: "a row without an ID is an error of the request", 67: "400 instead of 500",
      68: "400 instead of 500", 70: "the edits are not recorded", 71: "the edits are not recorded",
      73: "the edits are not recorded", 78: "the edits are not recorded",
      84: "the edits are not recorded", 85: "the edits are not recorded",
    ],
    "http-attachments": [
      25: "attachments are not compressed", 26: "attachments are not compressed",
      35: "attachments are not compressed", 50: "another sentence",
      58: "a stub may name an attachment of another branch", 63: "the digest is reported",
    ],
  ]

  @Test(
    "The server answers recorded requests as CouchDB 3.5 did",
    arguments: [
      "http-basics", "http-revisions", "http-local", "http-attachments",
    ])
  func replay(_ name: String) async throws {
    let server = try TestServer { $0.maximumDocument = name == "http-basics" ? 3_000 : 8_000_000 }
    let recording = try Recording(name)
    var counterparts = Counterparts()
    if !recording.exchanges.contains(where: { $0.method == "PUT" && $0.target == "/notes" }) {
      _ = try await server.send("PUT", "/notes")
    }
    for exchange in recording.exchanges {
      let expected = Self.deviations[name]?[exchange.number]
      let answer = try await server.send(
        exchange.method, counterparts.applied(to: exchange.target),
        counterparts.applied(to: exchange.body), headers: exchange.headers)
      var found: [String] = []
      if answer.status != exchange.status {
        found.append(
          "status \(answer.status) instead of \(exchange.status): \(answer.text.prefix(200))")
      } else if exchange.answerBytes == nil {
        found += counterparts.differences(exchange.answer, answer.json)
      }
      if expected == nil {
        #expect(
          found.isEmpty,
          "\(name) \(exchange.number) (\(exchange.step)): \(exchange.method) \(exchange.target.prefix(200))"
        )
      } else {
        #expect(!found.isEmpty, "\(name) \(exchange.number) no longer deviates")
      }
    }
  }
}
