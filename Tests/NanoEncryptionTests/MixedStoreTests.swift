// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTestSupport
import Testing

@Suite("Encrypting an existing store")
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

  @Test("Existing documents stay readable and are sealed when they are written")
  func readAndWritten() throws {
    // Opening converts the indexes of internal collections to blind indexes.
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

  @Test("encryptAll encrypts every document, and a plain document is then rejected")
  func encryptAll() throws {
    let store = try file.open()
    var progress: [Double] = []
    try store.encryptAll { progress.append($0) }
    #expect(progress == progress.sorted() && progress.last == 1)
    try store.compact()
    try store.close()
    for (name, bytes) in try file.bytes() {
      for text in ["SecretName", "SecretValue", "SecretBag"] {
        #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) appears in \(name)")
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

  @Test(
    "A document of another program is readable once encrypted, whatever its class name is",
    arguments: ["CAST(x'FF41' AS TEXT)", "x'FF41'", "x'41'", "5", "'Film'"])
  func foreignClassName(type: String) throws {
    try file.sql("INSERT INTO people(type, body) VALUES (\(type), '{\"n\":-1}')")
    let store = try file.open()

    try store.encryptAll()

    #expect(try store["people"].find(Field("n") == -1).count() == 1)
  }

  @Test("A document whose key is not valid UTF-8 stays readable when it is updated")
  func foreignKey() throws {
    try file.sql(#"INSERT INTO people(key, body) VALUES (CAST(x'FF41' AS TEXT), '{"n":-1}')"#)
    let store = try file.open()
    let people = store["people"]
    try store.encryptAll()

    #expect(try people.find(Field("n") == -1).update(set: ["n": -2]) == 1)

    #expect(try people.find(Field("n") == -2).count() == 1)
    try store.rotateKeys()
    #expect(try people.find(Field("n") == -2).count() == 1)
  }

  @Test(
    "Settings and metadata that a program without the key wrote after encryptAll are encrypted by the next one"
  )
  func plainEntries() throws {
    let other = try Store.file(file.path)
    let store = try file.open()
    try store.encryptAll()
    try other["people"].setDefaults(["city": "Rome"])
    try other.setMetadata("plain", "n")
    try other.close()
    let people = store["people"]
    #expect(error { _ = try people.count() }?.code == .corruptFile)
    #expect(try store.metadata("n") == nil)

    try store.encryptAll()

    #expect(try people.defaults()["city"] == "Rome")
    #expect(try people.find(Field("city") == "Rome").count() == people.count())
    #expect(try store.metadata("n") == "plain")
    #expect(try file.sql("SELECT value FROM nano_metadata WHERE value LIKE '%plain%'").isEmpty)
    try store.rotateKeys()
    #expect(try store.metadata("n") == "plain")
  }

  @Test("A document of another program is encrypted in stored form")
  func foreignSpelling() throws {
    // Opening it for the first time adopts such documents.
    try file.open().close()
    try file.setBody(1, #"{"n\u0061me": "Eve",  "n":-1}"#)
    let store = try file.open()

    try store.encryptAll()

    let copy = try Store.file(file.scratch.file("copy.db"))
    try store.copy(to: copy)
    let rows = try copy.sql("SELECT body FROM people WHERE id = 1")
    #expect(rows.first?["body"]?.string == #"{"name":"Eve","n":-1}"#)
    try copy["people"].createIndex("name")
    #expect(try copy["people"].find(Field("name") == "Eve").count() == 1)
    #expect(try copy.verify() == [])
  }

  @Test(
    "A document of another program that has no stored form ends encryptAll, whose error names it",
    arguments: [#"{"n":1,"n":2}"#, #"{"n":"#])
  func noStoredForm(body: String) throws {
    try file.open().close()
    try file.sql("INSERT INTO people(key, body) VALUES ('eve', ?)", .string(body))
    let store = try file.open()

    let found = error { try store.encryptAll() }

    #expect(found?.code == .corruptDocument)
    #expect(found?[.collection] == "people" && found?[.rowID] == "601")
    #expect(try file.body(601) == body)
    #expect(try store["people"].delete("eve"))
    try store.encryptAll()
    #expect(try store["people"].find(Field("name") == "SecretName").count() == 600)
  }

  @Test("Documents are added to a collection in which a row has the largest row ID")
  func largestRowID() throws {
    try file.sql("INSERT INTO people(id, key, body) VALUES (9223372036854775807, 'max', '{}')")
    let store = try file.open()
    let people = store["people"]

    try people.insert(["n": 1_000])
    try people.save(["n": 1_001], key: "new")

    #expect(try people.find(Field("n") >= 1_000).count() == 2)
    #expect(try people.get("new")?["n"] == 1_001)
    #expect(try people.count() == 603)
  }

  @Test("An interrupted encryptAll resumes")
  func resume() throws {
    struct Stop: Error {}
    let store = try file.open()
    #expect(throws: Stop.self) { try store.encryptAll { _ in throw Stop() } }
    #expect(try store["people"].find(Field("name") == "SecretName").count() == 600)
    try store.close()
    let again = try file.open()
    try again.encryptAll()
    try again.close()
    #expect(try file.sql("SELECT id FROM people WHERE body NOT LIKE '{\"$sealed\"%'").isEmpty)
  }

  @Test(
    "Opening with an unpermitted index or a full-text index is an error, and the file is unchanged")
  func refusedIndexes() throws {
    let plain = try Store.file(file.path)
    try plain["people"].createIndex("n", unique: true)
    try plain.close()
    let before = try file.bytes()
    let refused = error { _ = try file.open() }
    #expect(refused?.code == .unsupported && refused?[.index] == "n_unique")
    #expect(try file.bytes() == before)

    let again = try Store.file(file.path)
    try again["people"].createFullTextIndex("name")
    try again.close()
    #expect(code { _ = try file.open(.test(indexes: .blind)) } == .unsupported)
    #expect(try Store.file(file.path)["people"].count() == 600)
  }

  @Test("An index over everything is removed and leaves no plaintext behind")
  func everything() throws {
    let plain = try Store.file(file.path)
    try plain["people"].setIndexing(.everything)
    try plain.close()
    let store = try file.open()
    #expect(try store["people"].indexing() == .declared)
    try store.encryptAll()
    try store.compact()
    #expect(try store["people"].find(Field("name") == "SecretName").count() == 600)
    try store.close()
    for (name, bytes) in try file.bytes() {
      #expect(bytes.range(of: Data("SecretName".utf8)) == nil, "in \(name)")
    }
  }

  @Test("A unique index that is converted to a blind index stays unique")
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

  @Test("More collections are sealed if the configuration includes them")
  func moreCollections() throws {
    let some = try file.open(.test(encrypting: .only(["films"])))
    try some["films"].save(["title": "Brazil"], key: "brazil")
    #expect(try some["people"].count() == 600)
    try some.close()
    let all = try file.open()
    #expect(try all["films"].get("brazil")?["title"] == "Brazil")
    #expect(try all["people"].find(Field("n") == 3).count() == 1)
    #expect(try all.metadata("entry") == "SecretValue")
    try all.encryptAll()
    try all.close()
    #expect(try file.body(3).hasPrefix(#"{"$sealed""#))
  }

  @Test("A connection that began before more collections are sealed opens what others seal")
  func moreCollectionsElsewhere() throws {
    let some = try file.open(.test(encrypting: .only(["films"])))
    #expect(try some["people"].get(rowID: 7)?["n"] == 6)
    let all = try file.open()
    try all.encryptAll()

    #expect(try some["people"].get(rowID: 7)?["n"] == 6)
    #expect(try some["people"].find(Field("n") == 6).count() == 1)
    #expect(try some["people"].find(Field("active") == true).count() == 600)
    #expect(try some.metadata("entry") == "SecretValue")
    #expect(try some.bag(named: "SecretBag").count() == 1)
  }

  @Test("Documents of which another connection seals a few are read by their keys, each once")
  func keysElsewhere() throws {
    let some = try file.open(.test(encrypting: .only(["films"])))
    let keys = try some["people"].find().sorted(by: "n").keys()
    let all = try file.open()
    try all["people"].find(Field("n") >= 300).update(set: ["name": "x"])
    #expect(try file.body(1).hasPrefix(#"{"n""#))
    #expect(try file.body(600).hasPrefix(#"{"$sealed""#))

    let found = try some["people"].get(keys: keys)

    #expect(keys.count == 600 && found.compactMap { $0["n"]?.int } == Array(0..<600))
  }

  @Test("encryptAll seals collections that another connection adds while it runs")
  func addedMeanwhile() throws {
    let plain = try Store.file(file.path)
    try plain["films"].save(["title": "SecretFilm"], key: "a")
    try plain.close()
    let store = try file.open(.test(encrypting: .only(["people"])))
    var other: Store?

    try store.encryptAll { _ in
      if other == nil { other = try file.open(.test(encrypting: .only(["films"]))) }
    }

    #expect(try store["films"].get("a")?["title"] == "SecretFilm")
    #expect(try other?["films"].get("a")?["title"] == "SecretFilm")
    try other?.close()
    try store.close()
    #expect(try file.body(1, in: "films").hasPrefix(#"{"$sealed""#))
    #expect(try file.body(600).hasPrefix(#"{"$sealed""#))
  }

  /// Returns a file whose collection "people" is encrypted from the start, and whose collection "films" is not.
  private static func partlyEncrypted() throws -> SealedFile {
    let file = try SealedFile()
    try file.open(.test(encrypting: .only(["people"]))).using { store in
      try store["people"].save(["name": "Ada"], key: "ada")
      try store["films"].save(["title": "Brazil"], key: "brazil")
    }
    return file
  }

  @Test("After a collection without documents is added, injected documents are still rejected")
  func emptyCollectionAdded() throws {
    let file = try Self.partlyEncrypted()
    try file.open(.test(encrypting: .only(["people", "notes"]))).using { store in
      try store["notes"].save(["text": "a"], key: "a")
    }

    try file.sql("INSERT INTO people(key, body) VALUES ('eve', '{}')")

    let store = try file.open(.test(encrypting: .only(["people", "notes"])))
    #expect(code { _ = try store["people"].get("eve") } == .corruptDocument)
    #expect(code { try store.rotateKeys() } == .corruptDocument)
    #expect(try store["films"].get("brazil")?["title"] == "Brazil")
  }

  @Test(
    "After a collection with documents is added, they are readable and encryptAll encrypts them")
  func filledCollectionAdded() throws {
    let file = try Self.partlyEncrypted()
    let store = try file.open(.test(encrypting: .only(["people", "films"])))
    #expect(try store["films"].get("brazil")?["title"] == "Brazil")
    try store.encryptAll()
    try store.close()
    #expect(try file.body(1, in: "films").hasPrefix(#"{"$sealed""#))

    try file.sql("INSERT INTO people(key, body) VALUES ('eve', '{}')")

    let again = try file.open(.test(encrypting: .only(["people", "films"])))
    #expect(code { _ = try again["people"].get("eve") } == .corruptDocument)
  }
}
