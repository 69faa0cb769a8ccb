// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Line {
  @Indexed var cost: Decimal
  var discounts: [Decimal] = []
}

@Model private struct Offer {
  @Key var id: String
  @Indexed var price: Decimal
  @Unique var code: Decimal? = nil
  var fee: Decimal? = nil
  var rates: [Decimal] = []
  var named: [String: Decimal] = [:]
  var line: Line? = nil
  var lines: [Line] = []
}

@Model private struct Token {
  @Key var id: String
  @Unique var code: Decimal
}

@Model private struct Purchase {
  @Key var id: String
  var offerID: String
}

/// Half of the documents have decimals, and half have the texts that earlier versions of the library stored.
@Model private struct Product {
  @Key var id: String
  var price: Decimal
}

@Suite("Decimals of models")
struct DecimalModelTests {
  @Test("The code of docs/DECIMALS.md changes, finds, sorts and sums them exactly")
  func article() async throws {
    let store = try anyStore()
    try await store[Product.self].save(Product(id: "tea", price: Decimal(string: "9.99")!))

    let products = store[Product.self]
    try await products.update(
      "tea", .increment(\.price, by: Decimal(string: "0.01")!), .multiply(\.price, by: 2))
    let total = try await products.find(\.price > 10).sorted(by: \.price).sum(\.price)  // a Decimal

    #expect(total == 20)
    #expect(try await products.documents.get("tea")?["price"]?.decimal == 20)
  }
}

@Suite("Decimals that earlier versions stored as text")
struct DecimalTextTests {
  private let store: Store
  private let offers: ModelCollection<Offer>
  private static let prices: [Decimal] = ["9.99", "10", "2.5", "100", "-3", "0.10", "9.98", "1e3"]
    .compactMap { Decimal(string: $0) }

  init() throws {
    store = try anyStore()
    offers = store[Offer.self]
    for (n, price) in Self.prices.enumerated() {
      let offer = Offer(
        id: "o\(n)", price: price, fee: n % 3 == 0 ? nil : price + 1, rates: [price, price * 2],
        named: ["a": price], line: Line(cost: price, discounts: [price]),
        lines: [Line(cost: price), Line(cost: price / 4)])
      try offers.insert(offer)
      guard n.isMultiple(of: 2) else { continue }
      let documents = offers.documents
      guard var document = try documents.get("o\(n)") else { continue }
      for field in try document.object() { document[field.name] = Self.texts(field.value) }
      try documents.replace(document)
    }
    #expect(try offers.documents.find("[price] >= ''").count() == 4)
  }

