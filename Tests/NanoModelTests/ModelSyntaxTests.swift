// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Supported model declarations")
struct ModelSyntaxTests {
  private let store: Store
  init() throws { store = try anyStore() }

  /// Returns the value after a round trip through the store.
  private func stored<M: Model>(_ value: M) throws -> M {
    let people = store[M.self]
    if let key = try value.documentKey { try people.delete(key.description) }
    let stored = try people.insert(value)
    let rowID = try #require(stored.rowID)
    return try #require(try people.get(rowID: rowID))
  }

  /// Returns the value read from a document with its fields in reverse order.
  private func reversed<M: Model>(_ value: M) throws -> M {
    if let key = try value.documentKey { try store[M.self].delete(key.description) }
    let header = try store[M.self].insert(value)
    let documents = store[M.self].documents
    let rowID = try #require(header.rowID)
    let document = try #require(try documents.get(rowID: rowID))
    var object = DocumentObject()
    for (name, value) in try document.object().reversed() { object[name] = value }
    return try store["reversed"].models(M.self).insertAndRead(object, key: header.key)
  }

  private func expectSame<M: Model & Equatable>(
    _ value: M, location: SourceLocation = #_sourceLocation
  ) throws {
    let read = try stored(value)
    #expect(read == value, sourceLocation: location)
    let reversedValue = try reversed(value)
    #expect(reversedValue == value, sourceLocation: location)
  }

  @Test("Models of every access level, nested and generic models round-trip")
  func declarations() throws {
    try expectSame(SyntaxPublic(name: "a", count: 2))
    try expectSame(SyntaxPackage(name: "a", tags: ["x", "y"]))
    try expectSame(SyntaxOuter.Inner(kind: .large, other: .small, inmost: .init(kind: .large)))
    try expectSame(SyntaxOuter.Inner.Inmost())
    try expectSame(SyntaxOuter.WithInit(kind: .small))
    try expectSame(SyntaxShop.Order())
    try expectSame(SyntaxSpace.InExtension(name: "a"))
    try expectSame(SyntaxSpace.InPublicExtension(name: "b"))
    try expectSame(SyntaxBox(value: 1, others: [2, 3], none: nil))
    // All specializations of a generic model have the same collection, so each uses a separate store.
    try Self().expectSame(SyntaxBox(value: ["a": [true]], none: [:]))
    try Self().expectSame(SyntaxBox(value: SyntaxOne(only: 1)))
    try checkHiddenTypes()
  }

  @Test("A generic model with two parameters keeps its key")
  func pair() throws {
    let pair = SyntaxPair(id: "p", first: 1, second: Date(timeIntervalSince1970: 1))
    try store[SyntaxPair<Int, Date>.self].insert(pair)
    #expect(try store[SyntaxPair<Int, Date>.self].get("p") == pair)
  }

  @Test("Class models round-trip, and properties that are not stored have their defaults")
  func objects() throws {
    let object = SyntaxObject(name: "a")
    object.changes = 3
    object.didChange = true
    let read = try stored(object)
    #expect(read.name == "a" && read.changes == 3 && !read.didChange)
    let nested = try stored(SyntaxOuter.Object(kind: .large))
    #expect(nested.kind == .large && nested.mark.text == "standard")
  }

  @Test("A class with defaults for all properties has an initializer without arguments")
  func plainInitializer() throws {
    let read = try stored(SyntaxDefaults())
    #expect(read.name == "nobody" && read.next == nil)
    #expect(try stored(SyntaxDefaults(name: "somebody")).name == "somebody")
  }

  @Test("Models with one field, only optional fields and forty fields round-trip")
  func sizes() throws {
    try expectSame(SyntaxOne(only: 1))
    try expectSame(SyntaxOptionals())
    try expectSame(SyntaxOptionals(second: 2))
    try expectSame(SyntaxOptionals(first: "a", third: [], fourth: SyntaxOne(only: 4)))
    let forty = SyntaxForty(
      a0: 0, a1: 1, a2: 2, a3: 3, a4: 4, a5: 5, a6: 6, a7: 7, a8: 8, a9: 9, c1: 1, c9: 9, d3: [3])
    try expectSame(forty)
    #expect(SyntaxForty.modelFields.count == 40)
  }

