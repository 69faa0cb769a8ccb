// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

private enum CardSuit: String, CaseIterable { case clubs, hearts, spades, none }
private enum CardRank: Int, Codable {
  case low = 1
  case high
}

@Model private struct CardSpot { var height: Double, steps: Int? }
@Model private struct CardPlace { var name: String, spot: CardSpot? }

@Model private struct Card {
  @Key var id: String
  var suit: CardSuit
  var other: CardSuit? = nil
  var ranks: [CardRank] = []
  var suits: Set<CardSuit> = []
  var maybe: [CardSuit]? = nil
  var named: [String: CardSuit] = [:]
  var place: CardPlace? = nil
  var n = 0
  var optional: Int? = nil
  var scores: [Double] = []
  var readings: [String: Double] = [:]
  var cost: Decimal = 0
  var costs: [Decimal]? = nil
}

private enum CardKind: String, Codable { case plain, rare }

@Model private struct CardBox {
  @Key var id: String
  var picture = Data()
  /// Stored as an array, since its keys are neither strings nor integers.
  var counts: [CardKind: Int] = [:]
  var names: [String: Int] = [:]
}

@Model private struct Sheet {
  @Key var id: String
  var rows: [[Int]] = []
  var marks: [Int?]? = nil
}

@Suite("Properties of any type in queries")
struct TypedValueTests {
  private let store: Store
  private let cards: ModelCollection<Card>

  init() throws {
    store = try anyStore()
    cards = store[Card.self]
    try cards.insert([
      Card(
        id: "a", suit: .clubs, other: .hearts, ranks: [.low, .high], suits: [.clubs, .spades],
        maybe: [.hearts], named: ["x": .spades],
        place: CardPlace(name: "Alp", spot: CardSpot(height: 1800.5, steps: 3)), n: 1, optional: 5,
        scores: [1, 2], readings: ["t": 31, "a.b": 1], cost: 9),
      Card(
        id: "b", suit: .hearts, other: CardSuit.none, ranks: [.low],
        place: CardPlace(name: "Sea", spot: nil), n: 5,
        scores: [3], readings: ["t": 3], cost: 10),
      Card(id: "c", suit: .clubs, maybe: [], n: 11, optional: 7, cost: 100),
    ])
  }

  private func ids(_ query: ModelQuery<Card>) throws -> [String] {
    try query.sorted(by: \.id).select(\.id)
  }

  @Test("Raw-value types round-trip in every kind of property")
  func roundTrip() throws {
    let a = try #require(try cards.get("a"))
    #expect(a.suit == .clubs && a.other == .hearts && a.ranks == [.low, .high])
    #expect(a.suits == [.clubs, .spades] && a.maybe == [.hearts] && a.named == ["x": .spades])
    let b = try #require(try cards.get("b"))
    #expect(b.other == CardSuit.none && b.maybe == nil && b.suits == [])
    let object = try cards.documents.get("a")?.object()
    #expect(object?["suits"] == ["clubs", "spades"] && object?["maybe"] == ["hearts"])
    #expect(object?["ranks"] == [1, 2] && object?["named"] == ["x": "spades"])
    try cards.documents.update("a", set: ["maybe": ["diamonds"]])
    #expect(#expect(throws: StoreError.self) { try cards.get("a") }?.code == .typeMismatch)
  }

  @Test("Conditions compare raw-value types")
  func rawConditions() throws {
    #expect(try ids(cards.find(\.suit == .clubs)) == ["a", "c"])
    #expect(try ids(cards.find { $0.suit.isIn([.hearts, .spades]) }) == ["b"])
    #expect(try ids(cards.find { $0.other.isIn([.hearts, nil]) }) == ["a", "c"])
    #expect(try ids(cards.find { [.clubs].contains($0.suit) }) == ["a", "c"])
    #expect(try ids(cards.find { $0.ranks.contains(.high) }) == ["a"])
    #expect(try ids(cards.find { $0.suits.contains(.spades) }) == ["a"])
    #expect(try ids(cards.find { $0.maybe.contains(.hearts) }) == ["a"])
    #expect(try cards.find().select(\.suit, \.other).map { $0.1 } == [.hearts, CardSuit.none, nil])
    #expect(try cards.find().select(\.maybe) == [[.hearts], nil, []])
    try cards.update("c", .set(\.suit, .spades), .set(\.maybe, [.clubs]), .set(\.suits, [.hearts]))
    let c = try #require(try cards.get("c"))
    #expect(c.suit == .spades && c.maybe == [.clubs] && c.suits == [.hearts])
  }

