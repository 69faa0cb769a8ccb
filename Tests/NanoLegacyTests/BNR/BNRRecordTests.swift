// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Suite("Records of BNRPersistence")
struct BNRRecordTests {
  private func decode(
    _ fields: [BNRSchema.Field], _ bytes: [UInt8], hasVersion: Bool = false
  ) throws -> BNRDecodedRecord {
    try BNRRecordDecoder(fields, classNames: [0: "Song", 1: "Playlist"])
      .decode(bytes, hasVersion: hasVersion)
  }

  @Test("A person with one text and version 0 is decoded")
  func person() throws {
    let bytes: [UInt8] = [0x00, 0x04, 0, 0, 0, 0x46, 0x72, 0x65, 0x64]

    let record = try decode([.init("name", .text)], bytes, hasVersion: true)

    #expect(record == BNRDecodedRecord(version: 0, object: ["name": "Fred"]))
  }

  private static let everything: [BNRSchema.Field] = [
    .init("byte", .uint8), .init("word", .uint32), .init("single", .float32),
    .init("double", .float64), .init("text", .text), .init("data", .data), .init("date", .date),
    .init("song", .reference(to: "Song")), .init("any", .anyReference),
    .init("songs", .array(of: "Song")), .init("mixed", .mixedArray), .init("archive", .archive),
  ]

  private static func everythingBytes() -> [UInt8] {
    var writer = BNRBufferWriter()
    writer.uint8(255)
    writer.uint32(.max)
    writer.float32(-1.5)
    writer.float64(0.1)
    writer.text("Zażółć 🎈")
    writer.data([0, 1, 2])
    writer.float64(700_000_000.125)
    writer.uint32(3)
    writer.uint8(1)
    writer.uint32(2)
    for number: UInt32 in [4, 4, 0, 3, 2] { writer.uint32(number) }
    writer.uint32(3)
    for (classID, rowID): (UInt8, UInt32) in [(0, 5), (9, 2), (1, 0)] {
      writer.uint8(classID)
      writer.uint32(rowID)
    }
    writer.data([7])
    return writer.bytes
  }

  @Test("Every type of item is decoded")
  func types() throws {
    let record = try decode(Self.everything, Self.everythingBytes())

    #expect(
      record.object == [
        "byte": 255, "word": 4_294_967_295, "single": -1.5, "double": 0.1, "text": "Zażółć 🎈",
        "data": .data(Data([0, 1, 2])),
        "date": .date(Date(timeIntervalSinceReferenceDate: 700_000_000.125)), "song": 3,
        "any": ["collection": "Playlist", "id": 2], "songs": [4, 3, 2],
        "mixed": [["collection": "Song", "id": 5], ["classID": 9, "rowID": 2]],
        "archive": .data(Data([7])),
      ])
    #expect(record.emptyReferences == 2)
    #expect(record.unknownClasses == 1)
  }

  @Test("Zeros become null, except in numbers and arrays")
  func zeros() throws {
    let record = try decode(
      Self.everything, Array(repeating: 0, count: 1 + 4 + 4 + 8 + 4 + 4 + 8 + 4 + 5 + 4 + 4 + 4))

    #expect(
      record.object == [
        "byte": 0, "word": 0, "single": 0.0, "double": 0.0, "text": nil, "data": nil, "date": nil,
        "song": nil, "any": nil, "songs": [], "mixed": [], "archive": nil,
      ])
  }

  @Test("A record of any other length is rejected")
  func lengths() {
    let bytes = Self.everythingBytes()
    for length in 0..<bytes.count {
      #expect { try decode(Self.everything, Array(bytes[..<length])) } throws: {
        ($0 as? StoreError)?.code == .corruptDocument && ($0 as? StoreError)?[.field] != nil
      }
    }
    #expect { try decode(Self.everything, bytes + [0]) } throws: {
      ($0 as? StoreError)?.code == .corruptDocument
    }
  }

  @Test("Counts that exceed the record, and text that is not UTF-8, are rejected")
  func counts() {
    let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0]
    for type in [.text, .data, .archive, .array(of: "Song"), .mixedArray] as [BNRSchema.FieldType] {
      #expect { try decode([.init("a", type)], huge) } throws: {
        ($0 as? StoreError)?.code == .corruptDocument && ($0 as? StoreError)?[.field] == "a"
      }
    }
    #expect(throws: StoreError.self) { try decode([.init("a", .text)], [1, 0, 0, 0, 0xFF]) }
  }

  @Test("A date that documents cannot hold becomes its seconds, and is counted")
  func dates() throws {
    for seconds in [Double.infinity, -1e300, 252_423_993_600] {
      var writer = BNRBufferWriter()
      writer.float64(seconds)
      let record = try decode([.init("a", .date)], writer.bytes)
      #expect(record.object == ["a": .double(seconds)])
      #expect(record.datesOutOfRange == 1)
    }
  }

  @Test("Fields depend on the version of the record")
  func versions() throws {
    let fields: [BNRSchema.Field] = [
      .init("title", .text), .init("seconds", .uint8, before: 2),
      .init("seconds", .uint32, since: 2), .init("rating", .uint8, since: 2, before: 3),
    ]
    let title: [UInt8] = [1, 0, 0, 0, 0x41]

    #expect(
      try decode(fields, [1] + title + [9], hasVersion: true).object == [
        "title": "A", "seconds": 9,
      ])
    #expect(
      try decode(fields, [2] + title + [9, 1, 0, 0, 5], hasVersion: true).object
        == ["title": "A", "seconds": 265, "rating": 5])
    #expect(
      try decode(fields, [3] + title + [9, 1, 0, 0], hasVersion: true).object
        == ["title": "A", "seconds": 265])
    // Without version bytes, the original's code saw version 0.
    #expect(try decode(fields, title + [9]).object == ["title": "A", "seconds": 9])
  }

  @Test("Archives are decoded by the closure, whose error names the field")
  func archives() throws {
    let failure = StoreError(.corruptDocument, "Not an archive")
    let decoder = BNRRecordDecoder([.init("a", .archive)], classNames: [:]) {
      (data) throws(StoreError) in
      guard data.count == 2 else { throw failure }
      return .int(Int64(data[0]))
    }

    #expect(try decoder.decode([2, 0, 0, 0, 5, 6], hasVersion: false).object == ["a": 5])
    #expect { try decoder.decode([1, 0, 0, 0, 5], hasVersion: false) } throws: {
      $0 as? StoreError == failure.adding(.field, "a")
    }
  }

  @Test("Metadata has two forms, and other lengths are rejected")
  func metadata() throws {
    let bytes: [UInt8] = [5, 0, 0, 0, 1, 7, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55]

    let metadata = try BNRClassMetadata(bytes)
    let old = try BNRClassMetadata(Array(bytes[..<6]))

    #expect((metadata.lastRowID, metadata.version, metadata.classID) == (5, 1, 7))
    #expect(metadata.salt == BNRSalt(word0: 0x1122_3344, word1: 0x5566_7788))
    #expect((old.lastRowID, old.version, old.classID) == (5, 1, 7))
    #expect(old.salt == nil)
    for length in 0...13 where length != 6 {
      #expect(throws: StoreError.self) { try BNRClassMetadata(Array(bytes[..<length])) }
    }
  }
}
