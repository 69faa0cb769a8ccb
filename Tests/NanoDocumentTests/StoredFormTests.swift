// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Stored form")
struct StoredFormTests {
  static let canonical: [(DocumentValue, String)] = [
    (.null, "null"), (true, "true"), (false, "false"),
    (0, "0"), (-1, "-1"), (42, "42"), (100, "100"), (.int(.max), "9223372036854775807"),
    (.int(.min), "-9223372036854775808"),
    (1.0, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (70947.47, "70947.47"), (1e300, "1e+300"),
    (1e-5, "1e-05"), (123_456.789, "123456.789"), (1e16, "1e+16"),
    (.double(.leastNonzeroMagnitude), "5e-324"),
    (0.30000000000000004, "0.30000000000000004"), (99_999_999_999.5, "99999999999.5"),
    (.double(.nan), #"{"$numberDouble":"NaN"}"#),
    (.double(.infinity), #"{"$numberDouble":"Infinity"}"#),
    (.double(-.infinity), #"{"$numberDouble":"-Infinity"}"#),
    ("", #""""#), ("a\"b\\c/", #""a\"b\\c/""#),
    ("\u{0}\u{8}\t\n\u{C}\r\u{1F}\u{7F}é😀", "\"\\u0000\\b\\t\\n\\f\\r\\u001f\u{7F}é😀\""),
    (["$set": 1, "$": 2, "$$x": 3], #"{"$$set":1,"$$":2,"$$$x":3}"#),
    (["z": [], "a": [:]], #"{"z":[],"a":{}}"#),
    (.data(Data()), #"{"$binary":{"base64":"","subType":"00"}}"#),
    (.data(Data([1, 2, 3, 255])), #"{"$binary":{"base64":"AQID/w==","subType":"00"}}"#),
    (.url(URL(string: "https://a.example/b")!), #"{"$url":"https://a.example/b"}"#),
    (
      .url(URL(string: "c", relativeTo: URL(string: "https://a.example/b"))!),
      #"{"$url":"c","$base":"https://a.example/b"}"#
    ),
    (
      .date(Date(timeIntervalSince1970: 1_795_209_420.5)),
      #"{"$date":"2026-11-20T21:17:00.500000000Z"}"#
    ),
    (.date(Date(timeIntervalSince1970: 0)), #"{"$date":"1970-01-01T00:00:00.000000000Z"}"#),
    (.date(Date(timeIntervalSince1970: -0.25)), #"{"$date":"1969-12-31T23:59:59.750000000Z"}"#),
    (
      .date(Date(timeIntervalSince1970: -62_167_219_200)),
      #"{"$date":"0000-01-01T00:00:00.000000000Z"}"#
    ),
    (
      .date(Date(timeIntervalSince1970: 253_402_300_799)),
      #"{"$date":"9999-12-31T23:59:59.000000000Z"}"#
    ),
    (
      .date(Date(timeIntervalSinceReferenceDate: 0.1)),
      #"{"$date":"2001-01-01T00:00:00.100000000Z"}"#
    ),
    (
      .date(Date(timeIntervalSinceReferenceDate: 0.1234567890123456)),
      #"{"$date":"2001-01-01T00:00:00.123456789Z","$interval":0.1234567890123456}"#
    ),
    (
      .date(Date(timeIntervalSinceReferenceDate: -1e-20)),
      #"{"$date":"2001-01-01T00:00:00.000000000Z","$interval":-1e-20}"#
    ),
  ]

  @Test("Every kind of value has one text form and round-trips", arguments: canonical)
  func texts(value: DocumentValue, text: String) throws {
    #expect(storedText(value) == text)
    for back in [try stored(text), try DocumentValue(json: text)] {
      if case .double(let double) = value {
        #expect(back.double?.isNaN == double.isNaN)
        if !double.isNaN { #expect(back.double?.bitPattern == double.bitPattern) }
      } else {
        #expect(back == value)
      }
    }
  }

  @Test("Random values round-trip through the reader, the parser and pretty-printed text")
  func random() throws {
    for seed: UInt64 in 1...2000 {
      var random = SplitMix(seed: seed)
      let value = random.value()
      let text = storedText(value)
      #expect(try stored(text) == value, "seed \(seed): \(text)")
      #expect(try DocumentValue(json: text) == value, "seed \(seed): \(text)")
      let pretty = value.jsonString(pretty: true)
      #expect(try DocumentValue(json: pretty) == value, "seed \(seed): \(pretty)")
      #expect(try stored(pretty) == value, "seed \(seed): \(pretty)")
      #expect(storedText(try stored(text)) == text, "seed \(seed): \(text)")
    }
  }

  @Test("Any finite double round-trips bit for bit and never looks like an integer")
  func doubles() throws {
    var random = SplitMix(seed: 7)
    var writer = JSONWriter()
    for _ in 0..<50_000 {
      let double = random.double()
      guard double.isFinite else { continue }
      writer.removeAll()
      writer.double(double)
      let text = writer.text
      #expect(text == double.description)
      var reader = JSONReader(writer.bytes)
      let back = try reader.double()
      #expect(back.bitPattern == double.bitPattern, "\(text)")
      #expect(text.contains { $0 == "." || $0 == "e" })
    }
  }

  @Test("Any date of the years 0 to 9999 round-trips, and the texts sort like the dates")
  func dates() throws {
    var random = SplitMix(seed: 8)
    var previous: (Date, String)?
    for _ in 0..<50_000 {
      let date = random.date()
      let text = storedText(.date(date))
      #expect(try stored(text).date == date, "\(date.timeIntervalSinceReferenceDate)")
      let moment = String(text.dropFirst(10).prefix(30))
      if let previous, previous.0.distance(to: date).magnitude > 1e-6 {
        #expect((previous.0 < date) == (previous.1 < moment))
      }
      previous = (date, moment)
    }
  }

  @Test("The text of a date is the same as from Foundation's formatter")
  func datesAgree() {
    var style = Date.ISO8601FormatStyle(timeZone: .gmt)
    style = style.year().month().day().time(includingFractionalSeconds: false)
    var random = SplitMix(seed: 9)
    for _ in 0..<2000 {
      // The calendars agree from 1582-10-15 on.
      let seconds = Double.random(in: -12_000_000_000...250_000_000_000, using: &random).rounded()
      let date = Date(timeIntervalSince1970: seconds)
      let text = DocumentValue.date(date).jsonString(dialect: .plain)
      #expect(text.dropFirst().prefix(19) == style.format(date).prefix(19))
    }
  }

  @Test("A value without a stored form is a failure, and is written as null")
  func failures() {
    for interval in [-63_145_526_400.1, 252_423_993_600, .nan, .infinity, -.infinity] {
      var writer = JSONWriter()
      writer.date(Date(timeIntervalSinceReferenceDate: interval))
      #expect(writer.failure?.code == .valueNotStorable)
      #expect(writer.text == "null")
      writer.removeAll()
      #expect(writer.failure == nil)
    }
    var writer = JSONWriter()
    writer.integer(UInt64.max)
    #expect(writer.failure?.code == .valueNotStorable)
  }

  @Test("An empty URL, which cannot be read, is a failure")
  func emptyURL() throws {
    let base = URL(string: "https://a.example/b")
    for url in [URLComponents().url, URLComponents().url(relativeTo: base)] {
      let url = try #require(url)
      var writer = JSONWriter()
      writer.value(.url(url))
      #expect(writer.failure?.code == .valueNotStorable)
      #expect(writer.text == "null")
      let error = #expect(throws: StoreError.self) { try DocumentObject(encoding: ["u": url]) }
      #expect(error?.code == .valueNotStorable)
    }
  }

  @Test("512 levels can be written and read, 513 cannot")
  func depth() throws {
    let deep = nested(512)
    #expect(try stored(storedText(deep)) == deep)
    #expect(try DocumentValue(json: storedText(deep)) == deep)
    var writer = JSONWriter()
    writer.value(nested(513))
    #expect(writer.failure?.code == .valueNotStorable)

    let brackets = String(repeating: "[", count: 513)
    let parser = #expect(throws: StoreError.self) { try DocumentValue(json: brackets) }
    #expect(parser?.code == .invalidJSON)
    #expect(parser?[.byteOffset] == "512")
    let reader = #expect(throws: StoreError.self) { try stored(brackets) }
    #expect(reader?.code == .corruptDocument)
    #expect(throws: StoreError.self) { try stored(String(repeating: #"{"a":"#, count: 100_000)) }
  }

  @Test("A date counts as one level, data as two")
  func depthOfForms() {
    for (leaf, room) in [(DocumentValue.date(.distantPast), 1), (.data(Data([1])), 2), (1, 0)] {
      for (levels, isFine) in [(512 - room, true), (513 - room, false)] {
        let value = (0..<levels).reduce(leaf) { value, _ in .array([value]) }
        var writer = JSONWriter()
        writer.value(value)
        #expect((writer.failure == nil) == isFine)
        if isFine { #expect((try? DocumentValue(json: writer.text)) == value) }
      }
    }
  }

  @Test("An invalid extended value is read as a plain object")
  func invalidExtendedValues() throws {
    for text in [
      #"{"$date":5}"#, #"{"$date":"yesterday"}"#, #"{"$binary":{"base64":"*"}}"#, #"{"$oid":"x"}"#,
      #"{"$url":"http://a.example","more":1}"#, #"{"$interval":1.5}"#, #"{"$numberDouble":"1.5"}"#,
    ] {
      let value = try stored(text)
      #expect(value.object != nil, "\(text)")
      #expect(try stored(storedText(value)) == value)
    }
  }

  @Test("An extended value with spaces or fewer digits is recognized")
  func flexibleForms() throws {
    let date = Date(timeIntervalSince1970: 1.5)
    #expect(try stored(#"{ "$date" : "1970-01-01T00:00:01.5Z" }"#) == .date(date))
    #expect(try stored(#"{"$date":"1970-01-01T01:00:01.5+01:00"}"#) == .date(date))
    #expect(
      try stored(#"{"$binary": {"subType": "05", "base64": "AQI="}}"#) == .data(Data([1, 2])))
    #expect(
      try stored(#"{"$base":"http://a.example/","$url":"b"}"#)
        == .url(URL(string: "b", relativeTo: URL(string: "http://a.example/"))!))
  }

  @Test("A changed date takes precedence over the interval next to it")
  func staleInterval() throws {
    let text = #"{"$date":"2026-01-01T00:00:00.000000000Z","$interval":0.1234567890123456}"#
    #expect(try stored(text) == .date(Date(timeIntervalSince1970: 1_767_225_600)))
  }
}
