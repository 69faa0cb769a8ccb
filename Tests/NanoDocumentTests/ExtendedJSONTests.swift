// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@Suite("Extended JSON")
struct ExtendedJSONTests {
  private static func date(_ seconds: Double) -> DocumentValue {
    .date(Date(timeIntervalSince1970: seconds))
  }

  static let forms: [(String, DocumentValue)] = [
    (#"{"$date":"2009-04-01T00:00:00Z"}"#, date(1_238_544_000)),
    (#"{"$date":"2009-04-01T00:00:00.000-0700"}"#, date(1_238_569_200)),
    (#"{"$date":"2009-04-01T00:00:00.25+01:30"}"#, date(1_238_538_600.25)),
    (
      #"{"$date":"2009-04-01T00:00:00.123456789012Z"}"#,
      .date(Date(timeIntervalSinceReferenceDate: 260_236_800.123456789))
    ),
    (#"{"$date":"2009-04-01T00:00Z"}"#, date(1_238_544_000)),
    (#"{"$date":"2008-02-29 23:59:59+00"}"#, date(1_204_329_599)),
    (#"{"$date":1238544000123}"#, .date(Date(timeIntervalSinceReferenceDate: 260_236_800.123))),
    (#"{"$date":1238544000123.0}"#, .date(Date(timeIntervalSinceReferenceDate: 260_236_800.123))),
    (#"{"$date":-1}"#, date(-0.001)),
    (#"{"$date":{"$numberLong":"1238544000000"}}"#, date(1_238_544_000)),
    (#"{"$date":{"$numberLong":"-62135596800000"}}"#, date(-62_135_596_800)),
    (#"{"$oid":"507f1f77bcf86cd799439011"}"#, "507f1f77bcf86cd799439011"),
    (#"{"$numberInt":"-42"}"#, -42), (#"{"$numberLong":"9223372036854775807"}"#, .int(.max)),
    (#"{"$numberLong":5}"#, 5), (#"{"$numberDouble":"1.5"}"#, 1.5),
    (#"{"$numberDouble":"3"}"#, 3.0),
    (#"{"$numberDouble":"-Infinity"}"#, .double(-.infinity)),
    (#"{"$numberDouble":"1E+3"}"#, 1000.0),
    (#"{"$numberDecimal":"12"}"#, decimal("12")), (#"{"$numberDecimal":"0.1"}"#, decimal("0.1")),
    (#"{"$numberDecimal":"1.10"}"#, decimal("1.1")),
    (#"{"$numberDecimal":"1E+3"}"#, decimal("1000")), (#"{"$numberDecimal":"-0"}"#, decimal("0")),
    (
      #"{"$numberDecimal":"0.1000000000000000000000000000000001"}"#,
      decimal("0.1000000000000000000000000000000001")
    ),
    (#"{"$numberDecimal":"9223372036854775808"}"#, decimal("9223372036854775808")),
    (#"{"$side":"<=","$numberDecimal":"12.3"}"#, decimal("12.3")),
    (#"{"$numberDecimal":"1","more":1}"#, ["$numberDecimal": "1", "more": 1]),
    (#"{"$numberDecimal":"Infinity"}"#, .double(.infinity)),
    (#"{"$binary":{"base64":"AQI=","subType":"00"}}"#, .data(Data([1, 2]))),
    (#"{"$binary":{"subType":"02","base64":""}}"#, .data(Data())),
    (#"{"$binary":"AQI=","$type":"00"}"#, .data(Data([1, 2]))),
    (#"{"$type":"00","$binary":"AQI="}"#, .data(Data([1, 2]))),
    (#"{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}"#, "3b241101-e2bb-4255-8caf-4136c566a962"),
    (#"{"$symbol":"s"}"#, "s"), (#"{"$code":"f()"}"#, "f()"), (#"{"$undefined":true}"#, .null),
    (#"{"$url":"http://a.example/"}"#, .url(URL(string: "http://a.example/")!)),
    (#"[ { "$date" : { "$numberLong" : "0" } } ]"#, [date(0)]),
    (
      #"{"a":{"$oid":"507f1f77bcf86cd799439011"},"b":1}"#,
      ["a": "507f1f77bcf86cd799439011", "b": 1]
    ),
    (#"{"$$date":1}"#, ["$date": 1]), (#"{"$$$x":1,"$$":2}"#, ["$$x": 1, "$": 2]),
    (#"{"\u0024$x":1}"#, ["$x": 1]),
    (#"{"$minKey":1}"#, ["$minKey": 1]), (#"{"$maxKey":1}"#, ["$maxKey": 1]),
    (#"{"$timestamp":{"t":1,"i":2}}"#, ["$timestamp": ["t": 1, "i": 2]]),
    (
      #"{"$regularExpression":{"pattern":"a","options":""}}"#,
      ["$regularExpression": ["pattern": "a", "options": ""]]
    ),
    (
      #"{"$ref":"c","$id":{"$oid":"507f1f77bcf86cd799439011"}}"#,
      ["$ref": "c", "$id": "507f1f77bcf86cd799439011"]
    ),
    (#"{"$code":"f()","$scope":{}}"#, ["$code": "f()", "$scope": [:]]),
    (#"{"$date":"x","more":1}"#, ["$date": "x", "more": 1]),
    (#"{"a":1,"$date":"x"}"#, ["a": 1, "$date": "x"]),
    (#"{"$set":{"a":1}}"#, ["$set": ["a": 1]]),
  ]

  @Test(
    "Output of current and old versions of mongoexport has the correct values", arguments: forms)
  func mongoexport(text: String, value: DocumentValue) throws {
    #expect(try DocumentValue(json: text) == value)
    let written = value.jsonString()
    #expect(try DocumentValue(json: written) == value, "\(written)")
  }

  private static func decimal(_ text: String) -> DocumentValue { .decimal(DecimalValue(text)!) }

  @Test("NaN is parsed as NaN")
  func nan() throws {
    for text in [#"{"$numberDouble":"NaN"}"#, #"{"$numberDecimal":"NaN"}"#] {
      #expect(try DocumentValue(json: text).double?.isNaN == true)
    }
  }

  static let wrong: [(String, Int)] = [
    (#"{"$date":"yesterday"}"#, 9), (#"{"$date":"2009-04-01"}"#, 9),
    (#"{"$date":"2009-04-01T00:00:00"}"#, 9),
    (#"{"$date":"2009-02-29T00:00:00Z"}"#, 9), (#"{"$date":"2009-13-01T00:00:00Z"}"#, 9),
    (#"{"$date":"2009-04-01T24:00:00Z"}"#, 9),
    (#"{"$date":"2009-04-01T00:00:00.Z"}"#, 9), (#"{"$date":null}"#, 9), (#"{"$date":[]}"#, 9),
    (#"{"$date":253402300800000}"#, 9),
    (#"{"$date":{"$numberLong":"x"}}"#, 24), (#"{"$date": 1e300}"#, 10), (#"{"$oid":"507f"}"#, 8),
    (#"{"$oid":5}"#, 8),
    (#"{"$oid":"507f1f77bcf86cd79943901g"}"#, 8), (#"{"$numberInt":"2147483648"}"#, 14),
    (#"{"$numberInt":"1.5"}"#, 14),
    (#"{"$numberLong":"+5"}"#, 15), (#"{"$numberLong":"9223372036854775808"}"#, 15),
    (#"{"$numberDouble":"0x1p3"}"#, 17),
    (#"{"$numberDouble":"nan"}"#, 17), (#"{"$numberDouble":true}"#, 17),
    (#"{"$numberDecimal":"1,5"}"#, 18), (#"{"$numberDecimal":""}"#, 18),
    (#"{"$numberDecimal":"1E+6000"}"#, 18), (#"{"$numberDecimal":1}"#, 18),
    (#"{"$numberDecimal":"12345678901234567890123456789012345"}"#, 18),
    (#"{"$binary":{"base64":"A","subType":"00"}}"#, 11),
    (#"{"$binary":{"base64":"AA==","subType":0}}"#, 11), (#"{"$binary":"AA=="}"#, 11),
    (#"{"$type":"00","$binary":"!"}"#, 24), (#"{"$uuid":"x"}"#, 9), (#"{"$undefined":false}"#, 14),
    (#"{"$url":""}"#, 8),
    (#"{"$date":"2009-04-01T00:00:00Z","$interval":"x"}"#, 44), (#"{"$symbol":1}"#, 11),
    (#"[1,{"$code":null}]"#, 12),
    (#"{"$a":1,"$$a":2}"#, 8),
  ]

  @Test(
    "An extended value with invalid content is rejected at the position of the content",
    arguments: wrong)
  func invalidContent(text: String, offset: Int) {
    let error = #expect(throws: StoreError.self) { try DocumentValue(json: text) }
    #expect(error?.code == .invalidJSON)
    #expect(error?[.byteOffset] == "\(offset)", "\(error?.debugDescription ?? "")")
  }

  @Test("In the plain dialect, a dollar sign has no special meaning", arguments: forms)
  func plain(text: String, value: DocumentValue) throws {
    let plain = try DocumentValue(json: text, dialect: .plain)
    #expect(plain.object != nil || plain.array != nil)
    #expect(try DocumentValue(json: plain.jsonString(dialect: .plain), dialect: .plain) == plain)
    // The stored form escapes the dollar signs, so that the value is preserved.
    #expect(try stored(storedText(plain)) == plain)
  }

  @Test("The plain dialect writes human-readable values")
  func plainText() {
    let value: DocumentValue = [
      "$set": .date(Date(timeIntervalSince1970: 0.5)), "at": .date(Date(timeIntervalSince1970: 0)),
      "us": .date(Date(timeIntervalSinceReferenceDate: 0.000001)), "blob": .data(Data([1, 2])),
      "url": .url(URL(string: "b", relativeTo: URL(string: "http://a.example/"))!),
      "nan": .double(.nan), "n": 1.0, "deep": [["x": 1], []],
    ]
    #expect(
      value.jsonString(dialect: .plain)
        == #"{"$set":"1970-01-01T00:00:00.500Z","at":"1970-01-01T00:00:00.000Z","us":"2001-01-01T00:00:00.000001Z","blob":"AQI=","url":"http://a.example/b","nan":null,"n":1.0,"deep":[{"x":1},[]]}"#
    )
  }

  @Test("Pretty-printed JSON indents by two spaces and keeps extended values on one line")
  func pretty() {
    let value: DocumentValue = ["a": [1, ["b": .null]], "d": Self.date(0), "e": [], "f": [:]]
    #expect(
      value.jsonString(pretty: true) == """
        {
          "a": [
            1,
            {
              "b": null
            }
          ],
          "d": {"$date":"1970-01-01T00:00:00.000Z"},
          "e": [],
          "f": {}
        }
        """)
  }
}
