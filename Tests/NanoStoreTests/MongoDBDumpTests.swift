// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// Samples in the forms of the public specification of Extended JSON, as `mongoexport` writes them.
@Suite("MongoDB dumps")
struct MongoDBDumpTests {
  let scratch: Scratch
  let people: DocumentCollection

  init() throws {
    scratch = try Scratch()
    people = try anyStore()["people"]
  }

  private func load(_ text: String, key: FieldPath? = nil, skipping: Bool = false) throws
    -> ImportReport
  {
    let file = URL(filePath: scratch.file("\(UUID().uuidString).json"))
    try Data(text.utf8).write(to: file)
    return try people.importDocuments(
      from: file,
      options: ImportOptions(format: .mongoDB, keyField: key, skipsInvalidRecords: skipping))
  }

  private static let fields: DocumentObject = [
    "_id": "5d505646cf6d4fe581014ab2", "name": "Ada", "small": 42, "large": 9_007_199_254_740_993,
    "rate": 2.5, "whole": 3.0, "born": .date(Date(timeIntervalSince1970: -4_861_641_600)),
    "seen": .date(Date(timeIntervalSinceReferenceDate: 587_238_854.692)),
    "photo": .data(Data([1, 2, 3])), "tags": ["a", nil, true],
    "price": .decimal(DecimalValue("10.99")!),
    "exact": .decimal(DecimalValue("0.1000000000000000000000000000000001")!),
    "at": ["$timestamp": ["t": 1_565_545_664, "i": 1]],
    "pattern": ["$regularExpression": ["pattern": "^H", "options": "i"]], "low": ["$minKey": 1],
    "gone": nil,
  ]

  private static let canonical = """
    {"_id":{"$oid":"5d505646cf6d4fe581014ab2"},"name":"Ada","small":{"$numberInt":"42"},\
    "large":{"$numberLong":"9007199254740993"},"rate":{"$numberDouble":"2.5"},\
    "whole":{"$numberDouble":"3.0"},"born":{"$date":{"$numberLong":"-4861641600000"}},\
    "seen":{"$date":{"$numberLong":"1565546054692"}},\
    "photo":{"$binary":{"base64":"AQID","subType":"00"}},"tags":["a",null,true],\
    "price":{"$numberDecimal":"10.99"},\
    "exact":{"$numberDecimal":"0.1000000000000000000000000000000001"},\
    "at":{"$timestamp":{"t":1565545664,"i":1}},\
    "pattern":{"$regularExpression":{"pattern":"^H","options":"i"}},"low":{"$minKey":1},\
    "gone":{"$undefined":true}}
    """

  private static let relaxed = """
    {"_id":{"$oid":"5d505646cf6d4fe581014ab2"},"name":"Ada","small":42,"large":9007199254740993,\
    "rate":2.5,"whole":3.0,"born":{"$date":{"$numberLong":"-4861641600000"}},\
    "seen":{"$date":"2019-08-11T17:54:14.692Z"},\
    "photo":{"$binary":{"base64":"AQID","subType":"00"}},"tags":["a",null,true],\
    "price":{"$numberDecimal":"10.99"},\
    "exact":{"$numberDecimal":"0.1000000000000000000000000000000001"},\
    "at":{"$timestamp":{"t":1565545664,"i":1}},\
    "pattern":{"$regularExpression":{"pattern":"^H","options":"i"}},"low":{"$minKey":1},\
    "gone":{"$undefined":true}}
    """

  @Test("Canonical and relaxed documents of version 2 are equal, under the key of their object ID")
  func versionTwo() throws {
    for text in [Self.canonical, "[\(Self.relaxed)]"] {
      try people.deleteAll()
      #expect(try load(text).documents == 1)

      #expect(try people.get("5d505646cf6d4fe581014ab2")?.object() == Self.fields)
    }
  }

