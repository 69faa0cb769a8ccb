// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Suite("Class files of BNRPersistence")
struct BNRClassFileTests {
  private static let classNames: [UInt8: String] = [0: "Song", 1: "Playlist", 2: "Everything"]

  /// Decodes all records of a file.
  private func decode(
    _ url: URL, _ description: BNRSchema.ClassDescription, passphrase: String? = nil
  ) throws -> [UInt32: DocumentObject] {
    let file = try BNRClassFile(url)
    let cipher = file.cipher(passphrase: passphrase)
    let survey = try BNRClassSurvey(file, description, cipher: cipher, classNames: Self.classNames)
    try survey.checkPassphrase(className: file.name, hasPassphrase: passphrase != nil)
    let hasVersion = BNRClassSurvey.hasVersionByte(description, survey, others: [])
    let decoder = BNRRecordDecoder(description.fields, classNames: Self.classNames)
    var objects: [UInt32: DocumentObject] = [:]
    _ = try file.forEach { (row) throws(StoreError) in
      let content = try cipher?.decrypt(row.bytes, rowID: row.rowID) ?? row.bytes
      objects[row.rowID] = try decoder.decode(content, hasVersion: hasVersion).object
    }
    return objects
  }

  private static let songFields: [BNRSchema.Field] = [
    .init("title", .text), .init("seconds", .uint32),
  ]

  private func fixture(_ store: String) throws -> DocumentObject {
    let text = try String(contentsOf: LegacyFixtures.url("bnr/bnr.json"), encoding: .utf8)
    return try #require(DocumentObject(json: text, dialect: .plain)[store]?.object)
  }

  private func rows(_ value: DocumentValue?) throws -> [UInt32: DocumentObject] {
    var rows: [UInt32: DocumentObject] = [:]
    for case .object(var row) in try #require(value?.array) {
      let rowID = UInt32(try #require(row["rowID"]?.int))
      row["rowID"] = nil
      if row["title"] == "" { row["title"] = .null }
      rows[rowID] = row
    }
    return rows
  }

  @Test("The original's songs and playlists are read")
  func library() throws {
    let expected = try fixture("library.bnrtc")
    let schema = try BNRSchema(json: BNRSchemaTests.library)

    for name in ["Song", "Playlist"] {
      let objects = try decode(
        LegacyFixtures.url("bnr/library.bnrtc/\(name)"),
        try #require(schema.classDescription(name)))
      #expect(objects == (try rows(expected[name])))
    }
  }

  @Test("The original's metadata is read")
  func metadata() throws {
    for (id, name) in Self.classNames {
      let file = try BNRClassFile(LegacyFixtures.url("bnr/alltypes.bnrtc/\(name)"))
      let metadata = try file.metadata.get()
      #expect(metadata.classID == id)
      #expect(metadata.salt != nil)
      #expect(file.name == name)
    }
    let songs = try BNRClassFile(LegacyFixtures.url("bnr/library.bnrtc/Song"))
    #expect(try songs.metadata.get().lastRowID == 10)
  }

  @Test("The original's named buffers are read")
  func namedBuffers() throws {
    let schema = try BNRSchema(json: BNRSchemaTests.library)
    let buffers = try BNRNamedBuffers(LegacyFixtures.url("bnr/library.bnrtc/NamedBuffers"))
    var found: [String: DocumentObject] = [:]

    let report = try buffers.forEach { (name, content, _) throws(StoreError) in
      guard let name, let description = schema.bufferDescription(name) else { return }
      found[name] = try BNRRecordDecoder(description.fields, classNames: [:])
        .decode(content, hasVersion: false).object
    }

    #expect(report == HashDatabaseReport(recordCount: 2))
    #expect(
      found == [
        "Favorite:0": ["song": 4], "nazwa ółń": ["text": "a named string – zażółć"],
      ])
  }

