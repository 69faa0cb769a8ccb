// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Files deleted or replaced while open", .sqlite, .timeLimit(.minutes(10)))
struct ReplacedFileTests {
  let scratch: Scratch
  let path: String
  let store: Store

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a.db")
    store = try Store.file(path) { $0.changeInterval = .seconds(0.01) }
    try store["a"].save(["n": 1], key: "k")
  }

  enum Change: CaseIterable { case delete, rename, replace }

  private func apply(_ change: Change) throws {
    switch change {
    case .delete: try FileManager.default.removeItem(atPath: path)
    case .rename: try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
    case .replace:
      let other = try Store.file(scratch.file("b.db"))
      try other.backup(to: path, replacing: true)
    }
  }

  @Test("A write is rejected instead of committed to a lost file", arguments: Change.allCases)
  func writes(change: Change) throws {
    try apply(change)

    #expect(code { try store["a"].save(["n": 2], key: "k") } == .fileReplaced)
    #expect(code { _ = try store["a"].get("k") } == .fileReplaced)
  }

  @Test("A backup is rejected instead of copying a different file", arguments: Change.allCases)
  func backups(change: Change) throws {
    try apply(change)

    let code = code { try store.backup(to: scratch.file("c.db")) }

    // A backup opens a separate connection, which fails if the file does not exist.
    #expect(code == (change == .replace ? .fileReplaced : .cannotOpen))
    #expect(try !scratch.names.contains { $0.hasPrefix("c.db") })
  }

  @Test("A closed and reopened store uses the file that is now at the path")
  func reopening() throws {
    try apply(.replace)
    #expect(code { try store["a"].save(["n": 2], key: "k") } == .fileReplaced)

    try store.close()
    try store.reopen()

    #expect(try store["a"].get("k") == nil)
    try store["a"].save(["n": 2], key: "k")
    #expect(try Store.file(path)["a"].get("k")?["n"] == 2)
  }

  @Test("Live queries and change feeds end with the error", arguments: Change.allCases)
  func liveSequences(change: Change) async throws {
    var updates = store["a"].find().updates().makeAsyncIterator()
    var feed = store.changes.makeAsyncIterator()
    #expect(try await updates.next()?.count == 1)

    try apply(change)

    #expect(await asyncCode { while try await updates.next() != nil {} } == .fileReplaced)
    #expect(await asyncCode { while try await feed.next() != nil {} } == .fileReplaced)
  }

  @Test("Readers of one store never read two different files")
  func readers() throws {
    // The first read opens one connection; the reads below open more, by path.
    #expect(try store["a"].get("k")?["n"] == 1)
    try apply(.replace)

    let inner = try store.read { code { _ = try nested(2) } }

    #expect(inner == nil || inner == .fileReplaced)
    try store.close()
  }

  /// Reads on one connection per level; each must return the same document.
  private func nested(_ levels: Int) throws {
    #expect(try store["a"].get("k")?["n"] == 1)
    if levels > 0 { try store.read { try nested(levels - 1) } }
  }

  @Test("A read-only store in WAL mode sees commits of other stores and leaves no WAL")
  func readOnly() throws {
    try store.close()
    let reader = try Store.file(path) { $0.isReadOnly = true }
    #expect(try scratch.names == ["a.db", "a.db-shm", "a.db-wal"])
    let writer = try Store.file(path)
    try writer["a"].save(["n": 2], key: "k")
    #expect(try reader["a"].get("k")?["n"] == 2)

    try writer.close()
    try reader.close()

    // The WAL still contains the commit, because the read-only store could not checkpoint it.
    #expect(try Store.file(path)["a"].get("k")?["n"] == 2)
    let again = try Store.file(path) { $0.isReadOnly = true }
    try again.close()
    #expect(try scratch.names == ["a.db"])
  }

  @Test(
    "An immutable store needs no WAL, rejects writes, and cannot be opened if a WAL has commits")
  func immutable() throws {
    #expect(code { _ = try Store.file(path) { $0.isImmutable = true } } == .cannotOpen)
    try store.close()

    let frozen = try Store.file(path) { $0.isImmutable = true }

    #expect(try frozen["a"].get("k")?["n"] == 1)
    #expect(try scratch.names == ["a.db"])
    #expect(code { try frozen["a"].save([:], key: "k") } == .readOnly)
  }

  @Test("Opening through a symbolic link uses the file's WAL")
  func symbolicLink() throws {
    let link = scratch.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)

    #expect(code { _ = try Store.file(link) { $0.isImmutable = true } } == .cannotOpen)
    try store.close()
    let reader = try Store.file(link) { $0.isReadOnly = true }
    #expect(try reader["a"].get("k")?["n"] == 1)
    try reader.close()
    #expect(try scratch.names == ["a.db", "link.db"])
  }
}
