// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Decoding documents as models")
struct SyntaxDocumentTests {
  private let store: Store
  init() throws { store = try anyStore() }

  /// Decodes a document as another program might format it.
  private func read<M: Model>(_ type: M.Type = M.self, _ text: String) throws -> M {
    var bytes = Array(text.utf8)
    return try bytes.withUnsafeMutableBytes { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      let value = try M(reading: &reader)
      #expect(reader.isAtEnd)
      return value
    }
  }

  @Test(
    "Field order, white space, escapes and duplicate fields do not matter",
    arguments: [
      #"{"street":"a","country":"b"}"#, #"{"country":"b","street":"a"}"#,
      " {\n\t\"street\" : \"a\" , \"country\" : \"b\" } ", #"{"str\u0065et":"a","country":"b"}"#,
      #"{"street":"a","country":"b","street":"c","country":5}"#,
      #"{"x":{"street":"z"},"street":"a","y":[1,{}],"country":"b","z":null}"#,
      #"{"street":"a", "country":"b"}"#, #"{"street":"\u0061","country":"b"}"#,
    ])
  func anyForm(text: String) throws {
    #expect(try read(Place.self, text) == Place(street: "a", country: "b"))
  }

  @Test("A missing or null field is nil or has its default")
  func absent() throws {
    for text in [
      #"{"street":"a"}"#, #"{"street":"a","country":null}"#, #"{"country":null,"street":"a"}"#,
    ] {
      #expect(try read(Place.self, text) == Place(street: "a", country: "UK"))
    }
    for text in ["{}", #"{"first":null}"#, #"{"fourth":null,"first":null}"#, " { } "] {
      #expect(try read(SyntaxOptionals.self, text) == SyntaxOptionals())
    }
    #expect(try read(SyntaxSpellings.self, #"{"e":1,"g":"","h":0,"i":0}"#).l == 5)
    #expect(try read(SyntaxSpellings.self, #"{"e":1,"g":"","h":0,"i":0,"l":null}"#).l == nil)
  }

