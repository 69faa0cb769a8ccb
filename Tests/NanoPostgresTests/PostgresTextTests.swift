// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoTesting
import Testing

@Suite("PostgreSQL full-text search compared with the reference semantics", .postgres)
struct PostgresTextTests {
  @Test(
    "After any writes, inside and outside a transaction, matches and ranks are the same",
    arguments: 1...12)
  func writes(seed: UInt64) throws {
    let engine = try TestDatabase.engine(seed % 2 == 0 ? .plain : .icu)
    defer { try? engine.close() }
    #expect(try FullTextComparison(seed: seed).difference(on: engine) == nil, "seed \(seed)")
    #expect(try engine.verify() == [], "seed \(seed)")
  }
}
