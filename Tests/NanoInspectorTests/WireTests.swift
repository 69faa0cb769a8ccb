// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoInspector

@Suite("Values in responses")
struct WireTests {
  private func text(_ value: DocumentValue, _ limits: WireLimits = .document) -> String {
    String(decoding: Wire.value(value, limits).json, as: UTF8.self)
  }

  @Test("Numbers that JavaScript would round or whose type it would lose are in wrappers")
  func numbers() {
    #expect(text(.int(9_007_199_254_740_991)) == "9007199254740991")
    #expect(text(.int(9_007_199_254_740_992)) == #"{"$numberLong":"9007199254740992"}"#)
    #expect(text(.int(.min)) == #"{"$numberLong":"-9223372036854775808"}"#)
    #expect(text(.double(0.1)) == "0.1")
    #expect(text(.double(1)) == #"{"$numberDouble":"1.0"}"#)
    #expect(text(.double(-0.0)) == #"{"$numberDouble":"-0.0"}"#)
    #expect(text(.double(.nan)) == #"{"$numberDouble":"NaN"}"#)
    #expect(text(.double(-.infinity)) == #"{"$numberDouble":"-Infinity"}"#)
  }

  @Test("Names that JavaScript reorders or interprets are in pairs")
  func names() {
    #expect(text(["b": 1, "a": 2]) == #"{"b":1,"a":2}"#)
    #expect(text(["2": 1, "1": 2]) == #"{"$fields":[["2",1],["1",2]]}"#)
    #expect(text(["__proto__": 1]) == #"{"$fields":[["__proto__",1]]}"#)
    #expect(text(["$date": "x"]) == #"{"$fields":[["$date","x"]]}"#)
  }

  @Test("A date keeps the interval that its digits do not restore, and a relative URL its base")
  func exactForms() throws {
    let interval = 0.12345678912345
    let date = DocumentValue.date(Date(timeIntervalSinceReferenceDate: interval))
    #expect(text(date) == #"{"$date":"2001-01-01T00:00:00.123456789Z","$interval":\#(interval)}"#)
    let base = try #require(URL(string: "http://a.example/films/"))
    let url = try #require(URL(string: "alien.png", relativeTo: base))
    #expect(
      text(.url(url))
        == #"{"$url":"http://a.example/films/alien.png","$relative":"alien.png","$base":"http://a.example/films/"}"#
    )
    #expect(
      text(.url(url), WireLimits(text: 31, elements: 2))
        == #"{"$url":"http://a.example/films/alien.pn","$size":32}"#)
  }

  @Test("Values beyond the limits are cut, with the size of the whole")
  func limits() {
    let limits = WireLimits(text: 3, elements: 2)
    #expect(text("abcd", limits) == #"{"$cut":"abc","$size":4}"#)
    #expect(text("äöü", limits) == #""äöü""#)
    #expect(text([1, 2, 3], limits) == #"{"$cut":[1,2],"$size":3}"#)
    #expect(text(["a": 1, "b": 2, "c": 3], limits) == #"{"$cut":{"a":1,"b":2},"$size":3}"#)
    var deep: DocumentValue = 1
    for _ in 0..<500 { deep = [deep] }
    #expect(text(deep).contains(#"{"$cut":"…"}"#))
  }

  @Test("Every hostile string is valid JSON and unchanged", arguments: HostileStrings.all)
  func strings(string: String) throws {
    let json = Wire.array([.string(string), .value([string: .string(string)], .row)]).json
    // Foundation's parser drops a byte order mark.
    let array = try #require(try DocumentValue(json: json, dialect: .plain).array)
    #expect(array[0].string?.hasSameBytes(as: string) == true)
    #expect(json.allSatisfy { $0 >= 0x20 })
  }
}
