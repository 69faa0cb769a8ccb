// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing

@Model struct Address: Codable, Equatable {
  var city: String
  var country = "UK"
}

enum Role: String, Codable, FieldCodable { case guest, member, editor }

struct ISBN: RawRepresentable, ModelKey {
  var rawValue: String
}

@Suite("Code in the article Models and change")
struct ModelsAndChangeSnippets {
  @Model(collection: "people")
  struct Person: Codable, Equatable {
    @Key var id = UUID()
    @Field("FirstName") var firstName: String
    @Indexed var lastName: String
    var born: Date?
    var emails: [String] = []
    var address: Address?
    var role: Role = .guest
    @Transient var isSelected = false
  }

  private let store: Store
  init() throws { store = try Store(.memory) }

  @Test("Values as documents") func stored() throws {
    let people = store[Person.self]
    let ada = try people.insert(Person(firstName: "Ada", lastName: "Lovelace"))
    let json = try people.documents.get(ada.key!)!.object().jsonString()
    #expect(json == #"{"FirstName":"Ada","lastName":"Lovelace","emails":[],"role":"guest"}"#)

    #expect(try people.get(ada.id) == ada.value)
    let encoded = try JSONEncoder().encode(ada.value)
    #expect(try JSONDecoder().decode(Person.self, from: encoded) == ada.value)
    #expect(!String(decoding: encoded, as: UTF8.self).contains("unknown"))
  }

  @Model struct Book {
    @Key var isbn: ISBN
    var title: String
  }

  @Model struct Note {
    @Key var id: String?
    var text: String
  }

  @Model struct Tool: Identifiable {
    var id: String
    var price: Int
  }

  @Test("Keys") func keys() async throws {
    let books = store[Book.self]
    try await books.insert(Book(isbn: ISBN(rawValue: "0-8044-2957-X"), title: "Effi Briest"))
    let effi = try await books.get(ISBN(rawValue: "0-8044-2957-X"))

    let note = try await store[Note.self].insert(Note(text: "Buy ink"))
    let id = note.id  // the generated key

    let tools = store[Tool.self]
    try await tools.save(Tool(id: "saw", price: 20))
    try await tools.save(Tool(id: "saw", price: 25))  // replaces the previous one
    #expect(try await tools.find().fetch().map(\.price) == [25])
    #expect(effi?.title == "Effi Briest")
    #expect(id == note.key && id != nil)
  }

  @Test("Changing values") func changing() async throws {
    let people = store[Person.self]
    try await people.insert(Person(firstName: "Ada", lastName: "Lovelace", born: .now))

    var ada = try await people.find(\.lastName == "Lovelace").firstStored()!
    ada.emails.append("ada@example.org")
    try await people.save(ada)

    try await people.update(ada.id, .set(\.role, .editor), .remove(\.born))
    let changed = try await people.find(\.role == .guest).update(.set(\.role, .member))  // 0
    #expect(changed == 0)
    let now = try await people.get(ada.id)
    #expect(now?.emails == ["ada@example.org"] && now?.role == .editor && now?.born == nil)
  }

  @Test("With await, by the type of the key") func changingAsynchronously() async throws {
    let people = store[Person.self]
    let ada = try await people.insert(Person(firstName: "Ada", lastName: "Lovelace"))
    try await people.update(ada.id, .set(\.role, .editor))
    #expect(try await people.getStored(ada.id)?.role == .editor)
    #expect(try await people.count() == 1)
  }

  @Model struct Seat {
    static let indexes = [ModelIndex<Seat>.unique(\.row, \.number), ModelIndex(\.guest, \.row)]

    var row: String
    var number: Int
    @Indexed var guest: String?
    @Unique var ticket: String
  }

