// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoTesting
import Testing

@Suite("Searches by text on PostgreSQL find what the definition finds", .postgres)
struct PostgresTextTests {
  @Test("After any writes, in a transaction and after it, with the same ranks", arguments: 1...12)
  func writes(seed: UInt64) throws {
    let engine = try TestDatabase.engine(seed % 2 == 0 ? .plain : .icu)
    defer { try? engine.close() }
    #expect(try FullTextComparison(seed: seed).difference(on: engine) == nil, "seed \(seed)")
    #expect(try engine.verify() == [], "seed \(seed)")
  }
}
