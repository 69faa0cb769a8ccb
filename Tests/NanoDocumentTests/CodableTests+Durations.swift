// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

extension CodableTests {
  @Test(
    "A duration is stored as its seconds and restored exactly",
    arguments: [
      (Duration.zero, "0"), (.seconds(10), "10"), (.milliseconds(-1500), "-1.5"),
      (Duration(attoseconds: 1), "1E-18"), (.seconds(Int64.max), "9223372036854775807"),
      (
        Duration(secondsComponent: 9, attosecondsComponent: 223_372_036_854_775_809),
        "9.223372036854775809"
      ),
    ])
  func duration(_ duration: Duration, seconds: String) throws {
    struct Track: Codable, Equatable {
      var length: Duration
      var parts: [Duration]
      var pause: Duration?
    }
    let track = Track(length: duration, parts: [duration, .seconds(1)], pause: nil)

    let value = DocumentValue.decimal(try #require(DecimalValue(seconds)))

    #expect(try decode(Track.self, text(track)) == track)
    #expect(
      try text(track)
        == storedText(["length": value, "parts": [value, .decimal(DecimalValue("1")!)]]))
    #expect(duration.documentValue == value)
    #expect(try duration.storedValue == value && Duration(stored: value) == duration)
  }

  @Test(
    "A number of seconds decodes to a duration, rounded to attoseconds",
    arguments: [
      ("10", Duration.seconds(10)), ("1.5", .milliseconds(1500)), ("-0.001", .milliseconds(-1)),
      ("1e-30", .zero), (#"{"$numberDecimal":"1.5E-18"}"#, Duration(attoseconds: 2)),
      (#"{"$numberDecimal":"2.5E-18"}"#, Duration(attoseconds: 2)),
      (#""12.5""#, .milliseconds(12500)),
    ])
  func durationFromNumber(text: String, duration: Duration) throws {
    #expect(try decode([Duration].self, "[\(text)]") == [duration])
  }

  @Test("The two integers that Duration encodes by itself, as earlier versions stored it, decode")
  func durationOfEarlierVersions() throws {
    for duration in [Duration.seconds(5), .seconds(-5), .zero, .seconds(40)] {
      let text = String(decoding: try JSONEncoder().encode([duration]), as: UTF8.self)
      let halves = try #require(text.dropFirst(2).dropLast(2).split(separator: ",").last)
      // A low half above Int64.max could not be stored.
      guard Int64(halves) != nil else { continue }
      #expect(try decode([Duration].self, text) == [duration])
    }
  }

  @Test(
    "Values that are no duration are a type mismatch",
    arguments: [
      "true", "null", "[]", "[1]", "[0,-1]", "[0,1,2]", #""ten""#, #"{"$numberDouble":"NaN"}"#,
      "1e30", #"{"$numberDecimal":"1E+100"}"#,
    ])
  func noDuration(text: String) {
    #expect(throws: DecodingError.self) { try decode([Duration].self, "[\(text)]") }
  }

  @Test("A duration with more than 34 digits of seconds is not storable")
  func longDuration() {
    let duration = Duration(attoseconds: Int128.max)
    #expect(throws: StoreError.self) { try duration.storedValue }
    #expect(throws: StoreError.self) { try text(["a": duration]) }
  }
}
