// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSync
import Testing

@Suite("Selectors")
struct SelectorTests {
  private static let document: DocumentObject = [
    "_id": "a", "name": "Ada", "born": 1815, "tags": ["math", "poetry"], "empty": [],
    "address": ["city": "London", "lines": ["St James", "Square"]], "none": .null, "a.b": 1,
    "scores": [["n": 1, "ok": true], ["n": 5, "ok": false]], "flag": true,
  ]

  @Test(
    "A selector matches as in CouchDB",
    arguments: [
      (#"{}"#, true), (#"{"name":"Ada"}"#, true), (#"{"name":"ada"}"#, false),
      (#"{"born":{"$gt":1800,"$lte":1815}}"#, true), (#"{"born":{"$gt":1815}}"#, false),
      (#"{"born":1815.0}"#, true), (#"{"address.city":"London"}"#, true),
      (#"{"address":{"city":"London"}}"#, true), (#"{"address":{"city":{"$ne":"Paris"}}}"#, true),
      (#"{"address.lines.1":"Square"}"#, true), (#"{"a\\.b":1}"#, true), (#"{"a.b":1}"#, false),
      (#"{"missing":{"$ne":1}}"#, false), (#"{"missing":{"$exists":false}}"#, true),
      (#"{"missing":{"$nin":[1]}}"#, false), (#"{"$not":{"missing":1}}"#, false),
      (#"{"missing":{"$exists":false,"$ne":1}}"#, false), (#"{"none":null}"#, true),
      (#"{"none":{"$exists":true}}"#, true), (#"{"name":{"$exists":false}}"#, false),
      (#"{"$or":[{"name":"x"},{"born":1815}]}"#, true),
      (#"{"$nor":[{"name":"x"},{"born":1815}]}"#, false),
      (#"{"$nor":[{"name":"x"},{"born":1}]}"#, true),
      (#"{"$and":[{"name":"Ada"},{"born":1}]}"#, false),
      (#"{"born":{"$not":{"$gt":1815}}}"#, true), (#"{"name":{"$in":["Ada","Bob"]}}"#, true),
      (#"{"tags":{"$in":["math"]}}"#, true), (#"{"tags":{"$nin":["math"]}}"#, false),
      (#"{"tags":{"$all":["poetry","math"]}}"#, true), (#"{"tags":{"$all":["math","x"]}}"#, false),
      (#"{"tags":{"$all":[["math","poetry"]]}}"#, true), (#"{"tags":{"$size":2}}"#, true),
      (#"{"empty":{"$size":0}}"#, true), (#"{"tags":{"$elemMatch":{"$eq":"math"}}}"#, true),
      (#"{"scores":{"$elemMatch":{"n":{"$gt":4},"ok":false}}}"#, true),
      (#"{"scores":{"$elemMatch":{"n":{"$gt":4},"ok":true}}}"#, false),
      (#"{"scores":{"$allMatch":{"n":{"$gt":0}}}}"#, true),
      (#"{"empty":{"$allMatch":{"$eq":1}}}"#, false),
      (#"{"name":{"$type":"string"}}"#, true), (#"{"born":{"$type":"string"}}"#, false),
      (#"{"flag":{"$type":"boolean"}}"#, true), (#"{"address":{"$type":"object"}}"#, true),
      (#"{"born":{"$mod":[5,0]}}"#, true), (#"{"born":{"$mod":[5,1]}}"#, false),
      (#"{"name":{"$mod":[5,1]}}"#, false), (#"{"name":{"$regex":"^A.a$"}}"#, true),
      (#"{"born":{"$regex":"1"}}"#, false), (#"{"name":{"$beginsWith":"Ad"}}"#, true),
      (#"{"name":{"$beginsWith":"ad"}}"#, false), (#"{"name":{"$gt":1}}"#, true),
      (#"{"name":{"$gt":null}}"#, true), (#"{"name":{"$lt":[]}}"#, true),
      (#"{"born":{"$lt":"a"}}"#, true),
      (#"{"_id":"a"}"#, true), (#"{"$not":{"tags":{"$all":["x"]}}}"#, true),
      (#"{"address":{"$keyMapMatch":{"$eq":"city"}}}"#, true),
    ])
  func matches(_ json: String, _ expected: Bool) throws {
    let selector = try Selector(DocumentValue(json: json, dialect: .plain))

    #expect(selector.matches(Self.document) == expected, "\(json)")
  }

  @Test(
    "A malformed selector is rejected with CouchDB's reason",
    arguments: [
      (#"{"a":{"$no":1}}"#, "Invalid operator: $no"),
      (#"[]"#, "Selector must be a JSON object"),
      (#"{"a":{"$in":1}}"#, "Bad argument for operator $in: 1"),
      (#"{"$and":[1]}"#, "Bad argument for operator $and: [1]"),
      (#"{"a":{"$regex":"("}}"#, #"Bad argument for operator $regex: "(""#),
      (#"{"a":{"$mod":[0,1]}}"#, "Bad argument for operator $mod: [0,1]"),
    ])
  func malformed(_ json: String, _ reason: String) throws {
    #expect(throws: ProtocolError.badRequest(reason)) {
      try Selector(DocumentValue(json: json, dialect: .plain))
    }
  }

  @Test("A selector that is nested without end is rejected")
  func depth() throws {
    let json =
      String(repeating: #"{"$not":"#, count: 300) + "{}" + String(repeating: "}", count: 300)

    #expect(throws: ProtocolError.self) {
      try Selector(DocumentValue(json: json, dialect: .plain))
    }
  }

  @Test("Values are ordered as in CouchDB")
  func order() {
    let values: [DocumentValue] = [
      .null, false, true, -1, 0, 1.5, 2, .double(0x1p53), 9_007_199_254_740_993, "", "_", "1", "a",
      "A", "aa", "b", "B", "ba", "bb", [],
      ["a"], ["a", "b"], ["b"], [:], ["a": 1], ["a": 2], ["b": 1], ["b": 2, "c": 2],
    ]

    for (index, a) in values.enumerated() {
      for (other, b) in values.enumerated() {
        let order = CollationOrder.compare(a, b)
        #expect((order < 0) == (index < other) && (order == 0) == (index == other), "\(a) \(b)")
      }
    }
  }
}
