// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import Testing

@Suite struct SyncJSONTests {
  @Test(arguments: [
    #"{"$date":"2020-01-01T00:00:00.000Z"}"#, #"{"$$date":"2020-01-01T00:00:00.000Z"}"#,
    #"{"$url":"http://x/"}"#, #"{"$numberDecimal":"1.50"}"#,
    #"{"$binary":{"base64":"AQI=","subType":"00"}}"#,
  ])
  func `A document that looks like a form is none, with other fields or without`(
    _ text: String
  ) throws {
    let object = try DocumentObject(json: text, dialect: .plain)

    #expect(try SyncJSON.object(Array(text.utf8)) == object)
    #expect(String(decoding: SyncJSON.bytes(object), as: UTF8.self) == text)
    let list = Array(#"{"docs":[\#(text),5],"n":1}"#.utf8)
    let documents = try SyncJSON.value(list, documents: .elements(of: "docs"))
    let expected: DocumentObject = ["docs": .array([.object(object), 5]), "n": 1]
    #expect(documents == .object(expected))

    // A program's document arrives under its own names at all stores.
    let database = try anyDatabase()
    try database.collection.save(object, key: "x")
    let document = try #require(try database.revisions(["x"])["x"]?.winner)
    let json = String(decoding: document.json(WireOptions(hasHistory: true)), as: UTF8.self)
    #expect(json.contains(String(text.dropFirst().dropLast())))
    let other = try anyDatabase()
    #expect(try other.replicate(json: json).isEmpty)
    #expect(try other.collection.get("x")?.object() == object)
    #expect(try other.contents() == database.contents())
  }

  @Test func `Values inside a document keep their types`() throws {
    let object: DocumentObject = [
      "$date": .date(.init(timeIntervalSince1970: 0)), "$odd": ["$date": .data(.init([1]))],
      "list": [
        ["$date": "1970-01-01T00:00:00.000Z"], .decimal(try #require(DecimalValue("1.50"))),
      ],
    ]

    #expect(try SyncJSON.object(SyncJSON.bytes(object)) == object)
  }

  @Test func `Objects whose names begin with a dollar sign can be nested in each other`() throws {
    // If each level were interpreted with all that it contains, this would take minutes.
    let levels = 400
    let numbers = Array(repeating: "1", count: 200_000).joined(separator: ",")
    let text =
      #"{"x":"# + String(repeating: #"{"$a":"#, count: levels) + "[\(numbers)]"
      + String(repeating: "}", count: levels + 1)

    let object = try SyncJSON.object(Array(text.utf8))

    #expect(SyncJSON.bytes(object) == Array(text.utf8))
    #expect(try SyncJSON.plain(object) == object)
  }
}
