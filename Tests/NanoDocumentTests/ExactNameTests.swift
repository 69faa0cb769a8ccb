// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

/// `String` considers both elements of each pair equal.
private let pairs = [
  ("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"), ("\u{C5}", "\u{212B}"),
  ("e\u{323}\u{302}", "e\u{302}\u{323}"), ("\u{AC00}", "\u{1100}\u{1161}"),
]
private let all = pairs.flatMap { [$0.0, $0.1] }

@Suite("Names and strings are compared by their bytes")
struct ExactNameTests {
  @Test(
    "Canonically equivalent strings are different names with different hashes, ordered by bytes")
  func names() {
    for (a, b) in pairs {
      #expect(a == b, "the elements of the pair are not canonically equivalent")
      #expect(ExactName(a) != ExactName(b))
      #expect(ExactName(a) == ExactName(String(decoding: Array(a.utf8), as: UTF8.self)))
      #expect((ExactName(a) < ExactName(b)) == a.utf8.lexicographicallyPrecedes(b.utf8))
      #expect(!a.hasSameBytes(as: b) && a.hasSameBytes(as: a))
    }
    #expect(Set(all.map { ExactName($0) }).count == all.count)
    let bridged = NSString(string: "caf\u{E9} and more than fifteen bytes") as String
    #expect(ExactName(bridged) == "caf\u{E9} and more than fifteen bytes")
    #expect(ExactName("").hashValue == ExactName("").hashValue)
  }

  @Test("Prefix, suffix and substring checks compare bytes")
  func parts() {
    #expect("x:\u{301}desc".hasExactPrefix("x:") && !"x".hasExactPrefix("xy"))
    #expect("\u{600}:desc".hasExactSuffix(":desc") && !"desc".hasExactSuffix(":desc"))
    #expect(
      "a \u{301}b c".contains(exactly: "a \u{301}b") && !"caf\u{E9}".contains(exactly: "cafe"))
    #expect(!"caf\u{E9}".hasExactSuffix("cafe\u{301}"))
  }

  @Test("An object has a field for each name, regardless of its size", arguments: [0, 20, 40])
  func objects(others: Int) throws {
    var object = DocumentObject()
    for number in 0..<others { object["other \(number)"] = 0 }
    for (number, name) in all.enumerated() { object[name] = .int(Int64(number)) }
    #expect(object.count == others + all.count)
    for (number, name) in all.enumerated() {
      #expect(object[name] == .int(Int64(number)))
      #expect(DocumentValue.object(object)[FieldPath(components: [name])]?.int == Int(number))
    }
    // Once with the parser for external input, once with the reader for stored bodies.
    let text = object.jsonString()
    #expect(try DocumentObject(json: text) == object)
    #expect(try Document(object).object() == object)
    var stored = JSONWriter()
    stored.object(object)
    let read = try stored.withBytes { bytes in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
    #expect(
      read == object && read.names.map { ExactName($0) } == object.names.map { ExactName($0) })

    object[pairs[0].1] = nil
    #expect(object[pairs[0].0] == 0 && object[pairs[0].1] == nil)
    #expect(!object.append(pairs[0].0, 9) && object.append(pairs[0].1, 9))
    let path = FieldPath(components: [pairs[1].0])
    #expect(object.selecting([path]).names.map { ExactName($0) } == [ExactName(pairs[1].0)])
  }

  @Test("Values, objects, paths and keys in different Unicode normalization forms are not equal")
  func values() throws {
    for (a, b) in pairs {
      #expect(DocumentValue.string(a) != .string(b))
      #expect(DocumentValue.array([.string(a)]) != .array([.string(b)]))
      #expect(DocumentObject([(a, .int(1))]) != DocumentObject([(b, .int(1))]))
      #expect(FieldPath(components: [a]) != FieldPath(components: [b]))
      #expect(try DocumentKey(a) != DocumentKey(b))
      #expect(Set([DocumentValue.string(a), .string(b), .string(a)]).count == 2)
    }
    let values: [DocumentValue] = [
      nil, true, 1, 1.5, "x", .date(.init(timeIntervalSinceReferenceDate: 1)), .data(Data([1])),
      .url(URL(string: "https://example.org/")!), [1, "x"], ["a": ["b": nil]],
    ]
    for (number, value) in values.enumerated() {
      for (other, second) in values.enumerated() { #expect((value == second) == (number == other)) }
      #expect(value.hashValue == values[number].hashValue)
    }
  }

  /// A coding key that accepts any string.
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private struct Forms: Codable {
    var values: [(name: String, value: Int)] = []
    /// Whether `encode(to:)` uses a nested container, so that the value is encoded as a tree.
    var returns = false

    init(returns: Bool) {
      values = all.enumerated().map { ($1, $0) }
      self.returns = returns
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      for key in container.allKeys where key.stringValue != "nested" {
        values.append((key.stringValue, try container.decode(Int.self, forKey: key)))
      }
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for (name, value) in values.prefix(3) { try container.encode(value, forKey: Key(name)) }
      if returns {
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: Key("nested"))
        for (name, value) in values { try nested.encode(value, forKey: Key(name)) }
      }
      for (name, value) in values.dropFirst(3) { try container.encode(value, forKey: Key(name)) }
    }
  }

  @Test(
    "Codable encodes and decodes fields in several Unicode normalization forms",
    arguments: [false, true])
  func codable(returns: Bool) throws {
    var writer = JSONWriter()
    try DocumentEncoder().encode(Forms(returns: returns), into: &writer)
    let object = try writer.withBytes { bytes in
      var reader = JSONReader(bytes)
      return try reader.object()
    }
    #expect(object.count == all.count + (returns ? 1 : 0))
    if returns { #expect(object["nested"]?.object?.count == all.count) }
    let decoded = try writer.withBytes { try DocumentDecoder().decode(Forms.self, from: $0) }
    #expect(decoded.values.map { ExactName($0.name) } == all.map { ExactName($0) })
  }

  @Test("Two names that map to the same dictionary key are an error, not a lost field")
  func dictionaries() throws {
    func read<Value: FieldCodable>(_ json: String, as type: Value.Type) throws -> Value {
      try Array(json.utf8).withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        return try Value(reading: &reader)
      }
    }
    #expect(try read(#"{"a":1,"b":2,"a":3}"#, as: [String: Int].self) == ["a": 1, "b": 2])
    for json in ["{\"caf\u{E9}\":1,\"cafe\u{301}\":2}", "[\"caf\u{E9}\",1,\"cafe\u{301}\",2]"] {
      let error = #expect(throws: StoreError.self) { try read(json, as: [String: Int].self) }
      #expect(error?.code == .typeMismatch)
    }
  }

  @Test("The smallest and the largest number of milliseconds are not valid dates and do not crash")
  func milliseconds() throws {
    for number in [Int64.min, .min + 1, .max, -62_167_219_200_001] {
      let error = #expect(throws: StoreError.self) {
        try DocumentObject(json: #"{"d":{"$date":\#(number)}}"#)
      }
      #expect(error?.code == .invalidJSON)
    }
    let date = try DocumentObject(json: #"{"d":{"$date":-1500}}"#)["d"]?.date
    #expect(date?.timeIntervalSince1970 == -1.5)
    let exact = try DocumentObject(json: #"{"d":{"$date":-2000}}"#)["d"]?.date
    #expect(exact?.timeIntervalSince1970 == -2)
  }
}
