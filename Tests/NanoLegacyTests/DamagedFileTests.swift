// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoTestSupport
import Testing

@testable import NanoLegacy

@Suite("Damaged old stores")
struct DamagedFileTests {
  private let folder = try! Scratch()

  /// Imports the bytes as a file. Returns the number of documents; nil if nothing was recognized.
  private func imported(_ bytes: [UInt8]) throws -> (report: LegacyImportReport, store: Store)? {
    let path = try folder.write(bytes, "damaged.db")
    let store = try Store(.memory)
    do {
      let report = try store.importLegacy(from: URL(filePath: path))
      #expect(try store.collections().allSatisfy { try store[$0.name].count() >= 0 })
      return (report, store)
    } catch let error as StoreError {
      #expect([.notADatabase, .corruptFile].contains(error.code), "\(error)")
      #expect(try store.collections().isEmpty)
      return nil
    }
  }

  private func sample(pageSize: Int, rows: Int) throws -> [UInt8] {
    let url = URL(filePath: folder.file("sample.db"))
    try? FileManager.default.removeItem(at: url)
    let old = try LegacyDatabase.nanoStore(url, pragmas: "PRAGMA page_size = \(pageSize)")
    for number in 0..<rows {
      try old.add("k\(number)", .dictionary([("n", .int(Int64(number)))]))
    }
    old.close()
    return Array(try Data(contentsOf: url))
  }

  @Test("A file with any byte changed never crashes, and loses only what the byte belongs to")
  func everyByte() throws {
    let bytes = try sample(pageSize: 512, rows: 3)
    for position in bytes.indices {
      var damaged = bytes
      damaged[position] ^= 0xFF
      let path = try folder.write(damaged, "damaged.db")
      guard let source = try? LegacyStore.source(URL(filePath: path), LegacyImportOptions()) else {
        continue
      }
      var readable = 0
      try source.read(0) { if (try? $0.content().document) != nil { readable += 1 } }
      #expect(readable <= 4)
      // Writing to a store takes most of the time.
      if position % 17 == 0 { _ = try imported(damaged) }
    }
  }

  @Test("A file cut anywhere never crashes")
  func truncation() throws {
    let bytes = try sample(pageSize: 512, rows: 12)
    for length in stride(from: 0, to: bytes.count, by: 61) {
      _ = try imported(Array(bytes.prefix(length)))
    }
  }

  @Test("Every page of rows that is still intact is imported")
  func lostPages() throws {
    let pageSize = 1_024
    let bytes = try sample(pageSize: pageSize, rows: 200)
    let whole = try #require(try imported(bytes))
    #expect(whole.report.imported == 200)
    for page in 1..<bytes.count / pageSize {
      var damaged = bytes
      for offset in page * pageSize..<(page + 1) * pageSize { damaged[offset] = 0xEE }
      let (report, store) = try #require(try imported(damaged))
      // A page holds fewer than four of these rows; rows below an interior page are found without it.
      #expect(report.imported >= 196)
      #expect(report.imported == 200 || !report.notes.isEmpty)
      #expect(try store["objects"].count() == report.imported)
    }
  }

  @Test("Without a header and schema, the rows are recognized by their contents")
  func header() throws {
    var bytes = try sample(pageSize: 1_024, rows: 200)
    for offset in 0..<1_024 { bytes[offset] = 0 }
    let (report, _) = try #require(try imported(bytes))
    #expect(report.imported == 200)
    #expect(report.notes.contains("the header is damaged"))
    #expect(report["NSFNanoObject"]?.conversions[.recoveredRecord] == 200)
  }

  @Test("Rows of a damaged collection of NTJsonStore are imported from pages without a table")
  func ntJsonStore() throws {
    let pageSize = 1_024
    let url = URL(filePath: folder.file("nt.db"))
    let old = try LegacyDatabase(
      url,
      setup: """
        PRAGMA page_size = \(pageSize);
        CREATE TABLE [c] ([__rowid__] INTEGER PRIMARY KEY AUTOINCREMENT, [__json__] BLOB, [n]);
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 300)
        INSERT INTO c(__json__, n) SELECT '{"n":' || i || ',"text":"some more characters"}', i FROM r;
        """)
    old.close()
    let bytes = Array(try Data(contentsOf: url))
    for page in 2..<bytes.count / pageSize {
      var damaged = bytes
      for offset in page * pageSize..<(page + 1) * pageSize { damaged[offset] = 0xEE }
      guard let (report, store) = try imported(damaged) else {
        Issue.record("page \(page)")
        continue
      }
      // A page holds about twenty of these rows.
      #expect(report.imported >= 270)
      #expect(try store["c"].find(Field("n") > 0).count() == report.imported)
    }
  }

