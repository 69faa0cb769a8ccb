// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreLegacy
import NanoTestSupport
import Synchronization
import Testing

@Suite("The old store and the target")
struct LegacySourceTests {
  private let folder = try! Scratch()
  private var url: URL { URL(filePath: folder.file("old.db")) }

  /// The files of the folder with their bytes.
  private func contents() throws -> [String: Data] {
    Dictionary(uniqueKeysWithValues: try folder.names.map { ($0, try folder.bytes($0)) })
  }

  private func fill(_ old: LegacyDatabase, _ numbers: Range<Int>) throws {
    for number in numbers { try old.add("k\(number)", .dictionary([("n", .int(Int64(number)))])) }
  }

  @Test("An import changes neither the old file nor its folder, even without write permission")
  func untouched() throws {
    try FileManager.default.copyItem(at: LegacyFixtures.nanoStore, to: url)
    chmod(url.path, 0o400)
    let before = try contents()
    try Store(.memory).importLegacy(from: url)
    _ = try LegacyStore.inspect(url)
    #expect(try contents() == before)
  }

  @Test("Commits in a write-ahead log are read, and the log stays as it is")
  func log() throws {
    let old = try LegacyDatabase.nanoStore(url, pragmas: "PRAGMA journal_mode = WAL")
    try fill(old, 0..<3)
    // Copied while it is open, so that the log was not applied.
    let copy = URL(filePath: folder.file("copy.db"))
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy.path + suffix)
    }
    old.close()
    let before = try contents()
    #expect(before["copy.db-wal"]?.isEmpty == false)

    let store = try Store(.memory)
    let report = try store.importLegacy(from: copy)
    #expect(report.imported == 3)
    #expect(try contents() == before)
  }

  @Test("A transaction that a crash left in a journal is rolled back in a copy")
  func journal() throws {
    let old = try LegacyDatabase.nanoStore(url, pragmas: "PRAGMA cache_size = 1")
    try fill(old, 0..<50)
    try old.run("BEGIN; DELETE FROM NSFKeys")
    try fill(old, 100..<300)
    let copy = URL(filePath: folder.file("copy.db"))
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy.path + suffix)
    }
    try old.run("ROLLBACK")
    old.close()
    let before = try contents()
    #expect(before["copy.db-journal"]?.isEmpty == false)

    let store = try Store(.memory)
    try store.importLegacy(from: copy)
    #expect(try store["objects"].count() == 50)
    #expect(try store["objects"].get("k100") == nil)
    #expect(try contents() == before)
  }

  @Test("A log that is a link is copied, and what it leads to keeps its permissions")
  func linkedLog() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<3)
    old.close()
    let target = folder.file("script.sh")
    try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: target))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: target)
    try FileManager.default.createSymbolicLink(
      atPath: url.path + "-wal", withDestinationPath: target)

    let store = try Store(.memory)
    try store.importLegacy(from: url)

    #expect(try store["objects"].count() == 3)
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    #expect(attributes[.posixPermissions] as? Int == 0o755)
  }

  @Test("Existing documents make the import fail, are replaced, or are kept")
  func existing() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<3)
    try old.addBag("bag", named: "new", ["k0"])
    old.close()

    func target() throws -> Store {
      let store = try Store(.memory)
      try store["objects"].save(["n": -1], key: "k1")
      let bag = Bag(name: "mine", in: store)
      try bag.add(Document(["x": 1]), in: "other")
      try bag.save()
      return store
    }
    let failing = try target()
    let failure = try #require(throws: StoreError.self) { try failing.importLegacy(from: url) }
    #expect(failure.code == .duplicateKey)
    #expect(failure[.key] == "k1")
    #expect(try failing["objects"].find().fetch().map(\.key) == ["k1"])
    #expect(try failing.bags().count == 1)

    let replacing = try target()
    let replaced = try replacing.importLegacy(
      from: url, options: LegacyImportOptions(existing: .replace))
    #expect(try replacing["objects"].get("k1")?["n"] == 1)
    #expect(replaced.imported == 4)

    let skipping = try target()
    let skipped = try skipping.importLegacy(
      from: url, options: LegacyImportOptions(existing: .skip))
    #expect(try skipping["objects"].get("k1")?["n"] == -1)
    #expect(try skipping["objects"].count() == 3)
    #expect(skipped["NSFNanoObject"]?.skippedRecords.map(\.key) == ["k1"])
    #expect(try skipping.bag(named: "mine").count() == 1)
  }

  @Test("An import that ends early leaves nothing")
  func atomicity() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<100)
    old.close()
    struct Stop: Error {}
    let store = try Store(.memory)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: url, options: LegacyImportOptions(batchDocuments: 10)) {
        if $0.imported >= 50 { throw Stop() }
      }
    }
    #expect(try store.collections().isEmpty)
    #expect(try store.metadataNames().isEmpty)
  }

  @Test("A resumable import continues after every batch where it ended", arguments: [1, 7, 1_000])
  func resuming(batch: Int) throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<40)
    try old.add("bad", content: .blob([1]))
    try old.addBag("bag", named: "b", ["k1", "k0", "gone"])
    try fill(old, 30..<50)
    old.close()
    let whole = try Store(.memory)
    let expected = try whole.importLegacy(from: url)

    struct Stop: Error {}
    let store = try Store(.memory)
    let options = LegacyImportOptions(isResumable: true, batchDocuments: batch)
    var report: LegacyImportReport?
    var ends = 0
    while report == nil {
      var calls = 0
      do {
        report = try store.importLegacy(from: url, options: options) { _ in
          calls += 1
          if calls == 2 { throw Stop() }
        }
      } catch is Stop {
        ends += 1
        try #require(ends < 200)
      }
    }
    var resumed = try #require(report)
    #expect(resumed.isResumed)
    resumed.isResumed = false
    #expect(resumed == expected)
    #expect(try store.metadataNames().isEmpty)
    #expect(try store["objects"].count() == 50)
    #expect(try store.bag(named: "b").saved.keys() == ["k1", "k0"])
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "What a program writes between the parts of an import is kept, and does not prevent its end",
    arguments: LegacyImportOptions.ExistingDocuments.allCases)
  func writesBetween(existing: LegacyImportOptions.ExistingDocuments) throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<6)
    try fill(old, 1..<2)
    old.close()
    let store = try anyStore()
    try store["objects"].save(["earlier": 1], key: "earlier")
    let options = LegacyImportOptions(existing: existing, isResumable: true, batchDocuments: 2)
    var hasWritten = false
    let run = {
      try store.importLegacy(from: url, options: options) { progress in
        guard progress.imported >= 2, !hasWritten else { return }
        hasWritten = true
        try store["objects"].save(["mine": 1], key: "k5")
        try store["objects"].save(["mine": 2], key: "other")
        try store["objects"].update("k1", .set("mine", 3))
        try store["objects"].update("k0", .set("mine", 4))
      }
    }
    if existing == .fail {
      let failure = try #require(throws: StoreError.self) { _ = try run() }
      #expect(failure.code == .duplicateKey && failure[.key] == "k5")
      #expect(try store["objects"].get("k5")?["mine"] == 1)
      try store["objects"].delete("k5")
      // The later row with the key of a document that the program has changed.
      let second = try #require(throws: StoreError.self) { _ = try run() }
      #expect(second.code == .duplicateKey && second[.key] == "k1")
      #expect(try store["objects"].get("k1")?["mine"] == 3)
      try store["objects"].delete("k1")
    }
    let report = try run()
    #expect(report.skipped == (existing == .skip ? 2 : 0))
    #expect(try store["objects"].get("k5")?["n"]?.int == (existing == .skip ? Int?.none : 5))
    #expect(try store["objects"].get("k1")?["mine"]?.int == (existing == .skip ? 3 : Int?.none))
    #expect(try store["objects"].get("k0")?["mine"] == 4)
    #expect(try store["objects"].count() == 8)
    #expect(try store.metadataNames().isEmpty)
  }

  @Test("An unfinished import is not continued with another or a changed file")
  func otherSource() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<5)
    old.close()
    struct Stop: Error {}
    let store = try Store(.memory)
    let options = LegacyImportOptions(isResumable: true, batchDocuments: 2)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: url, options: options) { if $0.imported > 1 { throw Stop() } }
    }
    let failure = try #require(throws: StoreError.self) {
      try store.importLegacy(from: LegacyFixtures.nanoStore, options: options)
    }
    #expect(failure.code == .alreadyExists)
    #expect(try store.importLegacy(from: url, options: options).imported == 5)
  }

  @Test("An unfinished import is not continued with options that change what is stored")
  func otherOptions() throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<5)
    old.close()
    struct Stop: Error {}
    let store = try Store(.memory)
    try store["contacts"].save(["mine": 1], key: "k4")
    let options = LegacyImportOptions(
      timeZone: TimeZone(secondsFromGMT: 0)!, isResumable: true, batchDocuments: 2)
    #expect(throws: Stop.self) {
      try store.importLegacy(from: url, options: options) { if $0.imported > 1 { throw Stop() } }
    }
    let changes: [(inout LegacyImportOptions) -> Void] = [
      { $0.collection = "contacts" }, { $0.existing = .replace }, { $0.calendar = .buddhist },
      { $0.timeZone = TimeZone(secondsFromGMT: 3_600)! }, { $0.rebuildsFromIndex = true },
    ]
    for change in changes {
      var changed = options
      change(&changed)
      let failure = try #require(throws: StoreError.self) {
        try store.importLegacy(from: url, options: changed)
      }
      #expect(failure.code == .alreadyExists)
    }
    #expect(try store["contacts"].get("k4")?["mine"] == 1)
    var larger = options
    larger.batchDocuments = 100
    #expect(try store.importLegacy(from: url, options: larger).imported == 5)
  }

  @Test("Other files and missing ones are rejected, and the target is unchanged")
  func rejection() throws {
    let store = try Store(.memory)
    for (name, bytes, code) in [
      ("text", Array("hello, world".utf8), StoreError.Code.notADatabase),
      ("empty", [], .notADatabase),
    ] {
      let path = try folder.write(bytes, name)
      let failure = try #require(throws: StoreError.self) {
        try store.importLegacy(from: URL(filePath: path))
      }
      #expect(failure.code == code)
    }
    try LegacyDatabase(url, setup: "CREATE TABLE a(b)").close()
    #expect(throws: StoreError.self) { try store.importLegacy(from: url) }
    let missing = try #require(throws: StoreError.self) {
      try LegacyStore.inspect(URL(filePath: folder.file("missing")))
    }
    #expect(missing.code == .cannotOpen)
    #expect(try store.collections().isEmpty)
  }

  @Test("The asynchronous form reports progress up to the end, and canceling it stores nothing")
  func asynchronous() async throws {
    let old = try LegacyDatabase.nanoStore(url)
    try fill(old, 0..<20)
    old.close()
    let fractions = Recorder()
    let store = try Store(.memory)
    let report = try await store.importLegacy(
      from: url, options: LegacyImportOptions(batchDocuments: 5)
    ) { fractions.add($0.fraction) }
    #expect(report.imported == 20)
    #expect(fractions.values == fractions.values.sorted())
    #expect(fractions.values.last == 1)

    let other = try Store(.memory)
    let url = url
    let task = Task {
      try await other.importLegacy(from: url) { _ in withUnsafeCurrentTask { $0?.cancel() } }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await other.collections().isEmpty)
    let summary = try await LegacyStore.inspect(url)
    #expect(summary.records == 20)
  }
}

/// Numbers from a closure that runs on another thread.
private final class Recorder: Sendable {
  private let stored = Mutex<[Double]>([])
  var values: [Double] { stored.withLock { $0 } }
  func add(_ value: Double) { stored.withLock { $0.append(value) } }
}