  @Test("Dictionaries can also be decoded in the form that Codable writes")
  func dictionaries() throws {
    let id = UUID()
    let start =
      #"{"suit":"clubs","coded":"left","payload":{"empty":{}},"part":{"name":"","more":[]}"#
    let kinds = try read(
      SyntaxKinds.self,
      start + #","byID":["\#(id)",true],"bySuit":["hearts",[1]],"byNumber":{},"byText":[]}"#)
    #expect(kinds.byID == [id: true] && kinds.bySuit == [.hearts: [1]] && kinds.byText == [:])
    #expect(throws: StoreError.self) { try read(SyntaxKinds.self, start + #","byID":["x",true]}"#) }
    #expect(throws: StoreError.self) { try read(SyntaxKinds.self, start + #","byID":["\#(id)"]}"#) }
  }

  private static let person = #"{"FirstName":"A","lastName":"B""#

  @Test(
    "A value of the wrong type is an error with collection, key and field",
    arguments: [
      (#","age":"x"}"#, "age"), (#","age":1.5}"#, "age"),
      (#","home":{"street":1}}"#, "home.street"),
      (#","home":{"street":"a","country":{}}}"#, "home.country"), (#","home":[]}"#, "home"),
      (#","past":[{"street":"a"},{"street":null}]}"#, "past.1.street"),
      (#","past":[{"street":"a"},7]}"#, "past.1"), (#","tags":["a",2]}"#, "tags.1"),
      (#","mood":"odd"}"#, "mood"),
      (#","shape":{"circle":{"radius":"x"}}}"#, "shape.circle.radius"),
      (#","shape":{"circle":{}}}"#, "shape.circle"), (#","salary":"1"}"#, "salary"),
      (#","parts":[1]}"#, "parts.0"),
      // Not in the order of declaration.
      (#","salary":"1","age":1}"#, "salary"),
      (#","past":[{"country":"x","street":1}]}"#, "past.0.street"),
    ])
  func mismatch(rest: String, field: String) throws {
    try store["people"].insert(json: Self.person + rest, key: UUID().uuidString.lowercased())
    let key = try #require(try store["people"].find().fetch()[0].key)
    let error = #expect(throws: StoreError.self) { try store[Person.self].fetch() }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.field] == field)
    #expect(error?[.collection] == "people" && error?[.key] == key)
    #expect(throws: StoreError.self) { try store[Person.self].get(key) }
  }

  @Test(
    "A missing required field is an error with its location",
    arguments: [
      (#"{"lastName":"B"}"#, "FirstName"), (#"{"FirstName":"A"}"#, "lastName"),
      (#"{"FirstName":"A","lastName":"B","home":{}}"#, "home.street"),
      (#"{"FirstName":"A","lastName":"B","past":[{"street":""},{"country":""}]}"#, "past.1.street"),
      (#"{"home":{"country":"x"},"FirstName":"A","lastName":"B"}"#, "home.street"),
    ])
  func missing(text: String, field: String) throws {
    try store["people"].insert(json: text, key: UUID().uuidString.lowercased())
    let error = #expect(throws: StoreError.self) { try store[Person.self].fetch() }
    #expect(error?.code == .typeMismatch && error?[.field] == field)
    #expect(error?[.collection] == "people" && error?[.key] != nil)
  }

  @Test("Unknown fields are preserved by a save, also in nested models and their arrays")
  func unknown() throws {
    let text =
      #"{"$a":1,"FirstName":"A","lastName":"B","home":{"street":"s","x":{"y":[1]},"z\n":2},"#
      + #""past":[{"street":"p"},{"q":null,"street":"r"}],"more":{"$date":"2001-01-01T00:00:00.000000000Z"}}"#
    let id = UUID()
    try store["people"].insert(json: text, key: id.uuidString.lowercased())
    var person = try #require(try store[Person.self].get(id))
    #expect(try person.unknownFields.map(\.name) == ["$a", "more"])
    #expect(try person.home?.unknownFields["x"] == ["y": [1]])
    person.age = 5
    person.past.append(Place(street: "new"))
    try store[Person.self].save(person)
    let saved = try #require(try store["people"].get(id.uuidString.lowercased())).object()
    #expect(saved["$a"] == 1 && saved["more"] == .date(Date(timeIntervalSinceReferenceDate: 0)))
    #expect(saved["home"] == ["street": "s", "country": "UK", "x": ["y": [1]], "z\n": 2])
    #expect(saved["past"]?.array?[1] == ["street": "r", "country": "UK", "q": nil])
    #expect(saved["age"] == 5 && saved["past"]?.array?.count == 3)
    #expect(try store[Person.self].get(id) == person)
  }

  @Test(
    "Unknown fields that another program wrote are saved in stored form, so that queries find them",
    .sqlite)
  func foreignUnknown() throws {
    let points = store[DescribedPoint.self]
    try points.insert(DescribedPoint(id: "a", x: 1))
    try store.execute(
      #"INSERT INTO "DescribedPoint" (key, body) VALUES ('b', ?)"#,
      #"{"X":1, "born":{"$date":"2026-11-20T21:17:00Z"},"\u0063ity":"Rome"}"#)

    var point = try #require(try points.get("b"))
    for x in [3, 2] {
      point.x = x
      try points.save(point)
    }

    #expect(try points.documents.find("[city] = 'Rome'").keys() == ["b"])
    let saved = try #require(try points.documents.get("b"))
    #expect(saved["X"] == 2 && saved["born"]?.date != nil && saved.revision != nil)
    let text = try saved.withBytes { String(decoding: $0, as: UTF8.self) }
    #expect(
      text == #"{"X":2,"born":{"$date":"2026-11-20T21:17:00.000000000Z"},"city":"Rome"}"#)
  }

  @Test(
    "Unknown fields without a stored form are not saved, and the properties can still be read",
    .sqlite)
  func unstorableUnknown() throws {
    let points = store[DescribedPoint.self]
    try points.insert(DescribedPoint(id: "a", x: 1))
    let text = #"{"X":1,"y":1,"y":2}"#
    try store.execute(#"INSERT INTO "DescribedPoint" (key, body) VALUES ('b', ?)"#, text)
    let point = try #require(try points.getStored("b"))

    for save in [
      { _ = try points.save(point) }, { _ = try points.save(point.value) },
      { _ = try points.save([point.value]) },
      { _ = try points.save(point, ifRevision: point.revision) },
    ] as [() throws -> Void] {
      let error = #expect(throws: StoreError.self) { try save() }
      #expect(error?.code == .valueNotStorable)
    }

    #expect(try points.find().select(\.x) == [1, 1])
    let document = try #require(try points.documents.get("b"))
    #expect(try document.withBytes { String(decoding: $0, as: UTF8.self) } == text)
  }

  @Test(
    "Properties with a default can be read although a nested model has unknown fields without a stored form",
    .sqlite)
  func unstorableNested() throws {
    let people = store[Person.self]
    try people.insert(Person(firstName: "A", lastName: "B", tags: ["t"]))
    let id = UUID()
    try store.execute(
      #"INSERT INTO "people" (key, body) VALUES (?, ?)"#, id.uuidString.lowercased(),
      #"{"FirstName":"C","lastName":"D","home":{"street":"s","y":1,"y":2}}"#)

    #expect(try people.find().select(\.tags) == [["t"], []])
    let person = try #require(try people.get(id))
    let error = #expect(throws: StoreError.self) { try people.save(person) }
    #expect(error?.code == .valueNotStorable)
  }

  @Test("Unknown fields affect neither equality nor Codable output")
  func unknownFieldsAreIgnored() throws {
    let plain = try read(SyntaxBoth.self, #"{"text":"a","part":{"name":"n","list":[]}}"#)
    let more = try read(SyntaxBoth.self, #"{"z":1,"text":"a","part":{"name":"n","list":[],"y":2}}"#)
    #expect(plain == more)
    #expect(try more.unknownFields.count == 1 && more.part.unknownFields.count == 1)
    let coder = JSONEncoder()
    coder.outputFormatting = .sortedKeys
    let text = String(decoding: try coder.encode(more), as: UTF8.self)
    #expect(text == #"{"part":{"list":[],"name":"n"},"text":"a"}"#)
    #expect(try JSONDecoder().decode(SyntaxBoth.self, from: Data(text.utf8)) == plain)
    #expect(try DocumentValue(encoding: more) == ["text": "a", "part": ["name": "n", "list": []]])
  }

  @Test("A truncated document is an error at any length")
  func damaged() throws {
    let text = #"{"street":"a","country":"b","x":[1,{"y":"\""}]}"#
    for end in 0..<text.utf8.count {
      #expect(throws: StoreError.self) { try read(Place.self, String(text.utf8.prefix(end))!) }
    }
  }
}

@Suite("Recursive models")
struct SyntaxDepthTests {
  private let store: Store
  init() throws { store = try anyStore() }

  private func nested(_ depth: Int) -> SyntaxNode {
    (1..<depth).reduce(SyntaxNode(name: "")) { node, _ in SyntaxNode(name: "", children: [node]) }
  }

  @Test("A tree round-trips with all its nodes")
  func tree() throws {
    let tree = SyntaxNode(
      name: "a", children: [SyntaxNode(name: "b", children: [SyntaxNode(name: "c")]), nested(9)])
    try store[SyntaxNode.self].insert(tree)
    #expect(try store[SyntaxNode.self].fetch() == [tree])
  }

  @Test("The deepest permitted value can also be read as a document")
  func deepest() throws {
    // A node and its array are two levels.
    let deepest = nested(255)
    try store[SyntaxNode.self].insert(deepest)
    #expect(try store[SyntaxNode.self].fetch() == [deepest])
    #expect(try store["SyntaxNode"].find().fetch()[0].object()["name"] == "")
    #expect(throws: StoreError.self) { try store[SyntaxNode.self].insert(nested(256)) }
  }

  @Test("A tree whose nodes all have a field that the model lacks can be read")
  func unknownFieldsAtAllLevels() throws {
    let depth = 200
    let text =
      String(repeating: #"{"name":"","children":["#, count: depth)
      + #"{"name":"","x":1}"# + String(repeating: #"],"x":1}"#, count: depth)
    var bytes = Array(text.utf8)
    var node = try bytes.withUnsafeMutableBytes { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      return try SyntaxNode(reading: &reader)
    }
    var levels = 0
    while let child = node.children.first {
      node = child
      levels += 1
    }
    #expect(levels == depth)
  }

  @Test("A value nested too deeply is not written", arguments: [600, 5000])
  func tooDeepToWrite(depth: Int) throws {
    let error = #expect(throws: StoreError.self) {
      try store[SyntaxNode.self].insert(nested(depth))
    }
    #expect(error?.code == .valueNotStorable)
    #expect(try store[SyntaxNode.self].find().count() == 0)
    try store[SyntaxNode.self].insert(nested(2))
    #expect(try store[SyntaxNode.self].fetch() == [nested(2)])
  }

  @Test(
    "A document nested too deeply is not read", arguments: [600, 100_000])
  func tooDeepToRead(depth: Int) throws {
    for open in [#"{"name":"","children":["#, #"{"children":[{"name":"a"},"#] {
      let text =
        String(repeating: open, count: depth)
        + #"{"name":""}"# + String(repeating: #"],"name":""}"#, count: depth)
      var bytes = Array(text.utf8)
      let error = bytes.withUnsafeMutableBytes { bytes in
        #expect(throws: StoreError.self) {
          var reader = JSONReader(UnsafeRawBufferPointer(bytes))
          _ = try SyntaxNode(reading: &reader)
        }
      }
      #expect(error?.code == .corruptDocument)
    }
  }

  @Test(
    "A document nested too deeply that was written with SQL is an error, and the others can be read",
    .sqlite)
  func tooDeepInFile() throws {
    let text =
      String(repeating: #"{"name":"","next":["#, count: 600)
      + String(repeating: "]}", count: 600)
    try store[SyntaxChain.self].insert(SyntaxChain(name: "flat"), key: "flat")
    try store.execute(#"INSERT INTO "SyntaxChain" (body) VALUES (?)"#, text)
    let error = #expect(throws: StoreError.self) { try store[SyntaxChain.self].fetch() }
    #expect(error?.code == .corruptDocument && error?[.collection] == "SyntaxChain")
    #expect(try store[SyntaxChain.self].get("flat")?.name == "flat")
  }

  @Test("An object cannot be nested in a document")
  func objectInDocument() throws {
    let holder = SyntaxHolder(objects: [[SyntaxRing(name: "a")]])
    let error = #expect(throws: StoreError.self) { try store[SyntaxHolder.self].insert(holder) }
    #expect(
      error?.code == .valueNotStorable && error?[.hint] == "mark the property with @Relationship")
    try store["SyntaxHolder"].insert(json: #"{"objects":[[{"name":"a"}]]}"#)
    let reading = #expect(throws: StoreError.self) { try store[SyntaxHolder.self].fetch() }
    #expect(reading?.code == .valueNotStorable)
  }

  @Test("An object with relationships cannot be stored without a context")
  func ring() throws {
    let a = SyntaxRing(name: "a")
    let b = SyntaxRing(name: "b")
    a.next = b
    b.next = a
    defer { a.next = nil }
    let error = #expect(throws: StoreError.self) { try store[SyntaxRing.self].insert(a) }
    #expect(error?.code == .valueNotStorable && error?[.collection] == "SyntaxRing")
    #expect(try store[SyntaxRing.self].find().count() == 0)
  }
}
