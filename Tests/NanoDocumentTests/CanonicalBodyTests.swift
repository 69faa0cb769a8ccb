// SPDX-License-Identifier: MIT

import NanoDocument
import Testing

@Suite("Conversion of externally written bodies to stored form")
struct CanonicalBodyTests {
  private static func rewritten(_ text: String) throws -> String? {
    var text = text
    return try text.withUTF8 { try CanonicalBody.rewritten(UnsafeRawBufferPointer($0)) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  static let spellings: [(String, String)] = [
    (#" {"a":2}"#, #"{"a":2}"#), ("{\n\"a\" :\t[ 1 , 2 ]\r\n}", #"{"a":[1,2]}"#),
    (#"{"gr\u00f6\u00dfe":5}"#, #"{"größe":5}"#), (#"{"gr\u00F6\u00DFe":"\/"}"#, #"{"größe":"/"}"#),
    (#"{"a":"\ud83d\ude00\u0041"}"#, #"{"a":"😀A"}"#),
    (#"{"a":"\u0000\u000a"}"#, #"{"a":"\u0000\n"}"#),
    (
      #"{"a":1e2,"b":1.50,"c":-0,"d":-0.0,"e":1E+2}"#,
      #"{"a":100.0,"b":1.5,"c":0,"d":-0.0,"e":100.0}"#
    ),
    (
      #"{"a":{"$binary":{"subType":"05","base64":"AP8="}}}"#,
      #"{"a":{"$binary":{"base64":"AP8=","subType":"00"}}}"#
    ),
    (
      #"{"a":{"\u0024date":"2026-11-20T22:17:00+01:00"}}"#,
      #"{"a":{"$date":"2026-11-20T21:17:00.000000000Z"}}"#
    ),
    (#"{"a":{"$oid":"5f"},"$b":1}"#, #"{"a":{"$$oid":"5f"},"$$b":1}"#),
    (#"{"\u0024\u0024b":1,"$\u0024c":2}"#, #"{"$$b":1,"$$c":2}"#),
  ]

  @Test("Any formatting of a document converts to the same stored form", arguments: spellings)
  func formatting(text: String, expected: String) throws {
    #expect(try Self.rewritten(text) == expected)
    #expect(try Self.rewritten(expected) == nil)
  }

  @Test(
    "A body that is not a valid document is an error",
    arguments: [
      #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"$a":1,"$$a":2}"#,
      #"{"a":12345678901234567890}"#,
      #"{"a":"\ud800"}"#, #"{"a":01}"#, #"{"a":1,}"#, #"{"a":1e999}"#, #"{"a":1} x"#,
      "{\"a\":1}\u{0}",
      "[1]", "", #"{"$date":"2026-11-20T21:17:00Z"}"#, #"{"a":1"#, "{\"a\":\"\u{1}\"}",
    ])
  func rejected(text: String) {
    #expect(throws: StoreError.self) { try Self.rewritten(text) }
  }

  @Test("An escaped dollar sign in a name is a dollar sign")
  func escapedDollar() throws {
    var text = #"{"d":{"\u0024date":"2026-11-20T21:17:00Z"},"\u0024\u0024x":1,"$y":2}"#
    try text.withUTF8 { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      let object = try reader.object()
      #expect(object["d"]?.date != nil)
      #expect(object.names == ["d", "$x", "$y"])
      for name in ["$x", "$y"] {
        var reader = JSONReader(UnsafeRawBufferPointer(bytes))
        let isFound = try reader.findField(StoredName(name))
        #expect(isFound, "\(name)")
      }
      var inner = JSONReader(UnsafeRawBufferPointer(bytes))
      let isFound = try inner.findField(StoredName("d"))
      #expect(isFound && inner.isStoredForm)
    }
  }
}
