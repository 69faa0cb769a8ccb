// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTestSupport
import Testing

@Suite("A store that was made before it was encrypted")
struct MixedStoreTests {
  let file: SealedFile

  init() throws {
    file = try SealedFile()
    let store = try Store.file(file.path)
    try store["people"].insert((0..<600).map { ["n": .int($0), "name": "SecretName"] })
    try store["people"].setDefaults(["active": true])
    try store.setMetadata("SecretValue", "entry")
    let bag = try store.bag(named: "SecretBag")
    try bag.add(try #require(store["people"].fetch().first))
    try bag.save()
    try store.close()
  }

  @Test("It is read as it was, and sealed as documents are written")
  func readAndWritten() throws {
    // Indexes of the store's own became blind ones at once.
    let store = try file.open()
    try store["people"].find(Field("n") == 6).update(set: ["n": 1_000])
    #expect(try store["people"].find(Field("n") >= 0).count() == 600)
    #expect(try store["people"].find(Field("n") == 1_000 && Field("active") == true).count() == 1)
    #expect(try store["people"].observedPaths().map(\.path) == ["n", "name"])
    #expect(try store.metadata("entry") == "SecretValue")
    #expect(try store.bag(named: "SecretBag").count() == 1)
    #expect(try store.verify() == [])
    try store.close()
    #expect(try file.body(7).hasPrefix(#"{"$sealed""#))
    #expect(try file.body(8).hasPrefix(#"{"n":7"#))
  }

  @Test("Everything is sealed at once, and then a document that is not is found")
  func sealAll() throws {
    let store = try file.open()
    var told: [Double] = []
    try store.sealAll { told.append($0) }
    #expect(told == told.sorted() && told.last == 1)
    try store.compact()
    try store.close()
    for (name, bytes) in try file.bytes() {
      for text in ["SecretName", "SecretValue", "SecretBag"] {
        #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) stands in \(name)")
      }
    }
    let again = try file.open()
    #expect(try again["people"].find(Field("name") == "SecretName").count() == 600)
    #expect(try again["people"].find(Field("active") == true).count() == 600)
    #expect(try again.metadata("entry") == "SecretValue")
    #expect(try again.bag(named: "SecretBag").count() == 1)
    try again.close()
    try file.sql("INSERT INTO people(body) VALUES ('{}')")
    #expect(code { _ = try file.open()["people"].fetch() } == .corruptDocument)
  }

  @Test("Sealing that ended before it was done goes on")
  func restart() throws {
    struct Stop: Error {}
    let store = try file.open()
    #expect(throws: Stop.self) { try store.sealAll { _ in throw Stop() } }
    #expect(try store["people"].find(Field("name") == "SecretName").count() == 600)
    try store.close()
    let again = try file.open()
    try again.sealAll()
    try again.close()
    #expect(try file.sql("SELECT id FROM people WHERE body NOT LIKE '{\"$sealed\"%'").isEmpty)
  }

  @Test(
    "An index that is not to be blind, or a text index, is refused, and the file stays as it is")
  func refusedIndexes() throws {
    let plain = try Store.file(file.path)
    try plain["people"].createIndex("n", unique: true)
    try plain.close()
    let before = try file.bytes()
    let refused = error { _ = try file.open() }
    #expect(refused?.code == .unsupported && refused?[.index] == "n_unique")
    #expect(try file.bytes() == before)

    let again = try Store.file(file.path)
    try again["people"].createTextIndex("name")
    try again.close()
    #expect(code { _ = try file.open(.test(indexes: .blind)) } == .unsupported)
    #expect(try Store.file(file.path)["people"].count() == 600)
  }

  @Test("What indexed everything ends, and leaves nothing behind")
  func everything() throws {
    let plain = try Store.file(file.path)
    try plain["people"].setIndexing(.everything)
    try plain.close()
    let store = try file.open()
    #expect(try store["people"].indexing() == .declared)
    try store.sealAll()
    try store.compact()
    #expect(try store["people"].find(Field("name") == "SecretName").count() == 600)
    try store.close()
    for (name, bytes) in try file.bytes() {
      #expect(bytes.range(of: Data("SecretName".utf8)) == nil, "in \(name)")
    }
  }

  @Test("An index that is to be blind stays unique")
  func blindIndexes() throws {
    let plain = try Store.file(file.path)
    try plain["people"].createIndex("n", unique: true)
    try plain.close()
    let store = try file.open(.test(indexes: .blind))
    #expect(try store["people"].indexes().map(\.name) == ["n_unique"])
    #expect(try store["people"].find(Field("n") == 5).explain().indexes == ["n_unique"])
    #expect(try store["people"].find(Field("n") == 5).count() == 1)
    let refused = error { try store["people"].insert(["n": 5]) }
    #expect(refused?.code == .uniqueViolation && refused?[.index] == "n_unique")
    #expect(try store.verify() == [])
  }

  @Test("More collections are sealed when they are asked for")
  func wider() throws {
    let some = try file.open(.test(sealing: .only(["films"])))
    try some["films"].save(["title": "Brazil"], key: "brazil")
    #expect(try some["people"].count() == 600)
    try some.close()
    let all = try file.open()
    #expect(try all["films"].get("brazil")?["title"] == "Brazil")
    #expect(try all["people"].find(Field("n") == 3).count() == 1)
    #expect(try all.metadata("entry") == "SecretValue")
    try all.sealAll()
    try all.close()
    #expect(try file.body(3).hasPrefix(#"{"$sealed""#))
  }
}
