// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

@Suite("Values at the limits on PostgreSQL", .postgres)
struct LimitTests {
  private static func store(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws
    -> Store
  {
    try TestDatabase.store(Faults.configuration(change))
  }

  /// Returns random letters, which do not compress.
  private static func noise(_ count: Int, _ seed: UInt64 = 1) -> String {
    var random = SplitMix(seed: seed)
    let letters = (0x4E00..<0x9000).compactMap { Unicode.Scalar($0) }
    return String(String.UnicodeScalarView((0..<count).map { _ in random.pick(letters) }))
  }

  private static func ascii(_ count: Int, _ seed: UInt64 = 1) -> String {
    var random = SplitMix(seed: seed)
    return String(
      (0..<count).map { _ in
        Character(random.pick(Array("abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789".unicodeScalars)))
      })
  }

  private static let values: [DocumentValue] = [
    .double(.leastNonzeroMagnitude), .double(-.leastNonzeroMagnitude),
    .double(1.7976931348623157e308),
    .double(-1.7976931348623157e308), .double(.infinity), .double(-.infinity), .double(.nan),
    .double(-0.0), 0, .double(0), .int(.min), .int(.max), .int(.max - 1), .int(.min + 1),
    .int(1 << 53), .int((1 << 53) + 1), .double(9_007_199_254_740_992), .double(9.3e18),
    .double(9_223_372_036_854_775_808), .double(2.2250738585072014e-308), .double(0.1),
    .double(1e22),
    .double(123456789.123456789), true, false, nil, "", "a", "\u{0}", "a\u{0}b", "\u{FFFD}",
    .string(noise(700)), .string(noise(700, 2)), .string(noise(600) + "a"),
    .string(noise(600) + "b"), .string(ascii(1_000_000)), .string(ascii(50_000) + "~"),
    .date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: -62_135_596_800)),
    .date(Date(timeIntervalSince1970: 253_402_300_799.999)),
    .date(Date(timeIntervalSince1970: -1e11)),
    .date(Date(timeIntervalSince1970: 0.000_001)), .data(Data()), .data(Data([0, 255])),
    .data(Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })), [], [1, "a"], [:], ["a": [1]],
    "é", "e\u{301}", "🧑‍🚀", "\"\\'", "\u{10FFFF}", "\u{E000}",
  ]

  @Test(
    "Extreme values are stored, found by equality and range, and sorted",
    arguments: [
      "none", "index", "unordered", "partitions", "everything", "two",
    ])
  func values(form: String) throws {
    let store = try Self.store {
      if form == "partitions" { $0.layout = .partitions(2) }
      if form == "unordered" { $0.fieldOrder = .any }
    }
    let other = try Store(opening: { ReferenceEngine() })
    defer { try? store.close() }
    var stored: [DocumentValue] = []
    for each in [store, other] {
      let items = each["items"]
      if form == "index" || form == "unordered" { try items.createIndex("v") }
      if form == "two" { try items.createIndex("v", "w", "x") }
      if form == "everything" { try items.setIndexing(.everything) }
    }
    for (number, value) in Self.values.enumerated() {
      let object: DocumentObject = [
        "v": value, "w": .string(Self.noise(20, UInt64(number + 10))),
        "x": .string(Self.noise(20, 3)),
      ]
      let codes = [store, other].map { each in
        Faults.code { try each["items"].save(object, key: "\(number)") }
      }
      #expect(codes[0] == codes[1], "\(number) \(String("\(value)".prefix(60)))")
      if codes[1] == nil { stored.append(value) }
    }
    let (items, expected) = (store["items"], other["items"])
    for (number, _) in Self.values.enumerated() {
      let (found, wanted) = (try items.get("\(number)"), try expected.get("\(number)"))
      #expect(Self.isSame(found?["v"], wanted?["v"]), "\(number)")
    }
    for value in stored where value.array == nil && value.object == nil {
      for comparison in ["=", "<", ">=", "<>"] {
        let text = "[v] \(comparison) ?"
        #expect(
          Set(try items.find(text, value).keys()) == Set(try expected.find(text, value).keys()),
          "\(text) \(String("\(value)".prefix(60)))")
      }
      #expect(
        try items.find("[v] = ?", value).sorted(by: "-v").keys()
          == expected.find("[v] = ?", value).sorted(by: "-v").keys())
    }
    for order in ["v", "-v"] {
      #expect(try items.find().sorted(by: order).keys() == expected.find().sorted(by: order).keys())
    }
    let groups = try (items.find().distinct("v"), expected.find().distinct("v"))
    #expect(groups.0.count == groups.1.count)
    #expect(try store.verify().isEmpty)
  }

  /// NaN equals itself, and zero does not equal minus zero.
  private static func isSame(_ a: DocumentValue?, _ b: DocumentValue?) -> Bool {
    if case .double(let a)? = a, case .double(let b)? = b { return a.bitPattern == b.bitPattern }
    return a == b
  }

  @Test(
    "A value too long for a compound index is rejected, and nothing of it is stored"
  )
  func longEntries() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    try items.createIndex("v", "w", "x")
    let long = DocumentObject(
      ["v", "w", "x"].enumerated().map { ($1, .string(Self.noise(700, UInt64($0)))) })
    #expect(Faults.code { try items.save(long, key: "a") } == .documentTooLarge)
    #expect(
      Faults.code { _ = try items.insert([["v": 1], long]) } == .documentTooLarge)
    let code = Faults.code {
      try store.write {
        try items.save(["v": 1], key: "b")
        #expect(Faults.code { try items.save(long, key: "a") } == .documentTooLarge)
      }
    }
    #expect(code == .documentTooLarge)
    #expect(try items.count() == 0)
    try items.save(["v": 1], key: "b")
    #expect(try items.find("[v] = 1").keys() == ["b"])
  }

  private func body(_ store: Store, _ key: String) throws -> DocumentObject? {
    try store["items"].get(key)?.object()
  }

  @Test("Long keys are stored, or rejected because of their length")
  func keys() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    for length in [1, 100, 2_599, 2_600] {
      let key = Self.ascii(length)
      try items.save(["n": .int(Int64(length))], key: key)
      #expect(try items.get(key)?["n"] == .int(Int64(length)))
      try items.save(["n": 0], key: key)
      #expect(try items.delete(key))
    }
    let asiatic = Self.noise(866)
    try items.save(["n": 1], key: asiatic)
    #expect(try items.get(keys: [asiatic, "nothing"]).count == 1)
    for key in [Self.ascii(2_601), Self.noise(900), Self.ascii(100_000)] {
      #expect(Faults.code { try items.save([:], key: key) } == .invalidKey)
      #expect(try items.get(key) == nil)
      #expect(try items.delete(key) == false)
    }
    for key in ["'", "\"", "\\", "🧑‍🚀", " ", "%", "$1", "?", "é", "e\u{301}", "\u{10FFFF}"] {
      try items.save(["n": .string(key)], key: key)
      #expect(try items.get(key)?["n"] == .string(key))
    }
    #expect(try items.count() == 12)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "Collections can have long and unusual names",
    arguments: [
      String(repeating: "n", count: 200), String(repeating: "é", count: 200), noise(160),
      "quote \" and ' and \\", "🧑‍🚀 people", "a.b", "select", " ", "x$1?:name", "%s", "ÄÖÜ",
      "people_pkey",
    ])
  func collectionNames(name: String) throws {
    for layout in [PostgresConfiguration.Layout.plain, .partitions(3)] {
      let store = try Self.store { $0.layout = layout }
      defer { try? store.close() }
      let names = [name, name + "x", name + "y"]
      for (number, name) in names.enumerated() {
        try store[name].save(["n": .int(Int64(number)), "t": "some words"], key: "a")
        try store[name].createIndex("n", name: name)
        try store[name].createFullTextIndex("t")
        #expect(try store[name].find("[n] = ?", number).count() == 1)
        #expect(try store[name].get("a")?.collection == name)
      }
      #expect(Set(try store.collections().map(\.name)).isSuperset(of: names))
      #expect(try store[name].drop())
      #expect(try store[name + "x"].count() == 1)
      #expect(try store.verify().isEmpty)
    }
  }

  @Test("Fields can have long and unusual names")
  func fieldNames() throws {
    let store = try Self.store()
    let other = try Store(opening: { ReferenceEngine() })
    defer { try? store.close() }
    let names = [
      "'", "\"", "\\", "a'b\"c\\d", "🧑‍🚀", " ", "$1", "?", ":x", "é", "e\u{301}", "%", "{}", "{a,b}",
      "null", "a\u{0}b", "$numberDoubl", Self.ascii(300), Self.ascii(5_000),
      Self.noise(2_000),
    ]
    for (number, name) in names.enumerated() {
      let object = DocumentObject([(name, .int(Int64(number))), ("same", "s")])
      let codes = [store, other].map { each in
        Faults.code { try each["items"].save(object, key: "\(number)") }
      }
      #expect(codes[0] == codes[1], "\(number) \(name.prefix(40))")
      #expect(try body(store, "\(number)") == body(other, "\(number)"))
      let path = FieldPath(components: [name])
      let condition = Condition.comparison(.field(path), .equal, .value(.int(Int64(number))))
      func keys(_ store: Store) throws -> [String] { try store["items"].find(condition).keys() }
      let (found, wanted) = try (keys(store), keys(other))
      #expect(found == wanted, "\(number) \(name.prefix(40))")
      let indexed = [store, other].map { each in
        Faults.code { try each["items"].createIndex(IndexDefinition(columns: [.init(path)])) }
      }
      #expect(try keys(store) == keys(other), "indexed \(indexed) \(number) \(name.prefix(40))")
    }
    #expect(
      try store["items"].observedPaths().map(\.path) == other["items"].observedPaths().map(\.path))
    #expect(try store.verify().isEmpty)
  }

  @Test("Documents can be nested as deeply as on other engines")
  func nesting() throws {
    let store = try Self.store()
    let other = try Store(opening: { ReferenceEngine() })
    defer { try? store.close() }
    for depth in [10, 100, 500, 509, 510, 511, 512, 513] {
      for name in ["a", Self.ascii(50)] {
        var value: DocumentValue = 1
        for _ in 1..<depth { value = .object([name: value]) }
        var list: DocumentValue = 1
        for _ in 1..<depth { list = .array([list]) }
        for object in [["v": value], ["v": list]] as [DocumentObject] {
          let codes = [store, other].map { each in
            Faults.code { try each["items"].save(object, key: "a") }
          }
          #expect(codes[0] == codes[1], "\(depth) \(name)")
          #expect(try body(store, "a") == body(other, "a"))
        }
      }
    }
    #expect(try store.verify().isEmpty)
  }

  @Test("An array is found although its path is missing from a path catalog that is full")
  func fullPathCatalog() throws {
    let configuration = Faults.configuration()
    let stores = try (0..<2).map { _ in try TestDatabase.store(configuration) }
    let items = stores[0]["items"]
    let year = DocumentObject(
      (0..<1_000).map { ("k\($0)", DocumentValue.object(["items": []])) })
    try stores[0].write {
      for number in 0..<7 {
        try items.insert(DocumentObject([("y\(number)", DocumentValue.object(year))]))
      }
      try items.insert(["tags": ["a"]])
    }
    for store in stores { #expect(try store["items"].find("[tags] = 'a'").count() == 1) }
  }

  @Test("Durations that the server cannot represent are rejected when the store is opened")
  func durations() throws {
    let changes: [(inout PostgresConfiguration) -> Void] = [
      { $0.busyTimeout = .seconds(1 << 40) }, { $0.busyTimeout = .seconds(-1) },
      { $0.connectTimeout = .seconds(1 << 40) }, { $0.connectTimeout = .seconds(-1) },
      { $0.changeInterval = .seconds(1 << 40) },
    ]

    for change in changes {
      #expect(Faults.code { _ = try Self.store(change) } == .invalidArgument)
    }
    let store = try Self.store { $0.busyTimeout = .seconds(2_000_000) }
    defer { try? store.close() }
    try store["items"].save(["n": 1], key: "a")

    #expect(try store["items"].count() == 1)
  }

  @Test("Large documents are stored and found")
  func large() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    try items.createFullTextIndex("t")
    let words = (0..<100_000).map { "word\($0)" }.joined(separator: " ")
    try items.save(["t": .string(words)], key: "words")
    #expect(try items.search("word99999").count() == 1)
    try items.save(["t": .string(String(repeating: "x", count: 10_000_000))], key: "long")
    #expect(try items.get("long")?["t"]?.string?.utf8.count == 10_000_000)
    #expect(try items.find("[t] LIKE ?", "xxxx%").keys() == ["long"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A condition with more values than a statement can have is evaluated")
  func longLists() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    let dates = (1...70_000).map { Date(timeIntervalSince1970: Double($0)) }
    try items.save(["at": .date(dates[69_999]), "n": 1], key: "last")
    try items.save(["at": .date(Date(timeIntervalSince1970: 0)), "n": 1], key: "before")

    #expect(try items.find(Field("at").isIn(dates)).keys() == ["last"])
    let any = Condition.any(dates.map { Field("at") == $0 })
    #expect(try items.find(any).keys() == ["last"])
    #expect(try items.find(.all([any, Field("n") == 1])).keys() == ["last"])
    #expect(try items.find(.not(any)).keys() == ["before"])
  }

  @Test(
    "Hundreds of alternatives find the same documents as in the reference",
    arguments: [false, true])
  func alternatives(indexed: Bool) throws {
    let store = try Self.store()
    let other = try Store(opening: { ReferenceEngine() })
    defer { try? store.close() }
    let long = Self.ascii(400)
    let values = (0..<300).map { number -> DocumentValue in
      switch number % 6 {
      case 0: .int(Int64(number))
      case 1: .string("s\(number)")
      case 2: .date(Date(timeIntervalSince1970: Double(number)))
      case 3: .decimal(DecimalValue("\(number).1")!)
      case 4: .double(Double(number) + 0.5)
      default: .string(long + "\(number)")
      }
    }
    let others: [DocumentValue] = [
      true, false, .null, "s", .string(long), .double(3), .data(Data([1])),
    ]
    let stored = values.enumerated().filter { $0.offset % 5 == 0 }.map(\.element) + others
    for each in [store, other] {
      if indexed { try each["items"].createIndex("v") }
      for (number, value) in stored.enumerated() {
        try each["items"].save(["v": value, "n": .int(Int64(number))], key: "\(number)")
      }
      try each["items"].save(["n": 0], key: "missing")
    }
    let equal = (values + [true, false]).map { value -> Condition in
      .comparison(.field("v"), .equal, .value(value))
    }
    let ranges = (0..<300 as Range<Int64>).map { number -> Condition in
      .between(.field("v"), .value(.int(number * 2)), .value(.int(number * 2 + 1)))
    }
    let nested: [Condition] = [
      .any(Array(ranges.prefix(150))), .all([.any(Array(equal.suffix(150))), ranges[0]]),
    ]
    let nothing: [Condition] = [
      .comparison(.field("v"), .equal, .value(.null)), .isNull(.field("v")),
    ]
    let key = Condition.comparison(.attribute(.key), .equal, .value("missing"))
    let conditions: [Condition] = [
      .any(equal), .not(.any(equal)), .any(ranges), .not(.any(ranges)), .any(equal + ranges),
      .all(ranges.map { Condition.not($0) }), .any(nested), .any(equal + nothing),
      .all([.any(ranges), .comparison(.field("n"), .greater, .value(20))]), .any(equal + [key]),
    ]
    for (number, condition) in conditions.enumerated() {
      let (found, expected) = (store["items"].find(condition), other["items"].find(condition))
      #expect(try Set(found.keys()) == Set(expected.keys()), "\(number)")
      #expect(try found.count() == expected.count(), "\(number)")
    }
  }

  @Test("The server compares lists of any length, and a limited number of ranges")
  func comparisons() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    try items.save(["v": 1, "w": 1], key: "a")
    func checked(_ conditions: [Condition]) throws -> String? {
      try items.find(.any(conditions)).explain().checkedPerDocument
    }
    let equal = (0..<300 as Range<Int64>).map { number -> Condition in
      .comparison(.field("v"), .equal, .value(.int(number)))
    }
    let ranges = (0..<300 as Range<Int64>).map { number -> Condition in
      .between(.field("v"), .value(.int(number * 2)), .value(.int(number * 2 + 1)))
    }

    #expect(try checked(equal) == nil)
    #expect(try checked(Array(ranges.prefix(40))) == nil)
    #expect(try checked(Array(ranges.prefix(60))) != nil)
    #expect(
      try checked([.any(Array(ranges.prefix(30))), .any(Array(ranges.suffix(30)))]) != nil)
    let both = items.find(.all([.any(ranges), .comparison(.field("w"), .equal, .value(1))]))
    let statement = try both.explain().statement
    #expect(statement.contains("'w'") && !statement.contains("'v'"))
    try items.createIndex("v")
    #expect(try checked(Array(ranges.prefix(150))) == nil)
    #expect(try checked(ranges) != nil)
  }

  @Test("A join in a condition with more values than a statement can have is evaluated")
  func longJoins() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    try store["people"].save(["name": "a"], key: "ann")
    try items.save(["person": "ann", "n": 1], key: "a")
    try items.save(["person": "bob", "n": 69_999], key: "b")
    try items.save(["person": "bob", "n": -1], key: "c")
    let ranges = (0..<70_000 as Range<Int64>).map { number -> Condition in
      .between(.field("n"), .value(.int(number)), .value(.int(number)))
    }

    let related = Related("person", in: "people").exists
    for count in [10, 69_990] {
      let query = items.find(.any([related] + Array(ranges.suffix(count))))
      #expect(try Set(query.keys()) == ["a", "b"], "\(count)")
    }
  }

  @Test("More aggregates than a statement can have columns are computed")
  func manyAggregates() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    let names = (0..<600).map { "n\($0)" }
    for factor in 1...2 {
      let fields = names.enumerated().map { number, name in
        (name, DocumentValue.int(Int64(number * factor)))
      }
      try items.save(DocumentObject(fields), key: "\(factor)")
    }
    let sums = names.map { Aggregate.sum(FieldPath($0)) }
    let expected = names.indices.map { DocumentValue.int(Int64($0 * 3)) }

    #expect(try items.find().aggregate(sums) == expected)
    #expect(try items.find().grouped(by: "none", aggregates: sums).map(\.values) == [expected])
  }

  @Test("A statement with too many values is rejected before it is sent, and the block continues")
  func manyValues() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let values = Array(repeating: DocumentValue.int(1), count: 65_536)
    let marks = Array(repeating: "?", count: values.count).joined(separator: ", ")
    let statement = "SELECT 1 WHERE 1 IN (\(marks))"
    try store.write {
      #expect(
        Faults.code { _ = try store.sql(statement, SQLArguments(values)) } == .invalidArgument)
      try store["items"].save(["n": 1], key: "a")
    }
    #expect(try store["items"].count() == 1)
  }

  @Test("A field whose name has a NUL is not the field with a replacement character in its place")
  func replacedNames() throws {
    let store = try Self.store()
    defer { try? store.close() }
    let items = store["items"]
    let (nul, replaced) = ("a\u{0}", "a\u{FFFD}")
    let documents: [DocumentObject] = [
      [nul: 1, "b": [[nul: 1]]], [replaced: 2, "b": [[replaced: 2]]],
    ]
    try items.save(documents[0], key: "nul")
    try items.save(documents[1], key: "replaced")
    for policy in [IndexingPolicy.declared, .everything] {
      try items.setIndexing(policy)
      #expect(try items.find(Field(replaced) == 1).keys() == [])
      #expect(try items.find(Field(replaced) == 2).keys() == ["replaced"])
      #expect(try items.find(Field(nul) == 1).keys() == ["nul"])
      #expect(try items.find(Field("b." + replaced) == 1).keys() == [])
      #expect(try items.find(Field("b." + nul) == 1).keys() == ["nul"])
      #expect(try items.find().sorted(by: replaced).keys() == ["nul", "replaced"])
    }
    #expect(Faults.code { try store["others"].createIndex(replaced) } == .unsupported)
  }
}
