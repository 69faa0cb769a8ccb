// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStoreServer
import Testing

@Suite("Recorded requests")
struct RecordingTests {
  /// Exchanges whose response differs by intent, with the reason.
  private static let deviations: [String: [Int: String]] = [:]

  @Test(
    "The server answers recorded requests as CouchDB 3.5 did",
    arguments: [
      "http-basics", "http-revisions", "http-changes", "http-local", "http-attachments",
      "http-values", "http-gzip-accept",
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
