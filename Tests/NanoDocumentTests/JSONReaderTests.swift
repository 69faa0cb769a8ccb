// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("JSONReader")
struct JSONReaderTests {
  private func read<Result>(
    _ text: String, _ body: (inout JSONReader) throws -> Result
  ) throws -> Result {
    try Array(text.utf8).withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      return try body(&reader)
    }
  }

  private func code(_ text: String, _ body: (inout JSONReader) throws -> Void) -> StoreError.Code? {
    do {
      try read(text, body)
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test("Integers are read exactly within the range of 64 bits, and rejected outside it")
  func integers() throws {
    for value: Int64 in [0, 7, -7, 999_999_999_999_999_999, .max, .min, .max - 1, .min + 1] {
      #expect(try read("\(value)") { try $0.integer() as Int64 } == value)
    }
    for text in ["12.0", "12e0", "1.2e1", "120e-1"] {
      #expect(try read(text) { try $0.integer() as Int64 } == 12)
    }
    for text in [
      "9223372036854775808", "-9223372036854775809", "1.5", "1e30", "99999999999999999999", "\"1\"",
      "null", "{}",
    ] {
      #expect(code(text) { _ = try $0.integer() as Int64 } == .typeMismatch, "\(text)")
    }
    for text in ["", "-", "x", "1.", "1.e2", "1e", "--1", "1-2", "0x10", "+1", "1e5e5"] {
      #expect(code(text) { _ = try $0.integer() as Int64 } == .corruptDocument, "\(text)")
    }
    #expect(code("256") { _ = try $0.integer(as: UInt8.self) } == .typeMismatch)
    #expect(code("-1") { _ = try $0.integer(as: UInt64.self) } == .typeMismatch)
    #expect(try read("255") { try $0.integer(as: UInt8.self) } == 255)
  }

  @Test("Doubles are also read from integers")
  func doubles() throws {
    for (text, value) in [("12", 12.0), ("-3", -3), ("1e5", 1e5), ("1E+2", 100), ("0.25", 0.25)] {
      #expect(try read(text) { try $0.double() } == value)
    }
    #expect(
      try read("12345678901234567890123") { try $0.double() } == 12_345_678_901_234_567_741_440)
    #expect(code("1e999") { _ = try $0.double() } == .corruptDocument)
    #expect(code(#""1""#) { _ = try $0.double() } == .typeMismatch)
  }

  @Test("A type mismatch reports its location and the expected type")
  func errors() throws {
    let error = #expect(throws: StoreError.self) {
      try read(#"{"a": 5}"#) { reader in
        _ = try reader.findField(StoredName("a"))
        _ = try reader.string()
      }
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.byteOffset] == "6")
    #expect(error?[.expected] == "a string")
  }

  static let document =
    #"{"name":"Ada","\u0061ge":36,"list":[1,{"name":"inner"}],"esc\"aped":true,"$$set":null,"name":"twin","last":{"x":1}}"#

  @Test(
    "A field is found by its stored name at any position and with any escapes",
    arguments: [
      ("name", #""Ada""#), ("age", "36"), ("list", #"[1,{"name":"inner"}]"#), ("esc\"aped", "true"),
      ("$set", "null"), ("last", #"{"x":1}"#), ("inner", nil), ("", nil), ("nam", nil), ("x", nil),
    ])
  func fields(name: String, value: String?) throws {
    try read(Self.document) { reader in
      let isThere = try reader.findField(StoredName(name))
      #expect(isThere == (value != nil))
      guard let value else {
        #expect(reader.offset == 0)
        return
      }
      let before = reader.offset
      try reader.skipValue()
      let bytes = Array(Self.document.utf8)[before..<reader.offset]
      #expect(String(decoding: bytes, as: UTF8.self) == value)
    }
  }

  @Test("Reading a field of a value that is not an object finds nothing")
  func noObject() throws {
    for text in ["[]", "1", "\"a\"", "null", "", "{}", " { } "] {
      #expect(try read(text) { try $0.findField(StoredName("a")) } == false)
    }
  }

  @Test("A stored name has its dollar sign and escapes")
  func storedNames() {
    #expect(StoredName("a").utf8 == Array("a".utf8))
    #expect(StoredName("$a\"\n").utf8 == Array(#"$$a\"\n"#.utf8))
    #expect(StoredName("").utf8.isEmpty)
  }

  struct City: DocumentRepresentable, Equatable {
    var name: String
    var tags: [String]

    init(name: String, tags: [String]) { (self.name, self.tags) = (name, tags) }

    func write(to writer: inout JSONWriter) {
      writer.literal(#"{"name":"#)
      writer.string(name)
      writer.literal(#","tags":"#)
      writer.array(tags) { $0.string($1) }
      writer.literal("}")
    }

    init(reading reader: inout JSONReader) throws(StoreError) {
      var name: String?
      var tags: [String] = []
      try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
        if field.matches("name") {
          name = try reader.string()
        } else if field.matches("tags") {
          tags = try reader.array { (r: inout JSONReader) throws(StoreError) in try r.string() }
        } else {
          try reader.skipValue()
        }
      }
      guard let name else { throw reader.missingField("name") }
      self.init(name: name, tags: tags)
    }
  }

  @Test("A handwritten conformance reads what it wrote, in any order, and reports missing fields")
  func representable() throws {
    let city = City(name: "Rome", tags: ["old", "big"])
    var writer = JSONWriter()
    city.write(to: &writer)
    var reader = JSONReader(writer.bytes)
    #expect(try City(reading: &reader) == city)
    #expect(
      try read(#"{"x":[{}], "tags":["old","big"],"name":"Rome"}"#) { try City(reading: &$0) }
        == city)
    let error = #expect(throws: StoreError.self) { try read("{}") { try City(reading: &$0) } }
    #expect(error?[.field] == "name")
  }

  @Test("A document truncated anywhere is an error, not a crash")
  func truncation() throws {
    var random = SplitMix(seed: 11)
    let document = storedText(
      .object([
        "a": random.value(), "b": .object(random.object()),
        "c": [1.5, true, .date(.now), .data(Data([1, 2, 3]))],
      ]))
    let bytes = Array(document.utf8)
    for count in 0..<bytes.count {
      // A copy of exactly this size, so that the sanitizer detects reads beyond the end.
      let part = Array(bytes[..<count])
      part.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        #expect(throws: StoreError.self) { try reader.value() }
        var other = JSONReader(bytes)
        _ = try? other.findField(StoredName("c"))
        let error = #expect(throws: StoreError.self) { try DocumentValue(json: bytes) }
        #expect(error?.code == .invalidJSON)
        #expect(throws: (any Error).self) {
          try DocumentDecoder().decode([String: DocumentValue].self, from: bytes)
        }
      }
    }
  }
}
