// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Configuration", .sqlite)
struct ConfigurationTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  /// Returns a setting's value as reported by the database.
  private func setting(
    _ name: String, _ change: (inout SQLiteConfiguration) -> Void
  ) throws -> String? {
    let store = try Store.file(scratch.file("a.db"), change)
    return try store.statistics().settings[name]
  }

  @Test(
    "Durability sets SQLite's synchronous level",
    arguments: zip(Durability.allCases, ["0", "1", "2"]))
  func durability(durability: Durability, expected: String) throws {
    #expect(try setting("synchronous") { $0.durability = durability } == expected)
  }

  @Test(
    "With a rollback journal, protection against power loss requires synchronous EXTRA",
    arguments: [SQLiteConfiguration.JournalMode.delete, .truncate, .persist])
  func durabilityOfJournals(mode: SQLiteConfiguration.JournalMode) throws {
    for (durability, expected) in zip(Durability.allCases, ["0", "3", "3"]) {
      let actual = try setting("synchronous") {
        $0.durability = durability
        $0.journalMode = mode
      }
      #expect(actual == expected)
    }
  }

  @Test("Every journal mode takes effect", arguments: SQLiteConfiguration.JournalMode.allCases)
  func journalModes(mode: SQLiteConfiguration.JournalMode) throws {
    let store = try Store.file(scratch.file("a.db")) { $0.journalMode = mode }
    try store["a"].save(["n": 1], key: "k")
    #expect(try store.statistics().settings["journal_mode"] == mode.rawValue)
    #expect(try store["a"].count() == 1)
    guard mode != .off else { return }
    _ = code {
      try store.write {
        try store["a"].save(["n": 2], key: "k")
        throw StoreError(.notFound, "Undo this")
      }
    }
    #expect(try store["a"].get("k")?["n"] == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Sizes, timeouts, and storage locations take effect")
  func numbers() throws {
    #expect(try setting("cache_size") { $0.pageCacheSize = 3 << 20 } == "-3072")
    #expect(try setting("busy_timeout") { $0.busyTimeout = .seconds(1.5) } == "1500")
    #expect(try setting("mmap_size") { $0.mappedSize = 1 << 20 } == "\(1 << 20)")
    #expect(try setting("mmap_size") { $0.mappedSize = 0 } == "0")
    #expect(try setting("temp_store") { $0.temporaryStorage = .file } == "1")
    #expect(try setting("temp_store") { $0.temporaryStorage = .memory } == "2")
    #expect(try setting("max_page_count") { $0.maximumSize = 4 << 20 } == "1024")
  }

  @Test("The busy timeout is the same while a call can be canceled, and after it")
  func busyTimeout() async throws {
    let store = try Store.file(scratch.file("a.db")) { $0.busyTimeout = .seconds(1.5) }
    #expect(try await store.statistics().settings["busy_timeout"] == "1500")
    #expect(try store.blocking { try store.sql("PRAGMA busy_timeout").first?["timeout"] } == 1500)
  }

  @Test("The page size of an existing file does not change", arguments: [512, 4096, 65_536])
  func pageSize(size: Int) throws {
    #expect(try setting("page_size") { $0.pageSize = size } == "\(size)")
    #expect(try setting("page_size") { $0.pageSize = 1024 } == "\(size)")
  }

  @Test("Compacting a file with a rollback journal keeps its page size")
  func compactedPageSize() throws {
    _ = try setting("page_size") {
      $0.journalMode = .delete
      $0.pageSize = 8_192
    }
    let store = try Store.file(scratch.file("a.db")) { $0.journalMode = .delete }
    try store.compact()
    #expect(try store.statistics().settings["page_size"] == "8192")
  }

  @Test("An out-of-range setting is rejected by name before a file is created")
  func outOfRange() throws {
    let changes: [(String, (inout SQLiteConfiguration) -> Void)] = [
      ("pageSize", { $0.pageSize = 1000 }), ("pageSize", { $0.pageSize = 131_072 }),
      ("pageCacheSize", { $0.pageCacheSize = -1 }), ("mappedSize", { $0.mappedSize = -1 }),
      ("busyTimeout", { $0.busyTimeout = .seconds(2_000_001) }),
      ("busyTimeout", { $0.busyTimeout = .nanoseconds(-1) }),
      ("maximumSize", { $0.maximumSize = 0 }),
      ("maximumReaders", { $0.maximumReaders = 0 }),
      ("changeInterval", { $0.changeInterval = .zero }),
    ]
    for (name, change) in changes {
      let error = error { _ = try Store.file(scratch.file("a.db"), change) }
      #expect(error?.code == .invalidArgument)
      #expect(error?[.operation] == name)
    }
    #expect(try scratch.names.isEmpty)
  }

  @Test("In-memory and temporary stores create no file and are empty when reopened")
  func withoutFile() throws {
    for location in [Store.Location.memory, .temporary] {
      let store = try Store(location)
      try store["a"].save(["n": 1], key: "k")
      #expect(try store["a"].count() == 1)
      try store.close()
      try store.reopen()
      #expect(try store["a"].count() == 0)
      try store["a"].save(["n": 1], key: "k")
      #expect(try store["a"].count() == 1)
    }
  }

  @Test("A read-only store reads and rejects every write")
  func readOnly() throws {
    let path = scratch.file("a.db")
    #expect(code { _ = try Store.file(path) { $0.isReadOnly = true } } == .cannotOpen)
    let writer = try Store.file(path)
    try writer["a"].save(["n": 1], key: "k")
    let store = try Store.file(path) { $0.isReadOnly = true }

    #expect(try store["a"].get("k")?["n"] == 1)
    #expect(try store["a"].find(Field("n") == 1).count() == 1)
    #expect(code { try store["a"].save(["n": 2], key: "k") } == .readOnly)
    #expect(code { try store.write {} } == .readOnly)
    #expect(code { try store.execute("DELETE FROM a") } == .readOnly)
    #expect(code { try store.compact() } == .readOnly)
    #expect(try store.verify().isEmpty)

    try writer["a"].save(["n": 2], key: "k")
    #expect(try store["a"].get("k")?["n"] == 2)
  }
}