  private static func texts(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .decimal(let number): .string(number.description)
    case .array(let values): .array(values.map(texts))
    case .object(let fields):
      .object(DocumentObject(fields.map { ($0.name, texts($0.value)) }))
    default: value
    }
  }

  private func ids(_ condition: ModelCondition<Offer>) throws -> [String] {
    try offers.find(condition).sorted(by: \.id).select(\.id)
  }
  private func expected(_ holds: (Offer) -> Bool) throws -> [String] {
    try offers.find().fetch().filter(holds).map(\.id).sorted()
  }

  @Test("Conditions find them as if they were decimals", arguments: prices)
  func conditions(bound: Decimal) throws {
    #expect(try ids(\.price == bound) == expected { $0.price == bound })
    #expect(try ids(\.price != bound) == expected { $0.price != bound })
    #expect(try ids(\.price < bound) == expected { $0.price < bound })
    #expect(try ids(\.price >= bound) == expected { $0.price >= bound })
    #expect(try ids(\.fee > bound) == expected { $0.fee.map { $0 > bound } ?? false })
    let list = [bound, 2]
    #expect(
      try offers.find { $0.price.isIn(list) }.count() == expected { list.contains($0.price) }.count)
    #expect(
      try offers.find { $0.rates.contains(bound) }.keys().sorted()
        == expected { $0.rates.contains(bound) })
    #expect(
      try offers.find { $0.named["a"] <= bound }.keys().sorted()
        == expected { $0.named["a"].map { $0 <= bound } ?? false })
    #expect(
      try offers.find { $0.line.cost > bound }.keys().sorted()
        == expected { $0.line.map { $0.cost > bound } ?? false })
    #expect(
      try offers.find { $0.lines.element { $0.cost > bound && $0.cost < 10 } }.keys().sorted()
        == expected { $0.lines.contains { $0.cost > bound && $0.cost < 10 } })
    #expect(
      try offers.find(#Predicate { $0.price > bound && $0.price != 10 }).keys().sorted()
        == expected { $0.price > bound && $0.price != 10 })
  }

  @Test("Lists with them have their lengths, and elements by position, before and after an upgrade")
  func lists() throws {
    try offers.insert(Offer(id: "none", price: 1))
    let (bound, rates) = (Self.prices[2], [Self.prices[1], Self.prices[1] * 2])
    for isUpgraded in [false, true] {
      if isUpgraded { #expect(try offers.upgrade() == 4) }
      func check(
        _ predicate: Predicate<Offer>, _ location: SourceLocation = #_sourceLocation
      ) throws {
        let found = try offers.find(predicate).keys().sorted()
        let expected = try offers.find().fetch().filter { try predicate.evaluate($0) }.map(\.id)
          .sorted()
        #expect(found == expected, sourceLocation: location)
        #expect(!found.isEmpty && found.count < 9, sourceLocation: location)
      }
      try check(#Predicate { $0.rates.isEmpty })
      try check(#Predicate { !$0.rates.isEmpty })
      try check(#Predicate { $0.rates.count == 2 })
      try check(#Predicate { $0.rates.count > 1 && $0.rates[1] > bound })
      try check(#Predicate { $0.rates.contains { $0 > bound } })
      try check(#Predicate { $0.rates.allSatisfy { $0 > bound } })
      try check(#Predicate { $0.named.isEmpty })
      try check(#Predicate { $0.lines.count > 1 && $0.lines[1].cost < bound })
      try check(#Predicate { $0.lines.contains { $0.cost > bound } })
      try check(#Predicate { $0.rates == rates })
      try check(#Predicate { $0.rates != rates })
    }
  }

  @Test("They are sorted, summed, averaged and grouped as if they were decimals")
  func computations() throws {
    let prices = Self.prices
    #expect(try offers.find().sorted(by: \.price).select(\.price) == prices.sorted())
    #expect(
      try offers.find().sorted(by: \.price, order: .reverse).limit(3).select(\.price)
        == Array(prices.sorted().reversed().prefix(3)))
    #expect(try offers.find().sum(\.price) == prices.reduce(0, +))
    #expect(try offers.find().average(\.price) == prices.reduce(0, +) / Decimal(prices.count))
    #expect(try offers.find().max(\.price) == prices.max())
    #expect(try offers.find().min(\.price) == prices.min())
    #expect(try Set(offers.find().distinct(\.price)) == Set(prices))
    let page = try offers.find().sorted(by: \.price).page(5)
    #expect(page.models.map(\.price) == Array(prices.sorted().prefix(5)))
  }

  @Test("They are found through other collections")
  func related() throws {
    try store[Purchase.self].insert([
      Purchase(id: "p", offerID: "o0"), Purchase(id: "q", offerID: "o1"),
    ])
    let purchases = store[Purchase.self].find {
      $0.offerID.refers(to: Offer.self) { $0.price > 9 }
    }
    #expect(try purchases.keys().sorted() == ["p", "q"])
  }

  @Test("upgrade() stores them as decimals")
  func upgrade() throws {
    let before = try offers.find().sorted(by: \.id).fetch().map(\.price)
    #expect(try offers.upgrade() == 4)
    #expect(try offers.upgrade() == 0)
    #expect(try offers.documents.find("[price] >= '' OR [lines.cost] >= ''").count() == 0)
    #expect(try offers.find().sorted(by: \.id).fetch().map(\.price) == before)
  }

  @Test("A unique decimal differs from those that are stored as text")
  func unique() throws {
    let tokens = store[Token.self]
    let documents = tokens.documents
    try documents.insert(["code": "9.99"], key: "a")
    #expect(throws: StoreError.self) {
      try tokens.insert(Token(id: "b", code: Decimal(string: "9.990")!))
    }
    #expect(try tokens.find().keys() == ["a"])
    #expect(try documents.get("a")?["code"] == .decimal(Decimal(string: "9.99")!))
  }
}