  @Test("Numbers of every width round-trip, including the smallest and largest")
  func numbers() throws {
    try expectSame(
      SyntaxNumbers(
        int: .max, int8: .min, int16: .max, int32: .min, int64: .min, int128: -1, uint: 1,
        uint8: .max, uint16: .max, uint32: .max, uint64: UInt64(Int64.max),
        uint128: UInt128(Int64.max), float: .greatestFiniteMagnitude,
        double: .leastNonzeroMagnitude,
        decimal: Decimal(string: "3.141592653589793238462643383279502")!))
  }

  @Test("An integer beyond 64 bits is rejected")
  func bigNumber() throws {
    var numbers = SyntaxNumbers(
      int: 0, int8: 0, int16: 0, int32: 0, int64: 0, int128: 0, uint: 0, uint8: 0, uint16: 0,
      uint32: 0, uint64: 0, uint128: 0, float: 0, double: 0, decimal: 0)
    numbers.int128 = Int128(Int64.max) + 1
    let error = #expect(throws: StoreError.self) { try stored(numbers) }
    #expect(error?.code == .valueNotStorable && error?[.collection] == "SyntaxNumbers")
    #expect(try store[SyntaxNumbers.self].find().count() == 0)
  }

  @Test("Values of every kind round-trip")
  func kinds() throws {
    try expectSame(
      SyntaxKinds(
        id: SyntaxID(rawValue: "k"), suit: .hearts, coded: .left, payload: .empty,
        part: SyntaxStruct(name: "p"), maybe: nil, maybePayload: nil))
    let id = UUID()
    let full = SyntaxKinds(
      id: SyntaxID(rawValue: "full"), suit: .clubs, plain: .one, coded: .right,
      payload: .pair(left: 1, right: [.left]),
      part: SyntaxStruct(name: "a", when: Date(), more: [SyntaxStruct(name: "b")]), maybe: 3,
      maybePayload: .text("t"), suits: [.clubs, .diamonds], codedList: [.left], texts: ["b", "a"],
      byText: ["x": 1, "$y": 2, "": 3], byNumber: [-1: Date(), 7: .distantPast], byID: [id: true],
      bySuit: [.hearts: [1, 2.5]], free: ["a": [1, nil, "b"]], object: ["x": 1],
      url: URL(string: "https://example.com/a?b=c"), data: Data([0, 255]), optionalSuit: .hearts,
      optionalPlain: .one, optionalPayload: .empty, optionalTexts: [], optionalByID: [id: false],
      optionalModels: [SyntaxOne(only: 1)], optionalObject: [:], models: [SyntaxOne(only: 2)],
      byName: ["m": SyntaxOne(only: 3)], matrix: [[1], [], [2, 3]], holes: [1, nil])
    #expect(try stored(full) == full)
    #expect(try reversed(full).holes == [1, nil])
  }

  @Test("A null in a property with a default is its value if the type accepts null")
  func nulls() throws {
    try expectSame(SyntaxNullable(maybe: nil, maybePayload: nil, free: .null))
    try expectSame(SyntaxNullable())
    let values = store[SyntaxNullable.self]
    // Each value is stored twice.
    #expect(try values.find(\.maybe == nil).count() == 2)
    #expect(try values.find(\.maybe == 5).count() == 2)
    #expect(try values.find(\.free == DocumentValue.null).count() == 2)
    let null = DocumentValue.null
    let isNull = #Predicate<SyntaxNullable> { $0.free == null }
    #expect(try values.find(isNull).count() == 2)

    let nulls = try store["nulls"].models(SyntaxNullable.self).insertAndRead([
      "suit": nil, "maybe": nil,
    ])

    #expect(nulls.suit == .clubs && nulls.maybe == nil)
    #expect(nulls.maybePayload == .empty && nulls.free == [:])
  }