  @Test(
    "Groups by raw values, by elements of arrays and sets, and by several properties are correct")
  func groups() throws {
    let bySuit = try cards.find().grouped(by: \.suit, .count)
    #expect(bySuit.map(\.group) == [.clubs, .hearts] && bySuit.map(\.values) == [2, 1])
    let byOther = try cards.find().grouped(by: \.other, .count)
    #expect(byOther.map(\.group) == [nil, .hearts, CardSuit.none])
    let byRank = try cards.find().grouped(by: \.ranks, .count, .sum(\.n))
    #expect(byRank.map(\.group) == [nil, .low, .high])
    #expect(byRank.map(\.values.0) == [1, 2, 1] && byRank.map(\.values.1) == [11, 6, 1])
    let byMaybe = try cards.find().grouped(by: \.maybe, .count)
    #expect(byMaybe.map(\.group) == [nil, .hearts] && byMaybe.map(\.values) == [2, 1])
    let byBoth = try cards.find().grouped(by: \.suit, \.n, .count)
    #expect(byBoth.map(\.group.0) == [.clubs, .clubs, .hearts])
    #expect(byBoth.map(\.group.1) == [1, 11, 5])
    let byThree = try cards.find().grouped(by: \.suit, \.n, \.optional, .count)
    #expect(byThree.map(\.group.2) == [5, 7, nil])
    let error = #expect(throws: StoreError.self) {
      try cards.find().grouped(by: \.suit, \.ranks, .count)
    }
    #expect(error?.code == .unsupported)
    #expect(try cards.find().distinct(\.suit) == [.clubs, .hearts])
    #expect(try cards.find().distinct(\.suits) == [.clubs, .spades])
    #expect(try cards.find().distinct(\.maybe) == [.hearts])
  }

  @Test("Aggregates of optionals, of arrays and through optionals are correct")
  func aggregates() throws {
    let all = cards.find()
    #expect(try all.sum(\.optional) == 12)
    #expect(try all.sum(\.scores) == 6 && all.average(\.scores) == 2)
    #expect(try all.min(\.optional) == 5 && all.max(\.optional) == 7)
    #expect(try all.max(\.place?.spot?.height) == 1800.5)
    #expect(try all.aggregate(.max(\.place?.spot?.height)) == 1800.5)
    let (least, sum, count) = try all.aggregate(
      .min(\.place?.spot?.steps), .sum(\.place?.spot?.steps), .count)
    #expect(least == 3 && sum == 3 && count == 3)
  }

  @Test("isEmpty holds for empty data, and for an empty dictionary however it is stored")
  func emptiness() throws {
    let boxes = store[CardBox.self]
    try boxes.insert([
      CardBox(id: "empty"),
      CardBox(id: "full", picture: Data([1]), counts: [.rare: 2], names: ["a": 1]),
    ])
    #expect(try boxes.documents.get("empty")?["counts"] == [])

    #expect(try boxes.find { $0.picture.isEmpty }.keys() == ["empty"])
    #expect(try boxes.find { !$0.picture.isEmpty }.keys() == ["full"])

    try boxes.documents.insert(DocumentObject(), key: "missing")
    for condition in [
      boxes.find { $0.counts.isEmpty }, boxes.find { $0.names.isEmpty },
      boxes.find(#Predicate<CardBox> { $0.counts.isEmpty }),
      boxes.find(#Predicate<CardBox> { $0.names.isEmpty }),
    ] {
      #expect(try condition.keys() == ["empty", "missing"])
    }
  }

  @Test("A list of lists is empty only without elements, and its elements cannot be queried")
  func listsOfLists() throws {
    let sheets = store[Sheet.self]
    try sheets.insert([
      Sheet(id: "empty"), Sheet(id: "inner", rows: [[], [1]]), Sheet(id: "full", rows: [[1, 2]]),
    ])

    #expect(try sheets.find { $0.rows.isEmpty }.keys() == ["empty"])
    #expect(try sheets.find { !$0.rows.isEmpty }.keys() == ["inner", "full"])

    for query in [
      { _ = try sheets.find { $0.rows.contains([Int]()) }.fetch() },
      { _ = try sheets.find().distinct(\.rows) },
      { _ = try sheets.find().grouped(by: \.rows, .count) },
    ] as [() throws -> Void] {
      #expect(#expect(throws: StoreError.self) { try query() }?.code == .unsupported)
    }
  }

  @Test("A list that contains nil is not nil, and only such a list contains nil")
  func optionalElements() throws {
    let sheets = store[Sheet.self]
    try sheets.insert([
      Sheet(id: "none"), Sheet(id: "empty", marks: []), Sheet(id: "hole", marks: [1, nil]),
      Sheet(id: "full", marks: [1]),
    ])

    #expect(try sheets.find(\.marks == nil).keys() == ["none"])
    #expect(try sheets.find { $0.marks == nil }.keys() == ["none"])
    #expect(try sheets.find(\.marks != nil).keys() == ["empty", "hole", "full"])
    #expect(try sheets.find { $0.marks.contains(nil) }.keys() == ["hole"])
    #expect(try sheets.find { !$0.marks.contains(nil) }.keys() == ["none", "empty", "full"])
    #expect(try sheets.find { $0.marks.contains(1) }.keys() == ["hole", "full"])
  }

  @Test("Conditions on dictionary values, nil and ranges are correct")
  func places() throws {
    #expect(try ids(cards.find(\.readings["t"] > 3)) == ["a"])
    #expect(try ids(cards.find(\.readings["t"] >= 3 && \.n < 5)) == ["a"])
    #expect(try ids(cards.find(\.readings["a.b"] == 1)) == ["a"])
    #expect(try ids(cards.find(\.readings["t"] != 3)) == ["a", "c"])
    #expect(try ids(cards.find { $0.readings["t"] == nil }) == ["c"])
    #expect(try ids(cards.find { $0.readings["none"] < 3 }) == [])
    #expect(try ids(cards.find(\.optional > 5)) == ["c"])
    #expect(try ids(cards.find(\.place == nil)) == ["c"])
    #expect(try ids(cards.find(\.place != nil && \.place?.spot == nil)) == ["b"])
    #expect(try ids(cards.find { (1...5).contains($0.n) }) == ["a", "b"])
    #expect(
      try ids(cards.find { (1..<5).contains($0.n) && (5...5).contains($0.optional) }) == ["a"])
    #expect(try ids(cards.find { ["a", "c"].contains($0.id) }) == ["a", "c"])
  }

  @Test("A Decimal is compared, sorted, summed and averaged by its value")
  func decimals() throws {
    let costs = try cards.find().fetch().map(\.cost)
    let sorted = try cards.find().sorted(by: \.cost).fetch().map(\.cost)
    #expect(sorted == costs.sorted())
    #expect(try cards.find().sorted(by: \.cost, order: .reverse).fetch().first?.cost == costs.max())
    #expect(try cards.find().sum(\.cost) == costs.reduce(0, +))
    #expect(try cards.find().max(\.cost) == costs.max())
    let mean: Decimal? = try cards.find().average(\.cost)
    #expect(mean == Decimal(string: "39." + String(repeating: "6", count: 31) + "7"))
    #expect(try ids(cards.find(\.cost == 10)) == ["b"])
    #expect(try cards.find(\.cost >= 10).count() == costs.count { $0 >= 10 })
  }
}
