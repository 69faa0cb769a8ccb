// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

extension Worker {
  /// Transfers an amount between accounts. Some transfers fail halfway.
  mutating func transfer() async throws -> Bool {
    let from = "a\(random.number(0...(SharedFile.accounts - 1)))"
    let to = "a\(random.number(0...(SharedFile.accounts - 1)))"
    let amount = Int64(random.number(1...50))
    let fails = random.oneIn(6)
    let store = random.pick(pool.stores)
    return try await attempt(on: store) { worker in
      try await worker.write(store) { () throws -> Void in
        for (key, change) in [(from, -amount), (to, amount)] {
          guard let account = try store["accounts"].get(key) else {
            throw StressTestFailure("account \(key) is gone")
          }
          try store["accounts"].update(
            key,
            set: [
              "balance": .int((account["balance"]?.int64 ?? 0) + change),
              "moves": .int((account["moves"]?.int64 ?? 0) + 1),
            ])
          if fails { throw Undo() }
        }
      }
    } != nil
  }

  mutating func audit() async throws -> Bool {
    let store = random.pick(pool.stores)
    return try await attempt(on: store) { worker in
      try await worker.either(plain: { try SharedFile.audit(store) }) { () async throws -> Void in
        // A single call also reads a snapshot.
        let documents = try await store["accounts"].fetch()
        let sum = documents.reduce(0) { $0 + ($1["balance"]?.int ?? 0) }
        try require(
          sum == Int64(SharedFile.accounts) * SharedFile.balance,
          "a single call read balances of \(sum)")
      }
    } != nil
  }

  /// Claims a slot that must be free, or frees one.
  mutating func claim() async throws -> Bool {
    let slot = Int64(random.number(1...SharedFile.slots))
    let frees = random.oneIn(2)
    let store = random.pick(pool.stores)
    return try await attempt(on: store) { (worker) async throws -> Void in
      if frees {
        try await store["slots"].find(Field("slot") == slot).delete()
        return
      }
      do {
        _ = try await worker.write(store) { try store["slots"].insert(["slot": .int(slot)]) }
      } catch let error as StoreError where error.code == .uniqueViolation {}
    } != nil
  }

  /// Inserts documents together, and usually deletes them together.
  mutating func writeBatch() async throws -> Bool {
    let batch = next()
    let objects = (0..<SharedFile.batchSize).map { number -> DocumentObject in
      ["batch": .string(batch), "n": .int(Int64(number))]
    }
    let goes = !random.oneIn(10)
    let store = random.pick(pool.stores)
    let isDone =
      try await attempt(on: store) { worker in
        _ = try await worker.either(
          plain: { try store["batches"].insert(objects) },
          { try await store["batches"].insert(objects) })
      } != nil
    var isThere = isDone
    if isDone, goes {
      let removed = try await attempt(on: store) { _ in
        try await store["batches"].find(Field("batch") == batch).delete()
      }
      if let removed {
        try require(removed == SharedFile.batchSize, "\(removed) documents of a batch were deleted")
        isThere = false
      }
    }
    pool.log.add(.promise(kind: "batch", key: batch, isThere: isThere))
    return isDone
  }

  /// Checks that a note is found by its text once it is written.
  mutating func writeNote() async throws -> Bool {
    let key = "n" + next()
    let word = "word" + key.replacing(".", with: "x")
    let (first, second) = (random.pick(pool.stores), random.pick(pool.stores))
    let written: Void? = try await attempt(on: first) { worker in
      _ = try await worker.write(first) {
        try first["notes"].save(["body": .string("a note on \(word)")], key: key)
      }
    }
    pool.log.add(.promise(kind: "note", key: key, isThere: written != nil))
    guard written != nil else { return false }
    let found = try await attempt(on: second) { _ in
      try await second["notes"].search(word, in: "words").keys()
    }
    if let found { try require(found == [key], "a search finds \(found), not \(key)") }
    return true
  }

  /// Adds a document to a bag that all tasks of the process save.
  mutating func saveBag() async throws -> Bool {
    let key = "b" + next()
    let store = pool.stores[0]
    let bag = pool.bag
    let saved: Void? = try await attempt(on: store) { worker in
      let document = try await store["things"].save(["n": 1], key: key)
      try bag.add(document)
      try await worker.either(plain: { try bag.save() }) { try await bag.save() }
    }
    // A different task may have saved the document of a rejected call.
    guard saved != nil else { return false }
    pool.log.add(.promise(kind: "bag", key: key, isThere: true))
    let isThere = try await attempt(on: store) { _ in try await bag.contains(key: key) }
    if let isThere { try require(isThere, "a bag does not have \(key), which was saved") }
    return true
  }
}

extension Worker {
  /// Performs ``attempt(canceled:_:)`` with the specified store.
  mutating func attempt<Result: Sendable>(
    on store: Store, _ work: (inout Worker) async throws -> Result
  ) async throws -> Result? {
    var worker = self
    defer { random = worker.random }
    let result = try await attempt { _ in try await work(&worker) }
    return result
  }
}
