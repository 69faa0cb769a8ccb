// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels

@Model struct Home: Equatable {
  var city: String
  @Field(renamedFrom: "land") var country = "UK"
  var floors: [Int] = []
  var number: Int?
}

/// A model with a property of every kind that predicates support.
@Model(collection: "travelers")
struct Traveler: Equatable {
  @Key var id: String
  @Indexed var lastName: String
  @Field(renamedFrom: "years") var age: Int = 3
  @Field(renamedFrom: "alias", "called") var nickname: String?
  var isActive = true
  var rank: Int? = 5
  var weight: Double = 1.5
  var height: Float = 1
  var small: Int8 = 0
  var born: Date?
  var link: URL?
  var token: UUID?
  var price: Decimal = 2
  var photo: Data?
  var level: Level = .low
  var otherMood: Feeling?
  var tags: [String] = ["none"]
  var scores: [Int] = []
  var ratios: [Double] = []
  var marks: [Int?] = []
  var extra: [Int]?
  var words: Set<String> = []
  var counts: [String: Int] = [:]
  var home: Home?
  var work: Home = Home(city: "Bern")
  var past: [Home] = []
  var grid: [[Int]] = []
  var shape: Shape?
}

enum Level: Int, Codable {
  case low = 1
  case high
}
enum Feeling: String, Codable, FieldCodable { case good, bad }

/// A captured value that predicates compare with.
struct Wanted: Codable, Sendable {
  var name = "Doe"
  var age = 3
  var place = Inner()
  struct Inner: Codable, Sendable { var country = "UK" }
}

/// Generates documents of travelers as written by several versions of a program.
struct TravelerGenerator {
  private var state: UInt64
  /// Whether some documents have fields with former names.
  let hasFormerNames: Bool

  init(seed: UInt64, hasFormerNames: Bool) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    self.hasFormerNames = hasFormerNames
  }

  private mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % bound
  }
  private mutating func one<T>(of values: [T]) -> T { values[below(values.count)] }
  private mutating func list(_ values: [DocumentValue]) -> DocumentValue {
    .array((0..<below(4)).map { _ in one(of: values) })
  }

  private static let moment = Date(timeIntervalSinceReferenceDate: 100)
  static let token = UUID(uuidString: "0199A1B2-0000-7000-8000-00000000000A")

  mutating func document() -> DocumentObject {
    var object: DocumentObject = ["lastName": one(of: ["Doe", "doe", "Zoë", "", "D"])]
    add("age", ["years"], [.int(3), .int(4), .int(5), .int(-2), .int(0), .null], &object)
    add("nickname", ["alias", "called"], [.null, "x", "Doe", "xy", ""], &object)
    add("isActive", [], [true, false, .null], &object)
    add("rank", [], [.null, .int(1), .int(5), .int(9), .double(5)], &object)
    add("weight", [], [.double(1.5), .double(-0.0), .double(.nan), .double(2), .int(3)], &object)
    add("height", [], [.double(1), .double(0.5), .double(.nan)], &object)
    add("small", [], [.int(3), .int(100), .int(-5)], &object)
    add("born", [], [.date(Self.moment), .date(Self.moment + 1), .null], &object)
    add("link", [], [.url(URL(string: "https://a.org/")!), .null], &object)
    add("token", [], [.string(Self.token!.uuidString), .null], &object)
    add("price", [], ["2", "10", "2.5"], &object)
    add("photo", [], [.data(Data([1])), .data(Data([1, 2])), .null], &object)
    add("level", [], [.int(1), .int(2)], &object)
    add("otherMood", [], ["good", "bad", .null], &object)
    add("tags", [], [list(["x", "Doe", "y", "", "t3"]), list(["x", "Doe", "y"]), "x"], &object)
    add("scores", [], [list([.int(1), .int(3), .int(7)]), .int(3), .array([])], &object)
    add("ratios", [], [list([.double(1.5), .double(.nan)]), list([.double(2)])], &object)
    add("marks", [], [list([.null, .int(3), .int(4)]), .array([.null])], &object)
    add("extra", [], [.null, list([.int(1), .int(3)]), .array([])], &object)
    add("words", [], [list(["x", "y"])], &object)
    add("counts", [], [["a": .int(3)], ["a": .int(4), "b": .int(1)], [:]], &object)
    add("home", [], [home(), home(), .null], &object)
    object["work"] = home()
    let homes = (0..<below(3)).map { _ in home() }
    add("past", [], [.array(homes), home()], &object)
    add("grid", [], [[[1]], []], &object)
    add("shape", [], [["square": [:]], .null], &object)
    return object
  }

  private mutating func home() -> DocumentValue {
    var object: DocumentObject = ["city": one(of: ["Rome", "Doe", "Bern"])]
    add("country", ["land"], ["UK", "US", .null], &object)
    add("floors", [], [list([.int(1), .int(3)])], &object)
    add("number", [], [.int(3), .int(8), .null], &object)
    return .object(object)
  }

  /// Adds a field to two thirds of the documents, and under each former name to a third of them.
  private mutating func add(
    _ name: String, _ former: [String], _ values: [DocumentValue], _ object: inout DocumentObject
  ) {
    if below(3) > 0 { object[name] = one(of: values) }
    guard hasFormerNames else { return }
    for name in former where below(3) == 0 { object[name] = one(of: values) }
  }
}
