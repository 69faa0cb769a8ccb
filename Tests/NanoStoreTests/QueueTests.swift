// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

/// Records events in order.
private final class Journal: Sendable {
  private let entries = Mutex<[String]>([])
  func note(_ entry: String) { entries.withLock { $0.append(entry) } }
  var all: [String] { entries.withLock { $0 } }
}

/// Runs synchronous calls in asynchronous code.
private func synchronously(_ work: () throws -> Void) rethrows { try work() }

/// Blocks a queued call until opened.
private final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  func pass() { semaphore.wait() }
}

@Suite("Queued calls on a collection")
struct QueueTests {
  private let store: Store
  private var people: DocumentCollection { store["people"] }
  init() throws { store = try anyStore() }

  @Test("Queued calls run in order, and later calls wait for them")
  func order() throws {
    for number in 0..<50 { people.enqueue { try $0.insert(["n": .int(Int64(number))]) } }
    #expect(try people.count() == 50)
    #expect(try people.fetch().map { $0["n"]?.int } == (0..<50).map { $0 })
  }

  @Test("Calls of the whole store wait for queued calls")
  func wholeStore() async throws {
    let gate = Gate()
    people.enqueue {
      gate.pass()
      try $0.insert(["n": 1])
    }
    async let statistics = store.statistics()
    gate.open()
    #expect(try await statistics.collections.map(\.documents) == [1])
    people.enqueue { try $0.insert(["n": 2]) }
    #expect(try store.blocking { try store.statistics() }.collections.map(\.documents) == [2])
  }

  @Test("An async call waits for queued calls without blocking a thread of the cooperative pool")
  func asynchronous() async throws {
    let gate = Gate()
    people.enqueue {
      gate.pass()
      try $0.insert(["n": 1])
    }
    // More tasks than threads: if they blocked threads, the task that opens the gate could not run.
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<64 { group.addTask { try await people.count() } }
      group.addTask {
        gate.open()
        return 1
      }
      for try await count in group { #expect(count == 1) }
    }
  }

