// SPDX-License-Identifier: MIT

import Logging
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoStoreCore

@Suite("Queries on unknown fields")
struct UnknownFieldTests {
  private let memory = LoggingTests.Memory()
  private let store: Store
  private let people: DocumentCollection

  init() throws {
    store = try Self.store(memory, warns: true)
    people = store["people"]
    try people.insert([
      "name": "Ada", "email": "a@x", "address": ["country": "GB"],
      "friends": [["name": "Charles", "since": 1833]], "tags": ["x"],
    ])
    try people.insert(["name": "Grace", "a.b": 1])
  }

  private static func store(_ memory: LoggingTests.Memory, warns: Bool) throws -> Store {
    var logger = Logger(label: "test") { _ in LoggingTests.Handler(memory: memory) }
    logger.logLevel = .warning
    let inner = try anyStore()
    var configuration = Store.Configuration()
    configuration.logger = logger
    configuration.warnsAboutUnknownFields = warns
    return try Store(configuration, references: BagReferences()) { _ in try inner.engine() }
  }

  private var warnings: [String] {
    memory.lines.withLock { $0.filter { $0.contains("no document has") } }
  }

  @Test("A misspelled field is logged once per collection, with the nearest known field")
  func once() throws {
    for _ in 1...3 { #expect(try people.find(Field("emial") == "a@x").count() == 0) }
    _ = try people.find("[emial] = 'a@x'").fetch()

    #expect(warnings.count == 1)
    let warning = try #require(warnings.first)
    #expect(warning.hasPrefix("A query uses a field that no document has"))
    for part in ["people", "emial", "email"] { #expect(warning.contains(part)) }
    #expect(!warning.contains("a@x"))

    try store["others"].insert(["email": 1])
    _ = try store["others"].find(Field("emial") == 1).exists()
    #expect(warnings.count == 2)
  }

  @Test("Known fields, elements, defaults, indexes, and empty collections are not logged")
  func known() throws {
    for text in [
      "[name] = 1", "[address.country] = 1", "[friends.name] = 1", "[friends.0.since] = 1",
      "[friends] IS NULL", "[tags.3] = 'x'", #"["a.b"] = 1"#, "[age] > 1",
      "[city] = 'Bonn'", "[hint] = 1",
    ] {
      if text == "[age] > 1" { try people.setDefaults(["age": 30]) }
      if text == "[city] = 'Bonn'" { try people.createIndex("city") }
      if text == "[hint] = 1" { try people.addQueryableFields("[hint]") }
      _ = try people.find(text).fetch()
    }
    _ = try people.find(.key(.equalTo, "x")).count()
    _ = try people.find(Field("friends").element { $0("name") == "Charles" }).count()
    _ = try people.find(Field("tags").element { $0.value == "x" }).count()
    _ = try store["nothing"].find(Field("emial") == 1).fetch()
    try store.createCollection("empty")
    _ = try store["empty"].find(Field("emial") == 1).fetch()

    #expect(warnings == [])
  }

  @Test("A field added by a later document is not logged")
  func later() throws {
    _ = try people.find(Field("name") == 1).count()
    try people.insert(["nickname": "Amazing Grace"])

    _ = try people.find(Field("nickname") == 1).count()
    try store["new"].find(Field("x") == 1).each { _ in }
    try store["new"].insert(["x": 1])
    _ = try store["new"].find(Field("x") == 1).count()

    #expect(warnings == [])
  }

  @Test(
    "Orderings, groups, aggregates, distinct values, selections, pages, and live queries are checked"
  )
  func kinds() async throws {
    let all = people.find()
    _ = try await all.sorted(by: "nam").fetch()
    _ = try await all.grouped(by: "emal", aggregates: [.min("adress.country")])
    _ = try await all.distinct("tag")
    _ = try await all.select("friend").fetch()
    _ = try await all.sorted(by: "frends").page(1)
    _ = try await all.where(Field("tgs") == 1).delete()
    _ = try await all.where(Field("emali") == 1).update(set: ["new": 1])
    for try await _ in people.find(Field("addres") == 1).updates() { break }
    for try await _ in all.groupedUpdates(by: "naem", aggregates: [.count]) { break }

    for pair in [
      ("nam", "name"), ("emal", "email"), ("adress.country", "address.country"), ("tag", "tags"),
      ("friend", "friends"), ("frends", "friends"), ("tgs", "tags"), ("emali", "email"),
      ("addres", "address"), ("naem", "name"),
    ] {
      #expect(
        warnings.contains { $0.contains("\"\(pair.0)\"") && $0.contains("\"\(pair.1)\"") }
          || warnings.contains { $0.contains(": \(pair.0)") && $0.contains(": \(pair.1)") },
        "\(pair) \(warnings)")
    }
    #expect(warnings.count == 10)
  }

  @Test("A field name with line breaks or excessive length is logged as one short line")
  func hostile() throws {
    let name = "x\nfake: entry\u{202E}" + String(repeating: "y", count: 1_000)

    _ = try people.find(.exists(FieldPath(components: [name]))).count()

    let warning = try #require(warnings.first)
    #expect(warnings.count == 1 && warning.utf8.count < 600)
    #expect(!warning.contains("\n") && !warning.unicodeScalars.contains("\u{202E}"))
    #expect(warning.contains("fake: entry"))
  }

  @Test("Nothing is logged if the setting is off")
  func off() throws {
    let quiet = try Self.store(memory, warns: false)
    try quiet["people"].insert(["email": 1])

    _ = try quiet["people"].find(Field("emial") == 1).count()

    #expect(warnings == [] && quiet.unknownFieldWarnings == nil)
  }

  @Test("The setting defaults to on in debug builds only")
  func byDefault() throws {
    #if DEBUG
      let isDebug = true
    #else
      let isDebug = false
    #endif
    #expect(Store.Configuration().warnsAboutUnknownFields == isDebug)

    #expect(try (Store(.memory).unknownFieldWarnings != nil) == isDebug)
  }

  @Test("explain() lists each unknown field once, whatever the setting")
  func explain() throws {
    let store = try Self.store(memory, warns: false)
    let people = store["people"]
    #expect(try people.find(Field("emial") == 1).explain().unknownFields == [])
    try people.insert(["email": "a@x", "address": ["country": "GB"]])

    let unknown = try people.find("[emial] = 1 OR [emial] = 2 OR [country] = 3")
      .sorted(by: "zzz").explain().unknownFields

    #expect(
      unknown == [
        UnknownField(path: "emial", nearest: "email"),
        UnknownField(path: "country", nearest: "address.country"), UnknownField(path: "zzz"),
      ])
    #expect(try people.find("[email] = 1").explain().unknownFields == [])
  }

