// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@Model private struct Abode: Equatable {
  var city: String
  var country = "UK"

  static var bern: Abode { Abode(city: "Bern", country: "CH") }
}

@Model private struct Pal: Equatable {
  @Key var id: String
  var level = 1
  @Field(renamedFrom: "years") var age: Int?
}

/// A model for documents in which anything can be missing: former names, all kinds of defaults, parts and elements.
@Model private struct Guest: Equatable {
  @Key var id: Int
  @Field(renamedFrom: "mail") var email: String?
  var tags: [String] = ["none"]
  var rank: Int? = 5
  @Field(renamedFrom: "place", "spot") var home: Abode?
  var work: Abode = .bern
  var studio: Abode = Abode(city: "Rome", country: "IT")
  @Field(renamedFrom: "pals") var friends: [Pal] = []
}

@Model private struct Town: Equatable {
  var city: String
  var country: String
}

/// Some of the fields of a guest, with another default.
@Model private struct Visitor: Equatable {
  var email: String?
  var rank = 0
  var work: Town
}

private enum SchoolYear: Int, ModelKey {
  case low = 9
  case high = 10
}

@Model private struct Grade: Equatable {
  @Key var level: SchoolYear
}

@Model(collection: "residents", version: 2) private struct Resident {
  @Key var id: String
  var firstName = ""
  var lastName = ""
  static let upgrades = [
    ModelUpgrade(from: 1) { fields in
      let names = (fields["name"]?.string ?? "").split(separator: " ").map(String.init)
      fields["firstName"] = .string(names.first ?? "")
      fields["lastName"] = .string(names.last ?? "")
      fields["name"] = nil
    }
  ]
}

@Model(collection: "residents") private struct Surname {
  @Key var id: String
  var lastName: String
}

@Model(collection: "Residents") private struct SurnameInOtherCase {
  @Key var id: String
  var lastName: String
}

@Model private struct SurnameOnly {
  @Key var id: String
  var lastName: String
}

@Model private struct House {
  @Key var id: String
  var rooms: [String: Room] = [:]
}

@Model private struct Room {
  @Field(renamedFrom: "colour") var color: String
}

@Model private struct Memo {
  @Key var id: String
  var tags: [String]? = ["new"]
}

@Suite("Documents with missing fields")
struct ModelVariantTests {
  private let store: Store
  private var guests: ModelCollection<Guest> { store[Guest.self] }
  init() throws { store = try anyStore() }

  private func fill(_ random: inout SplitMix) throws {
    for id in 0..<30 {
      var fields: DocumentObject = [:]
      func maybe(_ names: [String], _ values: [DocumentValue]) {
        let index = random.number(0...(names.count))
        if index < names.count { fields[names[index]] = random.pick(values) }
      }
      let homes: [DocumentValue] = [
        ["city": "X"], ["city": "X", "country": "FR"], ["city": "Y", "country": "UK"],
      ]
      maybe(["email", "mail"], ["a", "b", .null])
      maybe(["tags"], [[], ["none"], ["x", ""], .null])
      maybe(["rank"], [.null, 5, 7])
      maybe(["home", "place", "spot"], homes + [.null])
      maybe(["work"], homes)
      maybe(["studio"], homes)
      maybe(
        ["friends", "pals"],
        [
          [], [["id": "3", "level": 2, "age": 9]], [["id": "bob", "years": 9], ["id": "eve"]],
        ])
      try store["Guest"].insert(fields, key: "\(id)")
    }
  }

