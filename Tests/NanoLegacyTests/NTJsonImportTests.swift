// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoTestSupport
import Testing

@Suite("Import of NTJsonStore")
struct NTJsonImportTests {
  private let folder = try! Scratch()
  private var url: URL { URL(filePath: folder.file("old.db")) }

  private func collection(_ name: String, columns: String = "") -> String {
    "CREATE TABLE [\(name)] ([__rowid__] INTEGER PRIMARY KEY AUTOINCREMENT, [__json__] BLOB\(columns));"
  }

  @Test("A file of the original is imported with row IDs, indexes, defaults, aliases and metadata")
  func fixture() throws {
    let expected = try LegacyFixtures.description("ntjsonstore/nt-small.json")
    let store = try anyStore()
    let report = try store.importLegacy(from: LegacyFixtures.ntJsonStore)

    for described in try #require(expected["collections"]?.object) {
      let collection = store[described.name]
      let documents = try #require(described.value["docs"]?.array)
      #expect(try collection.count() == documents.count)
      for one in documents {
        let rowID = try #require(one["rowid"]?.int64)
        let document = try #require(try collection.get(rowID: rowID))
        var content = try LegacyFixtures.value(one["doc"]).object ?? [:]
        content["__rowid__"] = nil
        // NSJSONSerialization writes a double without a fraction like an integer.
        #expect(DocumentValue.object(content).matches(.object(try document.object())))
      }
      let plain = described.value["indexes"]?.array?.compactMap(\.string) ?? []
      let unique = described.value["uniqueIndexes"]?.array?.compactMap(\.string) ?? []
      let indexes = try collection.indexes()
      #expect(Set(indexes.filter { !$0.isUnique }.map(\.keys)) == Set(plain))
      #expect(Set(indexes.filter(\.isUnique).map(\.keys)) == Set(unique))
      #expect(try collection.defaults() == described.value["defaultJson"]?.object ?? [:])
      let fields = described.value["queryableFields"]?.array?.compactMap(\.string) ?? []
      #expect(
        try Set(collection.queryableFields().map { "[\($0)]" }).isSuperset(of: fields))
    }
    let people = store["people"]
    #expect(try people.aliases() == ["last": "[LastName]", "city": "[address.city]"])
    #expect(try people.find("last = 'Doe'").sorted(byText: "[Age]").fetch().map(\.rowID) == [1, 2])
    #expect(try people.find("city LIKE 'K%'").fetch().map(\.rowID) == [2])
    #expect(
      try people.find("[active] = 1").fieldsAsColumns().fetch().map(\.rowID) == [1, 3, 4, 5, 6, 7])
    // The row ID of a removed document is not used again.
    #expect(try people.insert(["uid": 9]).rowID == 9)
    #expect(try store.metadata("app/settings") == ["name": "ünïcode", "version": 3])
    #expect(report.metadata == 1)
    #expect(report.skipped == 0)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "What a program inserts between the parts of an import gets row IDs that the old store never used"
  )
  func insertsBetween() throws {
    let old = try LegacyDatabase(url, setup: collection("people"))
    for number in 1...5 {
      try old.run(
        "INSERT INTO people VALUES (?, ?)", [.int(Int64(2 * number)), .text("{\"n\":\(number)}")])
    }
    old.close()
    let store = try anyStore()
    var inserted: [Int64] = []
    let report = try store.importLegacy(
      from: url, options: LegacyImportOptions(isResumable: true, batchDocuments: 1)
    ) { _ in
      if inserted.count < 3, let rowID = try store["people"].insert(["mine": true]).rowID {
        inserted.append(rowID)
      }
    }
    #expect(report.imported == 5 && report.skipped == 0)
    #expect(inserted.allSatisfy { $0 > 10 })
    #expect(try store["people"].find("[n] > 0").fetch().map(\.rowID) == [2, 4, 6, 8, 10])
    #expect(try store["people"].count() == 5 + inserted.count)
  }

  @Test("A collection with a damaged definition is imported", arguments: [0x01, 0x7A])
  func damagedDefinition(byte: UInt8) throws {
    let old = try LegacyDatabase(url, setup: collection("people"))
    for number in 1...5 {
      try old.run("INSERT INTO people VALUES (NULL, ?)", [.text("{\"n\":\(number)}")])
    }
    old.close()
    var bytes = try Data(contentsOf: url)
    let name = try #require(bytes.firstRange(of: Data("[__json__]".utf8)))
    bytes[name.lowerBound + 5] = byte
    try bytes.write(to: url)

    let store = try anyStore()
    let report = try store.importLegacy(from: url)

    #expect(report.imported == 5)
    let names = try store.collections().map(\.name)
    #expect(names == [byte < 32 ? "recovered" : "people"])
    #expect(try store[names[0]].find("[n] > 0").count() == 5)
    #expect(report.notes.isEmpty == (byte >= 32))
  }

  @Test("Inspecting a file counts its rows by collection")
  func inspection() throws {
    let summary = try LegacyStore.inspect(LegacyFixtures.ntJsonStore)
    #expect(summary.kind == .ntJsonStore)
    #expect(summary.classes.map(\.name) == ["notes", "people"])
    #expect(summary.classes.map(\.records) == [3, 7])
  }

  @Test("Rows keep their JSON; the column decides about the row ID")
  func documents() throws {
    let old = try LegacyDatabase(
      url,
      setup: collection("a b", columns: ", [x.y], [Z]")
        + "CREATE INDEX [IX_1] ON [a b] ([x.y], [Z] DESC, [__rowid__]);"
        + "CREATE UNIQUE INDEX mine ON [a b] ([Z]);" + "CREATE TABLE foreign_table(a);")
    let rows: [(Int64, LegacyDatabase.Value)] = [
      (3, .blob(Array(#"{"__rowid__":99,"a.b":"\/","n":12345678901234567890,"$date":1}"#.utf8))),
      (5, .text(#"{"__rowid__":5,"d":1.0,"e":1e3,"big":1e400}"#)), (7, .blob(Array("[1]".utf8))),
      (8, .blob(Array(#"{"a":"#.utf8))), (9, .null),
      (40, .blob(Array(#"{"Z":1}"#.utf8))), (41, .blob(Array(#"{"Z":1}"#.utf8))),
    ]
    for (id, json) in rows {
      try old.run("INSERT INTO [a b](__rowid__, __json__) VALUES (?, ?)", [.int(id), json])
    }
    try old.run("DELETE FROM [a b] WHERE __rowid__ = 41; UPDATE sqlite_sequence SET seq = 41")
    try old.run("INSERT INTO [a b](__rowid__, __json__) VALUES (4, '{\"Z\":2}')")
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    let objects = store["a b"]
    #expect(
      try objects.get(rowID: 3)?.object() == [
        "a.b": "/", "n": "12345678901234567890", "$date": 1,
      ])
    #expect(
      try objects.get(rowID: 5)?.object() == ["d": .double(1), "e": .double(1_000), "big": "1e400"])
    #expect(try objects.find().fetch().map(\.rowID) == [3, 4, 5, 40])
    #expect(try objects.indexes().map(\.keys) == ["[Z]"])
    #expect(try objects.insert([:]).rowID == 42)
    let result = try #require(report["a b"])
    #expect(result.skippedRecords.map(\.position) == ["row 7", "row 8", "row 9"])
    #expect(result.skippedRecords[0].reason == "the JSON is not an object")
    #expect(
      result.conversions == [
        .wrongRowID: 1, .nameWithPeriod: 1, .largeInteger: 2, .droppedDefinition: 1,
      ])
    #expect(report.notes == ["the table foreign_table is not a collection and is not imported"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Each table that is not a collection is noted, also if names differ only in normalization")
  func otherTables() throws {
    let old = try LegacyDatabase(url, setup: collection("c"))
    let names = ["caf\u{E9}", "cafe\u{301}"]
    for name in names { try old.run("CREATE TABLE [\(name)] (a)") }
    old.close()

    #expect(try LegacyStore.inspect(url).notes.count == 2)
  }

  @Test("A unique index that the JSON violates becomes an index that is not unique")
  func violatedIndex() throws {
    let old = try LegacyDatabase(
      url, setup: collection("c", columns: ", [v]") + "CREATE UNIQUE INDEX [UX_c_0] ON [c] ([v]);")
    try old.run(
      "INSERT INTO c(__json__, v) VALUES ('{\"v\":1}', 1); INSERT INTO c(__json__, v) VALUES ('{\"v\":1}', NULL)"
    )
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    #expect(try store["c"].indexes().map(\.isUnique) == [false])
    #expect(report["c"]?.conversions == [.indexNotUnique: 1])
  }

  @Test("Of several metadata rows the last counts; entries that are not JSON are listed")
  func metadata() throws {
    let old = try LegacyDatabase(
      url,
      setup: collection("c") + collection("nano_x")
        + "CREATE TABLE [NTJsonStore_metadata] ([key] TEXT, [value] BLOB);")
    for (key, value) in [
      ("app", #"{"v":1}"#), ("app", #"{"v":2}"#), ("gone/aliases", #"{"a":"b"}"#), ("bad", "{"),
      ("none", "null"),
      ("c/aliases", #"{"a":"[b]"}"#),
    ] {
      try old.run("INSERT INTO NTJsonStore_metadata VALUES (?, ?)", [.text(key), .text(value)])
    }
    try old.run("INSERT INTO nano_x(__json__) VALUES ('{}')")
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    #expect(try store.metadata("app") == ["v": 2])
    #expect(try store.metadata("gone/aliases") == ["a": "b"])
    #expect(try store["c"].aliases() == ["a": "[b]"])
    #expect(report["NTJsonStore_metadata"]?.skippedRecords.map(\.key) == ["bad", "none"])
    #expect(report["nano_x"]?.collection == "collection_2")
    #expect(report["nano_x"]?.conversions == [.renamedCollection: 1])
    #expect(try store["collection_2"].count() == 1)
  }

  @Test("Row IDs of the whole range are kept; PostgreSQL skips the largest one")
  func extremeRowIDs() throws {
    let old = try LegacyDatabase(url, setup: collection("c"))
    let ids: [Int64] = [.min, -5, 0, 1, .max]
    for id in ids {
      try old.run("INSERT INTO c VALUES (?, '\u{FEFF}{}')", [.int(id)])
    }
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)
    let found = try store["c"].find().fetch().map(\.rowID)
    // On PostgreSQL, the largest row ID would leave none for the next document.
    #expect(found == (TestEngine.isServer ? ids.dropLast() : ids))
    #expect(
      report["c"]?.skippedRecords.map(\.position)
        == (TestEngine.isServer ? ["row \(Int64.max)"] : []))
    // The target has no next row ID.
    let again = try store.importLegacy(from: url, options: LegacyImportOptions(existing: .skip))
    #expect(again["c"]?.skipped == ids.count)
    #expect(try store.verify().isEmpty)
  }

  @Test("A collection with a reserved name is renamed to a name that no table has")
  func generatedName() throws {
    let old = try LegacyDatabase(url, setup: collection("nano_x") + collection("Collection_1"))
    try old.run("INSERT INTO nano_x(__json__) VALUES ('{\"a\":1}')")
    try old.run("INSERT INTO Collection_1(__json__) VALUES ('{\"b\":1}')")
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)

    #expect(report["nano_x"]?.collection == "collection_2")
    #expect(try store["collection_2"].find().fetch().map { $0["a"]?.int } == [1])
    #expect(try store["Collection_1"].find().fetch().map { $0["b"]?.int } == [1])
  }

  @Test("A metadata entry with a name that is not permitted is listed, and the rest imported")
  func metadataNames() throws {
    let old = try LegacyDatabase(
      url,
      setup: collection("c")
        + "CREATE TABLE [NTJsonStore_metadata] ([key] TEXT, [value] BLOB);")
    for key in ["", "app", String(repeating: "k", count: 600)] {
      try old.run("INSERT INTO NTJsonStore_metadata VALUES (?, '{\"v\":1}')", [.text(key)])
    }
    old.close()

    let store = try anyStore()
    let report = try store.importLegacy(from: url)

    #expect(try store.metadata("app") == ["v": 1])
    #expect(
      report["NTJsonStore_metadata"]?.skippedRecords.map(\.reason) == [
        "a name cannot be empty", "a name can have at most 500 bytes",
      ])
  }
}
