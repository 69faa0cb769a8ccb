// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Opening stores", .sqlite)
struct OpeningTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  static let others: [[UInt8]] = [
    Array("This is a letter to my aunt.\n".utf8),
    Array(String(repeating: "All work and no play. ", count: 500).utf8),
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52],
    [0],
    (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 2_654_435_761 >> 7) },
    Array("SQLite format 3".utf8),
    Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0xFF, count: 5_000),
  ]

  @Test("A file that is not a database is rejected and unchanged", arguments: others.indices)
  func notADatabase(index: Int) throws {
    let bytes = Self.others[index]
    let path = try scratch.write(bytes, "a.db")

    let error = error { _ = try Store.file(path) }

    #expect([.notADatabase, .corruptFile].contains(error?.code))
    #expect(error?[.path] == path)
    #expect(error?.description.contains(path) == false)
    #expect(try scratch.bytes("a.db") == Data(bytes))
    #expect(try scratch.names == ["a.db"])
  }

  @Test("An empty file becomes a store")
  func emptyFile() throws {
    let path = try scratch.write([], "a.db")
    let store = try Store.file(path)
    try store["a"].save(["n": 1], key: "k")
    try store.close()
    #expect(try Store.file(path)["a"].get("k")?["n"] == 1)
  }

  @Test("A truncated file yields its readable documents and typed errors, never a crash")
  func truncated() throws {
    let path = scratch.file("whole.db")
    let store = try Store.file(path) { $0.pageSize = 512 }
    try store["notes"].insert(
      (0..<60).map { ["n": .int($0), "tags": ["a", .string("t\($0)")]] })
    try store["notes"].createIndex("tags", elements: true)
    try store.close()
    let whole = try scratch.bytes("whole.db")

    for size in stride(from: 1, to: whole.count, by: 512 * 3) {
      let path = try scratch.write(whole.prefix(size), "cut-\(size).db")
      _ = code {
        let store = try Store.file(path)
        // Readable documents are intact, and verification detects the damage.
        let readable = code { for note in try store["notes"].fetch() { _ = try note.object() } }
        #expect([nil, .corruptFile, .corruptDocument, .database].contains(readable))
        let problems = try store.verify()
        #expect(!problems.isEmpty)
        _ = code { try store["notes"].save(["n": 1], key: "new") }
        try store.close()
      }
    }
  }

  @Test("A folder, an empty path, and a path with NUL are rejected with a reason")
  func impossiblePaths() throws {
    #expect(code { _ = try Store(.file(scratch.path)) } == .cannotOpen)
    #expect(code { _ = try Store(.file("")) } == .invalidArgument)
    #expect(code { _ = try Store(.file("a\0b.db")) } == .invalidArgument)
    let file = try scratch.write([1], "file")
    #expect(code { _ = try Store(.file(file + "/below.db")) } == .cannotOpen)
  }

  @Test(
    "The path of the file is the one that Foundation standardizes",
    arguments: [
      "/a", "/a/b.db", "/a/.b/..c/...", "/", "//a", "/a//b", "/a/", "/a/.", "/a/..", "/a/./b",
      "/a/../b",
      "/..", "/.", "/private/a", "/private/tmp/a", "/var/automount/a", "a", "./a", "~/a", "/~/a",
      "/a b",
      "/caf\u{E9}/a", "/cafe\u{301}/a", "/a\n", "/.../a", "/a/.../b/....", "", ".", "~",
    ])
  func standardizedPath(path: String) {
    let expanded = NSString(string: path).expandingTildeInPath
    let expected = URL(fileURLWithPath: expanded).standardizedFileURL.path

    #expect(Store.Location.file(path).file.map { Array($0.utf8) } == Array(expected.utf8))
  }

  @Test("A tilde expands to the home folder, and missing folders are created")
  func tildeAndParents() throws {
    let deep = scratch.file("a/b/c/d.db")
    try Store(.file(deep)).close()
    #expect(FileManager.default.fileExists(atPath: deep))

    let name = ".nanostore-test-\(UUID().uuidString)"
    let home = NSString(string: "~").expandingTildeInPath
    defer { try? FileManager.default.removeItem(atPath: home + "/" + name) }
    try Store(.file("~/\(name)/a.db")).close()
    #expect(FileManager.default.fileExists(atPath: home + "/\(name)/a.db"))
  }

  @Test(
    "Names with a special meaning in SQLite are ordinary files",
    arguments: [":memory:", "file:a?x=1"])
  func plainNames(name: String) throws {
    let path = scratch.file(name)
    let store = try Store.file(path)
    try store["a"].save(["n": 1], key: "k")
    try store.close()
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("A database of another program is rejected and unchanged byte for byte")
  func otherProgram() throws {
    let path = scratch.file("other.db")
    // A store whose application ID is cleared, so that it looks like another program's database.
    let store = try Store.file(path) {
      $0.journalMode = .delete
      $0.allowsInternalWrites = true
    }
    try store.execute("CREATE TABLE things (a)")
    try store.execute("INSERT INTO things VALUES (1)")
    try store.execute("PRAGMA application_id = 0")
    try store.close()
    let before = try scratch.bytes("other.db")

    let error = error { _ = try Store.file(path) }

    #expect(error?.code == .notADatabase)
    #expect(error?[.hint] != nil)
    #expect(error?[.path] == path)
    #expect(try scratch.bytes("other.db") == before)
    #expect(try scratch.names == ["other.db"])
  }

  @Test("A newer format is rejected by number, and the file is unchanged")
  func newerFormat() throws {
    let path = scratch.file("new.db")
    let store = try Store.file(path) {
      $0.journalMode = .delete
      $0.allowsInternalWrites = true
    }
    try store.execute("PRAGMA user_version = 99")
    try store.close()
    let before = try scratch.bytes("new.db")

    let error = error { _ = try Store.file(path) }

    #expect(error?.code == .newerFormat)
    #expect(error?[.actual] == "format 99")
    #expect(try scratch.bytes("new.db") == before)
  }

  @Test("A reopened store continues its row IDs")
  func rowIDsSurvive() throws {
    let path = scratch.file("a.db")
    let store = try Store.file(path)
    let last = try store["a"].save(["n": 1], key: "a").rowID
    try store["a"].delete("a")
    try store.close()
    try store.reopen()
    #expect(try store["a"].save(["n": 2], key: "b").rowID == last.map { $0 + 1 })
  }
}
