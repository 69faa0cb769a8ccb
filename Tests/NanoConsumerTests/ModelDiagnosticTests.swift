// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Compiler diagnostics for invalid models. Each diagnostic appears once, on the line that has to change, and names
/// the property.
@Suite("Diagnostics for models", .enabled(if: ConsumerCompiler.isAvailable), .serialized)
struct ModelDiagnosticTests {
  /// Returns the errors and warnings of a program with their lines and without macro names.
  private func diagnostics(_ body: String) throws -> [String] {
    let outcome = try ConsumerCompiler.check("import Foundation\nimport NanoStoreModels\n" + body)
    return outcome.messages.map { message in
      let inProgram = message.firstRange(of: #/Program\d*\.swift:/#).map {
        message[$0.upperBound...]
      }
      let parts = (inProgram ?? message[...]).split(separator: ":", maxSplits: 2)
      return "\(parts[0]):\(parts[2])".replacing(#/ \(from macro '\w+ ?'\)/#, with: "")
    }
  }

  @Test("A property that documents cannot store is reported once, on its line")
  func unstorable() throws {
    #expect(
      try diagnostics(
        """
        struct Money { var cents: Int }
        @Model struct Person {
          var name: String
          var income: Money
          var debts: [Money]? = nil
        }
        """) == [
          "6: error: 'income' is unavailable: documents cannot store its type 'Money'; make Money Codable or a '@Model' struct, or mark 'income' with '@Transient'",
          "7: error: 'debts' is unavailable: documents cannot store its type '[Money]'; make Money Codable or a '@Model' struct, or mark 'debts' with '@Transient'",
        ])
  }