  @Test("The original's records with every type are read")
  func everything() throws {
    let objects = try decode(
      LegacyFixtures.url("bnr/alltypes.bnrtc/Everything"),
      .init(
        "Everything",
        [
          .init("text", .text), .init("data", .data), .init("date", .date),
          .init("single", .float32), .init("double", .float64), .init("word", .uint32),
          .init("byte", .uint8), .init("archive", .archive), .init("song", .reference(to: "Song")),
          .init("any", .anyReference), .init("songs", .array(of: "Song")),
          .init("mixed", .mixedArray),
        ]))

    var full = try #require(objects[2])
    #expect(full["archive"]?.data?.starts(with: "bplist00".utf8) == true)
    full["archive"] = nil
    #expect(
      full == [
        "text": "Zażółć 🎈", "data": .data(Data(0...255)),
        "date": .date(Date(timeIntervalSinceReferenceDate: 700_000_000.125)), "single": 1.5,
        "double": 0.1, "word": 4_294_967_295, "byte": 200, "song": 3,
        "any": ["collection": "Playlist", "id": 2], "songs": [4, 2, 3],
        "mixed": [
          ["collection": "Song", "id": 5], ["collection": "Playlist", "id": 2],
          ["collection": "Song", "id": 2],
        ],
      ])
    var empty = try #require(objects[3])
    empty["archive"] = nil
    #expect(
      empty == [
        "text": nil, "data": nil, "date": nil, "single": 0.0, "double": 0.0, "word": 0, "byte": 0,
        "song": nil, "any": ["collection": "Song", "id": 6], "songs": [], "mixed": [],
      ])
  }

  /// Writes a class file of songs.
  private func songs(
    hasVersion: Bool, passphrase: String? = nil, encryptsEvery: Int = 1, isOldForm: Bool = false,
    titles: [String]
  ) throws -> [UInt8] {
    var writer = HashDatabaseWriter()
    var metadata: [UInt8] = [9, 0, 0, 0, 1, 0]
    let salt = BNRSalt(word0: 1, word1: 2)
    if !isOldForm { metadata += salt.bytes }
    writer.put(HashDatabaseTests.key(1), metadata)
    for (index, title) in titles.enumerated() {
      let rowID = UInt32(index + 2)
      var record = BNRBufferWriter()
      if hasVersion { record.uint8(0) }
      record.text(title)
      record.uint32(UInt32(index))
      if let passphrase, index % encryptsEvery == 0,
        let cipher = BNRCipher(passphrase: passphrase, salt: salt)
      {
        record.bytes = try cipher.encrypt(record.bytes, rowID: rowID)
      }
      writer.put(HashDatabaseTests.key(rowID), record.bytes)
    }
    return writer.bytes
  }

  private static let titles = ["Test Song", "", "A choice of pets", "日本語 🎈", "x"]
  private static let expected: [UInt32: DocumentObject] = Dictionary(
    uniqueKeysWithValues: titles.enumerated().map { index, title in
      (
        UInt32(index + 2),
        ["title": title.isEmpty ? .null : .string(title), "seconds": .int(Int64(index))]
      )
    })

  @Test("Version bytes are detected", arguments: [true, false])
  func detection(hasVersion: Bool) throws {
    let folder = try TemporaryFolder()
    let url = try folder.write(songs(hasVersion: hasVersion, titles: Self.titles))

    #expect(try decode(url, .init("Song", Self.songFields)) == Self.expected)
  }

  @Test("A class that does not show its version bytes follows the others, then the file's age")
  func undecided() throws {
    let folder = try TemporaryFolder()
    let empty = BNRSchema.ClassDescription("Song", Self.songFields)
    func survey(hasVersion: Bool, isOldForm: Bool, titles: [String]) throws -> BNRClassSurvey {
      let url = try folder.write(
        songs(hasVersion: hasVersion, isOldForm: isOldForm, titles: titles))
      return try BNRClassSurvey(BNRClassFile(url), empty, cipher: nil, classNames: [:])
    }
    let current = try survey(hasVersion: true, isOldForm: false, titles: [])
    let old = try survey(hasVersion: true, isOldForm: true, titles: [])
    let with = try survey(hasVersion: true, isOldForm: false, titles: ["a"])
    let without = try survey(hasVersion: false, isOldForm: false, titles: ["a"])

    #expect(BNRClassSurvey.hasVersionByte(empty, current, others: []))
    #expect(!BNRClassSurvey.hasVersionByte(empty, old, others: []))
    #expect(BNRClassSurvey.hasVersionByte(empty, old, others: [with]))
    #expect(!BNRClassSurvey.hasVersionByte(empty, current, others: [without]))
    #expect(!BNRClassSurvey.hasVersionByte(empty, without, others: [with, with]))
    let fixed = BNRSchema.ClassDescription("Song", Self.songFields, versionByte: .no)
    #expect(!BNRClassSurvey.hasVersionByte(fixed, with, others: [with]))
  }

  @Test("Encrypted and plain records in one file are read", arguments: [1, 2], [true, false])
  func encryption(every: Int, hasVersion: Bool) throws {
    let folder = try TemporaryFolder()
    let url = try folder.write(
      songs(
        hasVersion: hasVersion, passphrase: "howdy", encryptsEvery: every, titles: Self.titles))

    let objects = try decode(url, .init("Song", Self.songFields), passphrase: "howdy")

    #expect(objects == Self.expected)
  }

  @Test("A wrong or missing passphrase is detected", arguments: ["wrong", "", nil])
  func wrongPassphrase(passphrase: String?) throws {
    let folder = try TemporaryFolder()
    let url = try folder.write(songs(hasVersion: true, passphrase: "howdy", titles: Self.titles))

    #expect {
      try decode(url, .init("Song", Self.songFields), passphrase: passphrase)
    } throws: {
      ($0 as? StoreError)?.code == .wrongKey
    }
  }

  @Test("A schema that does not fit is not reported as a wrong passphrase")
  func wrongSchema() throws {
    let folder = try TemporaryFolder()
    let url = try folder.write(songs(hasVersion: true, titles: Self.titles))

    #expect {
      try decode(url, .init("Song", [.init("title", .text)]))
    } throws: {
      ($0 as? StoreError)?.code == .corruptDocument
    }
  }

  @Test("Records whose keys are not row IDs, and missing metadata, are reported")
  func foreignKeys() throws {
    let folder = try TemporaryFolder()
    var writer = HashDatabaseWriter()
    writer.put([1, 2, 3], [1])
    writer.put(HashDatabaseTests.key(0), [2])
    writer.put(HashDatabaseTests.key(2), [3])
    let file = try BNRClassFile(folder.write(writer.bytes))
    var rows: [UInt32] = []

    let result = try file.forEach { rows.append($0.rowID) }

    #expect(rows == [2])
    #expect(result.foreign.count == 2)
    #expect { try file.metadata.get() } throws: { ($0 as? StoreError)?.code == .notFound }
  }

  @Test("Metadata is found without the bucket array")
  func metadataWithoutBuckets() throws {
    let folder = try TemporaryFolder()
    var bytes = try songs(hasVersion: true, titles: Self.titles)
    for offset in 256..<256 + 7 * 4 { bytes[offset] = 0 }

    #expect(try BNRClassFile(folder.write(bytes)).metadata.get().lastRowID == 9)
    #expect(
      try decode(folder.write(bytes), .init("Song", Self.songFields)) == Self.expected)
  }
}
