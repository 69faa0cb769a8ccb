// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreSync
import NanoSync
import NanoTestSupport
import Testing

/// The first synchronization of a large collection.
@Suite(.sqlite) struct FirstSyncTests {
  private static let documents = 5_000

  private static func largeStore() throws -> Store {
    let store = try Store(.memory)
    try store.write {
      for n in 0..<documents {
        try store["films"].save(
          ["n": .int(Int64(n)), "text": .string(String(repeating: "x", count: 100))], key: "\(n)")
      }
    }
    return store
  }

  @Test @MainActor
  func `The first sync of a large collection does not freeze the thread that starts it`()
    async throws
  {
    let (store, other) = (try Self.largeStore(), try Store(.memory))
    let sync = try store.replicate(["films"], with: .store(other), mode: .once)
    // Nothing has run on this thread.
    #expect(sync.status.phase == .connecting && sync.status.done == 0)
    var ticks = 0
    while sync.status.phase != .stopped {
      ticks += 1
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(ticks > 0)
    #expect(try await sync.finish().pushed == Self.documents)
    #expect(try await other["films"].count() == Self.documents)
  }

  @Test func `A sync is stopped while it prepares a large collection`() async throws {
    let (store, other) = (try Self.largeStore(), try Store(.memory))
    try await store.enableSync(for: ["films"])
    let sync = try store.replicate(["films"], with: .store(other))
    for await status in sync.updates where status.phase != .stopped { break }
    let start = ContinuousClock.now
    await sync.stop()
    #expect(ContinuousClock.now - start < .seconds(60))
    // It continues where it was.
    let status = try await store.replicate(["films"], with: .store(other), mode: .once).finish()
    #expect(status.failures.isEmpty)
    #expect(try await other["films"].count() == Self.documents)
    #expect(try SyncDatabase(store["films"]).state() == SyncDatabase(other["films"]).state())
  }
}
