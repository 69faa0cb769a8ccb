// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Idempotent batches")
struct ApplyTests {
  let store: Store
  var accounts: DocumentCollection { store["accounts"] }

  init() throws { store = try anyStore() }

  @Test("A batch applies its writes in order and returns the revisions")
  func writes() throws {
    let first = try accounts.apply([
      .insert(["n": 1], key: "a"), .insert(["n": 2], key: "b"), .save(["n": 3], key: "c"),
    ])
    #expect(first.writes.map(\.revision) == [1, 1, 1])
    #expect(!first.wasApplied)

    let second = try accounts.apply([
      .replace(["n": 10], key: "a", revision: 1), .save(["n": 30], key: "c"), .delete(key: "b"),
      .delete(key: "none"), .insert(["n": 4]),
    ])
    #expect(second.writes.map(\.revision) == [2, 2, nil, nil, 1])
    #expect(second.writes[2].rowID == first.writes[1].rowID)
    #expect(second.writes[3].rowID == nil)
    #expect(try accounts.find().sorted(by: "n").fetch().map { $0["n"] } == [4, 10, 30])
  }

  @Test("New documents of a batch are in the order of its writes")
  func order() throws {
    try accounts.save(["n": 0], key: "known")
    let keys = ["c", "a", "d", "b"]

    let writes = try accounts.apply(
      keys.map { .insert(["n": 1], key: $0) } + [.save(["n": 1], key: "e")]
    ).writes

    let rowIDs = writes.compactMap(\.rowID)
    #expect(rowIDs.count == 5 && rowIDs == rowIDs.sorted())
    #expect(try accounts.find("[n] = 1").keys() == keys + ["e"])
  }

  @Test("A batch with a known operation ID is not applied again and returns the first outcome")
  func idempotent() throws {
    let id = UUID()
    let writes: [DocumentWrite] = [.insert(["n": 1]), .save(["n": 2], key: "k")]
    let first = try accounts.apply(writes, operation: id)
    let again = try accounts.apply(writes, operation: id)

    #expect(again.wasApplied)
    #expect(again.writes == first.writes)
    #expect(again.operation == id)
    #expect(try accounts.count() == 2)
    #expect(try accounts.get("k")?.revision == 1)
    #expect(try store.deleteOperationIDs(before: Date(timeIntervalSinceNow: 60)) == 1)
    #expect(try !accounts.apply([.insert(["n": 3])], operation: id).wasApplied)
    #expect(try store.collections().map(\.name) == ["accounts"])
  }

  @Test("A stale revision rejects the whole batch, and its operation ID stays unused")
  func conflict() throws {
    try accounts.save(["n": 1], key: "a")
    try accounts.save(["n": 2], key: "a")
    let id = UUID()
    let cases: [[DocumentWrite]] = [
      [.save(["n": 9], key: "b"), .replace(["n": 9], key: "a", revision: 1)],
      [.save(["n": 9], key: "b"), .delete(key: "a", revision: 1)],
    ]
    for writes in cases {
      let error = #expect(throws: StoreError.self) { try accounts.apply(writes, operation: id) }
      #expect(error?.code == .revisionConflict)
      #expect(error?[.actual] == "2")
      #expect(error?[.position] == "write 2 of the batch")
      #expect(try accounts.count() == 1)
    }
    let missing = #expect(throws: StoreError.self) {
      try accounts.apply([.replace([:], key: "none", revision: 1)])
    }
    #expect(missing?.code == .notFound)
    #expect(try !accounts.apply([.delete(key: "a", revision: 2)], operation: id).wasApplied)
    #expect(try accounts.count() == 0)
  }

  @Test("An error contains the position of the rejected write among writes of the same kind")
  func positions() throws {
    try accounts.createIndex("n", unique: true)
    try accounts.insert(["n": 1], key: "x")
    let cases: [(writes: [DocumentWrite], position: Int)] = [
      ([.insert(["n": 2], key: "a"), .insert(["n": 3]), .insert(["n": 4], key: "x")], 3),
      ([.delete(key: "none"), .insert(["n": 2]), .insert(["n": 1]), .insert(["n": 3])], 3),
      ([.save(["n": 2], key: "a"), .save(["n": 3], key: "b"), .save(["n": 1], key: "c")], 3),
      ([.save(["n": 2], key: "a"), .save(["n": 3], key: "")], 2),
      (
        [
          .insert(["n": 2]), .insert(["n": 3]), .save(["n": 4], key: "a"),
          .save(["n": 1], key: "b"),
        ], 4
      ),
    ]
    for (writes, position) in cases {
      let error = #expect(throws: StoreError.self) { try accounts.apply(writes) }
      #expect(error?[.position] == "write \(position) of the batch")
      #expect(try accounts.count() == 1)
    }
  }

  @Test("An existing key is reported at its position in a batch without unique indexes")
  func positionOfKey() throws {
    try accounts.insert(["n": 1], key: "x")
    let error = #expect(throws: StoreError.self) {
      try accounts.apply([
        .insert(["n": 2], key: "a"), .insert(["n": 3], key: "b"), .insert(["n": 4], key: "x"),
      ])
    }
    #expect(error?.code == .duplicateKey)
    #expect(error?[.position] == "write 3 of the batch")
    #expect(try accounts.count() == 1)
  }

  @Test("A batch in a transaction commits or rolls back with the transaction")
  func inTransaction() throws {
    struct Undo: Error {}
    let id = UUID()
    try? store.write {
      try accounts.apply([.insert(["n": 1])], operation: id)
      throw Undo()
    }
    #expect(try accounts.count() == 0)
    let outcome = try store.write { try accounts.apply([.insert(["n": 1])], operation: id) }
    #expect(!outcome.wasApplied)
    #expect(try accounts.count() == 1)
  }

  @Test("Compare-and-set from concurrent tasks loses no increment")
  func increments() async throws {
    let accounts = accounts
    try await accounts.save(["n": 0], key: "counter")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var done = 0
          while done < 10 {
            guard let current = try? await accounts.get("counter"),
              let revision = current.revision, let number = current["n"]?.int64
            else { continue }
            let write = DocumentWrite.replace(
              ["n": .int(number + 1)], key: "counter", revision: revision)
            if (try? await accounts.apply([write])) != nil { done += 1 }
          }
        }
      }
    }
    let counter = try await accounts.get("counter")
    #expect(counter?["n"] == 40)
    #expect(counter?.revision == 41)
  }

  @Test("Applied operation IDs survive reopening the file", .sqlite)
  func reopened() throws {
    let scratch = try Scratch()
    let id = UUID()
    let before = try Store.file(scratch.file("a.db"))
    let outcome = try before["accounts"].apply([.insert(["n": 1])], operation: id)
    try before.close()

    let store = try Store.file(scratch.file("a.db"))
    let again = try store["accounts"].apply([.insert(["n": 1])], operation: id)
    #expect(again.wasApplied)
    #expect(again.writes == outcome.writes)
    #expect(try store["accounts"].count() == 1)
    #expect(try store.verify().isEmpty)
  }
}