  @Test("Queries apply a constant default in every spelling to documents without the field")
  func constants() throws {
    let values = store[SyntaxConstants.self]

    try values.documents.insert(DocumentObject())

    #expect(try values.fetch() == [SyntaxConstants()])
    #expect(try values.find(\.suit == .hearts).count() == 1)
    #expect(try values.find { $0.limits["a"] == 1 }.count() == 1)
    #expect(try values.find { $0.list.isEmpty && $0.texts.isEmpty }.count() == 1)
    #expect(try values.find { $0.counts.isEmpty }.count() == 1)
    #expect(try values.find { $0.limits.isEmpty }.count() == 0)
  }

  @Test("An optional is recognized in every spelling")
  func spellings() throws {
    let empty = SyntaxSpellings(a: nil, b: nil, e: 1, g: "g", h: 1, i: 2, l: nil)
    try expectSame(empty)
    try expectSame(
      SyntaxSpellings(
        a: 1, b: "b", c: 3, d: 4, e: 5, f: 6, g: "g", h: 7, i: 8, j: 9, k: "k", l: 10, m: [],
        n: 0.5, o: ["o": 1], p: ["p": 1, "q": nil]))
    let text = try store[SyntaxSpellings.self].documents.find().fetch()[0].object()
    let json = DocumentValue.object(text).jsonString()
    #expect(
      json
        == #"{"e":1,"g":"g","h":1.0,"i":2.0,"j":1,"k":"k","l":null,"m":["a","b"],"n":-1.5,"o":{},"p":{}}"#
    )
  }

  @Test("Property names with any characters are the field names")
  func names() throws {
    let value = SyntaxNames(
      dollar: 1, two: 2, dot: 3, quotes: 4, backslash: 5, control: 6, size: 7, family: 8, space: 9,
      default: 10)
    try expectSame(value)
    let document = try store[SyntaxNames.self].documents.find().fetch()[0]
    let names = try document.object().map(\.name)
    #expect(
      names == [
        "$dollar", "$$two", "a.b", "with \"quotes\"", "back\\slash", "tab\tnew\nline", "Größe",
        "👩‍👩‍👧‍👦", " ", "größer", "default", "in", "init", "class",
      ])
    #expect(try store[SyntaxNames.self].find(\.dollar == 1 && \.dot == 3).count() >= 1)
    #expect(try store[SyntaxNames.self].find(\.default == 10 && \.family == 8).count() >= 1)
  }

  @Test("Default values are evaluated in the context of their declaration")
  func values() throws {
    let read = try store["empty"].models(SyntaxValueNames.self).insertAndRead([:])
    let new = SyntaxValueNames()
    #expect((read.a, read.b, read.c, read.d, read.e) == ("reader", 5, new.c, 1.5, true))
    #expect(read.f == nil && read.g == 7 && read.h == [2, 4] && read.i == 12)
    #expect(read.j == "ab" && read.k == "5" && read.l == 1)
  }

  @Test("Wrapped, observed, lazy and transient properties can be combined with stored ones")
  func members() throws {
    try expectSame(SyntaxWrapped(clamped: 99, again: 98, other: 97))
    #expect(try stored(SyntaxWrapped(clamped: 99)).clamped == 10)
    var value = SyntaxMembers(stored: 1)
    value.stored = 2
    value.note = "n"
    let read = try stored(value)
    #expect(read.stored == 2 && read.changes == 0 && read.note == nil && read.doubled == 4)
  }
}

extension ModelCollection {
  /// Inserts a document and reads it as a value.
  func insertAndRead(_ object: DocumentObject, key: String? = nil) throws -> M {
    let document = try documents.insert(object, key: key)
    guard let value = try get(rowID: try #require(document.rowID)) else {
      throw StoreError(.notFound, "A document is gone")
    }
    return value
  }
}
