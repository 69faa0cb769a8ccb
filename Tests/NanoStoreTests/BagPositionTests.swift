// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Positions in bags")
struct BagPositionTests {
  let scratch: Scratch
  let store: Store
  let people: DocumentCollection
  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    people = store["people"]
  }

  /// Adds members at one position, as other programs may.
  private func insertMembers(_ keys: [String], at position: Int64, in bag: Bag) throws {
    let row = try #require(try store.findBags(.key(.equalTo, bag.key)).rowIDs().first)
    try store.engine().write(nil) { writer in
      for key in keys {
        let body = """
          {"bag":\(row),"position":\(position),"collection":"people","key":"\(key)"}
          """
        try Array(body.utf8).withUnsafeBytes { body in
          _ = try writer.insert(
            NewDocument(key: nil, added: 0, body: body),
            into: InternalCollection.bagMembers.rawValue)
        }
      }
    }
  }

  @Test(
    "Members to which another program gave the same position are all read, once",
    arguments: [-3, 0, 9] as [Int64])
  func equalPositions(position: Int64) async throws {
    let bag = try store.savedBag("team")
    let keys = (0..<600).map { "k\($0)" }
    try await people.insert(keys.map { try Document(["n": 1], key: $0) })
    try insertMembers(keys, at: position, in: bag)

    #expect(try bag.keys == keys)
    #expect(try await bag.find(Field("n") == 1).keys() == keys)
    #expect(try await bag.copy().keys == keys)
    var streamed: [String] = []
    for try await document in bag.stream() { streamed.append(document.key ?? "") }
    #expect(streamed == keys)
    try await bag.remove(key: "k1")
    let rest = ["k0"] + keys.dropFirst(2)
    #expect(try bag.keys == rest)
    try bag.add(Document(["n": 2], key: "last"), in: "people")
    try await bag.save()
    #expect(try bag.keys == rest + ["last"])
  }

  @Test("A member that is added again before the bag is saved keeps its position")
  func addedAgain() throws {
    let bag = Bag(name: "team", in: store)
    for (key, n) in [("a", 1), ("b", 2), ("a", 3)] {
      try bag.add(Document(["n": .int(Int64(n))], key: key), in: "people")
    }
    #expect(try bag.keys == ["a", "b"])
    try bag.save()
    #expect(try bag.keys == ["a", "b"])
    #expect(try people.get("a")?["n"] == 3)

    try bag.add(Document(["n": 4], key: "c"), in: "people")
    try bag.remove(key: "c")
    try bag.add(Document(["n": 5], key: "d"), in: "people")
    try bag.add(Document(["n": 4], key: "c"), in: "people")
    #expect(try bag.keys == ["a", "b", "d", "c"])
  }

  @Test("A save cannot add members after the largest position, and leaves them unsaved")
  func largestPosition() throws {
    let bag = try store.savedBag("team", "a")
    try people.save(["n": 1], key: "z")
    try insertMembers(["z"], at: .max, in: bag)
    try bag.add(Document(["n": 1], key: "b"), in: "people")

    let error = error { try bag.save() }

    #expect(error?.code == .corruptDocument)
    #expect(error?[.collection] == "nano_bag_members" && error?[.rowID] == "2")
    #expect(try bag.unsaved.keys() == ["b"])
    #expect(try people.get("b") == nil)
    try bag.remove(key: "z")
    try bag.save()
    #expect(try bag.keys == ["a", "b"])
  }
}