  @Test("Indexes") func indexes() async throws {
    let seats = store[Seat.self]
    try await seats.insert(Seat(row: "A", number: 1, guest: "Ada", ticket: "t1"))
    do {
      try await seats.insert(Seat(row: "A", number: 1, guest: "Grace", ticket: "t2"))
    } catch let error as StoreError where error.code == .uniqueViolation {
      print("Taken: \(error[.index] ?? "")")  // row_number_unique
    }
    #expect(try await seats.count() == 1)
    #expect(
      try await seats.documents.indexes().map(\.name).sorted() == [
        "guest", "guest_row", "row_number_unique", "ticket_unique",
      ])
    try await seats.prepare()
    try await seats.documents.createIndex("number")
    #expect(try await seats.dropUndeclaredIndexes() == 1)
  }

  enum FirstRelease {
    @Model(collection: "people")
    struct Person {
      @Key var id: String
      var name: String
      var phone: String
      var mail: String
      var shoeSize: Int
    }
  }

  enum SecondRelease {
    @Model(collection: "people")
    struct Person {
      @Key var id: String
      var name: String
      var phone: [String]  // a string became an array of strings
      @Field(renamedFrom: "mail") var email: String?  // renamed, and now optional
      var shoeSize: Double  // an integer became a number
      var country = "UK"  // new
    }
  }

  private func oldDocument() throws {
    try store[FirstRelease.Person.self].insert(
      FirstRelease.Person(
        id: "ada", name: "Ada Lovelace", phone: "020 7946 0101", mail: "ada@example.org",
        shoeSize: 38))
  }

  @Test("Adding, renaming and widening fields") func secondRelease() async throws {
    typealias Person = SecondRelease.Person
    try oldDocument()
    let people = store[Person.self]
    let ada = try await people.get("ada")!  // written by the first release
    print(ada.phone, ada.email ?? "", ada.shoeSize, ada.country)
    // ["020 7946 0101"] ada@example.org 38.0 UK

    let byCountry = try await people.find(\.country == "UK").count()  // 1: matches the default
    let byEmail = try await people.find(\.email == "ada@example.org").count()  // 1: former name
    let described = "\(ada.phone) \(ada.email ?? "") \(ada.shoeSize) \(ada.country)"
    #expect(described == #"["020 7946 0101"] ada@example.org 38.0 UK"#)
    #expect(byCountry == 1 && byEmail == 1)

    try await people.save(ada)
    #expect(
      try await people.documents.get("ada")!.object().names == [
        "name", "phone", "email", "shoeSize", "country",
      ])
  }

  enum ThirdRelease {
    @Model(collection: "people", version: 2)
    struct Person {
      static let upgrades = [
        ModelUpgrade(from: 1) { fields in
          let names = (fields["name"]?.string ?? "").split(separator: " ")
          fields["first"] = .string(names.dropLast().joined(separator: " "))
          fields["last"] = .string(String(names.last ?? ""))
          fields["name"] = nil
        }
      ]

      @Key var id: String
      var first: String
      @Indexed var last: String
      var phone: [String]
      @Field(renamedFrom: "mail") var email: String?
      var country = "UK"
    }
  }

  @Test("Versions") func versions() async throws {
    typealias Person = ThirdRelease.Person
    try oldDocument()
    let people = store[Person.self]
    let ada = try await people.get("ada")!
    print(ada.first, "/", ada.last)  // Ada / Lovelace

    let before = try await people.find(\.last == "Lovelace").count()  // 0: no such field
    try await people.upgrade(batch: 500) { progress in
      print("\(progress.done) of \(progress.total)")  // 1 of 1
    }
    let after = try await people.find(\.last == "Lovelace").count()  // 1
    #expect(ada.first == "Ada" && ada.last == "Lovelace")
    #expect(before == 0 && after == 1)

    let kept = try await people.get("ada")!.unknownFields
    print(kept.jsonString())  // {"shoeSize":38}
    #expect(kept.jsonString() == #"{"shoeSize":38}"#)
    #expect(try await people.documents.get("ada")?.version == 2)
    #expect(try await people.upgrade() == 0)
  }

  @Test("Documents of newer versions") func newer() throws {
    typealias Person = SecondRelease.Person
    try store[ThirdRelease.Person.self].insert(
      ThirdRelease.Person(id: "grace", first: "Grace", last: "Hopper", phone: []))
    let people = store[Person.self]

    // Has no "name", which this release needs.
    #expect(throws: StoreError.self) { try people.get("grace") }

    try people.documents.update("grace", set: ["name": "Grace Hopper", "shoeSize": 37])
    var grace = try people.find().firstStored()!
    grace.country = "US"
    try people.save(grace)
    let document = try people.documents.get("grace")!
    #expect(document.version == 2)
    #expect(document["last"] == "Hopper" && document["country"] == "US")
  }
}
