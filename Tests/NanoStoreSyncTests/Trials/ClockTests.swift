// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

@Suite(.sqlite) struct ClockTests {
  @discardableResult
  private func sync(
    _ replica: TrialReplica, _ other: TrialReplica, _ rules: ConflictRules = ConflictRules()
  ) async throws -> SyncStatus {
    var options = NetworkSchedule.options
    options.defaultRules = rules
    return try await replica.store.replicate(
      ["films"], with: .store(other.store), mode: .once, options: options
    ).finish()
  }

  @Test func `Revisions do not depend on clocks`() async throws {
    let (a, b) = (try TrialReplica(.memory, ""), try TrialReplica(.memory, ""))
    b.clock.advance(by: .seconds(-400 * 86_400))
    for replica in [a, b] {
      try await replica.films.save(["title": "Alien"], key: "x")
      _ = try replica.database.state()
      replica.clock.advance(by: .seconds(-86_400))
      try await replica.films.update("x", set: ["title": "ALIEN"])
      _ = try replica.database.state()
      try await replica.films.delete("x")
    }
    #expect(try a.database.state() == b.database.state())
    let status = try await sync(a, b)
    #expect((status.pulled, status.pushed) == (0, 0))
  }

  @Test func `A device whose clock is wrong by years does not win or lose by it`() async throws {
    let (a, b) = (try TrialReplica(.memory, ""), try TrialReplica(.memory, ""))
    try await a.films.save(["title": "Alien", "year": 1979], key: "x")
    try await sync(a, b)
    a.clock.advance(by: .seconds(3_650 * 86_400))
    b.clock.advance(by: .seconds(-3_650 * 86_400))
    try await a.films.update("x", set: ["title": "ALIEN"])
    try await b.films.update("x", set: ["year": 1980])
    try await sync(a, b)
    for replica in [a, b] {
      #expect(try await replica.films.get("x")?.object() == ["title": "ALIEN", "year": 1980])
    }
  }

  @Test func `Expired documents are not pushed back by stores that still have them`() async throws {
    let (a, b, c) = (
      try TrialReplica(.memory, ""), try TrialReplica(.memory, ""), try TrialReplica(.memory, "")
    )
    for key in ["x", "y"] { try await a.films.save(["n": 1], key: key) }
    for other in [b, c] { try await sync(a, other) }
    for key in ["x", "y"] {
      _ = try await a.films.setExpiration(
        Date(timeIntervalSince1970: Double(a.clock.now()) / 1e6 + 60), of: key)
    }
    a.clock.advance(by: .seconds(61))
    // An edit elsewhere keeps a document.
    try await c.films.update("y", set: ["n": 2])
    for (one, other) in [(b, a), (c, b), (a, c), (a, b), (b, c), (a, c)] {
      try await sync(one, other)
    }
    for replica in [a, b, c] {
      #expect(try await replica.films.get("x") == nil)
      #expect(try await replica.films.get("y")?["n"] == 2)
      #expect(try replica.database.state() == a.database.state())
    }
  }

  @Test
  func `A document that has expired by this store's rule when it arrives is deleted everywhere`()
    async throws
  {
    let (a, b) = (try TrialReplica(.memory, "", hasRule: true), try TrialReplica(.memory, ""))
    let past = Date(timeIntervalSince1970: Double(a.clock.now()) / 1e6 - 60)
    try await b.films.save(["until": .date(past), "n": 1], key: "x")
    try await b.films.save(["until": .date(past.addingTimeInterval(3_600))], key: "y")
    for _ in 0..<3 { try await sync(a, b) }
    #expect(try await a.films.find().fetch().compactMap(\.key) == ["y"])
    #expect(try a.database.state() == b.database.state())
    #expect(try await b.films.get("x") == nil)
    // Another store can use the key again.
    try await b.films.save(["until": .date(past.addingTimeInterval(3_600)), "n": 2], key: "x")
    for _ in 0..<2 { try await sync(a, b) }
    #expect(try await a.films.get("x")?["n"] == 2)
    #expect(try a.database.state() == b.database.state())
  }

  @Test func `A clock that is set back does not bring documents back that were deleted`()
    async throws
  {
    let (a, b) = (try TrialReplica(.memory, "", hasRule: true), try TrialReplica(.memory, ""))
    let soon = Date(timeIntervalSince1970: Double(a.clock.now()) / 1e6 + 60)
    try await a.films.save(["until": .date(soon)], key: "x")
    try await sync(a, b)
    a.clock.advance(by: .seconds(120))
    try await sync(a, b)
    a.clock.advance(by: .seconds(-600))
    for _ in 0..<2 { try await sync(b, a) }
    for replica in [a, b] { #expect(try await replica.films.get("x") == nil) }
    #expect(try a.database.state() == b.database.state())
  }
}
