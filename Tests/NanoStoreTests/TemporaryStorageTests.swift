// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Temporary storage", .sqlite)
struct TemporaryStorageTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  /// Opens a store with 10 kB strings; a few thousand groups of them exceed the memory limit.
  private func store(_ storage: SQLiteConfiguration.TemporaryStorage) throws -> Store {
    let store = try Store.file(scratch.file("\(storage).db")) { $0.temporaryStorage = storage }
    let padding = String(repeating: "long ", count: 2_000)
    try store["a"].insert(
      (0..<5_000).map { (number: Int) in
        [
          "g": .string("\(number * 7_919 % 2_500) \(padding)"), "n": .int(Int64(number)),
          "x": .double(Double(number) / 3),
        ]
      })
    return store
  }

  @Test("Groups, distinct values, and orderings are the same in files and in memory")
  func same() throws {
    let (files, memory) = (try store(.file), try store(.memory))
    let aggregates: [Aggregate] = [
      .count, .sum(FieldPath("n")), .average(FieldPath("x")), .max(FieldPath("n")),
    ]
    let groups = try memory["a"].find().grouped(by: "g", aggregates: aggregates)
    #expect(groups.count == 2_500)
    #expect(try files["a"].find().grouped(by: "g", aggregates: aggregates) == groups)
    #expect(try files["a"].find().distinct("g") == memory["a"].find().distinct("g"))
    let order = try memory["a"].find().sorted(by: "g").select(["n"]).fetch().map(\.rowID)
    #expect(
      try files["a"].find().sorted(by: "g").select(["n"]).fetch().map(\.rowID) == order)
  }

  @Test("No file is left in the temporary folder or beside the store")
  func leftovers() throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
    try store(.file).using { store in
      #expect(try store["a"].find().grouped(by: "g", aggregates: [.count]).count == 2_500)
      try store.compact()
    }
    let after = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
    #expect(Set(after).subtracting(before).allSatisfy { !$0.hasPrefix("etilqs") })
    #expect(try scratch.names == ["file.db"])
  }

  @Test("A condition with too many value combinations throws with collection and row ID")
  func budget() throws {
    let store = try anyStore()
    let list = DocumentValue.array((0..<100).map { .int($0) })
    try store["a"].insert(["n": 1])
    let id = try store["a"].insert(["l": list]).rowID
    for work in [
      { _ = try store["a"].find("[l]+[l]+[l]+[l]+[l] = -1").count() },
      { _ = try store["a"].find("TRUE ORDER BY [l]*[l]*[l]*[l]").fetch() },
      { _ = try store["a"].find("[l]+[l]+[l]+[l]+[l] = -1").delete() },
    ] {
      let failure = error(#_sourceLocation, work)
      #expect(failure?.code == .tooComplex)
      #expect(failure?[.rowID] == id.map { "\($0)" })
      #expect(failure?[.collection] == "a")
    }
    #expect(try store["a"].count() == 2)
  }

  @Test("Deletions by condition work with widely spaced row IDs")
  func farRowIDs() throws {
    let store = try anyStore()
    let ids: [Int64] = [1, 2, 999_999, 1_000_001, 5_000_000, 1 << 40, .max - 1]
    try store.engine().write(nil) { writer in
      for id in ids {
        try Array("{\"n\":\(id % 2)}".utf8).withUnsafeBytes { body in
          _ = try writer.insert(
            NewDocument(key: DocumentKey("k\(id)"), added: 0, rowID: id, body: body), into: "a")
        }
      }
    }
    #expect(try store["a"].find("[n] = 1").delete() == ids.count { $0 % 2 == 1 })
    #expect(try store["a"].deleteAll() == ids.count { $0 % 2 == 0 })
    #expect(try store["a"].count() == 0)
  }
}