  @Test("Documents of version 1 have the same values")
  func versionOne() throws {
    let text = """
      { "_id" : { "$oid" : "5d505646cf6d4fe581014ab2" }, "large" : { "$numberLong" : "9007199254740993" }, \
      "born" : { "$date" : -4861641600000 }, "seen" : { "$date" : "2019-08-11T17:54:14.692Z" }, \
      "zone" : { "$date" : "2019-08-11T17:54:14.692+0200" }, \
      "photo" : { "$binary" : "AQID", "$type" : "00" }, "pattern" : { "$regex" : "^H", "$options" : "i" }, \
      "at" : { "$timestamp" : { "t" : 1565545664, "i" : 1 } }, "ref" : { "$ref" : "c", "$id" : 5 }, \
      "gone" : { "$undefined" : true } }
      """
    #expect(try load(text).documents == 1)

    let document = try #require(try people.get("5d505646cf6d4fe581014ab2"))
    for name in ["large", "born", "seen", "photo", "at", "gone"] {
      #expect(document[name] == Self.fields[name], "\(name)")
    }
    #expect(document["zone"]?.date == Date(timeIntervalSinceReferenceDate: 587_231_654.692))
    #expect(document["pattern"] == ["$regex": "^H", "$options": "i"])
    #expect(document["ref"] == ["$ref": "c", "$id": 5])
  }

  @Test(
    "Keys are object IDs, text, integers and UUIDs",
    arguments: [
      (#"{"$oid":"5D505646CF6D4FE581014AB2"}"#, "5D505646CF6D4FE581014AB2"), (#""ada""#, "ada"),
      ("7", "7"), (#"{"$numberLong":"8"}"#, "8"), (#"{"$numberInt":"9"}"#, "9"),
      (
        #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#,
        "3b241101-e2bb-4255-8caf-4136c566a962"
      ),
    ])
  func keys(id: String, key: String) throws {
    _ = try load(#"{"_id":\#(id),"n":1}"#)
    #expect(try people.find().keys() == [key])
  }

  @Test(
    "A form with invalid content, and an _id that cannot be a key, are refused with their position",
    arguments: [
      (#"{"_id":1,"a":{"$oid":"xyz"}}"#, "21"),
      (#"{"_id":1,"a":{"$numberLong":"9223372036854775808"}}"#, "28"),
      (#"{"_id":1,"a":{"$date":"yesterday"}}"#, "22"),
      (#"{"_id":1,"a":{"$binary":{"base64":"A","subType":"00"}}}"#, "24"),
      (#"{"_id":1,"a":{"$numberDecimal":"1.2.3"}}"#, "31"),
      (#"{"_id":1,"a":{"$date":{"$numberLong":"253402300800000"}}}"#, "22"),
      (#"{"_id":1.5}"#, "0"), (#"{"_id":{"a":1}}"#, "0"), (#"{"n":1}"#, "0"),
    ])
  func refused(text: String, byte: String) throws {
    let error = error { _ = try load(text) }
    #expect(error?.code == .invalidJSON || error?.code == .invalidKey)
    #expect(
      error?[.byteOffset].map { abs(Int($0)! - Int(byte)!) <= 1 } == true,
      "\(error?[.byteOffset] ?? "")")
    #expect(try people.store.collections().isEmpty)
  }

  @Test("A date in the last half millisecond of the year 9999 is exported in that year")
  func lastDate() throws {
    try people.insert(["a": .date(Date(timeIntervalSince1970: 253_402_300_799.9996))], key: "a")
    var data = Data()
    try people.find().export(as: .ndjson(.mongoDB)) { data.append($0) }
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains("253402300799999"))
    try people.deleteAll()
    _ = try load(text)
    #expect(try people.count() == 1)
  }

  @Test("A canonical export imports as equal documents, and exports as the same bytes")
  func roundTrip() throws {
    _ = try load(Self.canonical)
    try people.insert(
      ["n": 5, "big": 5_000_000_000, "x": .double(.infinity), "u": ["$set": ["a": 1]]], key: "b")

    func export(_ collection: DocumentCollection) throws -> String {
      var data = Data()
      try collection.find().export(as: .ndjson(.mongoDB)) { data.append($0) }
      return String(decoding: data, as: UTF8.self)
    }
    let text = try export(people)
    let originals = try people.fetch().map { try $0.object() }
    try people.deleteAll()
    _ = try load(text)

    #expect(
      text.split(separator: "\n")[1] == """
        {"_id":"b","n":{"$numberInt":"5"},"big":{"$numberLong":"5000000000"},\
        "x":{"$numberDouble":"Infinity"},"u":{"$set":{"a":{"$numberInt":"1"}}}}
        """)
    let copies = try people.fetch().map { try $0.object() }
    #expect(copies[0] == originals[0])
    #expect(Array(copies[1].dropFirst()).map(\.value) == originals[1].map(\.value))
    #expect(try export(people) == text)
  }
}
