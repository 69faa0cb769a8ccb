// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import Testing

@Suite("Bags used from several tasks")
struct BagConcurrencyTests {
  let scratch: Scratch
  let store: Store
  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
  }

  @Test("A bag that concurrent tasks change and save contains every member once")
  func oneBag() async throws {
    let bag = try await store.bag(named: "team")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for n in 0..<25 {
            try bag.add(Document(["n": 1], key: "t\(task)-\(n)"), in: "people")
            try bag.add(Document(["n": 1], key: "shared\(n)"), in: "people")
            if n % 5 == task % 5 { try await bag.save() }
            if n == 13 { bag.name = "task \(task)" }
            _ = try await bag.count()
          }
          try await bag.save()
        }
      }
      try await group.waitForAll()
    }
    #expect(!bag.hasUnsavedChanges)
    #expect(try await bag.count() == 225)
    #expect(try await store.bags().count == 1)
    #expect(try await store["people"].count() == 225)
    #expect(try await Set(bag.contents.keys()).count == 225)
    #expect(try await store.bags(named: bag.name ?? "").count == 1)
    #expect(try await store.verify().isEmpty)
  }

  @Test(
    "A bag saved in another transaction stays unsaved here until the commit",
    arguments: [true, false])
  func uncommitted(fails: Bool) async throws {
    let bag = try await store.bag(named: "team")
    try bag.add(Document(["n": 1], key: "k"), in: "people")
    let (saved, checked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = DispatchSemaphore(value: 0)
    let store = store
    let other = Thread {
      try? store.write {
        try bag.save()
        #expect(!bag.hasUnsavedChanges)
        saved.signal()
        checked.wait()
        if fails { throw Undo() }
      }
      ended.signal()
    }
    other.start()

    let outcome = await onThread {
      saved.wait()
      let isUnsaved = bag.hasUnsavedChanges
      let has = (try? bag.contains(key: "k")) ?? false
      checked.signal()
      #expect(throws: Never.self) { try bag.save() }
      // On a server, the second save can continue before the first reports its commit.
      ended.wait()
      return (isUnsaved, has)
    }

    #expect(outcome == (true, true))
    #expect(!bag.hasUnsavedChanges)
    #expect(try await store.bag(named: "team").contents.keys() == ["k"])
    #expect(try await store.verify() == [])
  }

  @Test(
    "Members that another transaction is saving can be removed",
    arguments: [(true, true), (true, false), (false, true), (false, false)])
  func removingUncommitted(commits: Bool, all: Bool) async throws {
    let bag = try await store.bag(named: "team")
    try bag.add(Document(["n": 1], key: "ada"), in: "people")

    let isRemoved = await during(commits: commits) {
      try bag.save()
    } run: {
      all ? (try? bag.removeAll()) != nil : (try? bag.remove(key: "ada")) == true
    }

    #expect(isRemoved)
    #expect(try await bag.count() == 0)
    #expect(try await bag.removed.keys() == ["ada"])
    try await bag.save()
    #expect(try await store.bag(named: "team").count() == 0)
  }

  @Test(
    "Reading a bag during another transaction's save keeps its changes", arguments: [true, false])
  func readingDuringSave(commits: Bool) async throws {
    let bag = try await store.bag(named: "team")
    for key in ["ada", "bob"] { try bag.add(Document(["n": 1], key: key), in: "people") }
    try await bag.save()

    let isRead = await during(commits: commits) {
      bag.name = "crew"
      try bag.add(Document(["n": 2], key: "ada"), in: "people")
      try bag.save()
    } run: {
      (try? bag.reload()) != nil && (try? bag.inflate()) != nil
    }

    #expect(isRead)
    #expect(bag.name == "crew" && bag.hasUnsavedChanges == !commits)
    bag.undo()
    #expect(bag.name == (commits ? "crew" : "team"))
    #expect(try await bag.document("ada")?["n"] == (commits ? 2 : 1))
    #expect(try await bag.document("bob")?["n"] == 1)
  }

  @Test(
    "A bag that another transaction deletes has its members until the commit",
    arguments: [true, false])
  func changingDuringDeletion(commits: Bool) async throws {
    let bag = try await store.bag(named: "team")
    try bag.add(Document(["n": 1], key: "ada"), in: "people")
    try await bag.save()

    let outcome = await during(commits: commits) {
      try bag.delete()
    } run: {
      ((try? bag.count()) ?? -1, (try? bag.remove(key: "ada")) == true)
    }

    #expect(outcome == (1, true))
    #expect(try await bag.count() == 0)
    #expect(try await store.bags().count == (commits ? 0 : 1))
    try await bag.save()
    #expect(try await store.bag(named: "team").count() == 0)
    #expect(try await store.bags().count == 1)
  }

  @Test("Members that another call saves during a removal are removed", arguments: [true, false])
  func removingDuringSave(all: Bool) throws {
    let engine = SpyEngine()
    let store = try Store(opening: { engine })
    let bag = Bag(in: store)
    try bag.add(Document(["n": 1], key: "ada"), in: "people")

    engine.beforeNextRead { try? bag.save() }
    if all { try bag.removeAll() } else { #expect(try bag.remove(key: "ada", in: "people")) }

    #expect(try bag.count() == 0)
    #expect(try bag.removed.keys() == ["ada"])
    try bag.save()
    #expect(try store.bags().map { try $0.count() } == [0])
  }

  private struct Undo: Error {}

  /// Runs a closure while another thread is in a transaction that has made a change, and returns after the end of the
  /// transaction.
  private func during<Result: Sendable>(
    commits: Bool, _ change: @escaping @Sendable () throws -> Void,
    run work: @escaping @Sendable () -> Result
  ) async -> Result {
    let (changed, checked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = DispatchSemaphore(value: 0)
    let store = store
    Thread {
      try? store.write {
        try change()
        changed.signal()
        checked.wait()
        if !commits { throw Undo() }
      }
      ended.signal()
    }.start()
    return await onThread {
      changed.wait()
      let result = work()
      checked.signal()
      ended.wait()
      return result
    }
  }

  private func onThread<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: work()) }.start()
    }
  }

  @Test("Bags that another task adds to a nested bag during a save are saved by a later one")
  func addingDuringSave() async throws {
    let (root, inner) = (Bag(name: "root", in: store), Bag(in: store))
    try root.add(inner)
    try await root.save()

    let adding = Task {
      for _ in 0..<300 {
        try inner.add(Bag())
        await Task.yield()
      }
    }
    for _ in 0..<20 { try await root.save() }
    try await adding.value
    try await root.save()

    #expect(!inner.hasUnsavedChanges)
    #expect(try await inner.count() == 300)
    #expect(try await store.bags().count == 302)
  }

  @Test("Several handles of one bag, and bags that contain each other, can be saved concurrently")
  func manyBags() async throws {
    let bags = (0..<6).map { Bag(name: "b\($0)", in: store) }
    for (n, bag) in bags.enumerated() { try bag.add(bags[(n + 1) % 6]) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (n, bag) in bags.enumerated() {
        let store = store
        group.addTask {
          try bag.add(Document([:], key: "own\(n)"), in: "people")
          try await bag.save()
          let handle = try #require(try await store.bag(key: bag.key))
          try handle.add(Document([:], key: "other\(n)"), in: "people")
          try await handle.save()
          try await store["people"].delete("own\(n)")
        }
      }
      try await group.waitForAll()
    }
    for (n, bag) in bags.enumerated() {
      #expect(!bag.hasUnsavedChanges)
      #expect(try await Set(bag.contents.keys()) == [bags[(n + 1) % 6].key, "other\(n)"])
    }
    #expect(try await store.bags().count == 6)
    #expect(try await store.sql("SELECT * FROM nano_bag_members").count == 12)
  }

  @Test("Failed saves among concurrent ones leave their bags unsaved")
  func failures() async throws {
    try await store["people"].createIndex("n", unique: true)
    try await store["people"].save(["n": 0], key: "zero")
    let bags = (0..<20).map { Bag(name: "b\($0)", in: store) }
    let failed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for (n, bag) in bags.enumerated() {
        group.addTask {
          try bag.add(Document(["n": .int(n % 2 == 0 ? 0 : Int64(n))], key: "k\(n)"), in: "people")
          return await asyncCode { try await bag.save() } == .uniqueViolation
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failed == 10)
    for (n, bag) in bags.enumerated() {
      #expect(bag.hasUnsavedChanges == (n % 2 == 0))
      #expect(try await bag.unsaved.count() == (n % 2 == 0 ? 1 : 0))
    }
    #expect(try await store.bags().count == 10)
  }
}