  @Test("Async calls proceed while synchronous calls block every thread of the cooperative pool")
  func mixedOnAllThreads() async throws {
    let (gate, journal, people) = (Gate(), Journal(), people)
    people.enqueue { _ in gate.pass() }
    let threads = ProcessInfo.processInfo.activeProcessorCount
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await people.count() } }
      for _ in 0..<2 * threads {
        group.addTask {
          journal.note("begun")
          try synchronously { _ = try people.count() }
        }
      }
      // Opened from a thread outside the cooperative pool.
      DispatchQueue(label: "opener").async {
        while journal.all.count < threads { Thread.sleep(forTimeInterval: 0.001) }
        gate.open()
      }
      try await group.waitForAll()
    }
  }

  @Test("A call queued after an awaited call runs after it")
  func callAfterAwait() async throws {
    let (gate, journal) = (Gate(), Journal())
    people.enqueue { _ in
      gate.pass()
      journal.note("queued")
    }
    let reader = Task {
      _ = try await people.find().each { _ in }
      journal.note("awaited")
    }
    gate.open()
    try await reader.value
    people.enqueue { _ in journal.note("later") }
    try await people.finishQueued()
    #expect(journal.all == ["queued", "awaited", "later"])
  }

  @Test("Collections do not wait for each other")
  func parallel() throws {
    let gate = Gate()
    store["slow"].enqueue { _ in gate.pass() }
    people.enqueue { try $0.insert(["n": 1]) }
    #expect(try people.count() == 1)
    #expect(!store["SLOW"].finishQueued(within: .milliseconds(1)))
    #expect(!store.finishQueued(within: .milliseconds(1)))
    #expect(store.finishQueued(["people", "never seen"], within: .milliseconds(1)))
    gate.open()
    #expect(store.finishQueued())
  }

  @Test("Waiting supports timeouts and cancellation, and the queue continues")
  func waiting() async throws {
    let gate = Gate()
    let call = people.enqueue { _ in
      gate.pass()
      return 7
    }
    #expect(try await !people.finishQueued(within: .milliseconds(1)))
    let waiting = Task { try await people.finishQueued() }
    let counting = Task { try await people.count() }
    waiting.cancel()
    counting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await #expect(throws: CancellationError.self) { try await counting.value }
    #expect(!call.isFinished)
    gate.open()
    #expect(try await call.value == 7)
    let again = try call.wait()
    #expect(again == 7)
    #expect(try await people.finishQueued())
  }

  @Test(
    "Calls inside a queued call run immediately, including those on other collections and in transactions"
  )
  func inside() throws {
    let store = store
    let call = people.enqueue { people in
      store["other"].enqueue { try $0.insert(["from": "inside"]) }
      try people.insert(["n": 1])
      try store.write {
        try people.insert(["n": 2])
        try store["other"].insert(["from": "block"])
      }
      #expect(people.finishQueued())
      for document in try people.fetch() { try people.delete(document) }
      return try people.count()
    }
    #expect(try call.wait() == 0)
    #expect(try store["other"].count() == 2)
  }

  @Test("Queued calls that wait for each other's collections do not wait forever")
  func waitingForEachOther() throws {
    let store = store
    let both = Gate()
    let first = store["a"].enqueue { _ in
      both.pass()
      return store.finishQueued()
    }
    let second = store["b"].enqueue { _ in store.finishQueued() }
    both.open()
    // The one that comes second does not wait.
    let results = try [first.wait(), second.wait()]
    #expect(results.contains(true) && results.contains(false))
    #expect(store.finishQueued())
  }

  @Test("Waiting in a block for calls that may need its lock returns at once")
  func waitingInBlock() throws {
    let people = people
    let isFinished = try store.write {
      people.enqueue { try $0.insert(["n": 1]) }
      return people.finishQueued()
    }
    #expect(!isFinished)
    #expect(people.finishQueued())
    #expect(try people.count() == 1)
  }

  @Test("A call cannot be waited for in a block whose lock it may need")
  func waitingForCallInBlock() throws {
    let people = people
    let call = try store.write {
      let call = people.enqueue { try $0.insert(["n": 1]) }
      #expect(code { _ = try call.wait() } == .invalidArgument)
      return call
    }
    #expect(try call.wait().rowID == 1)
    #expect(try store.write { try call.wait().rowID } == 1)
  }

  @Test("Of two queued calls that wait for calls behind each other, one fails")
  func waitingForCallsBehindEachOther() throws {
    let store = store
    let both = Gate()
    let first = store["a"].enqueue { _ in
      both.pass()
      let next = store["b"].enqueue { _ in 1 }
      return code { _ = try next.wait() }
    }
    let second = store["b"].enqueue { _ in
      let next = store["a"].enqueue { _ in 1 }
      return code { _ = try next.wait() }
    }
    both.open()
    let results = try [first.wait(), second.wait()]
    #expect(results.contains(.invalidArgument))
    #expect(store.finishQueued())
  }

  @Test("A queued call cannot wait for a later one")
  func waitingForLaterCall() throws {
    let people = people
    let call = people.enqueue { _ in
      let next = people.enqueue { _ in 1 }
      return code { _ = try next.wait() }
    }
    #expect(try call.wait() == .invalidArgument)
    people.finishQueued()
  }

  @Test("An error fails only its own call, and the next one runs")
  func failure() async throws {
    let first = people.enqueue { try $0.insert(["n": 1], key: "k") }
    let second = people.enqueue { try $0.insert(["n": 2], key: "k") }
    let third = people.enqueue { try $0.count() }
    #expect(try first.wait().key == "k")
    #expect(code { _ = try second.wait() } == .duplicateKey)
    #expect(await asyncCode { _ = try await second.value } == .duplicateKey)
    #expect(try third.wait() == 1)
  }

  @Test("A canceled waiting call never runs, and a canceled running call is rolled back")
  func canceling() throws {
    let (gate, started) = (Gate(), Gate())
    let running = people.enqueue { people in
      started.open()
      gate.pass()
      try people.insert(["n": 1])
    }
    let waiting = people.enqueue { _ in Issue.record("A canceled call ran") }
    started.pass()
    waiting.cancel()
    #expect(waiting.isFinished)
    #expect(throws: CancellationError.self) { try waiting.wait() }
    running.cancel()
    gate.open()
    #expect(throws: CancellationError.self) { try running.wait() }
    #expect(try people.count() == 0)
    running.cancel()
  }

  @Test("An inline completion runs before the next call and can use the store")
  func inLine() throws {
    let (journal, people) = (Journal(), people)
    people.enqueue(completingOn: .inLine) {
      try $0.insert(["n": 1])
    } completion: { result in
      journal.note(
        "completed \((try? result.get())?["n"]?.int ?? 0) of \((try? people.count()) ?? 0)")
    }
    people.enqueue { _ in journal.note("next") }
    #expect(people.finishQueued())
    #expect(journal.all == ["completed 1 of 1", "next"])
  }

  @Test("A completion runs on the specified queue, executor, or closure")
  func completionTargets() async throws {
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "mine")
    queue.setSpecific(key: key, value: "mine")
    DispatchQueue.main.setSpecific(key: key, value: "main")
    let people = people
    func label(of target: CompletionTarget) async -> String? {
      await withCheckedContinuation { continuation in
        people.enqueue(completingOn: target) { _ in
        } completion: { _ in
          continuation.resume(returning: DispatchQueue.getSpecific(key: key))
        }
      }
    }
    #expect(await label(of: .queue(queue)) == "mine")
    #expect(await label(of: .queue(.main)) == "main")
    #expect(await label(of: .calling { completion in queue.async(execute: completion) }) == "mine")
    #expect(await label(of: .executor(globalConcurrentExecutor)) == nil)
    #expect(await label(of: .automatic) == nil)
    let onMain = await Task { @MainActor in
      await withCheckedContinuation { continuation in
        people.enqueue { _ in
        } completion: { _ in
          continuation.resume(returning: DispatchQueue.getSpecific(key: key))
        }
      }
    }.value
    #expect(onMain == "main")
  }

  @Test("Closing waits for queued calls, and later calls fail with .closed")
  func closing() throws {
    let folder = try Scratch()
    let store = try Store.file(folder.file("a"))
    let people = store["people"]
    for number in 0..<20 as Range<Int64> { people.enqueue { try $0.insert(["n": .int(number)]) } }
    for number in 0..<20 as Range<Int64> {
      store["b"].enqueue { try $0.insert(["n": .int(number)]) }
    }
    try store.close()
    let late = people.enqueue { try $0.count() }
    #expect(code { _ = try late.wait() } == .closed)
    try store.reopen()
    #expect(try people.count() == 20)
    #expect(try store["b"].count() == 20)
  }

  @Test("A queued call can close the store")
  func closingInside() throws {
    let store = store
    let call = people.enqueue { people in
      store["other"].enqueue { _ in }
      try store.close()
      return code { _ = try people.count() }
    }
    #expect(try call.wait() == .closed)
    #expect(store.finishQueued())
    #expect(store.isClosed)
  }

  @Test("An unreferenced store stays alive until its queued calls finish")
  func release() throws {
    let folder = try Scratch()
    var store: Store? = try Store.file(folder.file("a"))
    let call = store!["people"].enqueue { try $0.insert(["n": 1]).rowID }
    store = nil
    #expect(try call.wait() == 1)
  }

  @Test("A full disk fails queued writes without losing stored documents")
  func full() throws {
    let failing = FailingEngine(ReferenceEngine())
    let store = try Store(opening: { failing })
    let people = store["people"]
    try people.insert(["n": 0])
    failing.fail(at: 2, StoreError(.full, "No space is left for the database"))
    let calls = (1...3).map { number in
      people.enqueue { try $0.insert(["n": .int(Int64(number))]) }
    }
    #expect(code { _ = try calls[0].wait() } == .full)
    failing.succeed()
    people.finishQueued()
    #expect(try people.fetch().first?["n"] == 0)
    let isFinished = calls.map { $0.isFinished }
    #expect(isFinished == [true, true, true])
  }

  @Test("All kinds of calls keep their order across tasks and threads")
  func mixed() async throws {
    let (journal, people, store) = (Journal(), people, store)
    for round in 0..<20 {
      people.enqueue { _ in journal.note("\(round) a") }
      try synchronously {
        try people.insert(["n": 1])
        journal.note("\(round) b")
      }
      people.enqueue { _ in journal.note("\(round) c") }
      try await people.insert(["n": 2])
      journal.note("\(round) d")
      people.enqueue { _ in journal.note("\(round) e") }
      try await store.write { journal.note("\(round) f") }
      people.enqueue { _ in journal.note("\(round) g") }
      try synchronously { try store.read { journal.note("\(round) h") } }
      people.enqueue { _ in journal.note("\(round) i") }
      for try await _ in people.find().limit(1).stream() {}
    }
    try await people.finishQueued()
    #expect(journal.all == (0..<20).flatMap { round in "abcdefghi".map { "\(round) \($0)" } })
    #expect(try await people.count() == 40)
  }
}
