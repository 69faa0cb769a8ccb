// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@Suite("Observation lifetime", .timeLimit(.minutes(10)))
struct ObservationLifetimeTests {
  private let counts = SpyEngine.Counts()
  private func store() throws -> Store {
    let counts = counts
    return try Store(opening: { SpyEngine(counts) })
  }

  @Test("Canceling the task ends the loop and releases its resources")
  func canceling() async throws {
    weak var store: Store?
    do {
      let opened = try self.store()
      store = opened
      let updates = UpdateRecorder(opened["a"].find().updates())
      let feed = UpdateRecorder(opened.changes)
      try await updates.wait { $0.values.count == 1 }
      try await eventually("an observer") { counts.observerCount == 1 }
      updates.cancel()
      await updates.finish()
      #expect(updates.error is CancellationError)
      #expect(counts.observerCount == 1)
      feed.cancel()
      await feed.finish()
      #expect(feed.error is CancellationError)
    }
    try await eventually("no observer left") { counts.observerCount == 0 }
    try await eventually("the store is deallocated") { store == nil }
  }

  @Test("A canceled loop delivers nothing that is buffered")
  func cancelingBuffered() async throws {
    let store = try store()
    let people = store["people"]
    let delivered = Task {
      let changes = store.changes.makeAsyncIterator()
      let documents = people.find().stream().makeAsyncIterator()
      for number in 0..<10 as Range<Int64> { try await people.insert(["n": .int(number)]) }
      #expect(try await documents.next() != nil)
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = changes
      await #expect(throws: CancellationError.self) { _ = try await iterator.next() }
      await #expect(throws: CancellationError.self) { _ = try await documents.next() }
    }
    try await delivered.value
  }

  @Test("Leaving the loop ends the observation")
  func leaving() async throws {
    let store = try store()
    try await store["a"].insert([:])
    for try await documents in store["a"].find().updates() {
      #expect(documents.count == 1)
      #expect(counts.observerCount == 1)
      break
    }
    #expect(counts.observerCount == 0)
    do {
      let iterator = store.changes.makeAsyncIterator()
      #expect(counts.observerCount == 1)
      _ = iterator
    }
    #expect(counts.observerCount == 0)
  }

  @Test("Observers that begin while a server cannot be reached share one attempt to connect")
  func unreachable() async throws {
    // The threads may begin late on a busy machine, so the attempt lasts longer each time.
    for milliseconds in [50, 500, 5000] {
      let store = try store()
      let attempts = Mutex(0)
      counts.beforeObserving.withLock {
        $0 = {
          attempts.withLock { $0 += 1 }
          Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
          throw StoreError(.connectionLost, "The server cannot be reached")
        }
      }
      await onThreads(5) { _ in _ = store.changes.makeAsyncIterator() }
      if attempts.withLock(\.self) > 1, milliseconds < 5000 { continue }

      #expect(attempts.withLock(\.self) == 1)
      // A later observer makes an attempt of its own.
      counts.beforeObserving.withLock { $0 = nil }
      let iterator = store.changes.makeAsyncIterator()
      #expect(counts.observerCount == 1)
      _ = iterator
      return
    }
  }

  @Test("A sequence that is not iterated observes nothing")
  func unused() async throws {
    let store = try store()
    let updates = store["a"].find().updates()
    let iterator = updates.makeAsyncIterator()
    #expect(counts.observerCount == 0)
    _ = iterator
  }

  @Test("Closing the store ends every loop without an error")
  func closing() async throws {
    let store = try anyStore()
    let updates = UpdateRecorder(store["a"].find().updates())
    let differences = UpdateRecorder(store["a"].find().updates().differences())
    let count = UpdateRecorder(store["a"].find().countUpdates())
    let feed = UpdateRecorder(store.changes)
    let changes = UpdateRecorder(store["a"].changes())
    try await updates.wait { $0.values.count == 1 }
    try await count.wait { $0.values.count == 1 }
    try await differences.wait { $0.values.count == 1 }
    // The feeds are running once they have reported a commit.
    for number in 0... as PartialRangeFrom<Int64>
    where changes.values.isEmpty || feed.values.isEmpty {
      try await store["a"].insert(["n": .int(number)])
      try await Task.sleep(for: .milliseconds(5))
      if !changes.values.isEmpty, !feed.values.isEmpty { break }
    }

    try store.close()

    await updates.finish()
    await differences.finish()
    await count.finish()
    await feed.finish()
    await changes.finish()
    #expect(updates.error == nil && differences.error == nil && count.error == nil)
    #expect(feed.error == nil && changes.error == nil)
  }

