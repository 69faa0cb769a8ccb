// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Bad input")
struct BadInputTests {
  let store: Store
  let people: DocumentCollection

  init() throws {
    store = try anyStore()
    people = store["people"]
    try people.save(["n": 1], key: "existing")
  }

  /// Expects that nothing was written and that the store is still usable.
  private func expectUnchanged(_ location: SourceLocation = #_sourceLocation) throws {
    #expect(try store.collections().map(\.name) == ["people"], sourceLocation: location)
    #expect(try people.find().keys() == ["existing"], sourceLocation: location)
    #expect(try people.get("existing")?["n"] == 1, sourceLocation: location)
    #expect(try people.observedPaths().map(\.path) == ["n"], sourceLocation: location)
  }

  @Test(
    "Invalid JSON is rejected with its byte offset",
    arguments: [
      ("", 0), ("   ", 3), ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\":1", 6),
      ("{\"a\":1,}", 7), ("{a:1}", 1), ("{\"a\":01}", 6), ("{\"a\":1.}", 7), ("{\"a\":+1}", 5),
      ("{\"a\":tru}", 8), ("{\"a\":\"x}", 8), ("{\"a\":\"\\q\"}", 7), ("{\"a\":\"\\ud800\"}", 6),
      ("{\"a\":1}x", 7), ("{\"a\":[1,]}", 8), ("{\"a\":1,\"a\":2}", 7), ("{\"a\":\"\n\"}", 6),
      ("[1]", 0), ("1", 0), ("{\"a\":1e999}", 5),
    ])
  func invalidJSON(text: String, near: Int) throws {
    let error = error { try people.insert(json: text, key: "new") }
    #expect([.invalidJSON, .valueNotStorable, .typeMismatch].contains(error?.code), "\(text)")
    if error?.code == .invalidJSON, let offset = error?[.byteOffset].flatMap({ Int($0) }) {
      #expect(abs(offset - near) <= 2, "\(text): \(offset)")
    }
    #expect(code { try people.save(json: text, key: "existing") } == error?.code)
    try expectUnchanged()
  }

  @Test("Values without a stored form are rejected")
  func notStorable() throws {
    let late = Date(timeIntervalSince1970: 300_000_000_000)
    #expect(code { try people.insert(["d": .date(late)]) } == .valueNotStorable)
    #expect(code { try people.update("existing", set: ["d": .date(late)]) } == .valueNotStorable)
    // Also if other changes of the same call come after it.
    #expect(
      code { try people.update("existing", set: ["d": .date(late), "x": 1]) } == .valueNotStorable)
    #expect(
      code { try people.update("existing", .set("n", .date(late)), .set("x", 1)) }
        == .valueNotStorable)
    #expect(
      code { try people.find().update(.set("n", .date(late)), .set("x", 1)) } == .valueNotStorable)
    #expect(code { try store.setMetadata(.date(late), "d") } == .valueNotStorable)
    #expect(code { try people.insert(["n": 1] as [String: UInt64]) } == nil)
    try people.find(Condition.key(.notEqualTo, "existing")).delete()
    #expect(
      code { try people.insert(["n": UInt64.max] as [String: UInt64]) } == .valueNotStorable)
    #expect(code { try people.insert(json: "{\"n\":9223372036854775808}") } != nil)
    #expect(code { try people.insert([["n": 2], ["d": .date(late)]]) } != nil)
    var deep: DocumentValue = 1
    for _ in 0..<600 { deep = .array([deep]) }
    #expect(code { try people.insert(["deep": deep]) } != nil)
    #expect(
      code {
        try people.insert(
          json: "{\"a\":" + String(repeating: "[", count: 600)
            + String(repeating: "]", count: 600) + "}")
      } == .invalidJSON)
    try expectUnchanged()
  }

  @Test("Non-finite numbers are stored and read back")
  func notFinite() throws {
    for value in [Double.infinity, -.infinity] {
      try people.save(["n": .double(value)], key: "x")
      #expect(try people.get("x")?["n"] == .double(value))
      #expect(try people.find(Field("n") == value).keys() == ["x"])
    }
    try people.save(["n": .double(.nan)], key: "x")
    #expect(try people.get("x")?["n"]?.double?.isNaN == true)
    #expect(try store.verify().isEmpty)
  }

  @Test("A type that does not encode as an object is rejected, and nothing is stored")
  func unencodable() throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws { throw CancellationError() }
    }
    #expect(throws: (any Error).self) { try people.insert(7) }
    #expect(throws: (any Error).self) { try people.insert([1, 2]) }
    #expect(throws: CancellationError.self) { try people.insert(Failing()) }
    #expect(throws: CancellationError.self) { try people.insert([Failing()]) }
    try expectUnchanged()
  }

  @Test("A path with an empty component is rejected by every call that takes a path")
  func paths() throws {
    for path in ["", ".", "a.", ".a", "a..b", "\"a", "a.\"\"", "\"a\"b"] {
      let field = FieldPath(path)
      let query = people.find()
      let calls: [(String, () throws -> Void)] = [
        ("find", { _ = try people.find(Field(path) == 1).fetch() }),
        ("count", { _ = try people.find(Field(path).exists).count() }),
        ("sort", { _ = try query.sorted(by: path).fetch() }),
        ("descending", { _ = try query.sorted(by: "-" + path).fetch() }),
        ("page", { _ = try query.sorted(by: path).page(2) }),
        ("select", { _ = try query.select(path).fetch() }),
        ("each", { try query.select(path).each { _ in } }),
        ("keys", { _ = try query.sorted(by: path).keys() }),
        ("distinct", { _ = try query.distinct(path) }),
        ("countOf", { _ = try query.count(of: path) }),
        ("minimum", { _ = try query.min(path) }),
        ("average", { _ = try query.average(path) }),
        ("total", { _ = try query.sum(path) }),
        ("group", { _ = try query.grouped(by: path, aggregates: [.count]) }),
        ("explain", { _ = try people.find(Field(path) == 1).explain() }),
        ("set", { try people.update("existing", set: [field: 1]) }),
        ("remove", { try people.update("existing", remove: [field]) }),
        ("setAll", { try query.update(set: [field: 1]) }),
        ("removeAll", { try people.find(Field(path) == 1).delete() }),
        ("index", { try people.createIndex(path) }),
        ("descendingIndex", { try people.createIndex("-" + path, unique: true) }),
        ("compoundIndex", { try people.createIndex("n", path) }),
        (
          "subscript",
          {
            var document = try people.get("existing")
            document?[path] = 1
            if let document { try people.save(document) }
          }
        ),
      ]
      for (name, call) in calls { #expect(code { try call() } == .invalidPath, "\(name) \(path)") }
    }
    #expect(try people.indexes().isEmpty)
    try expectUnchanged()
  }

  @Test("An error in query text reports its position and what was expected")
  func queryText() throws {
    for text in ["[n] =", "[n] = 1 AND", "[n", "n n", "[n] = 'x", "[n] IN (1,", "LIMIT x", ")"] {
      let error = error { _ = try people.find(text) }
      #expect(error?.code == .invalidQuery, "\(text)")
      #expect(error?[.position] != nil && error?[.expected] != nil, "\(text): \(error as Any)")
    }
    #expect(code { _ = try people.find("[n] = ?") } == .invalidArgument)
    #expect(code { _ = try people.find("[n] = ?", 1, 2) } == .invalidArgument)
    #expect(code { _ = try people.find("[n] = :a", named: ["b": 1]) } == .invalidArgument)
    #expect(code { _ = try people.find().limit(-1).fetch() } == .invalidArgument)
    #expect(code { _ = try people.find().offset(-1).count() } == .invalidArgument)
    #expect(code { _ = try people.find().page(0) } == .invalidArgument)
    #expect(code { _ = try people.find(Field("n").regexp("(")).count() } != nil)
    try expectUnchanged()
  }
}
