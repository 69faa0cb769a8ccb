// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Creating indexes concurrently", .timeLimit(.minutes(10)))
struct ConcurrentCreationTests {
  @Test("Documents that are written meanwhile are in the index", arguments: [true, false])
  func writers(elements: Bool) async throws {
    let store = try anyStore()
    let films = store["films"]
    func film(_ n: Int) throws -> Document { try Document(["tags": ["all", .string("\(n)")]]) }
    try await films.insert((0..<3_000).map(film))
    async let created = films.createIndex("tags", elements: elements, concurrently: true)
    for n in 3_000..<3_050 { try await films.insert(film(n)) }
    try await films.find("[tags] = ?", "7").update(set: ["tags": ["other"]])
    try await films.find("[tags] = ?", "8").delete()
    let index = try await created
    #expect(try await films.indexes() == [index])
    #expect(index.kind == (elements ? .elements : .fields))
    #expect(try await films.find("[tags] = ?", "all").count() == 3_048)
    #expect(try await films.find("[tags] = ?", "3049").count() == 1)
    #expect(try await store.verify().isEmpty)
  }

  @Test("After a canceled call, the next one completes the index")
  func canceled() async throws {
    let store = try anyStore()
    let films = store["films"]
    try await films.insert((0..<5_000).map { try Document(["tags": ["\($0)"]]) })
    for _ in 0..<5 {
      let task = Task { try await films.createIndex("tags", concurrently: true) }
      try await Task.sleep(for: .milliseconds(2))
      task.cancel()
      _ = await task.result
    }
    try await films.createIndex("tags", concurrently: true)
    #expect(try await films.indexes().count == 1)
    #expect(try await films.find("[tags] = ?", "4999").count() == 1)
    #expect(try await store.verify().isEmpty)
  }

  @Test("A document with the lowest row ID is in the index", .sqlite)
  func lowestRowID() throws {
    let store = try anyStore()
    let films = store["films"]
    try films.insert(["tags": ["x"]])
    try store.execute(
      #"INSERT INTO films(id, body) VALUES (-9223372036854775808, '{"tags":["x"]}')"#)
    // Adopts the row.
    try films.insert(["tags": ["y"]])

    try films.createIndex("tags", elements: true, concurrently: true)
    #expect(try films.find("[tags] = ?", "x").count() == 2)
    #expect(try store.verify().isEmpty)
  }

  @Test("It is not possible in a write block")
  func block() throws {
    let store = try anyStore()
    #expect {
      try store.write { _ = try store["films"].createIndex("year", concurrently: true) }
    } throws: {
      ($0 as? StoreError)?.code == .invalidArgument
    }
    #expect(try store["films"].indexes().isEmpty)
  }
}