  @Test(
    "A static member of another type than the protocol requires, which would be ignored, is an error"
  )
  func ignoredMember() throws {
    let message = { (name: String, type: String) in
      "'\(name)' is unavailable: it must have the type '\(type)', or it is not used"
    }
    #expect(
      try diagnostics(
        """
        func upgrade() -> ModelUpgrade { ModelUpgrade(from: 1) { _ in } }
        typealias Upgrades = ArraySlice<ModelUpgrade>
        @Model struct Person {
          @Key var name: String
          static let upgrades = upgrade()
          static let indexes = ModelIndex<Person>.unique(\\.name)
          static var expirationRule: ExpirationRule { .after(.seconds(1)) }
        }
        @Model(version: 2) final class Note {
          var text = ""
          static let upgrades: Upgrades = [upgrade()]
          static let indexes: [ModelIndex<Note>]? = nil
        }
        @Model(version: 2) struct Valid {
          @Key var name: String
          static let upgrades = [upgrade()]
          static let indexes: [ModelIndex<Self>] = [.unique(\\.name)]
          static let expirationRule = Optional(ExpirationRule.after(.seconds(1)))
        }
        @Model(version: 2) final class ValidObject {
          var text = ""
          static var upgrades: [ModelUpgrade] { [upgrade()] }
          static var indexes: [ModelIndex<ValidObject>] { [] }
        }
        """) == [
          "7: error: " + message("upgrades", "[ModelUpgrade]"),
          "8: error: " + message("indexes", "[ModelIndex<Self>]"),
          "9: error: " + message("expirationRule", "ExpirationRule?"),
          "13: error: " + message("upgrades", "[ModelUpgrade]"),
          "14: error: " + message("indexes", "[ModelIndex<Self>]"),
        ])
  }

  @Test("A dictionary whose key type documents cannot store is reported with the key type")
  func unstorableKeys() throws {
    let message = { (name: String, type: String, advice: String) in
      "'\(name)' is unavailable: documents cannot store its type '\(type)'; make \(advice) Codable, or mark '\(name)' with '@Transient'"
    }
    #expect(
      try diagnostics(
        """
        enum Suit: Int { case clubs, hearts }
        enum Color: String, Codable { case red }
        struct Money { var cents: Int }
        @Model struct Hand {
          var cards: [Suit: Int] = [:]
          var names: Dictionary<Suit, [String]>? = nil
          var stakes: [Suit: Money] = [:]
          var byColor: [Color: Int] = [:]
          var byNumber: [Int: [Color: Date]] = [:]
        }
        @Model final class Game {
          var cards: [Suit: Int] = [:]
        }
        """) == [
          "7: error: " + message("cards", "[Suit: Int]", "the key type Suit"),
          "8: error: " + message("names", "Dictionary<Suit, [String]>", "the key type Suit"),
          "9: error: " + message("stakes", "[Suit: Money]", "Suit and Money"),
          "14: error: " + message("cards", "[Suit: Int]", "the key type Suit"),
        ])
  }

  @Test("An object in a stored property is reported")
  func objectInProperty() throws {
    let advice =
      "make Song Codable or a '@Model' struct, or mark 'songs' with '@Relationship' or '@Inverse' if it refers to objects, or '@Transient'"
    for type in ["[Song] = []", "Song?", "[Song]? = nil"] {
      let messages = try diagnostics(
        """
        @Model final class Song { var title = "" }
        @Model final class Playlist {
          var songs: \(type)
        }
        """)
      #expect(messages.count == 1)
      #expect(messages.first?.hasPrefix("5: error: 'songs' is unavailable") == true)
      #expect(messages.first?.hasSuffix(advice) == true)
    }
  }

  @Test("An invalid key type is reported at the property, with the valid types")
  func keys() throws {
    #expect(
      try diagnostics(
        """
        struct Code: Codable { var text: String }
        @Model struct Person {
          @Key var id: Double
        }
        @Model struct Country {
          @Key var code: Code
        }
        @Model struct City {
          @Key var number: Int32
        }
        extension UInt: @retroactive ModelKey {}
        @Model struct Street {
          @Key var number: UInt
        }
        """) == [
          "5: error: 'id' has type 'Double', which cannot be a key; use 'String', 'UUID', 'Int', 'Int64' or a type that conforms to 'ModelKey'",
          "8: error: 'code' is unavailable: its type 'Code' cannot be a key; use String, UUID, Int, Int64 or a type that conforms to ModelKey",
          "11: error: 'number' is unavailable: its type 'Int32' cannot be a key; use String, UUID, Int, Int64 or a type that conforms to ModelKey",
        ])
  }

  @Test("A full-text index on a property that is not text does not compile")
  func fullTextIndexes() throws {
    let advice =
      "'@TextIndexed' requires a string, a collection of strings or a type that conforms to TextIndexable"
    #expect(
      try diagnostics(
        """
        enum Level: Int { case low }
        @Model struct Address { var city: String }
        @Model struct Person {
          @TextIndexed var age: Int
          @TextIndexed var level: Level?
          @TextIndexed var address: Address
        }
        """) == [
          "6: error: 'age' has type 'Int', which contains no text to index; use '@Indexed' or remove '@TextIndexed'",
          "7: error: 'level' is unavailable: its type 'Level' contains no text to index; \(advice)",
          "8: error: 'address' is unavailable: its type 'Address' contains no text to index; \(advice)",
        ])
    #expect(
      try diagnostics(
        """
        enum Color: String, Codable { case red }
        struct Email: Codable, TextIndexable { var text: String }
        @Model struct Person {
          @TextIndexed var name: String?
          @TextIndexed var colors: [Color] = []
          @TextIndexed var color: Color?
          @TextIndexed var notes: Set<String>?
          @TextIndexed var email: Email?
        }
        """) == [])
  }

  @Test("A relationship to objects of any class accepts only protocols of objects")
  func mixed() throws {
    let classes = """
      @Model final class Song { var title = "" }
      extension Song: Playable {}
      @Model final class Playlist {
        @Relationship var items: [any Playable] = []
        @Relationship var first: (any Playable)?
      }
      """
    #expect(try diagnostics("protocol Playable: GraphObject {}\n" + classes) == [])

    let found = try diagnostics("protocol Playable: AnyObject {}\n" + classes)
    #expect(found.contains { $0.contains("any GraphObject") }, "\(found)")
  }

  @Test("An inverse that does not match is reported at the relationship")
  func inverses() throws {
    #expect(
      try diagnostics(
        """
        @Model final class Song { var title = ""; var count = 0; @Inverse var albums: [Album] }
        @Model final class Album {
          @Relationship(inverse: \\Song.albums) var songs: [Song] = []
        }
        @Model final class Playlist {
          @Relationship(inverse: \\Song.albums) var songs: [Song] = []
          @Relationship(inverse: \\Song.count) var others: [Song] = []
          @Relationship(inverse: \\Album.songs) var more: [Song] = []
        }
        """) == [
          "8: error: 'songs' is unavailable: 'albums' of Song is not an inverse to Playlist; declare it there as '@Inverse var albums: [Playlist]' or 'Playlist?'",
          "9: error: 'others' is unavailable: 'count' of Song is not an inverse to Playlist; declare it there as '@Inverse var count: [Playlist]' or 'Playlist?'",
          "10: error: 'more' is unavailable: 'songs' of Song is not an inverse to Playlist; declare it there as '@Inverse var songs: [Playlist]' or 'Playlist?'",
        ])
  }

  @Test("Declarations that cannot be models are reported at their location")
  func declarations() throws {
    let messages = try diagnostics(
      """
      @Model enum Plain { case a }
      @Model enum Raw: String { case a }
      @Model actor Worker { var name = "" }
      @Model final class Song { var title: String }
      @Model class Open { var title = "" }
      """
    ).sorted()
    let kind = "'@Model' can only be applied to a struct or a final class"
    let advice =
      "; to store an enum in a property, give it a raw value or conform it to 'Codable'"
    #expect(
      messages == [
        "3: error: \(kind)\(advice)", "4: error: \(kind)\(advice)", "5: error: \(kind)",
        "6: error: class 'Song' has no initializers, and 'title' has no initial value; add an initializer or an initial value",
        "7: error: a '@Model' class must be final",
      ])
    #expect(try diagnostics("@Model extension Int {}").first?.hasPrefix("3: error: ") == true)
  }

  @Test("A former name that is also a current name is reported at its property")
  func formerNames() throws {
    #expect(
      try diagnostics(
        """
        @Model struct Person {
          @Field(renamedFrom: "email") var mail: String
          @Field(renamedFrom: "email") var email: String
        }
        """) == [
          "4: error: 'mail' cannot be renamed from 'email', which is the current field name of 'email'; remove it from 'renamedFrom'",
          "5: error: 'email' is the current field name of 'email'; list only former names in 'renamedFrom'",
        ])
  }

  @Test("A subscript with a Codable type that is not a model suggests a named collection")
  func codableSubscript() throws {
    let message =
      "error: 'subscript(_:)' is unavailable: a collection of Codable values has a name: use store[\"people\"] with save(_:key:), get(_:as:) and find().decoded(as:); or mark the type '@Model' and import NanoStoreModels; a '@Model' type has this member in store[T.self].documents"
    #expect(
      try diagnostics(
        """
        struct Person: Codable { var name: String }
        func f(_ store: Store) { _ = store[Person.self] }
        """) == ["4: \(message)"])
    let outcome = try ConsumerCompiler.check(
      """
      import NanoStore
      struct Person: Codable { var name: String }
      func f(_ store: Store) { _ = store[Person.self] }
      """)
    #expect(outcome.messages.count == 1 && outcome.messages.first?.hasSuffix(message) == true)
  }

  @Test("An unknown property as an argument and in a closure is named")
  func unknownProperties() throws {
    let person = "@Model struct Person { var name: String; var age: Int }\n"
    for call in [
      "sum(\\.agee)", "select(\\.agee)", "distinct(\\.agee)", "find(\\Person.agee > 3)",
      "max(\\.agee)", "sorted(by: \\.agee)", "grouped(by: \\.agee, .count)",
    ] {
      let query = call.hasPrefix("find") ? "people" : "people.find()"
      #expect(
        try diagnostics(
          person + "func f(_ people: ModelCollection<Person>) throws { _ = try \(query).\(call) }")
          == ["4: error: value of type 'Person' has no member 'agee'"])
    }
    #expect(
      try diagnostics(
        person + "func f(_ people: ModelCollection<Person>) { _ = people.find { $0.agee > 3 } }")
        == [
          "4: error: value of type 'ModelProperties<Person>' has no dynamic member 'agee' using key path from root type 'Person'"
        ])
  }

  @Test("An enum with a case 'none' causes no warnings")
  func noneCases() throws {
    #expect(
      try diagnostics(
        """
        enum Mood: String { case none, good }
        enum Kind: Codable { case none, good }
        @Model struct Person {
          @Key var id: String?
          var mood: Mood?
          @Field(renamedFrom: "sort") var kind: Kind?
          var other: Mood = .none
          var more: [Kind]?
        }
        @Model final class Pet {
          var mood: Mood?
          @Field(renamedFrom: "sort") var kind: Kind?
          var other: Mood = .none
          var last: Mood? = .good
        }
        """) == [])
  }

  @Test("A model can conform to CustomReflectable itself")
  func ownMirrors() throws {
    #expect(
      try diagnostics(
        """
        @Model struct A: CustomReflectable {
          var a = 1
          var customMirror: Mirror { Mirror(self, children: []) }
        }
        @Model struct B { var b: Int? }
        extension B: CustomReflectable {
          var customMirror: Mirror { Mirror(self, children: []) }
        }
        @Model struct C: CustomStringConvertible {
          var c: Int?
          var description: String { "C" }
        }
        """) == [])
  }
}
