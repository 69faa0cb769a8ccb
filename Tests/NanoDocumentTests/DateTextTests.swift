// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Dates as text")
struct DateTextTests {
  private func text(_ value: DocumentValue) -> String {
    String(value.jsonString(dialect: .plain).dropFirst().dropLast())
  }

  private func date(_ text: String) throws -> Date {
    try #require(DocumentValue(json: #"{"$date":"\#(text)"}"#).date)
  }

  /// ISO 8601 text of a date in the years 1 to 9999 with the specified number of fractional digits.
  private func text(_ random: inout SplitMix, digits: Int) -> String {
    func number(_ range: ClosedRange<Int>, _ width: Int) -> String {
      let text = String(Int.random(in: range, using: &random))
      return String(repeating: "0", count: width - text.count) + text
    }
    let years = [1...9999, 1900...2100, 1969...1971, 2000...2002].randomElement(using: &random)!
    let fraction = (0..<digits).map { _ in number(0...9, 1) }.joined()
    return number(years, 4) + "-" + number(1...12, 2) + "-" + number(1...28, 2) + "T"
      + number(0...23, 2) + ":" + number(0...59, 2) + ":" + number(0...59, 2) + "." + fraction + "Z"
  }

  @Test("A date with whole milliseconds has three fractional digits in every JSON dialect")
  func milliseconds() throws {
    var random = SplitMix(seed: 13)
    for _ in 0..<3_000 {
      let written = text(&random, digits: 3)
      let value = DocumentValue.date(try date(written))
      #expect(text(value) == written)
      #expect(value.jsonString() == #"{"$date":"\#(written)"}"#)
      #expect(value.jsonString(pretty: true) == #"{"$date":"\#(written)"}"#)
      #expect(try DocumentValue(json: value.jsonString()) == value)
    }
    #expect(try text(.date(date("1970-01-01T00:01:26.400Z"))) == "1970-01-01T00:01:26.400Z")
    #expect(try text(.date(date("1969-12-31T23:59:59.999Z"))) == "1969-12-31T23:59:59.999Z")
    #expect(try text(.date(date("2000-12-31T23:59:59.999Z"))) == "2000-12-31T23:59:59.999Z")
  }

  @Test(
    "A date with whole microseconds has three or six fractional digits where a Double can represent them"
  )
  func microseconds() throws {
    var random = SplitMix(seed: 14)
    for _ in 0..<3_000 {
      let written = text(&random, digits: 6)
      let date = try date(written)
      let shown = text(.date(date))
      #expect(try self.date(shown) == date)
      #expect(shown.count <= written.count)
      // A double resolves half a microsecond within 136 years around 2001.
      if date.timeIntervalSinceReferenceDate.magnitude < 0x1p32, !written.hasSuffix("000Z") {
        #expect(shown == written)
      }
    }
  }