  @Test("A loop on a closed store fails, and a loop on a reopened store works")
  func closed() async throws {
    let store = try store()
    let first = UpdateRecorder(store["a"].find().countUpdates())
    try await first.wait { $0.values == [0] }
    try store.close()
    await first.finish()
    #expect(counts.observerCount == 0)

    #expect(await asyncCode { for try await _ in store["a"].find().updates() {} } == .closed)
    #expect(await asyncCode { for try await _ in store.changes {} } == .closed)

    try store.reopen()
    let second = UpdateRecorder(store["a"].find().countUpdates())
    try await second.wait { $0.values == [0] }
    try await store["a"].insert([:])
    try await second.wait { $0.values == [0, 1] }
    #expect(first.values == [0])
  }

  @Test("Commits in other collections cause no reads, nor do inserts that cannot match")
  func idle() async throws {
    let store = try store()
    let updates = UpdateRecorder(store["a"].find(Field("n") == 1).updates())
    try await updates.wait { $0.values.count == 1 }
    let before = counts.readCount
    for _ in 0..<10 { try await store["b"].insert(["n": 1]) }
    try await store["a"].insert(["n": 1])
    try await updates.wait { $0.values.count == 2 }
    // One read of the document, one of the query.
    #expect(counts.readCount == before + 2)
  }

  @Test("A handler on a queue is called until its observation is canceled or released")
  func handler() async throws {
    let store = try store()
    let queue = DispatchQueue(label: "test")
    let received = Received()
    let observation = store["a"].find().countUpdates().observe(on: queue) { received.add($0) }
    try await eventually("the first call") { received.values == [0] }
    try await store["a"].insert([:])
    try await eventually("the second call") { received.values == [0, 1] }
    queue.sync { observation.cancel() }
    try await store["a"].insert([:])
    try await eventually("no observer left") { counts.observerCount == 0 }
    #expect(received.values == [0, 1])

    do {
      let released = store["a"].find().countUpdates().observe(on: queue) { received.add($0) }
      try await eventually("the first call") { received.values == [0, 1, 2] }
      _ = released
    }
    try await eventually("no observer left") { counts.observerCount == 0 }
  }

  @Test("Updates do not accumulate while a handler runs, and an error is its last call")
  func slowHandler() async throws {
    struct Person: Codable, Sendable { var name: String }
    let store = try store()
    let queue = DispatchQueue(label: "test")
    let received = Received()
    let observation = store["a"].find().countUpdates().observe(on: queue) { received.add($0) }
    try await eventually("the first call") { received.values == [0] }
    // Every call waits for this block.
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    for _ in 0..<100 { try await store["a"].insert([:]) }
    gate.signal()
    try await eventually("the last call") { received.values.last == 100 }
    #expect(received.values.count <= 4)
    observation.cancel()

    let failing = store["a"].find().updates(as: Person.self).observe(on: queue) {
      received.add($0.map(\.count))
    }
    try await eventually("the error") { received.errors == 1 }
    _ = failing
  }

  @Test("Canceling a loop stops the query that it runs")
  func interrupting() async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    try await store["a"].insert((0..<20_000).map { ["n": .int($0)] })
    for _ in 0..<10 {
      let recorder = UpdateRecorder(store["a"].find(Field("n").contains("x")).updates())
      await Task.yield()
      recorder.cancel()
      await recorder.finish()
    }
    // Closing would wait for a query that is still running.
    try store.close()
  }

  private final class Received: Sendable {
    private let state = Mutex<(values: [Int], errors: Int)>(([], 0))
    var values: [Int] { state.withLock { $0.values } }
    var errors: Int { state.withLock { $0.errors } }
    func add(_ result: Result<Int, any Error>) {
      state.withLock { state in
        switch result {
        case .success(let value): state.values.append(value)
        case .failure: state.errors += 1
        }
      }
    }
  }
}
