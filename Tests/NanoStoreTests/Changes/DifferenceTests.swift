// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Differences of live queries", .timeLimit(.minutes(10)))
struct DifferenceTests {
  @Test("A difference lists insertions, removals, moves, and changes")
  func kinds() async throws {
    let people = try anyStore()["people"]
    try await people.insert((1...5).map { ["n": .int($0)] })
    var updates = people.find().sorted(by: "n").updates().differences().makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(first.difference.inserted == [0, 1, 2, 3, 4])
    #expect(first.documents.count == 5)

    try await people.store.write {
      try people.find(Field("n") == 2).delete()
      try people.find(Field("n") == 1).update(set: ["n": 9])
      try people.find(Field("n") == 4).update(set: ["x": 1])
      try people.insert(["n": 0])
    }

    let difference = try #require(try await updates.next()?.difference)
    #expect(difference.removed == [1])
    #expect(difference.inserted == [0])
    #expect(difference.moved.map { [$0.from, $0.to] } == [[0, 4]])
    #expect(difference.changed.map { [$0.from, $0.to] } == [[3, 2], [0, 4]])
  }

  @Test("Applying a difference to the old list yields the new list", arguments: 0..<8)
  func property(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let store = try anyStore()
    let things = store["things"]
    var updates = things.find(Field("n") < 60).sorted(by: "n").limit(12).updates().differences()
      .makeAsyncIterator()
    var list: [String] = []
    for _ in 0..<40 {
      try change(things, &random)
      let update = try #require(try await updates.next())
      let new = try summaries(update.documents)
      checkConvention(update.difference, list, new)
      update.difference.apply(to: &list, new)
      #expect(list == new)
      #expect(
        new == (try await summaries(things.find(Field("n") < 60).sorted(by: "n").limit(12).fetch()))
      )
    }
  }

  private func change(_ things: DocumentCollection, _ random: inout SplitMix) throws {
    try things.store.write {
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let key = "k\(Int.random(in: 0..<20, using: &random))"
        if Int.random(in: 0..<4, using: &random) == 0 {
          try things.delete(key)
        } else {
          try things.save(["n": .int(.random(in: 0..<100, using: &random))], key: key)
        }
      }
      // Guarantees a changed result, so that a next element follows.
      let x = DocumentValue.int(.random(in: 0..<1_000_000_000, using: &random))
      try things.save(["n": -1, "x": x], key: "always")
    }
  }

  /// Applies a difference step by step, the way a table view does.
  private func checkConvention(_ difference: DocumentDifference, _ old: [String], _ new: [String]) {
    var list = old
    for position in (difference.removed + difference.moved.map(\.from)).sorted(by: >) {
      list.remove(at: position)
    }
    let arriving =
      difference.inserted.map { ($0, new[$0]) } + difference.moved.map { ($0.to, old[$0.from]) }
    for (position, text) in arriving.sorted(by: { $0.0 < $1.0 }) {
      list.insert(text, at: position)
    }
    for step in difference.changed { list[step.to] = new[step.to] }
    #expect(list == new)
  }
}
