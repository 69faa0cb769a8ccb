// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Decimals in a store", .timeLimit(.minutes(10)))
struct DecimalStoreTests {
  private func amount(_ text: String) -> DocumentValue { .decimal(DecimalValue(text)!) }

  private func goods(_ values: [DocumentValue]) -> [DocumentObject] {
    values.enumerated().map { ["n": .int(Int64($0)), "price": $1] }
  }

  private let numbers: [DocumentValue] = [10, 9.5, 12.3, -3, .null]
  private var decimals: [DocumentValue] {
    [
      "12.3", "9.99", "10", "-0.5", "12.30000000000000000001", "1e30", "9007199254740993.5",
      "-0.50000000000000000001",
    ].map(amount)
  }

  private static let conditions = [
    "[price] = 10", "[price] = DECIMAL '12.3'", "[price] = 12.3", "[price] < DECIMAL '10.00'",
    "[price] >= 12.3", "[price] > DECIMAL '12.3'", "[price] BETWEEN 9.5 AND DECIMAL '12.3'",
    "[price] IN (10, DECIMAL '9.99', 12.3)", "[price] IS NULL", "[price] != 10",
    "NOT [price] <= DECIMAL '9.99'", "[price] <= DECIMAL '-0.5'",
  ]

  @Test(
    "Decimals are found, counted and sorted by value, with and without an index on the field",
    arguments: [nil, "price", "-price"], [false, true])
  func queries(index: String?, isMixed: Bool) throws {
    let store = try anyStore()
    let indexed = store["indexed"]
    let values = isMixed ? numbers + ["text", true] : numbers
    if let index { try indexed.createIndex(index) }
    try indexed.insert(goods(values))
    try indexed.insert(goods(decimals))
    let expected = try Store(.memory)["plain"]
    try expected.insert(goods(values))
    try expected.insert(goods(decimals))

    for text in Self.conditions {
      for order in [SortOrder.forward, .reverse] {
        func found(_ collection: DocumentCollection) throws -> [DocumentValue?] {
          try collection.find(text).sorted(by: "price", order: order).fetch().map { $0["price"] }
        }
        #expect(try found(indexed) == found(expected), "\(text)")
      }
      #expect(try indexed.find(text).count() == expected.find(text).count(), "\(text)")
    }
    #expect(
      try indexed.find("[price] < 20").sorted(by: "price").fetch().map { $0["price"] }
        == [
          -3, amount("-0.50000000000000000001"), amount("-0.5"), 9.5, amount("9.99"), 10,
          // The double is a little more than both: 12.300000000000000710….
          amount("10"), amount("12.3"), amount("12.30000000000000000001"), 12.3,
        ])
    var pages: [DocumentValue?] = []
    var page = try indexed.find("[price] IS NOT NULL").sorted(by: "price", order: .reverse).page(3)
    while true {
      pages += page.documents.map { $0["price"] }
      guard let next = page.next else { break }
      page = try indexed.find("[price] IS NOT NULL").sorted(by: "price", order: .reverse)
        .after(next).page(3)
    }
    #expect(
      pages
        == (try indexed.find("[price] IS NOT NULL").sorted(by: "price", order: .reverse).fetch()
          .map { $0["price"] }))
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "Decimals in arrays are found with an index in a collection with more names than are tracked",
    arguments: [nil, "1", "12.3"])
  func manyNames(first: String?) throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    let indexed = store["indexed"]
    try indexed.createIndex("prices", elements: true)
    var names = DocumentObject()
    for number in 0..<1_200 { names["name\(number)"] = 1 }
    var documents: [DocumentObject] = [names]
    if let first {
      documents.insert(["prices": .array([first == "1" ? 1 : amount(first)])], at: 0)
    }
    documents += ["12.3", "12.5", "5"].map { ["prices": .array([amount($0)])] }
    let plain = store["plain"]
    for document in documents {
      try indexed.insert(document)
      try plain.insert(document)
    }

    for isReopened in [false, true] {
      for text in [
        "[prices] = DECIMAL '12.3'", "[prices] = 12.5", "[prices] = 5", "[prices] IN (5, 12.5)",
      ] {
        let found = try indexed.find(text).rowIDs().sorted()
        #expect(!found.isEmpty, "\(text)")
        #expect(try found == plain.find(text).rowIDs().sorted(), "\(text)")
      }
      #expect(try store.verify().isEmpty)
      if !isReopened {
        try store.close()
        try store.reopen()
      }
    }
  }

  @Test("Equality, ranges and orders of decimals use the index")
  func plans() throws {
    let store = try anyStore()
    let collection = store["goods"]
    let index = try collection.createIndex("price", "-n")
    try collection.insert(
      (0..<2_000).map { ["price": amount("\($0 % 1_000).\($0 % 10)5"), "n": .int(Int64($0))] })
    for query in try [
      collection.find("[price] = DECIMAL '7.75'"), collection.find("[price] < DECIMAL '1.5'"),
      collection.find("[price] BETWEEN 5 AND DECIMAL '6.25'"),
      collection.find("[price] IN (DECIMAL '7.75', 8)"),
      collection.find().sorted(by: "price").limit(5),
    ] {
      #expect(try query.explain().indexes == [index.name])
    }
    #expect(try collection.find("[price] = DECIMAL '7.75'").count() == 2)
  }

  @Test("A unique index takes equal numbers of any type for the same value, and no others")
  func unique() throws {
    for order in [0, 1] {
      let store = try anyStore()
      let collection = store["goods"]
      let values: [DocumentValue] = [1, amount("0.5"), 0.1, amount("12345678901234567890.1")]
      if order == 0 { try collection.createIndex("price", unique: true) }
      try collection.insert(goods(values))
      if order == 1 { try collection.createIndex("price", unique: true) }
      for duplicate: DocumentValue in [1.0, amount("1.00"), 0.5, amount("12345678901234567890.1")] {
        let failure = #expect(throws: StoreError.self) {
          try collection.insert(["price": duplicate])
        }
        #expect(failure?.code == .uniqueViolation, "\(duplicate)")
      }
      try collection.insert(goods([amount("0.1"), amount("12345678901234567890.2"), 2]))
      #expect(try collection.count() == 7)
      #expect(try store.verify().isEmpty)
    }
  }

  @Test("The first decimal is compared with the numbers that a unique index already has")
  func firstDecimal() throws {
    let store = try anyStore()
    let collection = store["goods"]
    try collection.createIndex("price", unique: true)
    try collection.insert(["price": 7])
    let failure = #expect(throws: StoreError.self) {
      try collection.insert(["price": amount("7")])
    }
    #expect(failure?.code == .uniqueViolation)
    try collection.insert(["price": amount("7.5")])
    #expect(try collection.find("[price] > 7").count() == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Elements of arrays are found by value, with an index on elements")
  func elements() throws {
    let store = try anyStore()
    let collection = store["goods"]
    try collection.createIndex("prices", elements: true)
    try collection.insert([
      ["prices": [1, 2.5]], ["prices": [amount("1"), amount("0.1")]], ["prices": [0.1]],
      ["prices": [amount("0.3"), "x"]],
    ])
    #expect(try collection.find("[prices] = 1").count() == 2)
    #expect(try collection.find("[prices] = DECIMAL '1'").count() == 2)
    #expect(try collection.find("[prices] = DECIMAL '0.1'").count() == 1)
    #expect(try collection.find("[prices] = 0.1").count() == 1)
    #expect(try collection.find("[prices] IN (DECIMAL '0.3', 2.5)").count() == 2)
    #expect(try collection.find("[prices] < 1").count() == 3)
    #expect(try store.verify().isEmpty)
  }

  @Test("Sums, averages, groups and distinct values are exact")
  func aggregates() throws {
    let collection = try anyStore()["goods"]
    try collection.insert([
      ["kind": "a", "price": amount("0.1")], ["kind": "a", "price": amount("0.2")],
      ["kind": "b", "price": 1], ["kind": "b", "price": amount("1.0")],
      ["kind": "b", "price": 1.0],
    ])
    #expect(try collection.find("[kind] = 'a'").sum("price") == amount("0.3"))
    #expect(try collection.find("[kind] = 'a'").aggregate([.average("price")]) == [amount("0.15")])
    #expect(try collection.find("[kind] = 'a'").average("price") == 0.15)
    #expect(try collection.find().distinct("price").count == 3)
    #expect(
      try collection.find().grouped(by: "price", aggregates: [.count]).map { $0.values[0] }
        == [1, 1, 3])
    #expect(
      try collection.find().grouped(by: "kind", aggregates: [.sum("price"), .max("price")])
        .map(\.values) == [[amount("0.3"), amount("0.2")], [3.0, 1]])
  }

  @Test("Reads, copies, backups and feeds keep decimals exactly")
  func survives() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    let collection = store["goods"]
    try collection.createIndex("price", unique: true)
    try collection.insert(goods(decimals))
    try store.backup(to: scratch.file("b.db"))
    try store.close()
    for name in ["a.db", "b.db"] {
      let opened = try Store.file(scratch.file(name))
      #expect(try opened["goods"].find().fetch().map { $0["price"] } == decimals)
      #expect(try opened["goods"].find().sorted(by: "price").first()?["n"] == 7)
      #expect(try opened.verify().isEmpty)
      try opened.close()
    }
  }

  @Test("The code of docs/DECIMALS.md does what the page says")
  func article() async throws {
    let store = try anyStore()
    let orders = store["orders"]
    try await orders.insert(["price": .decimal(Decimal(string: "9.99")!)], key: "tea")
    try await orders.insert(["price": .decimal(Decimal(string: "12.30")!)], key: "cup")

    let cheap = try await orders.find("[price] < DECIMAL '10'").first()
    let price = cheap?["price"]?.decimal  // 9.99
    let cups = try await orders.find(Field("price") == Decimal(string: "12.3")!).count()  // 1
    let total = try await orders.find().sum("price").decimal  // 22.29
    try await orders.update("tea", .increment("price", by: Decimal(string: "0.01")!))  // 10
    #expect(price == Decimal(string: "9.99") && cups == 1 && total == Decimal(string: "22.29"))
    #expect(try await orders.get("tea")?["price"] == amount("10"))
    let files = [
      "Tests/NanoStoreTests/DecimalStoreTests.swift", "Tests/NanoModelTests/DecimalTextTests.swift",
    ]
    #expect(SwiftBlocks(of: "docs/DECIMALS.md").missing(in: files).isEmpty)
  }

  /// SQLite's conversion of text to a double is not correctly rounded on every processor; the first three are examples.
  @Test("Decimals of any number of digits are found and sorted exactly, with an index")
  func digits() throws {
    var random = SplitMix(seed: 41)
    var texts = [
      "0.113309", "1.723024", "2.327237", "183.63779246", "183.637792460000001",
      "0.11330899999999999",
    ]
    for _ in 0..<1_500 {
      let places = Int.random(in: 0...16, using: &random)
      let digits = Int64.random(in: -999_999_999...999_999_999, using: &random)
      texts.append("\(digits)e-\(places)")
    }
    let values = Set(texts.map { DecimalValue($0)!.decimal }).sorted()
    let store = try anyStore()
    let goods = store["goods"]
    try goods.createIndex("price", unique: true)
    for value in values.shuffled(using: &random) { try goods.insert(["price": .decimal(value)]) }
    try goods.insert((1...20).map { ["price": .double(1e9 + Double($0))] })
    let sorted = try goods.find("[price] < 1000000000").sorted(by: "price").fetch()
    #expect(sorted.compactMap { $0["price"]?.decimal } == values)
    for (position, value) in values.enumerated() {
      #expect(try goods.find(Field("price") == value).count() == 1, "\(value)")
      if position.isMultiple(of: 50) {
        #expect(
          try goods.find(Field("price") <= value).count() == position + 1, "\(value)")
      }
    }
    #expect(try store.verify().isEmpty)
  }

  @Test("Related documents are found by decimals as by other numbers")
  func related() throws {
    let store = try anyStore()
    for (key, value) in [("a", 1), ("b", amount("1")), ("c", amount("2.5")), ("d", 3)]
      as [(String, DocumentValue)]
    {
      try store["left"].insert(["r": value], key: key)
    }
    for index in [false, true] {
      if index { for name in ["left", "others"] { try store[name].createIndex("r") } }
      try store["others"].find().delete()
      try store["others"].insert([["r": amount("1")], ["r": 2.5]])
      #expect(try store["left"].find("[r] IN (SELECT [r] FROM others)").keys() == ["a", "b", "c"])
      #expect(try store["left"].find("[r] NOT IN (SELECT [r] FROM others)").keys() == ["d"])
    }
  }

  @Test("Pipelines sort decimals next to other numbers in both directions")
  func pipelines() throws {
    let store = try anyStore()
    let values =
      ["1.0000000000000000001", "0.99999999999999999999"].map(amount) + [
        1, 0.5, amount("0.50000000000000000001"),
      ]
    try store["goods"].insert(goods(values))
    func order(_ text: String) throws -> [Int?] {
      try store["goods"].find().pipe("EXTEND 1 AS x |> ORDER BY [price] \(text) |> SELECT [n]")
        .rows().map { $0["n"]?.int }
    }
    #expect(try order("ASC") == [3, 4, 1, 2, 0])
    #expect(try order("DESC") == [0, 2, 1, 4, 3])
    #expect(try order("DESC |> LIMIT 1") == [0])
  }

  @Test("A file without decimals keeps its format, and one with decimals has a newer one", .sqlite)
  func format() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    func format() throws -> String? { try store.statistics().settings["user_version"] }
    try store["goods"].insert(["price": 1.5])
    #expect(try format() == "1")
    try store["goods"].insert(["price": amount("1.5")])
    #expect(try format() == "3")
  }

  @Test(
    "Decimals of other programs are adopted, and rejected by a unique index if they are equal",
    .sqlite)
  func foreign() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    let collection = store["goods"]
    try collection.createIndex("price")
    try collection.insert(["price": 1])
    try store.execute(#"INSERT INTO goods(body) VALUES ('{"price":{"$numberDecimal":"12.30"}}')"#)
    #expect(try collection.find("[price] = DECIMAL '12.3'").count() == 1)
    #expect(try collection.find("[price] > 2").count() == 1)
    try collection.insert(["price": 20])
    #expect(
      try store.sql("SELECT body FROM goods WHERE id = 2")[0]["body"]
        == #"{"price":{"$near":12.3,"$side":"<=","$numberDecimal":"12.3"}}"#)
    #expect(
      try collection.find("[price] > 2").sorted(by: "price").fetch().map { $0["price"] }
        == [amount("12.3"), 20])
    #expect(try store.verify().isEmpty)
  }
}
