// SPDX-License-Identifier: MIT

import Logging
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoStoreCore

@Suite("Queries on fields that no document has")
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
    return try Store(indexTuning: .off, logger: logger, warnsAboutUnknownFields: warns) { _ in
      try inner.engine()
    }
  }

  private var warnings: [String] {
    memory.lines.withLock { $0.filter { $0.contains("no document has") } }
  }

  @Test("A misspelled field is logged once for its collection, with the nearest known one")
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

  @Test("Known fields, elements, defaults, indexes and empty collections are not logged")
  func known() throws {
    for text in [
      "[name] = 1", "[address.country] = 1", "[friends.name] = 1", "[friends.0.since] = 1",
      "[friends] IS NULL", "[tags.3] = 'x'", #"["a.b"] = 1"#, "[age] > 1",
      "[city] = 'Bonn'", "[asked] = 1",
    ] {
      if text == "[age] > 1" { try people.setDefaults(["age": 30]) }
      if text == "[city] = 'Bonn'" { try people.createIndex("city") }
      if text == "[asked] = 1" { try people.addQueryableFields("[asked]") }
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

  @Test("A field that came with a later document is not logged")
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
    "Orders, groups, aggregates, distinct values, selections, pages and live queries are looked at")
  func kinds() async throws {
    let all = people.find()
    _ = try await all.sorted(by: "nam").fetch()
    _ = try await all.grouped(by: "emal", aggregates: [.min("adress.country")])
    _ = try await all.distinct("tag")
    _ = try await all.select("friend").fetch()
    _ = try await all.sorted(by: "frends").page(1)
    _ = try await all.where(Field("tgs") == 1).remove()
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

  @Test("A name that holds line breaks or is long stays one short line")
  func hostile() throws {
    let name = "x\nfake: entry\u{202E}" + String(repeating: "y", count: 1_000)

    _ = try people.find(.exists(FieldPath(components: [name]))).count()

    let warning = try #require(warnings.first)
    #expect(warnings.count == 1 && warning.utf8.count < 600)
    #expect(!warning.contains("\n") && !warning.unicodeScalars.contains("\u{202E}"))
    #expect(warning.contains("fake: entry"))
  }

  @Test("With the setting off, nothing is logged")
  func off() throws {
    let quiet = try Self.store(memory, warns: false)
    try quiet["people"].insert(["email": 1])

    _ = try quiet["people"].find(Field("emial") == 1).count()

    #expect(warnings == [] && quiet.unknownFieldWarnings == nil)
  }

  @Test("The setting is on in debug builds alone")
  func byDefault() throws {
    #if DEBUG
      let isDebug = true
    #else
      let isDebug = false
    #endif
    #expect(Store.Configuration().warnsAboutUnknownFields == isDebug)

    #expect(try (Store(.memory).unknownFieldWarnings != nil) == isDebug)
  }

  @Test("explain lists unknown fields, each once, whatever the setting")
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

  @Test("What a write block asks is answered, and what it wrote is known afterwards")
  func transactions() throws {
    try store.write {
      try people.insert(["city": "London"])
      #expect(try people.find(Field("city") == "London").count() == 1)
    }
    try store.read { _ = try people.find(Field("city") == "x").count() }

    #expect(warnings == [])
  }

  @Test("Rows of another program count", .sqlite)
  func foreign() throws {
    try store.execute(#"INSERT INTO people(key, body) VALUES ('f', '{"foreign":1}')"#)

    #expect(try people.find(Field("foreign") == 1).count() == 1)

    #expect(warnings == [])
  }
}

@Suite("The distance between two names")
struct EditDistanceTests {
  @Test(
    "Inserted, removed, replaced and exchanged letters count",
    arguments: [
      ("emial", "email", 1), ("name", "nme", 1), ("name", "names", 1), ("kitten", "sitting", 3),
      ("", "abc", 3), ("same", "same", 0), ("a", "", 1),
    ])
  func distance(a: String, b: String, expected: Int) {
    var distance = EditDistance(to: a)
    #expect(distance.distance(from: b, limit: 3) == expected)
    if expected > 1 { #expect(distance.distance(from: b, limit: expected - 1) == nil) }
  }

  @Test("Only similar names are proposed")
  func tolerance() {
    #expect(EditDistance(to: "id").tolerance == 0)
    #expect(EditDistance(to: "name").tolerance == 1)
    #expect(EditDistance(to: "address.country").tolerance == 3)
  }
}