  @Test("Rows of several damaged collections are all imported, under new row IDs")
  func severalCollections() throws {
    let pageSize = 1_024
    let url = URL(filePath: folder.file("nt.db"))
    let columns = "([__rowid__] INTEGER PRIMARY KEY AUTOINCREMENT, [__json__] BLOB)"
    let old = try LegacyDatabase(url, setup: "PRAGMA page_size = \(pageSize)")
    for name in ["a", "b", "Recovered"] {
      try old.run("CREATE TABLE [\(name)] \(columns)")
      try old.run(
        """
        WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < \(name.count == 1 ? 300 : 1))
        INSERT INTO \(name)(__json__) SELECT '{"n":' || i || ',"text":"some more characters"}' FROM r
        """)
    }
    old.close()
    var bytes = Array(try Data(contentsOf: url))
    // The root pages of the large tables.
    let roots = (1..<bytes.count / pageSize).filter { bytes[$0 * pageSize] == 0x05 }
    for root in roots {
      for offset in root * pageSize..<(root + 1) * pageSize { bytes[offset] = 0xEE }
    }
    let damaged = URL(filePath: try folder.write(bytes, "damaged.db"))

    let store = try Store(.memory)
    try store.createCollection("recovered_2", identity: .rowID)
    try store["recovered_2"].insert(["mine": true])
    let report = try store.importLegacy(from: damaged)

    #expect(roots.count == 2)
    #expect(report["recovered_2"]?.imported == 600)
    #expect(report.skipped == 0)
    #expect(try store["recovered_2"].count() == 601)
    #expect(try store["recovered_2"].find(Field("n") == 7).count() == 2)
    #expect(try store["Recovered"].count() == 1)
  }

  @Test("A row on an unused page does not replace the current version of its document or bag")
  func unusedPages() throws {
    let url = URL(filePath: folder.file("unused.db"))
    let old = try LegacyDatabase.nanoStore(
      url, pragmas: "PRAGMA page_size = 1024; PRAGMA secure_delete = OFF")
    for number in 0..<100 {
      try old.add("k\(number % 10)", .dictionary([("n", .int(-1))]))
      if number % 20 == 0 { try old.addBag("bag", named: "old", ["k9"]) }
    }
    try old.run("DELETE FROM NSFKeys")
    for number in 0..<10 { try old.add("k\(number)", .dictionary([("n", .int(Int64(number)))])) }
    try old.addBag("bag", named: "new", ["k1", "k0"])
    // A table without a page makes the importer search the others.
    try old.run(
      """
      CREATE TABLE other(a); PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET rootpage = 100000 WHERE name = 'other'
      """)
    old.close()
    var bytes = Array(try Data(contentsOf: url))
    // Without the list of free pages, they are like pages below a damaged one.
    for offset in 32..<40 { bytes[offset] = 0 }

    let (report, store) = try #require(try imported(bytes))

    let documents = try store["objects"].find().fetch()
    #expect(documents.count == 10)
    for document in documents { #expect(document.key == document["n"]?.int64.map { "k\($0)" }) }
    #expect(try store.bags().count == 1)
    #expect(try store.bag(named: "new").saved.keys() == ["k1", "k0"])
    #expect(report["NSFNanoObject"]?.conversions[.duplicateKey] ?? 0 > 0)
    #expect(report.imported == 11)
  }

  @Test("Of several rows with one key on pages without a table, the one added last is imported")
  func lastOfLostRows() throws {
    let damaged = try lostRows((0..<60).map { "k\($0 % 30)" })

    let (report, store) = try #require(try imported(damaged))

    #expect(try store["objects"].find(Field("n") >= 30).count() == 30)
    #expect(report["NSFNanoObject"]?.imported == 30)
    #expect(report["NSFNanoObject"]?.conversions[.duplicateKey] == 30)
  }

  @Test("Rows with an empty key on pages without a table are all imported, with generated keys")
  func lostRowsWithoutValidKey() throws {
    let damaged = try lostRows(Array(repeating: "", count: 60))

    let (report, store) = try #require(try imported(damaged))

    #expect(try store["objects"].count() == 60)
    #expect(report["NSFNanoObject"]?.conversions[.generatedKey] == 60)
    #expect(report["NSFNanoObject"]?.conversions[.duplicateKey] == nil)
  }

  /// A file whose rows, with the keys and their positions, are on pages without a table, the last ones first.
  private func lostRows(_ keys: [String]) throws -> [UInt8] {
    let pageSize = 1_024
    let url = URL(filePath: folder.file("lost.db"))
    let old = try LegacyDatabase.nanoStore(url, pragmas: "PRAGMA page_size = \(pageSize)")
    for (number, key) in keys.enumerated() {
      try old.add(key, .dictionary([("n", .int(Int64(number)))]))
    }
    old.close()
    let bytes = Array(try Data(contentsOf: url))
    let pages = stride(from: pageSize, to: bytes.count, by: pageSize).reversed()
    return Array(repeating: 0, count: pageSize) + pages.flatMap { bytes[$0..<$0 + pageSize] }
  }
}
