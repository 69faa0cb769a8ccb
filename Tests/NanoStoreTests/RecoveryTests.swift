// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Recovering damaged files")
struct RecoveryTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private var damaged: String { scratch.file("a.db") }
  private var saved: String { scratch.file("b.db") }

  private func make(_ change: (inout SQLiteConfiguration) -> Void = { _ in }) throws {
    let store = try Store.file(damaged, change)
    try store["people"].createIndex("name", unique: true)
    try store["people"].setDefaults(["age": 1])
    for number in 0..<300 {
      try store["people"].write(.insert, key: DocumentKey("p\(number)"), type: "Person", version: 2)
      {
        $0.object([
          "name": .string("name \(number)"), "tags": [.int(Int64(number % 3)), "é"],
          "text": .string(String(repeating: "long ", count: number % 50 == 0 ? 3_000 : 1)),
        ])
      }
    }
    try store["people"].createIndex("tags")
    try store["films"].createFullTextIndex("title")
    try store["films"].setIndexing(.everything)
    for number in 0..<100 { try store["films"].insert(["title": .string("film \(number)")]) }
    try store.createCollection("events", identity: .rowID)
    for number in 1...9 { try store["events"].insert(["at": .int(Int64(number))]) }
    try store["events"].delete(rowID: 9)
    let bag = try store.bag(named: "some")
    try bag.add(Array(store["films"].fetch().prefix(20)))
    try bag.save()
    try store.setMetadata(["a": [1, 2]], "settings")
    try store.close()
  }

  /// Creates a store with two collections of 100 documents, each full of its name.
  private func pair(pageSize: Int) throws -> Store {
    let store = try Store.file(damaged) { $0.pageSize = pageSize }
    for name in ["a", "b"] {
      try store.createCollection(name, identity: .rowID)
      let text = DocumentValue.string(String(repeating: name, count: 100))
      try store[name].insert((0..<100).map { ["n": .int($0), "text": text] })
    }
    return store
  }

  private func content(_ path: String) throws -> [[String]] {
    let problems = try Store.file(path).using { try $0.verify() }
    #expect(problems == [])
    return try Store.file(path).using { store in
      try store.collections().map(\.name).map { name in
        try store[name].fetch().map { document in
          let header = document.header
          return "\(name) \(header.rowID ?? 0) \(header.key.debugDescription) \(header.type ?? "") "
            + "\(header.version ?? 0) \(header.added ?? 0) \(try document.object().jsonString())"
        }
      }
    }
  }

  private func overwrite(_ range: Range<Int>, with byte: UInt8) throws {
    var bytes = try scratch.bytes("a.db")
    for offset in range { bytes[offset] = byte }
    _ = try scratch.write(bytes, "a.db")
  }

  private static let settings: [@Sendable (inout SQLiteConfiguration) -> Void] = [
    { _ in }, { $0.encoding = .utf16 }, { $0.pageSize = 512 }, { $0.pageSize = 65_536 },
    { $0.journalMode = .delete },
  ]

  @Test(
    "A journal whose header has a damaged page count does not extend the file that is read",
    .timeLimit(.minutes(10)))
  func damagedPageCount() throws {
    try make { $0.journalMode = .delete }
    let clean = scratch.file("clean.db")
    _ = try Store.recover(from: damaged, to: clean)
    var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    // The pages in the journal, the nonce, the pages before the transaction, the sizes of a sector and of a page.
    for number in [0, 0, 1 << 28, 512, 4_096] as [UInt32] {
      withUnsafeBytes(of: number.bigEndian) { journal.append(contentsOf: $0) }
    }
    journal.append(Data(count: 512 - journal.count))
    try journal.write(to: URL(filePath: damaged + "-journal"))

    _ = try Store.recover(from: damaged, to: saved)

    #expect(try content(saved) == content(clean))
  }

  @Test(
    "The file that a journal names as its super-journal is not deleted", arguments: [true, false])
  func superJournal(exists: Bool) throws {
    try make { $0.journalMode = .delete }
    let clean = scratch.file("clean.db")
    _ = try Store.recover(from: damaged, to: clean)
    let other = scratch.file("other")
    if exists { try Data("precious".utf8).write(to: URL(filePath: other)) }
    let bytes = try Data(contentsOf: URL(filePath: damaged))
    let (page, nonce) = (bytes.prefix(4_096), UInt32(12_345))
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    var journal = Data(magic)
    func append(_ numbers: UInt32...) {
      for number in numbers {
        withUnsafeBytes(of: number.bigEndian) { journal.append(contentsOf: $0) }
      }
    }
    append(1, nonce, UInt32(bytes.count / 4_096), 512, 4_096)
    journal.append(Data(count: 512 - journal.count))
    append(1)
    journal.append(page)
    let checksum = stride(from: 4_096 - 200, to: 0, by: -200).reduce(nonce) {
      $0 &+ UInt32(page[page.startIndex + $1])
    }
    append(checksum, 0x4000_0000 / 4_096 + 1)
    journal.append(Data(other.utf8))
    append(UInt32(other.utf8.count), other.utf8.reduce(0) { $0 + UInt32($1) })
    journal.append(contentsOf: magic)
    try journal.write(to: URL(filePath: damaged + "-journal"))

    _ = try Store.recover(from: damaged, to: saved)

    #expect(try content(saved) == content(clean))
    #expect(FileManager.default.contents(atPath: other) == (exists ? Data("precious".utf8) : nil))
    #expect(try Data(contentsOf: URL(filePath: damaged + "-journal")) == journal)
  }

  @Test("Recovering an intact store copies everything", arguments: settings.indices)
  func intact(index: Int) throws {
    try make(Self.settings[index])
    let before = try scratch.bytes("a.db")
    var steps: [Double] = []
    let report = try Store.recover(from: damaged, to: saved) { steps.append($0) }

    #expect(report.isComplete, "\(report)")
    #expect(steps == steps.sorted() && steps.last == 1)
    #expect(try scratch.bytes("a.db") == before)
    #expect(try scratch.names == ["a.db", "b.db"])
    #expect(try content(saved) == content(damaged))
    let store = try Store.file(saved)
    #expect(try store["people"].indexes().map(\.name) == ["name_unique", "tags_elements"])
    #expect(try store["people"].find(Field("tags") == 2).count() == 100)
    #expect(try store["people"].defaults() == ["age": 1])
    #expect(code { try store["people"].insert(["name": "name 7"]) } == .uniqueViolation)
    #expect(try store["films"].search("film").count() == 100)
    #expect(try store["films"].indexing() == .everything)
    #expect(try store["events"].insert(["at": 0]).rowID == 10)
    #expect(try store.metadata("settings") == ["a": [1, 2]])
    #expect(try store.bag(named: "some").documents().count == 20)
  }

  @Test(
    "A document with characters that a UTF-16 file does not keep is saved without them", .sqlite)
  func unstorableCharacters() throws {
    let store = try Store.file(damaged) { $0.encoding = .utf16 }
    let text = "\u{FF20}q"
    try store["people"].write(.insert, key: DocumentKey(text), type: text, version: nil) {
      $0.object(["name": .string(text)])
    }
    try store.close()
    var bytes = try scratch.bytes("a.db")
    let units = [0xFF20, 0x71] as [UInt16]
    let stored = units.withUnsafeBytes { Data($0) }
    while let range = bytes.firstRange(of: stored) {
      bytes.replaceSubrange(range.dropFirst(2), with: [0xFF, 0xFF])
    }
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: damaged, to: saved)

    #expect(report.saved == 1)
    #expect(report.skippedCount == 0)
    #expect(
      Set(report.losses.map(\.message)) == [
        "document 1 contained bytes that are not valid text", "document 1 has lost its key",
        "document 1 has lost its class",
      ])
    let document = try #require(try Store.file(saved).using { try $0["people"].fetch().first })
    #expect(document.key == nil && document.type == nil)
    #expect(try document.object() == ["name": "\u{FF20}\u{FFFD}"])
  }

  @Test("Recovery through a symbolic link reads the file's WAL")
  func symbolicLink() throws {
    let store = try Store.file(damaged)
    try store["a"].insert(["n": 1])
    let link = scratch.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: damaged)

    // While the store is open, the document exists only in the WAL.
    let report = try Store.recover(from: link, to: saved)

    #expect(report.saved == 1)
    try store.close()
  }

  @Test("A damaged header loses no document", arguments: [0..<100, 16..<18, 28..<40, 56..<60])
  func header(range: Range<Int>) throws {
    try make()
    let before = try content(damaged)
    try overwrite(range, with: 0xEE)
    let report = try Store.recover(from: damaged, to: saved)
    #expect(try content(saved) == before)
    #expect(report.skippedCount == 0)
  }

  @Test("Without the schema table, documents are assigned to collections by their field names")
  func schema() throws {
    try make { $0.pageSize = 16_384 }
    let before = try content(damaged)
    try overwrite(0..<16_384, with: 0)
    let report = try Store.recover(from: damaged, to: saved)
    #expect(report.losses.contains { $0.subject == "file" })
    let after = try content(saved)
    #expect(after == before)
  }

  @Test("A lost page loses only its own documents")
  func page() throws {
    try make { $0.pageSize = 4096 }
    let size = 4096
    let pages = try scratch.bytes("a.db").count / size
    let all = Set(try content(damaged).flatMap(\.self))
    let intact = try scratch.bytes("a.db")
    for page in stride(from: 1, to: pages, by: 7) {
      _ = try scratch.write(intact, "a.db")
      try overwrite(page * size..<(page + 1) * size, with: 0xAA)
      _ = try Store.recover(from: damaged, to: saved, replacing: true)
      let recovered = Set(try content(saved).flatMap(\.self))
      #expect(recovered.isSubset(of: all))
      #expect(recovered.count >= all.count - 150, "page \(page)")
    }
  }

  @Test("Attachments whose rows are overwritten by those of another table are reported", .sqlite)
  func overwrittenAttachments() throws {
    let size = 512
    let store = try Store.file(damaged) { $0.pageSize = size }
    try store["people"].insert(["n": 1], key: "k")
    for (name, count) in [("small", 300), ("large", 300_000)] {
      let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
      try store["people"].attach(.data(content), named: name, to: "k")
    }
    let roots = try ["nano_blobs", "people"].map { name in
      try #require(
        store.sql("SELECT rootpage FROM sqlite_schema WHERE name = ?", name)
          .first?["rootpage"]?.int)
    }
    try store.close()
    var bytes = try scratch.bytes("a.db")
    let (blobs, people) = ((Int(roots[0]) - 1) * size, (Int(roots[1]) - 1) * size)
    bytes.replaceSubrange(blobs..<blobs + size, with: bytes[people..<people + size])
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: damaged, to: saved)

    let messages = report.losses.filter { $0.subject == "attachments" }.map(\.message)
    #expect(messages.contains { $0.contains("is damaged") })
    #expect(messages.contains("attachments without a digest: 1"))
    #expect(try Store.file(saved).using { try $0["people"].count() } == 1)
  }

  @Test("A damaged reference between the chunks of an attachment does not lose it", .sqlite)
  func damagedReference() throws {
    let size = 512
    let store = try Store.file(damaged) { $0.pageSize = size }
    let content = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    let attachment = try store.addAttachment(.data(content))
    try store["people"].insert(["file": attachment.documentValue], key: "k")
    let root = try #require(
      store.sql("SELECT rootpage FROM sqlite_schema WHERE name = 'nano_chunks'")
        .first?["rootpage"]?.int)
    try store.close()
    var bytes = try scratch.bytes("a.db")
    let page = (Int(root) - 1) * size
    // An interior page. Its cells are a page number of four bytes and the largest row ID of that page.
    #expect(bytes[page] == 5)
    let cell = Int(bytes[page + 12]) << 8 | Int(bytes[page + 13])
    #expect(bytes[page + cell + 4] > 0x80)
    bytes[page + cell + 4] = 0x80
    _ = try scratch.write(bytes, "a.db")

    try Store.recover(from: damaged, to: saved)

    #expect(try Store.file(saved).using { try $0.data(of: attachment) } == content)
  }

  @Test("Rows of an exchanged page do not take the row IDs of the rows that belong there", .sqlite)
  func exchangedPages() throws {
    let size = 512
    let store = try pair(pageSize: size)
    try store.close()
    var bytes = try scratch.bytes("a.db")
    // Leaf pages of tables, which begin with 13.
    func leaves(_ name: Character) -> [Int] {
      (1..<bytes.count / size).filter { page in
        let content = bytes[page * size..<(page + 1) * size]
        return content.first == 13
          && content.count { $0 == name.asciiValue } > 200
      }
    }
    // A page of rows with larger IDs is exchanged with one of rows with smaller ones, and comes first in its tree.
    let (own, other) = (leaves("a")[3], leaves("b")[20])
    for offset in 0..<size { bytes.swapAt(own * size + offset, other * size + offset) }
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: damaged, to: saved)

    #expect(!report.isComplete)
    try Store.file(saved).using { store in
      let all = try store["a"].fetch()
      #expect(all.count > 95)
      let moved = all.filter { document in
        let n = document["n"]?.int ?? 0
        return document["text"]?.string?.first == "a" && document.rowID != Int64(n) + 1
      }
      #expect(moved.isEmpty)
    }
  }

  @Test("A column whose type is one that SQLite reserves is NULL, as for SQLite", .sqlite)
  func reservedTypes() throws {
    let store = try Store.file(damaged)
    try store["a"].insert([["n": 1], ["n": 2], ["n": 3]])
    try store.close()
    var bytes = try scratch.bytes("a.db")
    // The types of a row: a NULL, a key of 16 bytes, two NULLs, 8 bytes, the number 1 for the revision, a text of 7 bytes.
    let types: [UInt8] = [0, 44, 0, 0, 6, 9, 27]
    for reserved in [10, 11] as [UInt8] {
      let row = try #require(bytes.firstRange(of: types))
      bytes[row.lowerBound + 5] = reserved
    }
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: damaged, to: saved)

    #expect(report.isComplete)
    let recovered = try Store.file(saved)
    #expect(try recovered["a"].fetch().map { $0["n"] } == [1, 2, 3])
    try recovered.close()
  }

  @Test("A root that is a page of another collection loses no document of either", .sqlite)
  func wrongRoot() throws {
    let size = 512
    let store = try pair(pageSize: size)
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'a'"
    let root = try UInt8(#require(store.sql(sql).first?["rootpage"]?.int))
    try store.close()
    var bytes = try scratch.bytes("a.db")
    let leaf = try #require(
      (1..<bytes.count / size).first { page in
        bytes[page * size] == 13
          && bytes[page * size..<(page + 1) * size].count { $0 == UInt8(ascii: "b") } > 200
      })
    let record = try #require(bytes.firstRange(of: Array("tableaa".utf8) + [root]))
    bytes[record.upperBound - 1] = UInt8(leaf + 1)
    _ = try scratch.write(bytes, "a.db")

    let report = try Store.recover(from: damaged, to: saved)

    #expect(!report.isComplete)
    let recovered = try Store.file(saved)
    #expect(try recovered["a"].count() == 100)
    #expect(try recovered["b"].find().rowIDs() == Array(1...100))
    try recovered.close()
  }

  @Test(
    "Documents in the WAL are recovered, even if SQLite does not recognize the file as a database")
  func log() throws {
    try make()
    let store = try Store.file(damaged)
    try store["events"].insert(["at": 77])
    for name in ["a.db", "a.db-wal"] {
      _ = try scratch.write(scratch.bytes(name), "c" + name.dropFirst())
    }
    try store.close()
    var bytes = try scratch.bytes("c.db")
    bytes[0] = 0
    _ = try scratch.write(bytes, "c.db")
    try Store.recover(from: scratch.file("c.db"), to: saved)
    let found = try Store.file(saved).using { try $0["events"].find(Field("at") == 77).count() }
    #expect(found == 1)
    #expect(try scratch.bytes("c.db") == bytes)
  }

  @Test("Documents that do not decode are skipped and reported with a reason")
  func skipped() throws {
    try make()
    try Store.file(damaged) { $0.allowsInternalWrites = true }.using { store in
      for trigger in ["insert", "update", "delete"] {
        try store.execute("DROP TRIGGER nano_elements_people_tags_elements_\(trigger)")
      }
      try store["people"].dropIndex("name_unique")
      try store.execute("UPDATE people SET body = '{\"name\":' WHERE id = 7")
      try store.execute("UPDATE nano_metadata SET value = '{'")
      try store.execute("UPDATE nano_indexes SET columns = '[]' WHERE collection = 'people'")
    }
    let report = try Store.recover(from: damaged, to: saved)
    #expect(report.skipped.map(\.rowID) == [7])
    #expect(report.skipped.first?.key == "p6")
    #expect(report.skipped.first?.reason.contains("does not decode") == true)
    #expect(report.collections.first { $0.name == "people" }?.saved == 299)
    #expect(report.losses.contains { $0.subject == "nano_metadata" })
    #expect(
      report.losses.contains { $0.subject == "nano_indexes" && $0.message.contains("columns") })
    let problems = try Store.file(saved).using { try $0.verify() }
    #expect(problems == [])
  }

  @Test("A failed recovery creates no file, and an existing file is replaced only on request")
  func failures() async throws {
    let (damaged, saved) = (damaged, saved)
    #expect(code { try Store.recover(from: damaged, to: saved) } == .cannotOpen)
    _ = try scratch.write(Array(repeating: 7, count: 9_999), "a.db")
    #expect(code { try Store.recover(from: damaged, to: saved) } == .notADatabase)
    _ = try scratch.write([UInt8](), "a.db")
    #expect(code { try Store.recover(from: damaged, to: saved) } == .notADatabase)
    #expect(try scratch.names == ["a.db"])
    try FileManager.default.removeItem(atPath: damaged)
    try make()
    #expect(
      code { try Store.recover(from: damaged, to: damaged, replacing: true) } == .invalidArgument)
    struct Enough: Error {}
    #expect(throws: Enough.self) {
      try Store.recover(from: damaged, to: saved) { _ in throw Enough() }
    }
    #expect(try scratch.names == ["a.db"])
    _ = try scratch.write([1, 2, 3], "b.db")
    #expect(code { try Store.recover(from: damaged, to: saved) } == .alreadyExists)
    #expect(try scratch.bytes("b.db") == Data([1, 2, 3]))
    let report = try await Store.recover(from: damaged, to: saved, replacing: true)
    #expect(report.isComplete && report.saved == 300 + 100 + 8 + 1 + 20)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await Store.recover(from: damaged, to: saved, replacing: true)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try scratch.names == ["a.db", "b.db"])
  }
}
