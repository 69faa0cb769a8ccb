// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport
import Testing

@Model struct Member {
  @Indexed var name: String
  var tags: [String] = []
}

@Suite("Encrypted stores")
struct EncryptedStoreTests {
  let file: SealedFile
  init() throws { file = try SealedFile() }

  @Test("The file contains no plaintext values, field names, metadata or bag names")
  func plaintext() throws {
    let store = try file.open(.test(indexes: .blind))
    let people = store["people"]
    try people.createIndex("SecretField", unique: true)
    for number in 0..<50 as Range<Int64> {
      try people.insert([
        "SecretField": .string("SecretValue\(number)"), "SecretList": ["SecretElement"],
        "SecretObject": ["SecretInner": .int(8_675_309_123 + number)],
      ])
    }
    _ = try people.find(Field("SecretField") == "SecretValue7").fetch()
    try people.setDefaults(["SecretDefault": "SecretDefaultValue"])
    try store.setMetadata("SecretMetadata", "SecretEntry")
    let bag = try store.bag(named: "SecretBag")
    try bag.add(try #require(people.fetch().first))
    try bag.save()
    try people.find(Field("SecretField") == "SecretValue9").delete()

    func expectNothing() throws {
      for (name, bytes) in try file.bytes() {
        for text in ["Secret", "8675309", "correct horse"] {
          #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) appears in \(name)")
        }
      }
    }
    try expectNothing()
    try store.close()
    try expectNothing()
    let again = try file.open()
    #expect(try again["people"].find(Field("SecretField") == "SecretValue7").count() == 1)
    let bags = again.findBags(Field("name").hasPrefix("Secret")).sorted(by: "name")
    #expect(try bags.fetch().map { $0["name"] } == ["SecretBag"])
    #expect(try again.metadata("SecretEntry") == "SecretMetadata")
    #expect(try again.bag(named: "SecretBag").count() == 1)
    #expect(try again["people"].find(Field("SecretDefault") == "SecretDefaultValue").count() == 49)
  }

  @Test("Encrypted decimals are exact, and versions without decimals reject a file that has any")
  func decimals() throws {
    let store = try file.open(.test(indexes: .blind))
    let goods = store["goods"]
    func format() throws -> String? { try store.statistics().settings["user_version"] }
    func amount(_ text: String) -> Decimal { Decimal(string: text) ?? .nan }
    try goods.createIndex("price")
    try goods.insert(["price": 2, "n": 1])
    #expect(try format() == "1")
    for price in ["9.99", "0.1", "2.0", "1e20"] {
      try goods.insert(["price": .decimal(amount(price))])
    }
    #expect(try format() == "3")
    #expect(try goods.find(Field("price") == amount("9.990")).count() == 1)
    #expect(try goods.find(Field("price") == 2).count() == 2)
    #expect(try goods.find(Field("price") > amount("0.1")).count() == 4)
    #expect(try goods.find().sorted(by: "price").fetch().first?["price"] == .decimal(amount("0.1")))
    #expect(try goods.find(Field("price") < 100).sum("price") == .decimal(amount("14.09")))
    try store.close()
    #expect(try file.open()["goods"].find(Field("price") == amount("0.1")).count() == 1)
  }

  @Test(
    "A different passphrase, a different kind of key and a missing key are rejected, and the file is unchanged"
  )
  func wrongKey() throws {
    let store = try file.open()
    try store["people"].save(["name": "Ada"], key: "ada")
    try store.close()
    let before = try file.bytes()

    #expect(code { _ = try file.open(.test("incorrect horse")) } == .wrongKey)
    let key = SymmetricKey(size: .bits256)
    #expect(code { _ = try file.open(Encryption(.key(key))) } == .wrongKey)
    #expect(code { _ = try Store(.file(file.path)) } == .wrongKey)
    #expect(code { _ = try file.open(.test("")) } == .invalidArgument)

    #expect(try file.bytes() == before)
    #expect(try file.open()["people"].get("ada")?["name"] == "Ada")
  }

  @Test("A store with a raw 32-byte key opens only with that key")
  func rawKey() throws {
    let bytes = (0..<32).map { UInt8($0) }
    let store = try file.open(Encryption(.key(bytes)))
    try store["people"].save(["name": "Ada"], key: "ada")
    try store.close()

    #expect(code { _ = try file.open(Encryption(.key(Array(bytes.reversed())))) } == .wrongKey)
    #expect(code { _ = try file.open() } == .wrongKey)
    #expect(code { _ = try file.open(Encryption(.key([1, 2, 3]))) } == .invalidArgument)
    let key = SymmetricKey(data: bytes)
    #expect(try file.open(Encryption(.key(key)))["people"].get("ada")?["name"] == "Ada")
  }

  @Test("An invalid key or cost creates no file")
  func invalidKeyOfNewStore() throws {
    let path = file.scratch.file("new.db")
    let encryptions = [
      Encryption(.passphrase("")), Encryption(.key([1, 2, 3])),
      Encryption(.passphrase("p"), cost: ScryptCost(rounds: 3)),
    ]
    for encryption in encryptions {
      #expect(code { _ = try Store(.file(path), encryption: encryption) } == .invalidArgument)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("The definition of a blind index is checked as that of any other")
  func invalidIndexes() throws {
    let films = try Store(.memory, encryption: .test(indexes: .blind))["films"]
    for name in ["", "a\u{0}b", String(repeating: "x", count: 600)] {
      #expect(code { try films.createIndex("n", name: name) } == .invalidName)
    }
    #expect(code { try films.createIndex("n.0", elements: true) } == .unsupported)
    #expect(try films.indexes().isEmpty)
  }

  @Test("Passphrases are normalized, so that precomposed and decomposed accents are the same")
  func composition() throws {
    try file.open(.test("caf\u{E9}")).close()
    try file.open(.test("cafe\u{301}")).close()
  }

  @Test("The same document has a different ciphertext of the same length each time it is stored")
  func sameDocument() throws {
    let store = try file.open()
    for _ in 0..<20 { try store["people"].insert(["name": "Ada", "born": 1815]) }
    try store.close()
    let bodies = try (1...20).map { try file.body($0) }
    #expect(Set(bodies).count == 20)
    #expect(Set(bodies.map(\.utf8.count)).count == 1)
    #expect(bodies.allSatisfy { SealedFile.keyNumber($0) == 1 })
  }

  @Test("Descriptions and errors never contain a key")
  func descriptions() {
    let key = EncryptionKey.passphrase("correct horse")
    var dumped = ""
    dump(Encryption(key), to: &dumped)
    for text in ["\(key)", String(reflecting: key), "\(Encryption(key))", dumped] {
      #expect(!text.contains("horse"))
    }
    let wrong = error {
      try file.open().close()
      _ = try file.open(.test("another horse"))
    }
    #expect(wrong.map { !$0.debugDescription.contains("horse") } == true)
  }

  @Test(
    "Text queries, changes, the cache, transactions and reopening work the same as without encryption"
  )
  func everything() throws {
    struct Undo: Error {}
    let store = try file.open()
    let people = store["people"]
    people.cacheSize = 10
    try people.save(["name": "Ada", "born": 1815, "tags": ["x", "y"]], key: "ada")
    try people.save(["name": "Grace", "born": 1906], key: "grace")

    #expect(try people.find("[born] > ? AND [name] LIKE 'g%'", 1900).fetch().count == 1)
    #expect(try people.find("[tags] = 'y'").fetch().first?.key == "ada")
    #expect(
      try people.find(.constant(true)).sorted(by: "-born").limit(1).fetch().first?.key
        == "grace")
    #expect(try people.find(.constant(true)).average("born") == 1860.5)
    #expect(try people.get("ada")?["born"] == 1815)
    #expect(try people.get("ada")?["born"] == 1815)
    do {
      try store.write {
        try people.save(["name": "Nobody"], key: "ada")
        throw Undo()
      }
    } catch is Undo {}
    #expect(try people.get("ada")?["name"] == "Ada")
    try people.update("ada", set: ["born": 1816])
    #expect(try people.get("ada")?["born"] == 1816)
    #expect(try people.observedPaths().map(\.path) == ["born", "name", "tags", "tags[]"])

    try store.close()
    try store.reopen()
    #expect(try people.find(Field("born") == 1816).count() == 1)
    #expect(code { _ = try store.sql("SELECT 1") } == .unsupported)
    #expect(try store.verify() == [])
  }

  @Test("Observed paths include committed documents and exclude rolled-back ones")
  func paths() throws {
    struct Undo: Error {}
    let store = try file.open()
    let people = store["people"]
    try store.write {
      try people.insert(["kept": 1])
      do {
        try store.write {
          try people.insert(["undone": 1])
          throw Undo()
        }
      } catch is Undo {}
      try people.insert(["later": [["inner": true]]])
    }
    do {
      try store.write {
        try people.insert(["alsoUndone": 1])
        throw Undo()
      }
    } catch is Undo {}
    let expected = ["kept", "later", "later[]", "later[].inner"]
    #expect(try people.observedPaths().map(\.path) == expected)
    try store.close()
    try store.reopen()
    #expect(try people.observedPaths().map(\.path) == expected)
  }

  @Test("Many fields in any order are each observed once, also after the store is reopened")
  func manyFields() throws {
    let store = try file.open()
    let people = store["people"]
    let fields: [(String, DocumentValue)] = (10..<60).map { ("$n\($0)", .int(1)) }
    let reversed: [(String, DocumentValue)] = fields.reversed()

    for order in [fields, reversed, fields + [("last", DocumentValue.int(1))]] {
      try people.insert(DocumentObject(order))
    }
    #expect(try people.observedPaths().count == 51)
    try store.close()
    try store.reopen()
    try people.insert(DocumentObject(reversed))

    #expect(try people.observedPaths().count == 51)
  }

  @Test("Models are stored and found, and their indexes must be blind")
  func models() throws {
    let team = try file.open()[Member.self]
    #expect(code { try team.insert(Member(name: "Ada")) } == .unsupported)
    let path = file.scratch.file("models.db")
    let store = try Store(.file(path), encryption: .test(indexes: .blind))
    let members = store[Member.self]
    try members.insert([
      Member(name: "Ada", tags: ["x"]), Member(name: "Grace", tags: ["x", "y"]),
    ])
    #expect(try members.find(\.name == "Ada").fetch().map(\.tags) == [["x"]])
    #expect(try members.find { $0.tags.contains("y") }.count() == 1)
    #expect(try members.find(\.name == "Ada").documentQuery().explain().indexes == ["name"])
    #expect(
      try members.find().sorted(using: .reverse(\.name)).fetch().map(\.name) == ["Grace", "Ada"])
  }

  @Test("Queries that select no fields have the same aggregates and distinct values")
  func selectingNothing() throws {
    let people = try file.open()["people"]
    try people.insert([["n": 1], ["n": 2], ["n": 2]])
    let query = people.find().select([])

    #expect(try query.sum("n") == 5)
    #expect(try query.distinct("n").count == 2)
  }

  @Test("A batch that does not fit into the last row IDs is inserted at free row IDs")
  func lastRowIDs() throws {
    let store = try file.open()
    try store["people"].insert(["n": 0])
    try store.close()
    try file.sql("UPDATE people SET id = ?", .int(.max - 2))
    let people = try file.open()["people"]

    let ids = try people.insert([["n": 1], ["n": 2], ["n": 3]])
    #expect(ids.prefix(2) == [.max - 1, .max])
    let id = try #require(ids.last)
    #expect(try people.get(rowID: id)?["n"] == 3)
    #expect(try people.count() == 4)
  }

  @Test("A live query reports changes of sealed documents")
  func updates() async throws {
    let store = try file.open()
    let people = store["people"]
    var counts: [Int] = []
    for try await documents in people.find(Field("age") > 30).updates() {
      counts.append(documents.count)
      if counts.count == 3 { break }
      try await people.insert(["age": 40])
    }
    #expect(counts == [0, 1, 2])
  }

  @Test("Live results show decrypted documents, and equal writes leave them unchanged")
  @MainActor func liveResults() async throws {
    let people = try file.open()["people"]
    try await people.save(["age": 40], key: "ada")
    let results = LiveResults(
      people.find(Field("age") > 30), loading: .immediately, interval: .zero)
    #expect(results.elements.map(\.key) == ["ada"])
    var (numbers, last) = ([Int](), 1)

    try await people.save(["age": 40], key: "ada")
    try await people.save(["age": 50], key: "bob")
    for _ in 0..<40_000 where results.count != 2 {
      try await Task.sleep(for: .milliseconds(5))
      if results.count != last { numbers.append(results.count) }
      last = results.count
    }

    #expect(numbers == [2])
    #expect(results.difference.inserted.count == 1 && results.difference.changed.isEmpty)
  }

  @Test("A recovered store opens with its key, even if the file header was destroyed")
  func recover() throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    try Store(.file(path), encryption: .test()).using { store in
      for number in 0..<50 {
        try store["people"].save(["n": .int(Int64(number))], key: "k\(number)")
      }
      try store.setMetadata("secret", "m")
    }
    var bytes = try scratch.bytes("a.db")
    bytes.replaceSubrange(0..<100, with: Data(count: 100))
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: path, to: scratch.file("b.db"))

