// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Testing

@testable import NanoLegacy

@Suite("Schemas of BNRPersistence stores")
struct BNRSchemaTests {
  static let library = """
    {
      "classes": {
        "Song": {
          "fields": [
            {"name": "title", "type": "text"},
            {"name": "seconds", "type": "uint32"}
          ],
          "textIndexes": ["title"]
        },
        "Playlist": {
          "fields": [
            {"name": "title", "type": "text"},
            {"name": "songs", "type": "array", "class": "Song"}
          ]
        }
      },
      "namedBuffers": {
        "Favorite:*": {"fields": [{"name": "song", "type": "reference", "class": "Song"}]},
        "nazwa ółń": {"fields": [{"name": "text", "type": "text"}]}
      }
    }
    """

  @Test("The JSON form describes the same schema as Swift")
  func jsonForm() throws {
    let schema = try BNRSchema(
      classes: [
        .init("Song", [.init("title", .text), .init("seconds", .uint32)], textIndexes: ["title"]),
        .init("Playlist", [.init("title", .text), .init("songs", .array(of: "Song"))]),
      ],
      namedBuffers: [
        .init("Favorite:*", [.init("song", .reference(to: "Song"))]),
        .init("nazwa ółń", [.init("text", .text)]),
      ])

    #expect(try BNRSchema(json: Self.library) == schema)
  }

  @Test("A schema with every type and option survives encoding and decoding")
  func codable() throws {
    let types: [BNRSchema.FieldType] = [
      .uint8, .uint32, .float32, .float64, .text, .data, .date, .reference(to: "A"), .anyReference,
      .array(of: "A"), .mixedArray, .archive,
    ]
    let fields = types.enumerated().map {
      BNRSchema.Field("f\($0)", $1, since: UInt8($0), before: $0 % 2 == 0 ? 200 : nil)
    }
    let schema = try BNRSchema(
      classes: [
        .init("A", fields, versionByte: .yes, textIndexes: ["f4"]),
        .init("B", [], versionByte: .no),
      ],
      namedBuffers: [.init("*", [.init("a", .data)])])

    let encoded = try JSONEncoder().encode(schema)
    let decoded = try JSONDecoder().decode(BNRSchema.self, from: encoded)

    // Foundation's decoder does not keep the order of members, which has no meaning for classes.
    #expect(Set(decoded.classes) == Set(schema.classes))
    #expect(decoded.namedBuffers == schema.namedBuffers)
    #expect(try BNRSchema(json: String(decoding: encoded, as: UTF8.self)).classes.count == 2)
  }

  struct Mistake: Sendable, CustomTestStringConvertible {
    var fields: String
    var location: String
    var detail: String?
    var testDescription: String { fields }
  }

  static let mistakes = [
    Mistake(
      fields: #"{"name": "a", "type": "text"}, {"name": "b", "type": "int"}"#,
      location: "classes.Song.fields[1].type", detail: "int"),
    Mistake(
      fields: #"{"name": "a", "type": "array", "class": "Album"}"#,
      location: "classes.Song.fields[0].class", detail: "Album"),
    Mistake(
      fields: #"{"name": "a", "type": "text"}, {"name": "a", "type": "data"}"#,
      location: "classes.Song.fields[1].name", detail: "a"),
    Mistake(
      fields:
        #"{"name": "a", "type": "text", "since": 3}, {"name": "a", "type": "data", "before": 4}"#,
      location: "classes.Song.fields[1].name", detail: "a"),
    Mistake(fields: #"{"type": "text"}"#, location: "classes.Song.fields[0].name"),
    Mistake(fields: #"{"name": "", "type": "text"}"#, location: "classes.Song.fields[0].name"),
    Mistake(fields: #"{"name": "a"}"#, location: "classes.Song.fields[0].type"),
    Mistake(
      fields: #"{"name": "a", "type": "reference"}"#, location: "classes.Song.fields[0].class"),
    Mistake(
      fields: #"{"name": "a", "type": "text", "class": "Song"}"#,
      location: "classes.Song.fields[0].class"),
    Mistake(
      fields: #"{"name": "a", "type": "text", "size": 4}"#, location: "classes.Song.fields[0].size"),
    Mistake(
      fields: #"{"name": "a", "type": "text", "since": 256}"#,
      location: "classes.Song.fields[0].since"),
    Mistake(
      fields: #"{"name": "a", "type": "text", "since": 4, "before": 4}"#,
      location: "classes.Song.fields[0].before"),
    Mistake(fields: #""text""#, location: "classes.Song.fields[0]"),
  ]

  @Test("An error in a schema names its location", arguments: mistakes)
  func locations(_ mistake: Mistake) throws {
    let error = #expect(throws: StoreError.self) {
      try BNRSchema(json: #"{"classes": {"Song": {"fields": [\#(mistake.fields)]}}}"#)
    }

    #expect(error?.code == .invalidArgument)
    #expect(error?[.field] == mistake.location)
    #expect(error?[.actual] == mistake.detail || mistake.detail == nil)
  }

  @Test(
    "Errors outside of fields name their location",
    arguments: [
      (#"{}"#, "classes"),
      (#"{"classes": []}"#, "classes"),
      (#"{"classes": {}, "buffers": {}}"#, "buffers"),
      (#"{"classes": {"A": {"fields": [], "versionByte": "maybe"}}}"#, "classes.A.versionByte"),
      (#"{"classes": {"A": {"fields": [], "textIndexes": ["b"]}}}"#, "classes.A.textIndexes[0]"),
      (#"{"classes": {"A": {"fields": {}}}}"#, "classes.A.fields"),
      (#"{"classes": {"A": {}}}"#, "classes.A.fields"),
      (
        #"{"classes": {"A": {"versionByte": "no", "fields": [{"name": "b", "type": "text", "since": 1}]}}}"#,
        "classes.A.fields[0]"
      ),
      (
        #"{"classes": {}, "namedBuffers": {"n": {"fields": [{"name": "b", "type": "text", "since": 1}]}}}"#,
        "namedBuffers.n.fields[0]"
      ),
    ])
  func otherLocations(_ json: String, _ location: String) {
    #expect {
      try BNRSchema(json: json)
    } throws: {
      ($0 as? StoreError)?.code == .invalidArgument && ($0 as? StoreError)?[.field] == location
    }
  }

  @Test("A name that occurs twice is rejected in JSON and in Swift")
  func duplicates() {
    #expect {
      try BNRSchema(json: #"{"classes": {"A": {"fields": []}, "A": {"fields": []}}}"#)
    } throws: {
      ($0 as? StoreError)?.code == .invalidJSON
    }
    #expect { try BNRSchema(classes: [.init("A", []), .init("A", [])]) } throws: {
      ($0 as? StoreError)?[.field] == "classes.A"
    }
  }

  @Test("A named buffer has the description with its name, or else with the longest prefix")
  func bufferNames() throws {
    let schema = try BNRSchema(
      classes: [],
      namedBuffers: ["*", "Fav*", "Favorite:*", "Favorite:1"].map { .init($0, []) })

    #expect(schema.bufferDescription("Favorite:1")?.name == "Favorite:1")
    #expect(schema.bufferDescription("Favorite:2")?.name == "Favorite:*")
    #expect(schema.bufferDescription("Favor")?.name == "Fav*")
    #expect(schema.bufferDescription("")?.name == "*")
    #expect(try BNRSchema(classes: []).bufferDescription("a") == nil)
  }
}
