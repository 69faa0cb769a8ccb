// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Schema evolution of models")
struct ModelVersionsTests {
  private let folder: Scratch
  init() throws { folder = try Scratch() }

  @Test("Aggregates and distinct values are those of upgraded documents")
  func aggregates() throws {
    let store = try anyStore()
    try store[V1.Person.self].insert(V1.Person(id: "ada", name: "Ada Lovelace", age: 36))
    try store[V2.Person.self].insert(
      V2.Person(id: "alan", name: "Alan Turing", age: 41, emails: [], points: 7))
    try store[V4.Person.self].insert(
      V4.Person(id: "grace", firstName: "Grace", lastName: "Hopper", points: 1))
    let people = store[V4.Person.self].find()

    #expect(try Set(people.distinct(\.lastName)) == ["Lovelace", "Turing", "Hopper"])
    #expect(try people.max(\.firstName) == "Grace")
    #expect(try people.sum(\.points) == 18)
    #expect(try people.count() == 3)
  }

  @Test("A renamed property of a nested model is found by the position of its element")
  func renamedElement() throws {
    let store = try anyStore()
    let rooms = [Houses.OldRoom(label: "x"), Houses.OldRoom(label: "y")]
    try store[Houses.Old.self].insert(Houses.Old(id: "a", mail: "a@b", rooms: rooms))
    let houses = store[Houses.New.self]

    #expect(try houses.find(#Predicate { $0.rooms[0].name == "x" }).keys() == ["a"])
    #expect(try houses.find(#Predicate { $0.rooms[1].name == "y" }).keys() == ["a"])
    #expect(try houses.find(#Predicate { $0.rooms[1].name != "y" }).keys() == [])
  }

  @Test("An upgrade renames the properties of models in a dictionary")
  func renamedEntry() throws {
    let store = try anyStore()
    try store[Houses.Old.self].insert(
      Houses.Old(id: "a", mail: "a@b", byFloor: ["1": [Houses.OldRoom(label: "x")]]))
    try store["houses"].update("a", .set("email", "a@b"), .remove("mail"))

    #expect(try store[Houses.New.self].upgrade() == 1)
    #expect(try store[Houses.New.self].upgrade() == 0)
    #expect(try store["houses"].get("a")?["byFloor.1.0.name"] == "x")
    #expect(try store["houses"].get("a")?["byFloor.1.0.label"] == nil)
  }