    #expect(report.saved >= 50)
    #expect(code { _ = try Store(.file(scratch.file("b.db"))) } == .wrongKey)
    let store = try Store(.file(scratch.file("b.db")), encryption: .test())
    #expect(try store["people"].get("k7")?["n"] == 7)
    #expect(try store["people"].count() == 50)
    #expect(try store.metadata("m") == "secret")
    #expect(try store.verify().isEmpty)
  }

  @Test("A backup of an encrypted store is encrypted")
  func backup() throws {
    let store = try file.open()
    try store["people"].save(["name": "SecretName"], key: "ada")
    let copy = file.scratch.file("copy.db")
    try store.backup(to: copy)
    #expect(try file.scratch.bytes("copy.db").range(of: Data("SecretName".utf8)) == nil)
    #expect(code { _ = try Store(.file(copy)) } == .wrongKey)
    let restored = try Store(.file(copy), encryption: .test())
    #expect(try restored["people"].get("ada")?["name"] == "SecretName")
  }

  @Test("With selected collections sealed, the others stay plain")
  func selectedCollections() throws {
    let store = try file.open(.test(encrypting: .only(["People"])))
    try store["people"].save(["name": "SecretName"], key: "ada")
    try store["films"].save(["title": "Brazil"], key: "brazil")
    try store["films"].createIndex("title")
    try store["films"].createFullTextIndex("title", name: "words")
    #expect(try store["films"].find(.search("brazil")).count() == 1)
    #expect(code { try store["people"].createFullTextIndex("name") } == .unsupported)
    try store.setMetadata("open", "entry")
    try store.close()
    #expect(try file.body(1, in: "films") == #"{"title":"Brazil"}"#)
    #expect(try file.body(1).hasPrefix(#"{"$sealed""#))

    // Sealed documents stay readable and sealed, whatever a later configuration selects.
    let again = try file.open(.test(encrypting: .only(["other"]), indexes: .blind))
    #expect(try again["people"].get("ada")?["name"] == "SecretName")
  }

  @Test("The async forms change the key and rotate keys, and can be canceled")
  func asynchronous() async throws {
    let store = try file.open()
    let people = store["people"]
    try await people.insert((0..<600).map { ["n": .int($0)] })
    try await store.changeKey(to: .passphrase("another horse"), cost: .small)
    try await store.rotateKeys()
    try await store.encryptAll()
    let task = Task { try await store.rotateKeys() }
    task.cancel()
    _ = await task.result
    try await store.rotateKeys()
    #expect(try await people.find(Field("n") == 599).count() == 1)
  }

  @Test("A store without encryption has no keys to change")
  func notEncrypted() throws {
    let store = try Store(.memory)
    #expect(code { try store.rotateKeys() } == .unsupported)
    #expect(code { try store.encryptAll() } == .unsupported)
    #expect(code { try store.changeKey(to: .passphrase("x")) } == .unsupported)
  }

  @Test("A pipeline over plain documents evaluates conditions on sealed related ones")
  func relatedPipeline() throws {
    let store = try file.open(.test(encrypting: .only(["people"])))
    try store["people"].save(["country": "UK"], key: "ada")
    try store["people"].save(["country": "US"], key: "grace")
    for director in ["ada", "ada", "grace"] {
      try store["films"].insert(["director": .string(director)])
    }
    try store["series"].insert(["title": "Fargo"])
    let british = store["films"].find(Field("director").related(in: "people")["country"] == "UK")

    let groups = try british.grouped(by: [:], ["count": .count]).rows()
    let union = try store["series"].find().union(british).grouped(by: [:], ["count": .count]).rows()

    #expect(groups == [["count": 2]])
    #expect(union == [["count": 3]])
  }
}
