// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Codable")
struct CodableTests {
  func text(_ value: some Encodable) throws -> String {
    var writer = JSONWriter()
    try DocumentEncoder().encodeValue(value, into: &writer)
    return writer.text
  }

  func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try Array(text.utf8).withUnsafeBytes { try DocumentDecoder().decode(type, from: $0) }
  }

  /// Encodes, compares and decodes the value, then repeats this by way of a `DocumentValue`.
  private func roundTrip<Value: Codable & Equatable>(_ value: Value, _ expected: String) throws {
    let written = try text(value)
    #expect(written == expected)
    #expect(try decode(Value.self, written) == value)
    #expect(try decode(Value.self, try stored(written).jsonString(pretty: true)) == value)
    #expect(try DocumentValue(encoding: value).decoded(as: Value.self) == value)
  }

  @Test(
    "A Decimal is exactly the number that is stored",
    arguments: [
      "9007199254740993", "-9223372036854775808", "19.99", "3.133", "0.1", "1e-05", "1e+22",
    ])
  func decimalFromNumber(text: String) throws {
    let expected = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    #expect(try decode([Decimal].self, "[\(text)]") == [expected])
  }

  struct All: Codable, Equatable {
    var bool = true
    var int = -1
    var int8 = Int8.min
    var int16 = Int16.max
    var int32 = Int32.min
    var int64 = Int64.min
    var int128 = Int128(5)
    var uint = UInt(1)
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
    var float = Float(0.1)
    var double = 1.0
    var string = "a\"b"
    var date = Date(timeIntervalSinceReferenceDate: 0.1234567890123456)
    var data = Data([1, 2])
    var url = URL(string: "http://a.example")!
    var uuid = UUID(uuidString: "3B241101-E2BB-4255-8CAF-4136C566A962")!
    var decimal = Decimal(string: "12345678901234567890.123")!
    var value: DocumentValue = ["a": [1, 2.0, .null]]
    var object: DocumentObject = ["b": 1]
    var none: Int?
    var some: Int? = 3
    var someDate: Date? = Date(timeIntervalSince1970: 0)
  }

  @Test("Every standard library type encodes to its stored form and decodes again")
  func all() throws {
    try roundTrip(
      All(),
      #"{"bool":true,"int":-1,"int8":-128,"int16":32767,"int32":-2147483648,"int64":-9223372036854775808,"int128":5,"uint":1,"uint8":255,"uint16":65535,"uint32":4294967295,"uint64":9223372036854775807,"float":0.10000000149011612,"double":1.0,"string":"a\"b","date":{"$date":"2001-01-01T00:00:00.123456789Z","$interval":0.1234567890123456},"data":{"$binary":{"base64":"AQI=","subType":"00"}},"url":{"$url":"http://a.example"},"uuid":"3B241101-E2BB-4255-8CAF-4136C566A962","decimal":{"$near":1.2345678901234567e+19,"$side":">>51912345678901234567890123","$numberDecimal":"12345678901234567890.123"},"value":{"a":[1,2.0,null]},"object":{"b":1},"some":3,"someDate":{"$date":"1970-01-01T00:00:00.000000000Z"}}"#
    )
  }

  enum Color: String, Codable, CodingKeyRepresentable { case red, green }
  enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case line(Int, Int)
    indirect case group([Shape], label: String?)
  }

  @Test("Enums, sets, dictionaries and optionals round-trip")
  func shapes() throws {
    try roundTrip(Color.red, #""red""#)
    try roundTrip([Color.green: 1], #"{"green":1}"#)
    try roundTrip([3: "c"], #"{"3":"c"}"#)
    try roundTrip(["$a": [1], "$a".uppercased(): []].filter { $0.key == "$a" }, #"{"$$a":[1]}"#)
    try roundTrip([[1, 2], [], [3]], "[[1,2],[],[3]]")
    try roundTrip([Int?.none, 1, nil], "[null,1,null]")
    try roundTrip([Double.infinity, 0.5], #"[{"$numberDouble":"Infinity"},0.5]"#)
    try roundTrip(Set([7]), "[7]")
    try roundTrip(Shape.point, #"{"point":{}}"#)
    try roundTrip(
      [Shape.circle(radius: 1), .line(1, 2), .group([.point], label: nil)],
      #"[{"circle":{"radius":1.0}},{"line":{"_0":1,"_1":2}},{"group":{"_0":[{"point":{}}]}}]"#)
    try roundTrip(["a": ["b": ["c": Date?.none]]], #"{"a":{"b":{"c":null}}}"#)
    let dictionary = Dictionary(uniqueKeysWithValues: (0..<500).map { ("key é \($0)", $0) })
    #expect(try decode([String: Int].self, try text(dictionary)) == dictionary)
    struct Pair: Codable, Hashable { var a: Int }
    let odd = [Pair(a: 1): "x"]
    #expect(try decode([Pair: String].self, try text(odd)) == odd)
  }

  class Animal: Codable {
    var name = "?"
    init(name: String) { self.name = name }
    required init(from decoder: any Decoder) throws {
      name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(name, forKey: .name)
    }
    enum Key: CodingKey { case name, legs, owner }
  }

  /// Shares its object with its superclass.
  final class Spider: Animal {
    var legs = 8
    override init(name: String) { super.init(name: name) }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      legs = try container.decode(Int.self, forKey: .legs)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(legs, forKey: .legs)
      try super.encode(to: encoder)
    }
  }

  /// Keeps its superclass in a field, and writes after requesting `superEncoder()`.
  final class Dog: Animal {
    var owner = "Tim"
    override init(name: String) { super.init(name: name) }
    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let parent = try container.superDecoder()
      owner = try container.decode(String.self, forKey: .owner)
      try super.init(from: parent)
    }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      let parent = container.superEncoder()
      try container.encode(owner, forKey: .owner)
      try super.encode(to: parent)
    }
  }

  @Test("A subclass shares an object with its superclass, or nests it under super")
  func inheritance() throws {
    let spider = Spider(name: "Boris")
    #expect(try text(spider) == #"{"legs":8,"name":"Boris"}"#)
    #expect(try decode(Spider.self, #"{"name":"Boris","legs":6}"#).legs == 6)
    #expect(try decode(Spider.self, #"{"name":"Boris","legs":6}"#).name == "Boris")

    let dog = Dog(name: "Rex")
    #expect(try text(dog) == #"{"super":{"name":"Rex"},"owner":"Tim"}"#)
    let back = try decode(Dog.self, try text(dog))
    #expect((back.name, back.owner) == ("Rex", "Tim"))
  }

  /// Writes to two nested containers alternately.
  struct Interleaved: Codable, Equatable {
    var x = [1, 2]
    var y = ["a": 1, "b": 2]
    enum Key: CodingKey { case x, y, z }
    init() {}
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      var xs = container.nestedUnkeyedContainer(forKey: .x)
      var ys = container.nestedContainer(keyedBy: PlainKey.self, forKey: .y)
      try xs.encode(x[0])
      try ys.encode(y["a"]!, forKey: PlainKey("a"))
      try container.encode("z", forKey: .z)
      try xs.encode(x[1])
      try ys.encode(y["b"]!, forKey: PlainKey("b"))
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      var xs = try container.nestedUnkeyedContainer(forKey: .x)
      let ys = try container.nestedContainer(keyedBy: PlainKey.self, forKey: .y)
      x = [try xs.decode(Int.self)]
      y = ["b": try ys.decode(Int.self, forKey: PlainKey("b"))]
      #expect(try container.decode(String.self, forKey: .z) == "z")
      x.append(try xs.decode(Int.self))
      y["a"] = try ys.decode(Int.self, forKey: PlainKey("a"))
      #expect(xs.isAtEnd)
    }
  }

  struct PlainKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test("Nested containers can be used alternately")
  func interleaved() throws {
    try roundTrip(Interleaved(), #"{"x":[1,2],"y":{"a":1,"b":2},"z":"z"}"#)
    try roundTrip(
      [Interleaved(), Interleaved()],
      #"[{"x":[1,2],"y":{"a":1,"b":2},"z":"z"},{"x":[1,2],"y":{"a":1,"b":2},"z":"z"}]"#)
  }

  @Test(
    "The last value of a key encoded twice wins, at the position of the first, also with many keys")
  func duplicateKeys() throws {
    struct Twins: Encodable {
      var count: Int
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PlainKey.self)
        for index in 0..<count { try container.encode(index, forKey: PlainKey("k\(index)")) }
        try container.encode("last", forKey: PlainKey("k0"))
      }
    }
    #expect(try text(Twins(count: 2)) == #"{"k0":"last","k1":1}"#)
    let many = try DocumentObject(encoding: Twins(count: 300))
    #expect(many.count == 300)
    #expect(many["k0"] == "last")
    #expect(many[0].name == "k0")
  }

  @Test("An abandoned value that failed to encode leaves no trace")
  func abandonedValue() throws {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PlainKey.self)
        try container.encode(1, forKey: PlainKey("a"))
        var nested = container.nestedContainer(keyedBy: PlainKey.self, forKey: PlainKey("n"))
        try nested.encode(UInt64.max, forKey: PlainKey("b"))
      }
    }
    struct Holder: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PlainKey.self)
        try? container.encode(Failing(), forKey: PlainKey("first"))
        try? container.encode(Date(timeIntervalSinceReferenceDate: .nan), forKey: PlainKey("bad"))
        try container.encode(2, forKey: PlainKey("second"))
        try? container.encode(UInt64.max, forKey: PlainKey("third"))
        var list = container.nestedUnkeyedContainer(forKey: PlainKey("list"))
        try? list.encode(Failing())
        #expect(list.count == 0)
        try list.encode(3)
      }
    }
    #expect(try text(Holder()) == #"{"second":2,"list":[3]}"#)
  }

  @Test("An unstorable value is an error with its path, and the writer is unchanged")
  func notStorable() throws {
    var writer = JSONWriter()
    writer.literal("before")
    let error = #expect(throws: StoreError.self) {
      try DocumentEncoder().encode(["a": [["b": UInt64.max]]], into: &writer)
    }
    #expect(error?.code == .valueNotStorable)
    #expect(error?[.path]?.hasPrefix("a.") == true)
    #expect(writer.text == "before")
    #expect(writer.failure == nil)
    for value in [
      Date.distantPast.addingTimeInterval(-1e12), Date(timeIntervalSinceReferenceDate: .nan),
    ] {
      let error = #expect(throws: StoreError.self) { try DocumentValue(encoding: ["a": value]) }
      #expect(error?.code == .valueNotStorable)
    }
    #expect(throws: StoreError.self) { try DocumentValue(encoding: ["a": nested(512)]) }
    #expect(try DocumentValue(encoding: ["a": nested(511)]) == ["a": nested(511)])
  }

  @Test("A document must encode as an object")
  func topLevel() throws {
    var writer = JSONWriter()
    let encoder = DocumentEncoder()
    let date = #expect(throws: StoreError.self) { try encoder.encode(Date.now, into: &writer) }
    #expect(date?.code == .invalidArgument)
    #expect(throws: StoreError.self) { try encoder.encode([1], into: &writer) }
    #expect(throws: StoreError.self) { try encoder.encode("a", into: &writer) }
    #expect(throws: StoreError.self) { try encoder.encode(Int?.none, into: &writer) }
    #expect(writer.count == 0)
    try encoder.encode(["$date": 1], into: &writer)
    #expect(writer.text == #"{"$$date":1}"#)
    struct Nothing: Codable { func encode(to encoder: any Encoder) throws {} }
    #expect(try DocumentObject(encoding: Nothing()) == [:])
  }

  struct Outer: Codable {
    struct Inner: Codable { var number: Int }
    var list: [Inner]
    var date: Date?
  }

  @Test(
    "A decoding error has the path of the value",
    arguments: [
      (#"{"list":[{"number":1},{"number":"x"}]}"#, "list.Index 1.number"),
      (#"{"list":[{"number":1},{}]}"#, "list.Index 1"),
      (#"{"list":[{"number":null}]}"#, "list.Index 0.number"),
      (#"{"list":{}}"#, "list"), (#"{"list":[1]}"#, "list.Index 0"), (#"{"list":null}"#, "list"),
      ("{}", ""), ("[]", ""),
      (#"{"list":[],"date":"x"}"#, "date"), (#"{"list":[{"number":1.5}]}"#, "list.Index 0.number"),
      (#"{"a":[{"list":2}],"list":[{"number":9223372036854775808}]}"#, "list.Index 0.number"),
    ])
  func paths(text: String, path: String) throws {
    let error = #expect(throws: DecodingError.self) { try decode(Outer.self, text) }
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      default: nil
      }
    #expect(context?.codingPath.map(\.stringValue).joined(separator: ".") == path)
  }

  @Test("Decoding errors have the standard cases")
  func errorKinds() throws {
    #expect { try decode(Outer.self, "{}") } throws: { error in
      guard case DecodingError.keyNotFound(let key, _)? = error as? DecodingError else {
        return false
      }
      return key.stringValue == "list"
    }
    #expect { try decode([Int].self, "[null]") } throws: { error in
      if case DecodingError.valueNotFound? = error as? DecodingError { true } else { false }
    }
    #expect { try decode([Int8].self, "[300]") } throws: { error in
      if case DecodingError.typeMismatch? = error as? DecodingError { true } else { false }
    }
    for text in ["[1,2", "[1 2]", "[1,]", "[1]x", ""] {
      let error = #expect(throws: StoreError.self) { try decode([Int].self, text) }
      #expect(error?.code == .corruptDocument, "\(text)")
    }
  }

  @Test("A type can read its coding path and user info while encoding and decoding")
  func contextInfo() throws {
    struct Probe: Codable {
      static let info = CodingUserInfoKey(rawValue: "info")!
      func encode(to encoder: any Encoder) throws {
        #expect(encoder.codingPath.map(\.stringValue) == ["a", "Index 1", "$b"])
        #expect(encoder.userInfo[Self.info] as? String == "hello")
        var container = encoder.container(keyedBy: PlainKey.self)
        #expect(container.codingPath.count == 3)
        let nested = container.nestedUnkeyedContainer(forKey: PlainKey("c"))
        #expect(nested.codingPath.map(\.stringValue) == ["a", "Index 1", "$b", "c"])
      }
      init() {}
      init(from decoder: any Decoder) throws {
        #expect(decoder.codingPath.map(\.stringValue) == ["a", "Index 1", "$b"])
        #expect(decoder.codingPath[1].intValue == 1)
        #expect(decoder.userInfo[Self.info] as? String == "hello")
        let container = try decoder.container(keyedBy: PlainKey.self)
        #expect(container.allKeys.map(\.stringValue) == ["c"])
        #expect(container.contains(PlainKey("c")) && !container.contains(PlainKey("d")))
        let nested = try container.nestedUnkeyedContainer(forKey: PlainKey("c"))
        #expect(nested.codingPath.map(\.stringValue) == ["a", "Index 1", "$b", "c"])
        #expect(nested.count == 0 && nested.isAtEnd)
      }
    }
    let encoder = DocumentEncoder()
    encoder.userInfo[Probe.info] = "hello"
    var writer = JSONWriter()
    try encoder.encode(["a": [["$b": Probe?.none], ["$b": Probe()]]], into: &writer)
    let decoder = DocumentDecoder()
    decoder.userInfo[Probe.info] = "hello"
    _ = try decoder.decode([String: [[String: Probe?]]].self, from: writer.bytes)
  }

  @Test("A heterogeneous array is decoded element by element")
  func heterogeneous() throws {
    struct Mixed: Decodable {
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        #expect(list.count == 8)
        #expect(try list.decode(Int.self) == 1)
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(list.currentIndex == 1)
        #expect(try list.decode(String.self) == "two")
        #expect(try list.decodeNil())
        #expect(try !list.decodeNil())
        #expect(try list.decode(Bool.self))
        var inner = try list.nestedUnkeyedContainer()
        let object = try list.nestedContainer(keyedBy: PlainKey.self)
        #expect(try list.decode(Date.self) == Date(timeIntervalSince1970: 0))
        #expect(try inner.decode(Double.self) == 5)
        #expect(try object.decode(Int.self, forKey: PlainKey("six")) == 6)
        #expect(try list.superDecoder().singleValueContainer().decode(Int.self) == 8)
        #expect(list.isAtEnd)
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
      }
    }
    _ = try decode(
      Mixed.self,
      #"[1, "two", null, true, [5.0], {"six": 6}, {"$date":"1970-01-01T00:00:00.000000000Z"}, 8 ]"#)
  }

  @Test("A container used after its lifetime reads and writes nothing")
  func escaped() throws {
    final class Box {
      var decoder: (any Decoder)?
      var container: KeyedDecodingContainer<PlainKey>?
      var output: KeyedEncodingContainer<PlainKey>?
    }
    let key = CodingUserInfoKey(rawValue: "box")!
    struct Keeper: Codable {
      init() {}
      func encode(to encoder: any Encoder) throws {
        let box = encoder.userInfo[CodingUserInfoKey(rawValue: "box")!] as? Box
        box?.output = encoder.container(keyedBy: PlainKey.self)
      }
      init(from decoder: any Decoder) throws {
        let box = decoder.userInfo[CodingUserInfoKey(rawValue: "box")!] as? Box
        box?.decoder = decoder
        box?.container = try decoder.container(keyedBy: PlainKey.self)
      }
    }
    let box = Box()
    let decoder = DocumentDecoder()
    decoder.userInfo[key] = box
    try Array(#"{"a":1}"#.utf8).withUnsafeBytes { _ = try decoder.decode(Keeper.self, from: $0) }
    #expect(box.container?.contains(PlainKey("a")) == false)
    #expect(throws: (any Error).self) { try box.container?.decode(Int.self, forKey: PlainKey("a")) }
    #expect(throws: (any Error).self) { try box.decoder?.unkeyedContainer() }
    #expect(box.container?.allKeys.isEmpty == true)
    #expect(
      try Array("[1,2]".utf8).withUnsafeBytes { try decoder.decode([Int].self, from: $0) } == [
        1, 2,
      ])

    let encoder = DocumentEncoder()
    encoder.userInfo[key] = box
    var writer = JSONWriter()
    try encoder.encode(Keeper(), into: &writer)
    try box.output?.encode(1, forKey: PlainKey("late"))
    try encoder.encode(["b": 1], into: &writer)
    #expect(writer.text == #"{}{"b":1}"#)
  }

  @Test("With Foundation's coders, a value encodes to its closest JSON equivalent")
  func foundation() throws {
    let value: DocumentValue = ["a": [1, 1.5, "x", true, .null], "b": ["c": [:]]]
    let data = try JSONEncoder().encode(value)
    #expect(try JSONDecoder().decode(DocumentValue.self, from: data).object?["a"] == value["a"])
    #expect(try JSONDecoder().decode(DocumentObject.self, from: data)["b"] == ["c": [:]])
  }

  struct Pair: Codable, Equatable {
    var a: Int?
    var b: Int?
    var c: Int?
  }

  @Test(
    "The first of two fields with the same name is decoded, in whichever order fields are requested",
    arguments: [
      #"{"b":1,"a":2,"b":3}"#, #"{"b":1,"a":2,"c":3,"b":4}"#, #"{"c":3,"b":1,"a":2,"b":4,"c":5}"#,
      #"{"a":2,"b":1,"b":3}"#, #"{"x":0,"b":1,"a":2,"b":3,"c":4}"#, #"{"b":1 , "a":2 , "b":3 }"#,
      #"{"\u0062":1,"a":2,"b":3}"#, #"{"c":1,"x":0,"b":1,"y":0,"a":2,"c":9,"b":3,"a":9}"#,
    ])
  func firstOfDuplicates(text: String) throws {
    let object = try #require(try stored(text).object)
    let expected = Pair(a: object["a"]?.int, b: object["b"]?.int, c: object["c"]?.int)

    #expect(try decode(Pair.self, text) == expected)
    #expect(expected.a == 2 && expected.b == 1)
  }

  @Test("Random values round-trip through Codable")
  func random() throws {
    for seed: UInt64 in 1...500 {
      var random = SplitMix(seed: seed)
      let object = random.object()
      let back = try DocumentObject(encoding: object)
      #expect(back == object, "seed \(seed)")
      let dictionary = Dictionary(uniqueKeysWithValues: object.map { ($0.name, $0.value) })
      let again = try DocumentValue(encoding: dictionary).decoded(as: [String: DocumentValue].self)
      #expect(again == dictionary, "seed \(seed)")
    }
  }
}
