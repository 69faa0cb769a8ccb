// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoStoreModels
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Model final class Song {
  var title: String?
  var seconds: Int

  init(_ title: String, seconds: Int) {
    self.title = title
    self.seconds = seconds
  }
}

@Model final class Playlist {
  var title: String?
  @Relationship var songs: [Song] = []

  init(_ title: String) { self.title = title }
}

@Suite("Import of BNRPersistence")
struct BNRImportTests {
  private let folder = try! Scratch()
  private let library = LegacyFixtures.url("bnr/library.bnrtc")

  private static func schema() throws -> BNRSchema {
    try BNRSchema(
      json: """
        {
          "classes": {
            "Song": {
              "fields": [{"name": "title", "type": "text"}, {"name": "seconds", "type": "uint32"}],
              "textIndexes": ["title"]
            },
            "Playlist": {
              "fields": [
                {"name": "title", "type": "text"}, {"name": "songs", "type": "array", "class": "Song"}
              ]
            }
          },
          "namedBuffers": {
            "Favorite:*": {"fields": [{"name": "song", "type": "reference", "class": "Song"}]},
            "*": {"fields": [{"name": "text", "type": "text"}]}
          }
        }
        """)
  }

  @Test("A folder of the original is imported with row IDs, relationships and named buffers")
  func fixture() throws {
    let expected = try LegacyFixtures.description("bnr/bnr.json")["library.bnrtc"]?.object ?? [:]
    let store = try anyStore()
    let report = try store.importLegacy(
      from: library, options: LegacyImportOptions(schema: Self.schema()))

    let context = ObjectContext(store)
    let songs = try context.find(Song.self).fetch()
    let described = (expected["Song"]?.array ?? []).compactMap(\.object)
    #expect(songs.map { $0.objectID?.rowID } == described.map { $0["rowID"]?.int64 })
    // The original stored an empty title like a missing one.
    #expect(songs.map { $0.title ?? "" } == described.map { $0["title"]?.string })
    #expect(songs.map(\.seconds) == described.map { $0["seconds"]?.int })
    let playlists = try context.find(Playlist.self).fetch()
    let lists = (expected["Playlist"]?.array ?? []).compactMap(\.object)
    #expect(playlists.map(\.title) == lists.map { $0["title"]?.string })
    for (playlist, list) in zip(playlists, lists) {
      #expect(
        playlist.songs.map { $0.objectID?.rowID } == list["songs"]?.array?.map(\.int64))
    }
    #expect(playlists[2].songs[0] === playlists[2].songs[1])
    #expect(try context.object(named: "Favorite:0", as: Song.self)?.objectID?.rowID == 4)
    #expect(
      try context.value(named: "nazwa ółń") == ["text": "a named string – zażółć"])
    // The text index is rebuilt, and the row ID of the deleted song is not used again.
    let query = FullTextQuery.field("title", FullTextQuery(bnrExpression: "choice && pets"))
    #expect(try context.search(Song.self, query).count() == 1)
    #expect(try store["Song"].insert(["seconds": 1]).rowID == 11)
    #expect(report.metadata == 2)
    #expect(report.skipped == 0)
    #expect(report.classes.map(\.name) == ["Playlist", "Song"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Records of every type, archived objects and references to any class are imported")
  func everything() throws {
    let schema = try BNRSchema(
      classes: [
        .init(
          "Everything",
          [
            .init("text", .text), .init("data", .data), .init("date", .date),
            .init("single", .float32), .init("double", .float64), .init("word", .uint32),
            .init("byte", .uint8), .init("archive", .archive),
            .init("song", .reference(to: "Song")), .init("any", .anyReference),
            .init("songs", .array(of: "Song")), .init("mixed", .mixedArray),
          ]),
        .init("Song", [.init("title", .text), .init("seconds", .uint32)]),
      ])
    let store = try anyStore()
    let report = try store.importLegacy(
      from: LegacyFixtures.url("bnr/alltypes.bnrtc"), options: LegacyImportOptions(schema: schema))

    let full = try #require(try store["Everything"].get(rowID: 2))
    #expect(
      full["archive"].map(\.sortedByName) == [
        "date": .date(Date(timeIntervalSinceReferenceDate: 1_000.5)), "k": [1, "two", 3.5],
      ])
    #expect(full["song"] == 3)
    #expect(full["any"] == ["collection": "Playlist", "id": 2])
    #expect(try store["Everything"].get(rowID: 3)?.object()["song"] == nil)
    // A class without a description is imported as data.
    #expect(try store["Playlist"].find().fetch().allSatisfy { $0["data"]?.data != nil })
    #expect(report["Playlist"]?.conversions[.rawData] == report["Playlist"]?.imported)
    #expect(try store.verify().isEmpty)
  }

  @Test("Inspecting a folder counts the records of its classes")
  func inspection() throws {
    let summary = try LegacyStore.inspect(library)
    #expect(summary.kind == .bnrPersistence)
    #expect(summary.classes.map(\.name) == ["NamedBuffers", "Playlist", "Song"])
    #expect(summary.classes.map(\.records) == [2, 4, 8])
    #expect(summary.notes.count == 1)
    #expect(
      try LegacyStore.inspect(library, options: LegacyImportOptions(schema: Self.schema())).notes
        == [])
  }

  @Test("Without a schema nothing is lost")
  func raw() throws {
    let store = try anyStore()
    let report = try store.importLegacy(from: library)
    #expect(report.imported == 12)
    #expect(try store["Song"].get(rowID: 2)?["data"]?.data?.suffix(4) == Data([60, 0, 0, 0]))
    #expect(try store.metadata("Favorite:0") == .data(Data([4, 0, 0, 0])))
    #expect(report["NamedBuffers"]?.conversions == [.rawData: 2])
  }

  /// Writes a folder with encrypted songs, of which every third one is plain.
  ///
  /// - Parameter passphrase: Returns the passphrase of a row.
  private func encrypted(_ passphrase: (UInt8) -> String = { _ in "howdy" }) throws -> URL {
    var writer = HashDatabaseWriter()
    let salt = BNRSalt(word0: 0x1122_3344, word1: 0x5566_7788)
    writer.put([1, 0, 0, 0], [9, 0, 0, 0, 1, 0] + salt.bytes)
    for row in UInt8(2)...9 {
      let content: [UInt8] = [0, 3, 0, 0, 0] + Array("abc".utf8) + [row, 0, 0, 0]
      let cipher = BNRCipher(passphrase: passphrase(row), salt: salt)!
      let record =
        row % 3 == 0 ? content : try cipher.encrypt(content, rowID: UInt32(row))
      writer.put([row, 0, 0, 0], record)
    }
    let store = folder.file("encrypted")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try Data(writer.bytes).write(to: URL(filePath: store + "/Song"))
    return URL(filePath: store)
  }

  @Test(
    "Encrypted records are decrypted; a wrong or missing passphrase is an error and stores nothing")
  func encryption() throws {
    let url = try encrypted()
    let store = try anyStore()
    for (schema, isDescribed) in [(try Self.schema(), true), (nil, false)] {
      let options = LegacyImportOptions(schema: schema, passphrase: "wrong")
      let failure = try #require(throws: StoreError.self) {
        try store.importLegacy(from: url, options: options)
      }
      #expect(failure.code == .wrongKey, "\(isDescribed)")
    }
    #expect(try store.collections().isEmpty)

    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(schema: Self.schema(), passphrase: "howdy"))
    #expect(report.imported == 8)
    #expect(try store["Song"].find().fetch().map { $0["seconds"]?.int } == Array(2...9))
  }

  @Test(
    "A class whose encrypted records are beside plain ones is not imported without a passphrase")
  func mixedWithoutPassphrase() throws {
    let store = try anyStore()
    let failure = try #require(throws: StoreError.self) {
      try store.importLegacy(
        from: try encrypted(), options: LegacyImportOptions(schema: try Self.schema()))
    }
    #expect(failure.code == .wrongKey && failure[.collection] == "Song")
    #expect(try store.collections().isEmpty)
  }

  @Test("An unfinished import is not continued with a passphrase that decrypts other records")
  func otherPassphrase() throws {
    // Two rows each are encrypted with the first two.
    let url = try encrypted { $0 < 5 ? "howdy" : $0 < 8 ? "hello" : "hey" }
    struct Stop: Error {}
    let store = try anyStore()
    var options = LegacyImportOptions(passphrase: "howdy", isResumable: true, batchDocuments: 1)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: url, options: options) {
        if $0.imported > 0 { throw Stop() }
      }
    }

    options.passphrase = "hello"
    let failure = try #require(throws: StoreError.self) {
      try store.importLegacy(from: url, options: options)
    }
    #expect(failure.code == .alreadyExists)
    options.passphrase = "howdy"
    #expect(try store.importLegacy(from: url, options: options).imported == 8)
  }

  @Test("A folder with any byte of its records changed is imported without a crash")
  func damage() throws {
    var writer = HashDatabaseWriter()
    writer.put([1, 0, 0, 0], [9, 0, 0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    for row in UInt8(2)...5 {
      writer.put([row, 0, 0, 0], [0, 1, 0, 0, 0, 0x61, row, 0, 0, 0])
    }
    let bytes = writer.bytes
    let store = folder.file("damaged")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    let first = try #require(bytes.lastIndex { $0 != 0 }) - 160
    for position in max(0, first)..<bytes.count {
      var damaged = bytes
      damaged[position] ^= 0xFF
      try Data(damaged).write(to: URL(filePath: store + "/Song"))
      let target = try Store(.memory)
      do {
        let report = try target.importLegacy(
          from: URL(filePath: store), options: LegacyImportOptions(schema: Self.schema()))
        #expect(report.imported <= 4)
      } catch let error as StoreError {
        #expect([.wrongKey, .notADatabase, .corruptFile].contains(error.code))
      }
    }
  }

  @Test("The folder stays as it is")
  func untouched() throws {
    let before = try FileManager.default.subpathsOfDirectory(atPath: library.path).sorted()
    try anyStore().importLegacy(from: library)
    #expect(try FileManager.default.subpathsOfDirectory(atPath: library.path).sorted() == before)
  }

  /// Writes a folder with a file for each class.
  private func write(_ name: String, _ files: [String: HashDatabaseWriter]) throws -> URL {
    let store = folder.file(name)
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    for (file, writer) in files {
      try Data(writer.bytes).write(to: URL(filePath: store + "/" + file))
    }
    return URL(filePath: store)
  }

  /// Returns a file of a class with its metadata, and records from row 2.
  private func classFile(_ classID: UInt8, _ records: [[UInt8]]) -> HashDatabaseWriter {
    var writer = HashDatabaseWriter()
    writer.put([1, 0, 0, 0], [9, 0, 0, 0, 1, classID, 1, 2, 3, 4, 5, 6, 7, 8])
    for (index, record) in records.enumerated() {
      writer.put([UInt8(index + 2), 0, 0, 0], record)
    }
    return writer
  }

  @Test("A damaged record of a small class is listed; a store with nothing else appears encrypted")
  func damagedSmallClass() throws {
    let song: [UInt8] = [0, 1, 0, 0, 0, 0x61, 7, 0, 0, 0]
    let damaged = Array(repeating: UInt8(0xFF), count: 16)
    let options = LegacyImportOptions(schema: try Self.schema())
    let url = try write(
      "small", ["Song": classFile(0, [song, song]), "Playlist": classFile(1, [damaged])])
    let only = try write("only", ["Playlist": classFile(1, [damaged])])

    let store = try anyStore()
    let report = try store.importLegacy(from: url, options: options)
    let failure = try #require(throws: StoreError.self) {
      try anyStore().importLegacy(from: only, options: options)
    }

    #expect(report["Song"]?.imported == 2)
    #expect(report["Playlist"]?.skippedRecords.map(\.position) == ["row 2"])
    #expect(failure.code == .wrongKey)
  }

  @Test("A reference with the ID of several classes is stored with its numbers, and noted")
  func ambiguousClassID() throws {
    let schema = try BNRSchema(
      classes: [.init("Edge", [.init("to", .anyReference)], versionByte: .no)])
    let url = try write(
      "ambiguous",
      ["A": classFile(0, []), "B": classFile(0, []), "Edge": classFile(5, [[0, 2, 0, 0, 0]])])

    let store = try anyStore()
    let report = try store.importLegacy(from: url, options: LegacyImportOptions(schema: schema))

    #expect(try store["Edge"].get(rowID: 2)?["to"] == ["classID": 0, "rowID": 2])
    #expect(
      report.notes == [
        "A and B have the same class ID 0, so references with it are stored as numbers"
      ])
  }

  @Test("A named buffer that metadata cannot hold is listed, and the rest imported")
  func namesOfBuffers() throws {
    let deep =
      "<plist>" + String(repeating: "<array>", count: 512)
      + String(repeating: "</array>", count: 512) + "</plist>"
    var archive = BNRBufferWriter()
    archive.text(deep)
    var writer = HashDatabaseWriter()
    writer.put(Array(repeating: 0x6B, count: 600), [1])
    writer.put([], [2])
    writer.put([0x61, 0, 0x62], [3])
    writer.put(Array("deep".utf8), archive.bytes)
    writer.put(Array("good".utf8), [5])
    let schema = try BNRSchema(
      classes: [], namedBuffers: [.init("deep", [.init("a", .archive)])])
    let url = try write("buffers", ["NamedBuffers": writer])

    let store = try anyStore()
    let report = try store.importLegacy(from: url, options: LegacyImportOptions(schema: schema))

    #expect(try store.metadataNames() == ["good"])
    #expect(report["NamedBuffers"]?.skipped == 4)
    #expect(report["NamedBuffers"]?.skippedRecords.contains { $0.key == "deep" } == true)
  }

  @Test("A named buffer without a value is listed, and the target keeps its own value")
  func emptyBuffer() throws {
    var writer = HashDatabaseWriter()
    writer.put(Array("Favorite:0".utf8), [0, 0, 0, 0])
    let url = try write("empty", ["NamedBuffers": writer])
    let store = try anyStore()
    try store.setMetadata(["collection": "Song", "id": 7], "Favorite:0")

    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(existing: .replace, schema: Self.schema()))

    #expect(report["NamedBuffers"]?.skippedRecords.map(\.key) == ["Favorite:0"])
    #expect(report.metadata == 0)
    #expect(try store.metadata("Favorite:0") == ["collection": "Song", "id": 7])
  }

  @Test("Damage of a class is noted by inspection, and in the report of a resumed import")
  func damageNotes() throws {
    let song: [UInt8] = [0, 1, 0, 0, 0, 0x61, 7, 0, 0, 0]
    let url = try write(
      "cut", ["A": classFile(0, [song, song, song]), "B": classFile(1, [song, song])])
    let first = url.appending(path: "A")
    try Data(contentsOf: first).dropLast(20).write(to: first)
    let damage = try LegacyStore.inspect(url).notes.filter { $0.hasPrefix("A: ") }

    struct Stop: Error {}
    let store = try anyStore()
    let options = LegacyImportOptions(isResumable: true, batchDocuments: 1)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: url, options: options) {
        if $0.className == "B" { throw Stop() }
      }
    }
    let report = try store.importLegacy(from: url, options: options)

    #expect(!damage.isEmpty)
    #expect(report.isResumed)
    #expect(report.notes == damage)
  }

  @Test("A file that is not a database, and a link to a missing one, are noted")
  func otherFiles() throws {
    let song: [UInt8] = [0, 1, 0, 0, 0, 0x61, 7, 0, 0, 0]
    let url = try write("other", ["A": classFile(0, [song]), "B": classFile(1, [song])])
    let damaged = url.appending(path: "B")
    var bytes = try Data(contentsOf: damaged)
    bytes.replaceSubrange(0..<32, with: Data(count: 32))
    try bytes.write(to: damaged)
    try FileManager.default.createSymbolicLink(
      atPath: url.path + "/C", withDestinationPath: "missing")
    try Data("x".utf8).write(to: url.appending(path: ".hidden"))

    let report = try anyStore().importLegacy(from: url)

    #expect(report.imported == 1)
    #expect(
      report.notes.filter { $0.contains("not a readable database") } == [
        "the file B is not a readable database and is not imported",
        "the file C is not a readable database and is not imported",
      ])
  }

  @Test("A class file that is a link to another folder is imported")
  func linkedFile() throws {
    let song: [UInt8] = [0, 1, 0, 0, 0, 0x61, 7, 0, 0, 0]
    let disk = try write("disk", ["Song": classFile(0, [song, song])])
    let url = try write("linked", ["Playlist": classFile(1, [])])
    try FileManager.default.createSymbolicLink(
      at: url.appending(path: "Song"), withDestinationURL: disk.appending(path: "Song"))

    let report = try anyStore().importLegacy(from: url)

    #expect(report["Song"]?.imported == 2)
  }

  @Test("A transaction of named buffers that was rolled back is noted")
  func rolledBackBuffers() throws {
    var writer = HashDatabaseWriter()
    writer.put(Array("a".utf8), [1])
    writer.beginTransaction()
    writer.put(Array("b".utf8), [2])
    let url = try write("unfinished", ["NamedBuffers": writer])
    let log = try #require(writer.log)
    try Data(log).write(to: url.appending(path: "NamedBuffers.wal"))

    #expect(
      try LegacyStore.inspect(url).notes.contains(
        "NamedBuffers: an unfinished transaction was rolled back in a copy"))
  }

  @Test("An unfinished import without a schema is not continued with one")
  func otherSchema() throws {
    struct Stop: Error {}
    let store = try anyStore()
    var options = LegacyImportOptions(isResumable: true, batchDocuments: 1)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: library, options: options) {
        if $0.imported > 0 { throw Stop() }
      }
    }
    options.schema = try Self.schema()
    let failure = try #require(throws: StoreError.self) {
      try store.importLegacy(from: library, options: options)
    }
    #expect(failure.code == .alreadyExists)
    options.schema = nil
    #expect(try store.importLegacy(from: library, options: options).imported == 12)
  }

  @Test("Classes whose names become alike get different collections")
  func reservedNames() throws {
    let url = try write(
      "reserved", ["class_nano_x": classFile(0, [[1]]), "nano_x": classFile(1, [[2]])])

    let store = try anyStore()
    let report = try store.importLegacy(from: url)

    #expect(report["class_nano_x"]?.collection == "class_nano_x")
    #expect(report["nano_x"]?.collection == "class_nano_x_2")
    #expect(try store["class_nano_x_2"].get(rowID: 2)?["data"]?.data == Data([2]))
  }
}
