// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting
import NanoTestSupport
import Testing

@Suite("Live queries after random writes", .sqlite, .timeLimit(.minutes(10)))
struct UpdatesPropertyTests {
  private struct Undo: Error {}

  /// Performs a few random writes, some of them rolled back, some through SQL.
  private static func write(to store: Store, _ random: inout SplitMix) throws {
    let things = store[Bool.random(using: &random) ? "things" : "others"]
    func change() throws {
      let key = "k\(Int.random(in: 0..<30, using: &random))"
      let n = DocumentValue.int(.random(in: 0..<50, using: &random))
      switch Int.random(in: 0..<12, using: &random) {
      case 0...5: try things.save(["n": n, "tags": [n, "x"]], key: key)
      case 6: _ = try things.update(key, set: ["n": n])
      case 7: try things.delete(key)
      case 8: try things.find(Field("n") == n).delete()
      case 9: try things.insert([["n": n], ["n": 7]])
      case 10 where Int.random(in: 0..<10, using: &random) == 0: _ = try things.drop()
      default:
        try things.save(["n": n], key: "sql")
        try store.write {
          _ = try store.sql("DELETE FROM \(things.name) WHERE key = ?", "sql")
        }
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try? change()
    case 1:
      try? store.write {
        try change()
        throw Undo()
      }
    default:
      try store.write {
        try? change()
        try? store.write {
          try change()
          throw Undo()
        }
        try? store.write { try change() }
      }
    }
  }

  private static func queries(_ store: Store) -> [DocumentQuery] {
    let things = store["things"]
    return [
      things.find(), things.find(Field("n") > 25).sorted(by: "-n"),
      things.find(Field("tags") == 7), things.find().sorted(by: "n").limit(5),
      things.find().sorted(by: "n").limit(5, offset: 5), things.find(Field("n") > 100),
      store["others"].find(Field("n") < 10),
    ]
  }

  @Test("The last element equals the query's result", arguments: [true, false], 0..<4)
  func oneStore(inFile: Bool, seed: UInt64) async throws {
    let scratch = try Scratch()
    let store = try Store(inFile ? .file(scratch.file("a.db")) : .memory)
    try await check(store, writers: [store], rounds: 150, seed)
  }

  @Test(
    "The last element equals the query's result with a second store on the file", arguments: 0..<3)
  func twoStores(seed: UInt64) async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let other = try Store(.file(scratch.file("a.db")))
    try await check(store, writers: [store, other], rounds: 80, seed)
  }

  @Test("The last element equals the query's result on the reference engine", arguments: 0..<3)
  func reference(seed: UInt64) async throws {
    let store = try Store(opening: { ReferenceEngine() })
    // The reference engine does not support SQL; such writes are rolled back.
    try await check(store, writers: [store], rounds: 100, seed)
  }

  @Test("The last element equals the query's result after writes by another process")
  func process() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let store = try Store(.file(path))
    let recorder = UpdateRecorder(store["things"].find(Field("n") > 4).sorted(by: "n").updates())
    let count = UpdateRecorder(store["things"].find().countUpdates())
    let process = try HelperProcess()
    try process.send("open", path)
    for number in 0..<60 {
      try process.send("save", "things", "k\(number % 20)", #"{"n":\#(number % 9)}"#)
      if number % 5 == 0 { try await store["things"].insert(["n": .int(Int64(number))]) }
      if number % 7 == 0 { try process.send("remove", "things", "k\(number % 20)") }
    }
    let found = try await summaries(store["things"].find(Field("n") > 4).sorted(by: "n").fetch())
    let number = try await store["things"].count()
    try await recorder.wait { try $0.values.last.map(summaries) == found }
    try await count.wait { $0.values.last == number }
  }

  private func check(
    _ store: Store, writers: [Store], rounds: Int, _ seed: UInt64
  ) async throws {
    let queries = Self.queries(store)
    let lists = queries.map { UpdateRecorder($0.updates()) }
    let slow = queries.map { query in
      UpdateRecorder(query.updates()) { try? await Task.sleep(for: .milliseconds(20)) }
    }
    let differences = queries.map { UpdateRecorder($0.updates().differences()) }
    let counts = queries.map { UpdateRecorder($0.countUpdates()) }
    let sums = queries.map { UpdateRecorder($0.aggregateUpdates([.sum("n")])) }

    // One task per writer; the writes of each task run in order.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, writer) in writers.enumerated() {
        group.addTask {
          var random = SplitMix(seed: seed * 10 + UInt64(number))
          for round in 0..<rounds {
            try Self.write(to: writer, &random)
            if round % 16 == 0 { await Task.yield() }
          }
        }
      }
      try await group.waitForAll()
    }

    for (number, query) in queries.enumerated() {
      let found = try await summaries(query.fetch())
      try await lists[number].wait { try $0.values.last.map(summaries) == found }
      try await slow[number].wait { try $0.values.last.map(summaries) == found }
      try await differences[number].wait {
        try $0.values.last.map { try summaries($0.documents) } == found
      }
      let count = try await query.count()
      try await counts[number].wait { $0.values.last == count }
      let sum = try await query.aggregate([.sum("n")])
      try await sums[number].wait { $0.values.last == sum }

      var list: [String] = []
      for update in differences[number].values {
        update.difference.apply(to: &list, try summaries(update.documents))
        #expect(list == (try summaries(update.documents)))
      }
      // Consecutive elements are different.
      for (before, after) in zip(counts[number].values, counts[number].values.dropFirst()) {
        #expect(before != after)
      }
    }
  }
}
