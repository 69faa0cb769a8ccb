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
}
