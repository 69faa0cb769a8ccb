// SPDX-License-Identifier: MIT

import Dispatch
import NanoStoreModels
import NanoTestSupport
import Synchronization
import Testing

@testable import NanoGraph

/// Stops the first of several reads after it has read.
private final class ReadGate: Sendable {
  private let count = Mutex(0)
  private let release = DispatchSemaphore(value: 0)

  var reads: Int { count.withLock { $0 } }

  func pass() {
    let isFirst = count.withLock { count in
      count += 1
      return count == 1
    }
    if isFirst { release.wait() }
  }

  func open() { release.signal() }
}

@Suite("Asynchronous reads of contexts that follow the store") @MainActor
struct FollowedReadTests {
  private let store: Store
  private let writer: ObjectContext
  private let stored: Song

  init() throws {
    store = try anyStore()
    writer = ObjectContext(store, isLive: false)
    stored = try writer.insert(Song("Gin"))
    try writer.save()
  }

  private func rename(_ title: String) throws {
    stored.title = title
    try writer.save()
  }

  private func wait(until condition: () -> Bool) async throws {
    // Limited by attempts: on a busy machine, minutes may pass between two of them.
    for _ in 0..<40_000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test("A read whose result can be older than a followed commit is repeated")
  func repeated() async throws {
    let context = ObjectContext(store)
    let table = context.table(Song.self)
    let documents = table.documents
    let id = try #require(stored.objectID).rowID
    let gate = ReadGate()
    let read = Task { @MainActor in
      try await context.read(table) {
        let document = try documents.get(rowID: id)
        gate.pass()
        return document
      }
    }
    // Also if the test fails before.
    defer { gate.open() }
    try await wait { gate.reads == 1 }

    try rename("Tonic")
    // Following waits a second for the read.
    try await wait { table.followedCommits > 0 }
    gate.open()

    let document = try await read.value
    #expect(document?["title"] == "Tonic")
    #expect(gate.reads == 2)
  }
}