  @Test("A smaller model reads former names and defaults as the model of the collection does")
  func smallerModel() throws {
    try store["Guest"].insert(["mail": "a", "work": ["city": "X"]], key: "1")
    try store["Guest"].insert(["email": "b", "rank": 7], key: "2")

    let visitors = try guests.find().fetch(as: Visitor.self)

    #expect(
      visitors == [
        Visitor(email: "a", rank: 5, work: Town(city: "X", country: "UK")),
        Visitor(email: "b", rank: 7, work: Town(city: "Bern", country: "CH")),
      ])
  }

  @Test("A value of a smaller model keeps the version of its document when saved")
  func smallerModelOfVersion() throws {
    try store["residents"].insert(["name": "Ada Lovelace"], key: "ada")
    let residents = store[Resident.self]
    var ada = try #require(try residents.find().fetch(as: Surname.self).first)
    ada.lastName = "King"
    try store[Surname.self].save(ada)
    let saved = try #require(try residents.get("ada"))
    #expect(saved.firstName == "Ada" && saved.lastName == "King")
  }

  @Test("A value of a smaller model keeps the version in the collection that it was read from only")
  func smallerModelOfOtherCollection() throws {
    try store["residents"].insert(["name": "Ada Lovelace"], key: "ada")
    let residents = store[Resident.self]
    func change<Smaller: Model>(
      _ type: Smaller.Type, _ name: WritableKeyPath<Smaller, String>, _ value: String
    ) throws -> Smaller {
      var ada = try #require(try residents.find().fetch(as: type).first)
      ada[keyPath: name] = value
      return ada
    }

    try store[SurnameInOtherCase.self].save(change(SurnameInOtherCase.self, \.lastName, "King"))
    #expect(try residents.get("ada")?.firstName == "Ada")
    #expect(try residents.get("ada")?.lastName == "King")

    let byron = try change(SurnameOnly.self, \.lastName, "Byron")
    try store["residents"].save(byron)
    #expect(try residents.get("ada")?.firstName == "Ada")
    #expect(try residents.get("ada")?.lastName == "Byron")

    try store[SurnameOnly.self].save([byron])
    #expect(try store["SurnameOnly"].get("ada")?["firstName"] == "Ada")
    #expect(try store["SurnameOnly"].get("ada")?.version == nil)
  }

  @Test("A value of a smaller model keeps the version in a collection that the models do not name")
  func smallerModelOfArchive() throws {
    let archive = store["archive"]
    try archive.insert(["name": "Ada Lovelace"], key: "ada")
    var ada = try #require(
      try archive.models(Resident.self).find().fetch(as: Surname.self).first)
    ada.lastName = "King"

    try archive.models(Surname.self).save([ada])

    let saved = try #require(try archive.models(Resident.self).get("ada"))
    #expect(saved.firstName == "Ada" && saved.lastName == "King")
  }

  @Test("A field under a former name is found below an object with unrecorded names")
  func formerNameBelowOpenObject() throws {
    var rooms: DocumentObject = [:]
    for number in 0..<1_100 { rooms["r\(number)"] = ["color": "blue"] }
    try store["House"].insert(["rooms": .object(rooms)], key: "a")
    try store["House"].insert(["rooms": ["r1500": ["colour": "red"]]], key: "b")
    let query = store[House.self].find { $0.rooms["r1500"].color == "red" }
    #expect(try query.keys() == ["b"])
  }

  @Test("Removing elements of a list that is nil leaves nil, not the default")
  func removedFromNil() throws {
    let memos = store[Memo.self]
    try memos.insert(Memo(id: "a", tags: nil))
    #expect(try memos.update("a", .pull(\.tags, "x")).tags == nil)
    #expect(try memos.update("a", .pop(\.tags)).tags == nil)
    #expect(try memos.find().update(.pop(\.tags)) == 1)
    #expect(try memos.get("a")?.tags == nil)
    #expect(try memos.update("a", .append(\.tags, "y")).tags == ["y"])
  }

  @Test("Documents are found and sorted by their decoded values")
  func foundAsRead() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    try fill(&random)
    let guests = guests
    let all = try guests.fetch()
    func check(
      _ name: String, _ condition: ModelCondition<Guest>, _ holds: (Guest) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      #expect(
        try guests.find(condition).fetch().map(\.id) == all.filter(holds).map(\.id),
        "\(name), seed \(seed)", sourceLocation: location)
      #expect(
        try guests.find(!condition).fetch().map(\.id) == all.filter { !holds($0) }.map(\.id),
        "not \(name), seed \(seed)", sourceLocation: location)
    }
    let at = ModelProperties<Guest>()
    for value in ["a", "b"] {
      try check("email == \(value)", \.email == value) { $0.email == value }
    }
    try check("email == nil", \.email == nil) { $0.email == nil }
    try check("email in", at.email.isIn(["a", nil])) { ["a", nil].contains($0.email) }
    try check("tags.isEmpty", at.tags.isEmpty) { $0.tags.isEmpty }
    try check("tags has none", at.tags.contains("none")) { $0.tags.contains("none") }
    for value in [nil, 5, 7] as [Int?] {
      try check("rank == \(value as Any)", \.rank == value) { $0.rank == value }
    }
    try check("rank < 7", \.rank < 7) { ($0.rank ?? 99) < 7 }
    for value in ["UK", "FR", "CH", "IT"] {
      try check("home \(value)", \.home?.country == value) { $0.home?.country == value }
      try check("studio \(value)", \.studio.country == value) { $0.studio.country == value }
    }
    try check("home.country nil", \.home?.country == nil) { $0.home == nil }
    try check("friends.isEmpty", at.friends.isEmpty) { $0.friends.isEmpty }
    try check("friends.level == 1", at.friends.level == 1) { guest in
      guest.friends.contains { $0.level == 1 }
    }
    try check("friends.age == 9", at.friends.age == 9) { guest in
      guest.friends.contains { $0.age == 9 }
    }
    try check("friends.id == 3", at.friends.id == "3") { guest in
      guest.friends.contains { $0.id == "3" }
    }
    try check("one friend", at.friends.element { $0.id == "3" && $0.age == 9 }) { guest in
      guest.friends.contains { $0.id == "3" && $0.age == 9 }
    }
    try check("id < 10", \.id < 10) { $0.id < 10 }
    try check("id in", at.id.isIn([3, 11, 99])) { [3, 11].contains($0.id) }

    #expect(
      try guests.find().sorted(using: .reverse(\.id)).fetch().map(\.id) == (0..<30).reversed())
    func order<Value: Comparable>(
      _ ordering: ModelOrdering<Guest>, _ value: (Guest) -> Value
    ) throws {
      #expect(
        try guests.find().sorted(using: ordering, .forward(\.id)).fetch().map(\.id)
          == all.sorted { (value($0), $0.id) < (value($1), $1.id) }.map(\.id), "seed \(seed)")
    }
    try order(.forward(\.email)) { $0.email ?? "" }
    try order(.forward(\.rank)) { $0.rank ?? .min }
    try order(.forward(\.home?.country)) { $0.home?.country ?? "" }
    try order(.forward(\.studio.country)) { $0.studio.country }

    let mails = try guests.find().sorted(by: \.id).select(\.email, \.home?.country, \.rank)
    #expect(mails.map(\.0) == all.map(\.email))
    #expect(mails.map(\.1) == all.map { $0.home?.country })
    #expect(mails.map(\.2) == all.map(\.rank))
    #expect(
      try guests.find().sorted(by: \.id).select(\.work.country) == all.map(\.work.country))
    let groups = try guests.find().grouped(by: \.studio.country, .count)
    #expect(Set(groups.map(\.group)).count == groups.count)
    for (country, count) in groups {
      #expect(count == all.filter { $0.studio.country == country }.count)
    }
    #expect(try Set(guests.find().distinct(\.email)) == Set(all.map(\.email)).subtracting([nil]))
    #expect(try guests.find().max(\.rank) == all.compactMap(\.rank).max())
  }

  @Test("A null is found and counted as it is read")
  func storedNull() throws {
    try store["Guest"].insert(["tags": .null, "email": .null, "mail": "a"], key: "1")
    let guests = guests
    let guest = try #require(try guests.get(1))
    #expect(guest.tags == ["none"] && guest.email == nil)
    #expect(try guests.find { $0.tags.contains("none") }.count() == 1)
    #expect(try guests.find { $0.tags.isEmpty }.count() == 0)
    #expect(try guests.find(\.email == nil).count() == 1)
    #expect(try guests.find(\.email == "a").count() == 0)
    #expect(try guests.find().distinct(\.tags) == ["none"])
  }

  @Test("An integer key is sorted as a number, also as a raw value")
  func rawIntegerKeys() throws {
    let grades = store[Grade.self]
    try grades.insert([Grade(level: .high), Grade(level: .low)])
    #expect(try grades.find().sorted(by: \.level).fetch().map(\.level) == [.low, .high])
  }

  @Test("Changing a part that is missing or has a former name creates it as the model defines")
  func changedPart() throws {
    try store["Guest"].insert(["place": ["city": "X", "note": "kept"]], key: "1")
    let guests = guests
    try guests.update(1, .set(\.work.country, "FR"))
    let guest = try #require(try guests.get(1))
    #expect(guest.work == Abode(city: "Bern", country: "FR"))
    #expect(guest.home == Abode(city: "X"))
    #expect(try store["Guest"].get("1")?["home.note"] == "kept")
    try guests.update(1, .remove(\.rank))
    #expect(try guests.get(1)?.rank == nil)
    try guests.update(1, .remove(\.email))
    #expect(try guests.get(1)?.email == nil)
  }

  @Test("Dropped indexes are created again by the next write")
  func droppedIndexes() throws {
    let people = store[Person.self]
    try people.insert(Person(firstName: "Ada", lastName: "Lovelace"))
    try people.documents.drop()
    try people.insert(Person(firstName: "Ada", lastName: "Lovelace"))
    #expect(try people.documents.indexes().map(\.name) == ["lastName"])
    try people.documents.dropIndex("lastName")
    try people.insert(Person(firstName: "Ada", lastName: "Lovelace"))
    #expect(try people.documents.indexes().map(\.name) == ["lastName"])
  }

  @Test("Grouping and ordering by key are rejected")
  func unsupportedKeyAggregates() throws {
    for work in [
      { _ = try guests.find().grouped(by: \.id, .count) },
      { _ = try guests.find().distinct(\.id) },
      { _ = try guests.find().max(\.id) },
    ] as [() throws -> Void] {
      #expect(#expect(throws: StoreError.self) { try work() }?.code == .unsupported)
    }
  }

  @Test("An uppercase UUID is a different key from the one that the model uses")
  func upperCaseKey() throws {
    let person = Person(firstName: "Ada", lastName: "Lovelace")
    try store["people"].insert(["FirstName": "A", "lastName": "B"], key: person.id.uuidString)
    let error = #expect(throws: StoreError.self) { _ = try store[Person.self].fetch() }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.expected] == "a UUID in lower case")
  }

  @Test("A batch with a rejected document fails as a whole")
  func rejectedInBatch() throws {
    let documents = store["c"]
    try documents.insert(["n": 0], key: "taken")
    let error = #expect(throws: StoreError.self) {
      _ = try documents.writeBatch(.insert) { batch, writer in
        for key in ["a", "taken", "b"] {
          writer.literal(#"{"n":1}"#)
          try? batch.add(&writer, key: DocumentKey(key))
        }
      }
    }
    #expect(error?.code == .duplicateKey)
    #expect(try documents.count() == 1)
  }
}
