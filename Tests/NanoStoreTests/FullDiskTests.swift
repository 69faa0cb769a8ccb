// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Full disk")
struct FullDiskTests {
  static let big = DocumentValue.string(String(repeating: "x", count: 10_000))

  private func limited(_ size: Int) throws -> Store {
    var configuration = SQLiteConfiguration()
    configuration.maximumSize = size
    return try Store(.memory, engine: configuration)
  }

  private func documents(_ count: Int64) -> [DocumentObject] {
    (0..<count).map { ["n": .int($0), "big": Self.big, "tags": [.int($0)]] }
  }

  @Test("A batch that does not fit is rolled back, and the store stays usable")
  func batch() throws {
    let store = try limited(1 << 20)
    try store["a"].insert(documents(10))
    try store["a"].createIndex("tags")

    #expect(code { try store["a"].insert(documents(500)) } == .full)

    #expect(try store["a"].count() == 10)
    #expect(try store["a"].find(Field("tags") == 9).count() == 1)
    #expect(try store.verify().isEmpty)
    try store["a"].deleteAll()
    try store["a"].insert(documents(20))
    #expect(try store["a"].count() == 20)
    #expect(try store.verify().isEmpty)
  }

  @Test("A transaction that catches the error is still rolled back completely")
  func caught() throws {
    let store = try limited(1 << 20)
    try store["a"].save(["n": 0], key: "before")
    let thrown = code {
      try store.write { () -> Void in
        try store["a"].save(["n": 1], key: "first")
        for document in documents(500) {
          _ = code { try store["a"].insert(document) }
        }
        _ = code { try store["a"].save(["n": 2], key: "last") }
        _ = code { try store.execute("DELETE FROM a") }
        _ = code { try store.write { _ = try store["a"].save(["n": 3], key: "nested") } }
      }
    }
    #expect(thrown == .full)
    #expect(try store["a"].find().keys() == ["before"])
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A block that continues after its pending index entries did not fit is not committed", .sqlite)
  func lostEntries() throws {
    var caught = 0
    for count in stride(from: 40, through: 400, by: 4) {
      let store = try limited(256 << 10)
      try store["a"].createFullTextIndex("text", name: "words")
      try store["b"].insert(documents(6))
      let batch: [DocumentObject] = (0..<count).map { number in
        let words = (0..<30).map { "w\(number * 30 + $0)" }
        return ["text": .string(words.joined(separator: " "))]
      }
      let thrown = code {
        try store.write { () -> Void in
          try store["a"].insert(batch)
          // The search adds the new documents to the index.
          let error = code { _ = try store["a"].search("w1").count() }
          guard error == .full else { return }
          caught += 1
          // The space suffices for the rest of the commit.
          _ = code { try store["b"].deleteAll() }
        }
      }
      #expect(thrown == nil || thrown == .full)
      #expect(try store["a"].count() == (thrown == nil ? count : 0))
      #expect(try store["a"].search("w\(count * 30 - 1)").count() == (thrown == nil ? 1 : 0))
      #expect(try store.verify().isEmpty)
    }
    #expect(caught > 0)
  }

  @Test(
    "A collection whose creation did not fit can be created later", .sqlite, arguments: 0...6)
  func newCollection(freePages: Int) throws {
    let scratch = try Scratch()
    try Store.file(scratch.file("a.db")).using { _ = try $0["a"].insert(["n": 1]) }
    let size = try scratch.bytes("a.db").count
    let store = try Store.file(scratch.file("a.db")) { $0.maximumSize = size + freePages * 4_096 }

    _ = code {
      try store.write { () -> Void in
        _ = code { try store["new"].save(["n": 1], key: "k") }
      }
    }

    try store.close()
    let reopened = try Store.file(scratch.file("a.db"))
    try reopened["new"].save(["n": 2], key: "k")
    #expect(try reopened["new"].get("k")?["n"] == 2)
    #expect(try reopened.verify().isEmpty)
  }

  @Test(
    "A document is not committed without its expiration and index entries if they did not fit",
    .sqlite)
  func lostExpiration() throws {
    var caught = 0
    for freePages in 0..<60 {
      let scratch = try Scratch()
      let small: (inout SQLiteConfiguration) -> Void = { $0.pageSize = 512 }
      try Store.file(scratch.file("a.db"), small).using { store in
        try store["a"].setIndexing(.everything)
        try store["a"].setExpirationRule(.field("until"))
        _ = try store["b"].insert(documents(4))
      }
      let size = try scratch.bytes("a.db").count
      let store = try Store.file(scratch.file("a.db")) {
        small(&$0)
        $0.maximumSize = size + freePages * 512
      }
      let thrown = code {
        try store.write { () -> Void in
          var error: StoreError.Code?
          for n in 0..<1_000 as Range<Int64> where error == nil {
            let document: DocumentObject = ["n": .int(n), "until": .date(.distantFuture)]
            error = code { try store["a"].insert(document) }
          }
          if error == .full { caught += 1 }
          // The space suffices for the rest of the commit.
          _ = code { try store["b"].deleteAll() }
        }
      }
      #expect(thrown == nil || thrown == .full)
      let count = try store["a"].count()
      #expect(try store["a"].find(Field("n") >= 0).count() == count)
      let expirations = try store.sql("SELECT count(*) AS n FROM nano_expirations_a").first?["n"]
      #expect(expirations?.int == count)
      #expect(try store.verify().isEmpty)
      try store.close()
    }
    #expect(caught > 0)
  }

  @Test("Nothing is committed after a trigger rolled back the transaction")
  func rolledBackByTrigger() throws {
    let store = try Store(.memory)
    try store["a"].save(["n": 0], key: "before")
    try store.execute("CREATE TABLE own(n)")
    try store.execute(
      "CREATE TRIGGER own_insert BEFORE INSERT ON own BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
    let thrown = code {
      try store.write { () -> Void in
        try store["a"].save(["n": 1], key: "first")
        _ = code { try store.execute("INSERT INTO own VALUES (1)") }
        _ = code { try store["a"].save(["n": 2], key: "last") }
        _ = code { try store["a"].find(Field("n") == 0).update(.set("n", 3)) }
        _ = code { _ = try store["a"].find().count() }
        _ = code { try store["new"].save(["n": 4]) }
        _ = code { try store.setMetadata(5, "m") }
      }
    }
    #expect(thrown != nil)
    #expect(try store["a"].find().keys() == ["before"])
    #expect(try store["a"].get("before")?["n"] == 0)
    #expect(try store.collections().map(\.name) == ["a"])
    #expect(try store.metadata("m") == nil)
  }

  @Test("In a group commit, only the writes that are too large fail")
  func coalesced() async throws {
    let store = try limited(1 << 20)
    let (small, large) = (documents(1), documents(500))
    var results: [Int: StoreError.Code?] = [:]
    await withTaskGroup(of: (Int, StoreError.Code?).self) { group in
      for index in 0..<40 {
        let objects = index % 8 == 3 ? large : small
        group.addTask {
          (index, await asyncCode { try await store["a"].insert(objects) })
        }
      }
      for await (index, failure) in group { results[index] = failure }
    }
    for index in 0..<40 {
      #expect(
        results[index] == (index % 8 == 3 ? .full : nil as StoreError.Code?), "write \(index)")
    }
    #expect(try await store["a"].count() == 35)
  }

  @Test("In a group commit that fails, a sequence that is iterated once is stored completely")
  func coalescedSequences() async throws {
    struct Row: Codable { var n: Int }
    let store = try limited(1 << 20)
    let large = documents(500)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<40 {
        group.addTask {
          if index % 8 == 3 {
            #expect(await asyncCode { try await store["a"].insert(large) } == .full)
          } else {
            var rest = 3
            let rows = AnyIterator { () -> Row? in
              rest -= 1
              return rest < 0 ? nil : Row(n: index)
            }
            let ids = try? await store["a"].insert(rows)
            #expect(ids?.count == 3)
          }
        }
      }
    }
    #expect(try await store["a"].count() == 105)
  }