  @Test("Any date has the fewest of 3, 6 and 9 fractional digits that restore it")
  func anyDate() throws {
    var random = SplitMix(seed: 15)
    for _ in 0..<5_000 {
      let value = DocumentValue.date(random.date())
      let interval = try #require(value.date).timeIntervalSinceReferenceDate
      let shown = text(value)
      let digits = shown.count - "2026-11-20T21:17:00.Z".count
      #expect([3, 6, 9].contains(digits))
      #expect(try DocumentValue(json: value.jsonString()) == value)
      // Closer to 2001, a double resolves less than a nanosecond.
      if interval.magnitude > 8.4e6 {
        #expect(try date(shown).timeIntervalSinceReferenceDate == interval)
      }
      for fewer in [3, 6] where fewer < digits {
        for near in [value, value.moved(fewer)] {
          let cut = storedText(near).dropFirst(#"{"$date":""#.count).prefix(20 + fewer)
          #expect(try date(cut + "Z").timeIntervalSinceReferenceDate != interval, "\(shown)")
        }
      }
    }
  }

  @Test("Normalizing a stored body shortens its dates and changes nothing else")
  func storedDates() throws {
    var random = SplitMix(seed: 16)
    for _ in 0..<2_000 {
      let object = DocumentValue.object(random.object())
      let shown = storedText(object).utf8.withContiguousStorageIfAvailable {
        ExternalBody.shortened(UnsafeRawBufferPointer($0)).map {
          String(decoding: $0, as: UTF8.self)
        }
      }
      #expect((shown ?? nil) ?? storedText(object) == object.jsonString())
    }
    for number in ["12.3", "12.5", "1E+40", "-0.113309", "9007199254740993.5", "7"] {
      let object: DocumentValue = [
        "a": [.decimal(DecimalValue(number)!), "$near\":,"], "$near": 1,
      ]
      let shown = Array(storedText(object).utf8).withUnsafeBytes { ExternalBody.shortened($0) }
      let text = shown.map { String(decoding: $0, as: UTF8.self) } ?? storedText(object)
      #expect(text == object.jsonString())
      #expect(!text.contains("$side") && !text.contains(#"{"$near"#))
    }
    for text in [
      "", "$", #"{"$"#, #"{"$date":"#, #"{"$date":"2026-11-20T21:17:00.000000000Z""#,
      #"{"$$date":"2026-11-20T21:17:00.000000000Z"}"#,
      #"{"$date":"2026-13-20T21:17:00.000000000Z"}"#, #"{"a":"{\"$date\":\"x"}"#,
    ] {
      #expect(Array(text.utf8).withUnsafeBytes { ExternalBody.shortened($0) } == nil)
    }
  }

  @Test(
    "A date outside the years 0 to 9999 is rejected with this message and its path",
    arguments: [
      #""10000-01-01T00:00:00Z""#, #""+12026-11-20T21:17:00Z""#, #""-0001-01-01T00:00:00Z""#,
      #""9999-12-31T23:59:59-01:00""#, #""0000-01-01T00:00:00+01:00""#, "253402300800000",
      #"{"$numberLong":"253402300800000"}"#, "1e300",
    ])
  func outsideYears(content: String) {
    let text = #"{"x":"a:{[","list":[1,{"be\u0067un":{"$date":"# + content + "}}]}"
    let error = #expect(throws: StoreError.self) { try DocumentValue(json: text) }
    #expect(error?.code == .invalidJSON)
    #expect(error?.message == "A date is outside the years 0 to 9999")
    #expect(error?[.field] == "list.1.begun")
  }

  @Test(
    "The last microseconds of 9999, which a double would round up, are a date that can be written",
    arguments: [
      "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.99999Z",
      "9999-12-31T22:59:59.999999999-01:00",
    ])
  func lastMicroseconds(written: String) throws {
    let last = DocumentValue.date(
      Date(timeIntervalSinceReferenceDate: DateText.storable.upperBound.nextDown))
    let body = #"{"at":{"$date":"\#(written)"}}"#
    #expect(try DocumentValue(json: body) == ["at": last])
    #expect(try stored(body) == ["at": last])
    #expect(try stored(storedText(last)) == last)
    #expect(try DocumentValue(json: last.jsonString()) == last)
    #expect(!PlainText.isValue(written))
    let rewritten = try Array(body.utf8).withUnsafeBytes { try CanonicalBody.rewritten($0) }
    #expect(rewritten == Array(storedText(["at": last]).utf8))
  }

  @Test(
    "Other text that is not a date is rejected for its format",
    arguments: ["x", "2026-11-20", "20261", "+2026-11-20T00:00:00Z"])
  func malformed(text: String) {
    let error = #expect(throws: StoreError.self) {
      try DocumentValue(json: #"{"$date":"\#(text)"}"#)
    }
    #expect(error?.message == "The form of a special value has invalid content")
    #expect(error?[.field] == nil)
  }
}

extension DocumentValue {
  /// Returns the date half a unit of the last digit later, so that truncating rounds.
  fileprivate func moved(_ digits: Int) -> DocumentValue {
    guard case .date(let date) = self else { return self }
    let unit = digits == 3 ? 0.0005 : 0.000_000_5
    return .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate + unit))
  }
}