  @Test("A query in a transaction finds its writes, and new fields are known after the commit")
  func transactions() throws {
    try store.write {
      try people.insert(["city": "London"])
      #expect(try people.find(Field("city") == "London").count() == 1)
    }
    try store.read { _ = try people.find(Field("city") == "x").count() }

    #expect(warnings == [])
  }

  @Test("Fields in rows of other programs are known", .sqlite)
  func foreign() throws {
    try store.execute(#"INSERT INTO people(key, body) VALUES ('f', '{"foreign":1}')"#)

    #expect(try people.find(Field("foreign") == 1).count() == 1)

    #expect(warnings == [])
  }

  @Test("A path of many numbers that are names and positions is checked in linear time")
  func numericNames() throws {
    var object: DocumentValue = 1
    for _ in 0..<60 { object = .object(["0": object]) }
    try people.insert(["a": object])
    let path = "a" + String(repeating: ".0", count: 60)
    #expect(try people.find(Field(FieldPath(path)) == 1).explain().unknownFields == [])
  }
}

@Suite("Edit distance of two names")
struct EditDistanceTests {
  @Test(
    "Insertions, deletions, substitutions, and transpositions count",
    arguments: [
      ("emial", "email", 1), ("name", "nme", 1), ("name", "names", 1), ("kitten", "sitting", 3),
      ("", "abc", 3), ("same", "same", 0), ("a", "", 1),
    ])
  func distance(a: String, b: String, expected: Int) {
    var distance = EditDistance(to: a)
    #expect(distance.distance(from: b, limit: 3) == expected)
    if expected > 1 { #expect(distance.distance(from: b, limit: expected - 1) == nil) }
  }

  @Test("Only similar names are suggested")
  func tolerance() {
    #expect(EditDistance(to: "id").tolerance == 0)
    #expect(EditDistance(to: "name").tolerance == 1)
    #expect(EditDistance(to: "address.country").tolerance == 3)
  }
}