  @Test("In a group commit that fails, attachments are stored with their content")
  func coalescedAttachments() async throws {
    let store = try limited(1 << 20)
    let large = documents(500)
    let scratch = try Scratch()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<10 {
        group.addTask {
          for round in 0..<10 {
            guard task > 1 else {
              #expect(await asyncCode { try await store["a"].insert(large) } == .full)
              continue
            }
            let content = Data("\(task) \(round)".utf8)
            // A file is read before the call is queued, so that many are finished together.
            let path = try scratch.write(content, "\(task) \(round)")
            let attachment = try await store.addAttachment(.file(path: path))
            let stored = try await store.data(of: attachment)
            #expect(stored == content)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.verify() == [])
  }

  @Test("A full file stays readable, and freed space is reused")
  func file() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.maximumSize = 1 << 20 }
    try store["a"].insert(documents(50))
    #expect(code { try store["a"].insert(documents(500)) } == .full)
    #expect(try store["a"].find(Field("n") < 50).count() == 50)
    try store["a"].find(Field("n") >= 10).delete()
    try store["b"].insert(documents(20))
    #expect(try store.verify().isEmpty)
    try store.close()
    try store.reopen()
    #expect(try store["a"].count() == 10)
  }

  @Test(
    "Stores recover from a full file system",
    .enabled(if: SmallDisk.isPossible, "A small file system cannot be mounted"),
    arguments: SQLiteConfiguration.JournalMode.allCases.filter { $0 != .off })
  func realDisk(mode: SQLiteConfiguration.JournalMode) throws {
    let disk = try SmallDisk()
    let store = try Store.file(disk.path + "/a.db") { $0.journalMode = mode }
    try store["a"].insert(documents(5))
    try Data(count: 400_000).write(to: URL(fileURLWithPath: disk.path + "/filler"))

    #expect(code { try store["a"].insert(documents(500)) } == .full)
    #expect(try store["a"].count() == 5)
    #expect(code { try store.backup(to: disk.path + "/b/c.db") } != nil)

    try FileManager.default.removeItem(atPath: disk.path + "/filler")
    try store["a"].insert(documents(5))
    #expect(try store["a"].count() == 10)
    #expect(try store.verify().isEmpty)
    try store.close()
    try store.reopen()
    #expect(try store["a"].count() == 10)
    try store.close()
  }

  // The page cache is small, so that pages are written while SQLite reads its full-text index, and a failure makes it
  // roll back in the middle.
  @Test(
    "A full-text index is correct after writes that failed on a full file system",
    .enabled(if: SmallDisk.isPossible, "A small file system cannot be mounted"))
  func textIndex() throws {
    let disk = try SmallDisk()
    let store = try Store.file(disk.path + "/a.db") {
      $0.pageCacheSize = 40 << 10
      // A log would fill the file system.
      $0.journalMode = .delete
    }
    try store["a"].createFullTextIndex("text", name: "words")
    let batch: [DocumentObject] = (0..<40).map { number in
      let words = (0..<60).map { "w\(($0 &* 61 &+ number &* 500) % 4_999)" }
      return ["text": .string(words.joined(separator: " "))]
    }
    for free in 0..<60 {
      let filler = URL(fileURLWithPath: disk.path + "/filler")
      let space = try disk.freeSpace()
      try Data(count: max(0, space - free * 4_096)).write(to: filler)
      let error = code { try store["a"].insert(batch) }
      #expect(error == nil || error == .full)
      try FileManager.default.removeItem(at: filler)
      try store["a"].insert(["text": .string("common r\(free)")])
      #expect(try store["a"].search("r\(free)").count() == 1)
      #expect(try store.verify().isEmpty)
      try store["a"].deleteAll()
    }
    try store.close()
  }

  @Test(
    "A backup that does not fit leaves no file", .sqlite,
    .enabled(if: SmallDisk.isPossible, "A small file system cannot be mounted"))
  func backup() throws {
    let disk = try SmallDisk()
    let store = try anyStore()
    try store["a"].insert(documents(500))
    #expect(code { try store.backup(to: disk.path + "/b.db") } == .full)
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    #expect(try store["a"].count() == 500)
  }

  @Test(
    "A store cannot be created on a full file system, and can be once space is freed",
    .enabled(if: SmallDisk.isPossible, "A small file system cannot be mounted"))
  func opening() throws {
    let disk = try SmallDisk()
    try? Data(count: 2_000_000).write(to: URL(fileURLWithPath: disk.path + "/filler"))
    #expect(code { _ = try Store(.file(disk.path + "/a.db")) } == .full)
    try FileManager.default.removeItem(atPath: disk.path + "/filler")
    try Store(.file(disk.path + "/a.db")).close()
  }
}

/// A file system of 1 MB.
final class SmallDisk {
  private let scratch: Scratch
  var path: String { scratch.path }

  init() throws {
    scratch = try Scratch()
    guard Self.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", scratch.path) else {
      throw CancellationError()
    }
  }

  deinit { _ = Self.run("umount", scratch.path) }

  /// In bytes.
  func freeSpace() throws -> Int {
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
    return (attributes[.systemFreeSize] as? NSNumber)?.intValue ?? 0
  }

  static let isPossible = (try? SmallDisk()) != nil

  private static func run(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