  @Test("A unique property that was renamed differs from values under the former name")
  func renamedUnique() throws {
    let store = try anyStore()
    try store[Houses.Old.self].insert(Houses.Old(id: "a", mail: "x@y"))
    let houses = store[Houses.New.self]
    let error = #expect(throws: StoreError.self) {
      try houses.insert(Houses.New(id: "b", email: "x@y"))
    }
    #expect(error?.code == .uniqueViolation)
    #expect(try houses.find(\.email == "x@y").keys() == ["a"])
    let other = try anyStore()
    for key in ["a", "b"] { try other["houses"].save(["mail": "x@y"], key: key) }
    #expect(throws: StoreError.self) { try other[Houses.New.self].prepare() }
  }

  /// A version of the program that writes a person to a file, and reads the person from a file of any version.
  struct Program: Sendable, CustomTestStringConvertible {
    let number: Int
    let write: @Sendable (Store) throws -> Void
    /// Reads the first and last name, the points and the number of addresses.
    let read: @Sendable (Store) throws -> [String]
    /// Reads the person and saves the value unchanged.
    let save: @Sendable (Store) throws -> Void
    var testDescription: String { "program \(number)" }
  }

  static let programs: [Program] = [
    Program(
      number: 1,
      write: { try $0[V1.Person.self].insert(V1.Person(id: "ada", name: "Ada Lovelace", age: 36)) },
      read: { store in
        let ada = try #require(try store[V1.Person.self].get("ada"))
        return [ada.name, "\(ada.age)"]
      },
      save: { try $0[V1.Person.self].save(#require(try $0[V1.Person.self].get("ada"))) }),
    Program(
      number: 2,
      write: {
        try $0[V2.Person.self].insert(
          V2.Person(id: "ada", name: "Ada Lovelace", age: 36, emails: ["a@x"], points: 7))
      },
      read: { store in
        let ada = try #require(try store[V2.Person.self].get("ada"))
        return [ada.name, "\(ada.age)", "\(ada.points)", "\(ada.emails)"]
      },
      save: { try $0[V2.Person.self].save(#require(try $0[V2.Person.self].get("ada"))) }),
    Program(
      number: 3,
      write: {
        try $0[V3.Person.self].insert(
          V3.Person(
            id: "ada", fullName: "Ada Lovelace", age: 36.5, emails: ["a@x"], points: 7,
            city: ["London"]))
      },
      read: { store in
        let ada = try #require(try store[V3.Person.self].get("ada"))
        return [ada.fullName, "\(ada.age)", "\(ada.points)", "\(ada.emails)", "\(ada.city)"]
      },
      save: { try $0[V3.Person.self].save(#require(try $0[V3.Person.self].get("ada"))) }),
    Program(
      number: 4,
      write: {
        try $0[V4.Person.self].insert(
          V4.Person(
            id: "ada", firstName: "Ada", lastName: "Lovelace", age: 36.5, emails: ["a@x"],
            points: 7))
      },
      read: { store in
        let ada = try #require(try store[V4.Person.self].get("ada"))
        return [ada.firstName, ada.lastName, "\(ada.age ?? 0)", "\(ada.points)", "\(ada.emails)"]
      },
      save: { try $0[V4.Person.self].save(#require(try $0[V4.Person.self].get("ada"))) }),
    Program(
      number: 5,
      write: {
        try $0[V5.Person.self].insert(
          V5.Person(
            id: "ada", firstName: "Ada", lastName: "Lovelace", age: 36.5,
            contacts: [Contact(kind: "email", address: "a@x")], points: 7))
      },
      read: { store in
        let ada = try #require(try store[V5.Person.self].get("ada"))
        return [
          ada.firstName, ada.lastName, "\(ada.age ?? 0)", "\(ada.points)",
          "\(ada.contacts.map(\.address))",
        ]
      },
      save: { try $0[V5.Person.self].save(#require(try $0[V5.Person.self].get("ada"))) }),
  ]

  /// What each program (row) reads from the file of each program (column). `nil` means that an older program reports
  /// a required field as missing.
  static let expected: [[[String]?]] = [
    [["Ada Lovelace", "36"], ["Ada Lovelace", "36"], nil, nil, nil],
    [
      ["Ada Lovelace", "36", "10", "[]"], ["Ada Lovelace", "36", "7", #"["a@x"]"#], nil, nil, nil,
    ],
    [
      ["Ada Lovelace", "36.0", "10", "[]", "[]"],
      ["Ada Lovelace", "36.0", "7", #"["a@x"]"#, "[]"],
      ["Ada Lovelace", "36.5", "7", #"["a@x"]"#, #"["London"]"#], nil, nil,
    ],
    [
      ["Ada", "Lovelace", "36.0", "10", "[]"], ["Ada", "Lovelace", "36.0", "7", #"["a@x"]"#],
      ["Ada", "Lovelace", "36.5", "7", #"["a@x"]"#],
      ["Ada", "Lovelace", "36.5", "7", #"["a@x"]"#], ["Ada", "Lovelace", "36.5", "7", "[]"],
    ],
    [
      ["Ada", "Lovelace", "36.0", "10", "[]"], ["Ada", "Lovelace", "36.0", "7", #"["a@x"]"#],
      ["Ada", "Lovelace", "36.5", "7", #"["a@x"]"#],
      ["Ada", "Lovelace", "36.5", "7", #"["a@x"]"#],
      ["Ada", "Lovelace", "36.5", "7", #"["a@x"]"#],
    ],
  ]

  @Test("Each program version reads the file of every other version", arguments: programs, programs)
  func everyVersionPair(reader: Program, writer: Program) throws {
    let file = folder.file("people-\(writer.number)-\(reader.number).db")
    try Store(.file(file)).using(writer.write)
    let before = try Store(.file(file)).using { try $0["people"].get("ada")?.object() }

    try Store(.file(file)).using { store in
      guard let expected = Self.expected[reader.number - 1][writer.number - 1] else {
        let error = #expect(throws: StoreError.self) { _ = try reader.read(store) }
        #expect(error?.code == .typeMismatch)
        #expect(error?[.collection] == "people")
        #expect(error?[.key] == "ada")
        #expect(error?[.field] != nil)
        return
      }
      let read = try reader.read(store)
      #expect(read == expected)
    }

    // Reading must not change the file.
    let after = try Store(.file(file)).using { try $0["people"].get("ada")?.object() }
    #expect(after == before)
  }

  @Test(
    "Saving with an older program preserves everything that a newer one wrote", arguments: programs)
  func savedByOlderVersion(writer: Program) throws {
    for reader in Self.programs where Self.expected[reader.number - 1][writer.number - 1] != nil {
      let file = folder.file("back-\(writer.number)-\(reader.number).db")
      try Store(.file(file)).using(writer.write)
      let before = try Store(.file(file)).using { try writer.read($0) }
      try Store(.file(file)).using(reader.save)
      if reader.number <= writer.number {
        #expect(try Store(.file(file)).using { try writer.read($0) } == before)
      }
      #expect(
        try Store(.file(file)).using { try reader.read($0) }
          == Self.expected[reader.number - 1][writer.number - 1])
    }
  }

  @Test("A document of a newer version keeps its version when an older program saves it")
  func newerVersionStays() throws {
    let store = try anyStore()
    try Self.programs[4].write(store)
    let people = store[V4.Person.self]
    var ada = try #require(try people.get("ada"))
    ada.points = 8
    try people.save(ada)
    let document = try #require(try store["people"].get("ada"))
    #expect(document.version == 3)
    #expect(document["contacts.0.address"] == "a@x")
    #expect(try store[V5.Person.self].get("ada")?.contacts.count == 1)
    #expect(try store[V5.Person.self].get("ada")?.points == 8)
  }

  @Test("An older document keeps its version until it is saved")
  func upgradedWhenSaved() throws {
    let store = try anyStore()
    try Self.programs[0].write(store)
    let people = store[V5.Person.self]
    let ada = try #require(try people.get("ada"))
    #expect(try store["people"].get("ada")?.version == nil)
    try people.save(ada)
    let document = try #require(try store["people"].get("ada"))
    #expect(document.version == 3)
    #expect(document["name"] == nil)
    #expect(document["last"] == "Lovelace")
  }

  @Test("Documents are found and sorted by their decoded values, whichever program wrote them")
  func foundAcrossVersions() throws {
    let store = try anyStore()
    let names = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Flo"]
    for (index, name) in names.enumerated() {
      let age = Int8(20 + index)
      switch index % 3 {
      case 0: try store[V1.Person.self].insert(V1.Person(id: name, name: name, age: age))
      case 1:
        try store[V2.Person.self].insert(
          V2.Person(id: name, name: name, age: age, points: index))
      default:
        try store[V3.Person.self].insert(
          V3.Person(id: name, fullName: name, age: Double(age), points: -index))
      }
    }
    let people = store[V3.Person.self]
    let all = try people.fetch()
    #expect(all.map(\.fullName) == names)
    for name in names { #expect(try people.find(\.fullName == name).count() == 1) }
    #expect(try people.find(\.fullName != "Bob").count() == 5)
    #expect(try people.find { !$0.fullName.hasPrefix("A") }.count() == 5)
    #expect(
      try people.find().sorted(using: .reverse(\.fullName)).fetch().map(\.fullName)
        == names.reversed())
    for points in [-5, 0, 1, 4, 9, 10, 11] {
      #expect(
        try people.find(\.points > points).fetch() == all.filter { $0.points > points })
      #expect(
        try people.find(\.points == points).fetch() == all.filter { $0.points == points })
    }
    #expect(
      try people.find().sorted(by: \.points, \.fullName).fetch()
        == all.sorted { ($0.points, $0.fullName) < ($1.points, $1.fullName) })
    #expect(try people.find { $0.city.isEmpty }.count() == 6)
  }

  @Test("A former name in a document written by another program is recognized immediately", .sqlite)
  func foreignDocument() throws {
    let store = try anyStore()
    let people = store[V3.Person.self]
    try people.insert(V3.Person(id: "a", fullName: "Ada", age: 1))
    #expect(try people.find(\.fullName == "Bob").count() == 0)
    try store.execute(
      #"INSERT INTO people(key, body) VALUES ('b', '{"name":"Bob","age":2}')"#)
    #expect(try people.find(\.fullName == "Bob").fetch().map(\.age) == [2])
    #expect(
      try people.find().sorted(using: .reverse(\.fullName)).fetch().map(\.fullName)
        == ["Bob", "Ada"])
  }

  @Test("A document with a former name is found although the query also names that field")
  func namedFormerName() throws {
    let store = try anyStore()
    try store[V1.Person.self].insert(V1.Person(id: "a", name: "Ada", age: 1))
    let people = store[V3.Person.self]
    let byProperty: ModelCondition<V3.Person> = \.fullName == "Ada"
    let byField = ModelCondition<V3.Person>(Field("name") == "Ada")

    #expect(try people.find(byProperty && byField).count() == 1)
    #expect(try people.find(byField && byProperty).count() == 1)
    #expect(try people.find(!byProperty || !byField).count() == 0)
  }

  @Test("After a collection is upgraded, an index finds all documents by the new name")
  func upgradeAll() throws {
    let store = try anyStore()
    for number in 0..<250 {
      try store[V1.Person.self].insert(
        V1.Person(id: "\(number)", name: "First Last\(number)", age: 20))
    }
    let people = store[V4.Person.self]
    var seen: [UpgradeProgress] = []
    let count = try people.upgrade(batch: 100) { seen.append($0) }
    #expect(count == 250)
    #expect(seen.map(\.done) == [100, 200, 250])
    #expect(seen.allSatisfy { $0.total == 250 })
    #expect(try people.upgrade() == 0)
    #expect(try people.find(\.lastName == "Last7").fetch().map(\.id) == ["7"])
    #expect(try store["people"].find("[__version__] = 2").count() == 250)
  }

  @Test("Former names in nested values are rewritten")
  func nestedFormerNames() throws {
    let store = try anyStore()
    try store["Dwelling"].insert(["place": ["town": "Bern"], "rooms": [["label": "a"]]], key: "1")
    try store["Dwelling"].insert(["place": ["city": "Rome"]], key: "2")
    let dwellings = store[Dwelling.self]
    #expect(try dwellings.upgrade() == 1)
    #expect(try store["Dwelling"].get("1")?["place.city"] == "Bern")
    #expect(try store["Dwelling"].get("1")?["place.town"] == nil)
    #expect(try store["Dwelling"].find("EXISTS([rooms.label])").count() == 0)
    #expect(try dwellings.upgrade() == 0)
  }

  @Test("An interrupted upgrade resumes")
  func resumedUpgrade() async throws {
    struct Enough: Error {}
    let store = try anyStore()
    for number in 0..<30 {
      try await store[V1.Person.self].insert(
        V1.Person(id: "\(number)", name: "First Last", age: 20))
    }
    let people = store[V5.Person.self]
    let stopping: @Sendable (UpgradeProgress) throws -> Void = { progress in
      if progress.done >= 20 { throw Enough() }
    }
    await #expect(throws: Enough.self) {
      _ = try await people.upgrade(batch: 10, progress: stopping)
    }
    let upgraded = try await store["people"].find("[__version__] = 3").count()
    #expect(upgraded == 20)
    let rest = try await people.upgrade(batch: 10)
    #expect(rest == 10)
    let found = try await people.find(\.lastName == "Last").count()
    #expect(found == 30)
  }

  @Test("A document whose upgrade fails is unchanged and named in the error")
  func failedUpgrade() throws {
    struct Refused: Error {}
    let store = try anyStore()
    try Self.programs[0].write(store)
    let error = #expect(throws: StoreError.self) { _ = try store[Refusing.self].get("ada") }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.key] == "ada")
    #expect(error?[.actual] == "a document of version 1, read as 2")
    #expect(throws: StoreError.self) { _ = try store[Refusing.self].upgrade() }
    let changing = #expect(throws: StoreError.self) {
      try store[Refusing.self].update("ada", .set(\.name, "Eve"))
    }
    #expect(changing?.code == .typeMismatch && changing?[.key] == "ada")
    #expect(changing?[.actual] == "a document of version 1, read as 2")
    #expect(try store[V1.Person.self].get("ada")?.name == "Ada Lovelace")
  }

  @Test("Changing a property also upgrades the document")
  func changeUpgrades() throws {
    let store = try anyStore()
    try Self.programs[0].write(store)
    let people = store[V4.Person.self]
    try people.update("ada", .set(\.points, 3), .remove(\.age))
    #expect(
      try people.get("ada")
        == V4.Person(id: "ada", firstName: "Ada", lastName: "Lovelace", age: nil, points: 3))
    #expect(try store["people"].get("ada")?.version == 2)
    #expect(try people.find().update(.set(\.points, 4)) == 1)
    #expect(try people.get("ada")?.points == 4)
  }
}

@Model(collection: "people", version: 2) private struct Refusing {
  @Key var id: String
  var name: String
  static let upgrades = [ModelUpgrade(from: 1) { _ in throw CocoaError(.coderInvalidValue) }]
}