@Suite("UTF-16 databases", .sqlite)
struct UTF16Tests {
  static let words = ["a", "b", "Ā", "ā", "é", "z", "ß", "€", "日本", "😀", "\u{FF21}", "aĀ", "a€"]

  private func store(_ encoding: SQLiteConfiguration.TextEncoding) throws -> Store {
    let store = try Store(
      .memory,
      engine: {
        var configuration = SQLiteConfiguration()
        configuration.encoding = encoding
        return configuration
      }())
    try store["w"].insert(
      Self.words.map { ["word": .string($0), "list": [.string($0), "x"], "n": 1] })
    return store
  }

  @Test("The encoding takes effect")
  func encoding() throws {
    #expect(try store(.utf16).statistics().settings["encoding"] == "UTF-16le")
    #expect(try store(.utf8).statistics().settings["encoding"] == "UTF-8")
  }

  @Test("Every query returns the same results as in UTF-8", arguments: [false, true])
  func queries(indexed: Bool) throws {
    let stores = try [store(.utf8), store(.utf16)]
    for store in stores where indexed {
      try store["w"].createIndex("word", unique: true)
      try store["w"].createIndex("list")
    }
    let conditions =
      Self.words.flatMap { word -> [Condition] in
        [
          Field("word") == word, Field("word") > word,
          Field("word") <= word, Field("word").hasPrefix(word),
          Field("word").contains(word), Field("list") == word,
          Field("list") > word, Field("word").isIn([word, "b"]),
          Field("word").matches(.insensitiveEqualTo, word),
        ]
      }
    for condition in conditions {
      let found = try stores.map { try $0["w"].find(condition).sorted(by: "word").rowIDs() }
      #expect(found[0] == found[1], "\(condition)")
    }
    let sorted = Self.words.sorted {
      $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars)
    }
    for store in stores {
      let words = store["w"].find().sorted(by: "word")
      #expect(try words.fetch().map { $0["word"] } == sorted.map { .string($0) })
      #expect(try words.limit(3).fetch().count == 3)
      var page = try words.page(4)
      var seen = page.documents
      while let next = page.next {
        page = try words.after(next).page(4)
        seen += page.documents
      }
      #expect(seen.map { $0["word"] } == sorted.map { .string($0) })
      #expect(try store["w"].find().max("word") == .string(sorted.last ?? ""))
      #expect(try store["w"].find().distinct("word").count == Self.words.count)
      #expect(try store.verify().isEmpty)
    }
  }

  @Test("Keys and collection names can contain any letters")
  func names() throws {
    let store = try store(.utf16)
    try store["Größe"].save(["n": 1], key: "schlüssel-😀")
    #expect(try store["Größe"].get("schlüssel-😀")?["n"] == 1)
    #expect(code { try store["w"].insert(["word": "é"], key: "日") } == nil)
    #expect(code { try store["w"].insert(["word": "é"], key: "日") } == .duplicateKey)
  }

  @Test(
    "A character that UTF-16 storage does not preserve is rejected",
    arguments: [0xFFFE, 0xFFFF] as [UInt32])
  func unpreserved(character: UInt32) throws {
    let text = "a" + String(try #require(Unicode.Scalar(character)))
    let store = try store(.utf16)
    #expect(code { try store["a"].save(["t": .string(text)], key: "k") } == .valueNotStorable)
    #expect(code { try store["a"].save([text: 1], key: "k") } == .valueNotStorable)
    #expect(code { try store["a"].insert(["t": 1], key: text) } == .valueNotStorable)
    #expect(code { try store["w"].find().update(set: ["t": .string(text)]) } == .valueNotStorable)
    #expect(try store["a"].count() == 0)
    let plain = try self.store(.utf8)
    try plain["a"].save([text: .string(text)], key: text)
    #expect(try plain["a"].get(text)?.object() == [text: .string(text)])
  }

  @Test(
    "A key or name with such a character is not mistaken for the one that it would become",
    arguments: [0xFFFE, 0xFFFF] as [UInt32])
  func similar(character: UInt32) throws {
    let text = "a" + String(try #require(Unicode.Scalar(character)))
    let replaced = "a\u{FFFD}"
    let store = try store(.utf16)
    try store[replaced].save(["n": 1], key: replaced)
    #expect(try store[replaced].get(text) == nil)
    #expect(try !store[replaced].delete(text))
    #expect(code { try store[replaced].update(text, set: ["n": 2]) } == .notFound)
    #expect(try store[text].get(replaced) == nil)
    #expect(code { try store[text].save(["n": 2], key: "k") } == .invalidName)
    #expect(code { try store[replaced].setDefaults([text: 1]) } == .valueNotStorable)
    #expect(code { try store[replaced].createIndex("n", name: text) } == .invalidName)
    #expect(code { try store.setMetadata(1, text) } == .invalidName)
    #expect(code { try store.setMetadata(.string(text), "m") } == .valueNotStorable)
    #expect(try store.metadata("m") == nil)
    try store.setMetadata(1, replaced)
    #expect(try store.metadata(text) == nil)
    let collection = store[replaced]
    #expect(code { try collection.createFullTextIndex("t", name: text) } == .invalidName)
    #expect(try collection.find(.key(.equalTo, text)).delete() == 0)
    #expect(try collection.find("[__key__] IN (?, 'x')", text).count() == 0)
    #expect(try collection.find(type: text).count() == 0)
    try collection.createIndex("n")
    try collection.update(replaced, set: ["n": .string(replaced)])
    #expect(try collection.find(Field("n") == text).count() == 0)
    #expect(try collection.find(Field("n").isIn([text])).count() == 0)
    try collection.update(replaced, set: ["n": 1])
    #expect(try store[replaced].get(replaced)?.object() == ["n": 1])
    #expect(try store.verify().isEmpty)
  }
}
