// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("StrictParser")
struct StrictParserTests {
  /// Valid JSON according to RFC 8259, with the parsed value.
  static let valid: [(String, DocumentValue)] = [
    ("null", .null), ("true", true), ("false", false), ("[]", []), ("{}", [:]), (#""""#, ""),
    (" \t\n\r[ \t\n\r] \t\n\r", []), ("[1]", [1]), ("[1,2]", [1, 2]), ("[[],[[]]]", [[], [[]]]),
    ("[ 1 , 2 ]", [1, 2]), (#"{"a":1}"#, ["a": 1]),
    (#"{ "a" : 1 , "b" : [ ] }"#, ["a": 1, "b": []]),
    (#"{"":0}"#, ["": 0]), (#"{"a":{"a":{"a":1}}}"#, ["a": ["a": ["a": 1]]]),
    (#"{"a":1,"A":2}"#, ["a": 1, "A": 2]), (#"{"a\u0000b":1}"#, ["a\u{0}b": 1]),
    ("0", 0), ("-0", 0), ("-1", -1), ("10", 10), ("9223372036854775807", .int(.max)),
    ("-9223372036854775808", .int(.min)), ("0.0", 0.0), ("-0.0", -0.0), ("1.5", 1.5),
    ("1e0", 1.0), ("1E5", 1e5), ("1e+5", 1e5), ("1e-5", 1e-5), ("0e1", 0.0), ("0e+01", 0.0),
    ("1.25e2", 125.0), ("123.456e-78", 123.456e-78), ("1e400000", .null), ("1e-400", 0.0),
    ("9223372036854775808.0", 9223372036854775808.0), ("1e308", 1e308), ("0.1", 0.1),
    ("20e1", 200.0), ("-123e-2", -1.23), ("0.000000000000000000000000000000000001", 1e-36),
    ("3.141592653589793238462643383279", 3.141592653589793), ("[1.0,1]", [1.0, 1]),
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u00E9""#, "Aéé"),
    (#""\ud83d\ude00""#, "😀"), (#""\uD83D\uDE00x""#, "😀x"), (#""\u0000""#, "\u{0}"),
    (#""\u2028\u2029""#, "\u{2028}\u{2029}"), ("\"\u{2028}\u{7F}\"", "\u{2028}\u{7F}"),
    (#""\uffff""#, "\u{FFFF}"), (#""\ud800\udc00""#, "\u{10000}"),
    (#""\udbff\udfff""#, "\u{10FFFF}"),
    ("\"\u{10FFFF}\u{800}\u{FFFD}\"", "\u{10FFFF}\u{800}\u{FFFD}"),
    (#""a/*b*/c//d""#, "a/*b*/c//d"), (#""new\u000Aline""#, "new\nline"),
    (#""\\u0041""#, "\\u0041"),
    (#""日本語のテキスト""#, "日本語のテキスト"), (#""\u005C""#, "\\"), (#""\\""#, "\\"), (#""\\\"""#, "\\\""),
    (#"["a","b\\","c"]"#, ["a", "b\\", "c"]),
    ("[null,true,false,\"x\"]", [.null, true, false, "x"]),
    ("[1,null,2]", [1, .null, 2]), (#"{"asd":"sdf"}"#, ["asd": "sdf"]), ("\n1\n", 1),
    (#"{"title":"\u041f\u043e\u043b"}"#, ["title": "Пол"]), (#"" ""#, " "),
  ]

  @Test("Valid JSON has its value in both dialects", arguments: valid)
  func accepted(text: String, value: DocumentValue) throws {
    guard text != "1e400000" else {
      #expect(throws: StoreError.self) { try DocumentValue(json: text) }
      return
    }
    for dialect in [JSONDialect.plain, .extended] {
      #expect(try DocumentValue(json: text, dialect: dialect) == value)
      #expect(try DocumentValue(json: Array(text.utf8), dialect: dialect) == value)
    }
    if case .double(let double) = value {
      #expect(try DocumentValue(json: text).double?.bitPattern == double.bitPattern)
    }
  }

  /// Invalid JSON according to RFC 8259, with the offset of the first invalid byte.
  static let invalid: [(String, Int)] = [
    ("", 0), (" ", 1), ("[", 1), ("{", 1), ("]", 0), ("}", 0), (",", 0), (":", 0), ("[1", 2),
    ("[1,", 3), (#"{"a""#, 4), (#"{"a":"#, 5), (#"{"a":1"#, 6), (#"{"a":1,"#, 7), (#"{"#, 1),
    ("[1,]", 2), ("[1 , ]", 3), ("[,1]", 1), ("[1,,2]", 3), ("[,]", 1), ("[1 2]", 3), ("[1;2]", 2),
    ("[\"\": 1]", 3), ("[1}", 2), (#"{"a":1]"#, 6), ("[[1]", 4), ("[1]]", 3), ("1 2", 2),
    ("[]x", 2),
    ("{}{}", 2), ("[]//", 2), ("{} #", 3), ("nullx", 4), ("truefalse", 4),
    (#"{"a":1,}"#, 6), (#"{,"a":1}"#, 1), (#"{"a":1,,"b":2}"#, 7), (#"{"a" 1}"#, 5), (#"{"a"}"#, 4),
    (#"{"a"::1}"#, 5), (#"{"a":}"#, 5), (#"{a:1}"#, 1), (#"{'a':1}"#, 1), (#"{1:1}"#, 1),
    (#"{null:1}"#, 1), (#"{"a":1 "b":2}"#, 7), (#"{"a","b"}"#, 4), (#"{"a":b}"#, 5), ("{[]:1}", 1),
    (#"{"a":1,"a":2}"#, 7), (#"{"b":0,"a":1,"\u0061":2}"#, 13), (#"{"x":{"a":1,"a":1}}"#, 12),
    ("nul", 3), ("nulk", 3), ("tru", 3), ("trUe", 2), ("fals", 4), ("True", 0), ("NULL", 0),
    ("NaN", 0), ("Infinity", 0), ("-Infinity", 1), ("-NaN", 1), ("undefined", 0), ("[nan]", 2),
    ("01", 0), ("-01", 1), ("00", 0), ("012.5", 0), ("[1,007]", 3), ("-", 1), ("--1", 1), ("+1", 0),
    ("-x", 1), ("- 1", 1), (".5", 0), ("-.5", 1), ("1.", 2), ("1.e1", 2), ("1.x", 2), ("1e", 2),
    ("1e+", 3),
    ("1e-", 3), ("1ex", 2), ("1e1.5", 3), ("1e+-1", 3), ("0x10", 1), ("1_000", 1), ("1,000", 1),
    ("1a", 1), ("[1 000]", 3), ("1e1e1", 3), ("[-]", 2), ("[1.]", 3), ("１", 0),
    ("9223372036854775808", 0), ("-9223372036854775809", 0), ("[0,99999999999999999999]", 3),
    ("1e400", 0), ("-1e309", 0), ("[1,1.8e308]", 3),
    (#"""#, 1), (#""abc"#, 4), (#""\"#, 2), (#""\""#, 3), (#"'a'"#, 0), (#""\x41""#, 2),
    (#""\'""#, 2),
    (#""\a""#, 2), (#""\u""#, 3), (#""\u12""#, 5), (#""\u12G4""#, 5), (#""\u 123""#, 3),
    (#""\U0041""#, 2),
    ("\"\u{0}\"", 1), ("\"\n\"", 1), ("\"a\tb\"", 2), ("\"\u{1F}\"", 1), ("\"12345678\r\"", 9),
    ("[\"\r\n\"]", 2), ("{\"a\nb\":1}", 3),
    (#""\ud800""#, 1), (#""\udc00""#, 1), (#""x\ud83dx""#, 2), (#""\ud83d\n""#, 1),
    (#""\ud83d\ud83d""#, 1),
    (#""\ude00\ud83d""#, 1), (#""\ud83d\u0041""#, 1), (#""\ud83d"#, 7), (#""\uDFFF""#, 1),
    (#"["\uD800\uD800\uDC00"]"#, 2),
    ("/**/1", 0), ("1/**/", 1), ("[1,/*x*/2]", 3), ("//x\n1", 0), ("[1]//", 3),
    ("{\"a\":/**/1}", 5), ("#1", 0),
    ("\u{FEFF}1", 0), ("\u{A0}1", 0), ("\u{B}1", 0), ("\u{C}[]", 0), ("[\u{2060}]", 1),
    ("1\u{0}", 1), ("\u{0}", 0),
    ("<a/>", 0), ("`1`", 0), ("\\u0031", 0), ("[\\n]", 1), ("*", 0), ("(1)", 0), ("\u{FFFD}", 0),
  ]

  @Test("Invalid JSON is rejected at the first invalid byte", arguments: invalid)
  func rejected(text: String, offset: Int) {
    for dialect in [JSONDialect.plain, .extended] {
      let error = #expect(throws: StoreError.self) {
        try DocumentValue(json: text, dialect: dialect)
      }
      #expect(error?.code == .invalidJSON)
      #expect(error?[.byteOffset] == "\(offset)", "\(error?.debugDescription ?? "")")
      #expect(error?[.expected]?.isEmpty == false)
    }
  }

  static let brokenUTF8: [([UInt8], Int)] = [
    ([0x80], 0), ([0xBF], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xC3], 0), ([0xC3, 0x28], 0),
    ([0xE0, 0x80, 0x80], 0), ([0xE0, 0x9F, 0xBF], 0), ([0xE2, 0x82], 0), ([0xE2, 0x28, 0xA1], 0),
    ([0xED, 0xA0, 0x80], 0), ([0xED, 0xBF, 0xBF], 0), ([0xF0, 0x80, 0x80, 0x80], 0),
    ([0xF0, 0x8F, 0xBF, 0xBF], 0), ([0xF0, 0x9F, 0x98], 0), ([0xF4, 0x90, 0x80, 0x80], 0),
    ([0xF5, 0x80, 0x80, 0x80], 0), ([0xF8, 0x88, 0x80, 0x80, 0x80], 0), ([0xFE], 0), ([0xFF], 0),
    ([0x61, 0x62, 0xFF], 2), (Array("é😀".utf8) + [0xC3], 6), (Array("12345678".utf8) + [0xE9], 8),
  ]

  @Test("Bytes that are not UTF-8 are rejected at their position", arguments: brokenUTF8)
  func utf8(bytes: [UInt8], offset: Int) {
    let error = #expect(throws: StoreError.self) {
      try DocumentValue(json: [0x22] + bytes + [0x22])
    }
    #expect(error?.code == .invalidJSON)
    #expect(error?[.byteOffset] == "\(offset + 1)")
    #expect(throws: StoreError.self) {
      try DocumentValue(json: Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8))
    }
  }

  @Test("All scalars and their escapes are the same string")
  func scalars() throws {
    for start in stride(from: 0, to: 0x110000, by: 97) {
      guard let scalar = UnicodeScalar(UInt32(start)) else { continue }
      let text = String(Character(scalar))
      let escaped = text.utf16.map { unit in
        let hex = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      }.joined()
      #expect(try DocumentValue(json: "\"\(escaped)\"").string?.unicodeScalars.first == scalar)
      #expect(try DocumentValue(json: storedText(.string(text))) == .string(text))
    }
  }

  @Test("Every kind of error has a distinct message")
  func errorMessages() {
    let texts = [
      "[1", "[1,]", "{\"a\":1,}", "01", "\u{FEFF}1", "1 1", "[1 1]", "{\"a\":1 1}", "{a:1}",
      "{\"a\" 1}",
      "9223372036854775808", "1e400", "\"\n\"", #""\x""#, #""\ud800""#, #""\u12x4""#,
      "{\"a\":1,\"a\":1}", "//",
      "'a'", "trux", "?", "-x", String(repeating: "[", count: 600),
    ]
    let errorMessages = texts.compactMap { text -> String? in
      do throws(StoreError) {
        _ = try DocumentValue(json: text)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(errorMessages.count == texts.count)
    #expect(Set(errorMessages).count == texts.count)
  }

  @Test("The loggable part of an error contains no user input")
  func privacy() {
    let error = #expect(throws: StoreError.self) {
      try DocumentValue(json: #"{"secret":1,"secret":2}"#)
    }
    #expect(error?.description.contains("secret") == false)
  }

  @Test("An object with many names preserves their order, and a duplicate name is detected")
  func largeObjects() throws {
    let fields = (0..<1000).map { "\"name \($0)\":\($0)" }
    let object = try DocumentObject(json: "{\(fields.joined(separator: ","))}")
    #expect(object.names == (0..<1000).map { "name \($0)" })
    #expect(throws: StoreError.self) {
      try DocumentObject(json: "{\(fields.joined(separator: ",")),\"name 7\":1}")
    }
  }

  @Test("A document must be an object")
  func documents() throws {
    #expect(try DocumentObject(json: #" {"a":1} "#) == ["a": 1])
    for text in ["[]", "1", #"{"$date":"1970-01-01T00:00:00Z"}"#] {
      let error = #expect(throws: StoreError.self) { try DocumentObject(json: text) }
      #expect(error?.code == .invalidJSON)
    }
  }
}
