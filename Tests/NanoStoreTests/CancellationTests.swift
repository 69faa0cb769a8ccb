// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Async calls: order, group commit, and cancellation", .timeLimit(.minutes(10)))
struct CancellationTests {
  /// A statement that would run for hours.
  static let endless = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
    SELECT count(*) FROM n AS a, n AS b, n AS c WHERE a.i + b.i + c.i = 0
    """

  static let locations = [true, false]

  private func store(inFile: Bool, _ scratch: Scratch) async throws -> Store {
    let store = try inFile ? Store.file(scratch.file("a.db")) : Store(.memory)
    try await store["a"].insert((0..<500).map { ["n": .int($0)] })
    return store
  }

  @Test(
    "A canceled query stops with CancellationError, and the store stays usable",
    arguments: locations)
  func query(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let task = Task { try await store.sql(Self.endless, SQLArguments()) }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store["a"].count() == 500)
  }

  @Test("A task canceled before its call never runs it", arguments: locations)
  func before(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      _ = try await store["a"].deleteAll()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store["a"].count() == 500)
  }

  @Test(
    "A canceled waiting write returns immediately, even while another write runs",
    arguments: locations)
  func waiting(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let gate = DispatchSemaphore(value: 0)
    let (hasStarted, start) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      try await store.write {
        start.yield()
        gate.wait()
      }
    }
    // A stream rather than a sleep: the block must run before the second write waits.
    for await _ in hasStarted { break }
    let waiting = Task { _ = try await store["a"].deleteAll() }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    // Returns although the first task still occupies the store.
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.signal()
    try await running.value
    #expect(try await store["a"].count() == 500)
  }

  @Test(
    "A write queued together with the block that now runs can be canceled", arguments: locations)
  func queuedTogether(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (isRunning, start) = AsyncStream<Void>.makeStream()
    let before = Task { try await store.write { first.wait() } }
    try await Task.sleep(for: .milliseconds(50))
    let running = Task {
      try await store.write {
        start.finish()
        second.wait()
      }
    }
    try await Task.sleep(for: .milliseconds(50))
    let waiting = Task { _ = try await store["a"].deleteAll() }
    try await Task.sleep(for: .milliseconds(50))
    first.signal()
    for await _ in isRunning {}
    waiting.cancel()
    let result = await waiting.result
    second.signal()
    try await before.value
    try await running.value
    // On a busy machine, it may have been queued before the block.
    if case .failure(let error) = result {
      #expect(error is CancellationError)
      #expect(try await store["a"].count() == 500)
    }
  }

  @Test("Canceled writes that share a transaction do not wait for another store's lock", .sqlite)
  func sharedLockWait() async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: true, scratch)
    let other = try Store.file(scratch.file("a.db"))
    let (isLocked, lock) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let locking = Task {
      try await other.write {
        lock.finish()
        gate.wait()
      }
    }
    for await _ in isLocked {}
    let tasks = (0..<3).map { _ in Task { _ = try await store["a"].deleteAll() } }
    try await Task.sleep(for: .milliseconds(50))
    // The first one waits alone, and the others together once it has ended.
    for task in tasks {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      try await Task.sleep(for: .milliseconds(20))
    }
    gate.signal()
    try await locking.value
    #expect(try await store["a"].count() == 500)
  }

  @Test(
    "Canceling a call that waits for the connection does not stop other calls", arguments: locations
  )
  func otherCalls(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let writing = Task {
      try await store.write {
        for number in 0..<300 as Range<Int64> {
          try store["a"].insert([
            "n": .int(number), "text": .string(.init(repeating: "x", count: 999)),
          ])
          _ = try store["a"].find(Field("text").contains("y")).count()
        }
      }
    }
    for _ in 0..<40 {
      let reading = Task { try await store["a"].find(Field("n").contains("z")).count() }
      await Task.yield()
      reading.cancel()
      _ = await reading.result
    }
    try await writing.value
    #expect(try await store["a"].count() == 800)
  }

  @Test("A canceled write transaction is rolled back completely", arguments: locations)
  func writeBlock(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let task = Task {
      try await store.write {
        for number in 0... as PartialRangeFrom<Int64> { try store["a"].insert(["n": .int(number)]) }
      }
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store["a"].count() == 500)
    #expect(try await store.verify().isEmpty)
  }

  @Test("A canceled stream ends its query", arguments: locations)
  func stream(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    let task = Task { () -> Int in
      var count = 0
      for try await _ in store["a"].find().stream() {
        count += 1
        if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return count
    }
    _ = await task.result
    // Closing would wait for a query that is still running.
    try store.close()
  }

  @Test("Writes of one task run in order", arguments: locations)
  func order(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<6 {
        group.addTask {
          let failure = await asyncCode {
            for number in 0..<40 as Range<Int64> {
              _ = try await store["b"].save(["n": .int(number)], key: "k\(task)")
              #expect(try await store["b"].get("k\(task)")?["n"] == .int(number))
            }
          }
          #expect(failure == nil)
        }
      }
    }
    #expect(try await store["b"].find(Field("n") == 39).count() == 6)
    #expect(try await store["b"].find(Field("n") < 39).count() == 0)
  }

  @Test("Concurrent readers see consistent states while writers commit", arguments: locations)
  func readersAndWriters(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try await store(inFile: inFile, scratch)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let failure = await asyncCode {
            for _ in 0..<20 { _ = try await store["a"].insert([["n": 1], ["n": -1]]) }
          }
          #expect(failure == nil)
        }
      }
      for _ in 0..<30 {
        group.addTask {
          let failure = await asyncCode {
            let (count, total) = try await store.read {
              (try store["a"].count(), try store["a"].find(Field("n").exists).count())
            }
            #expect(count == total && count % 2 == 0)
          }
          #expect(failure == nil)
        }
      }
    }
    #expect(try await store["a"].count() == 660)
  }

  @Test("A write that fails in a group commit does not affect the others")
  func groupCommit() async throws {
    let store = try anyStore()
    try await store["a"].createIndex("n", unique: true)
    try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
      for index in 0..<120 {
        group.addTask {
          do {
            try await store.write {
              try store["a"].insert(["n": .int(Int64(index / 2))])
              if index % 10 == 0 { throw CancellationError() }
            }
            return (index, true)
          } catch {
            return (index, false)
          }
        }
      }
      var done: [Int] = []
      for try await (index, isDone) in group where isDone { done.append(index) }
      // Of each two writes with the same number, one succeeded; those that threw did not.
      #expect(Set(done.map { $0 / 2 }) == Set(0..<60))
      #expect(done.count == 60)
      #expect(done.allSatisfy { $0 % 10 != 0 })
    }
    #expect(try await store["a"].count() == 60)
  }
}
