// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Backups")
struct BackupTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  static let kinds = ["memory", "temporary", "file", "journal", "readonly", "utf16"]

  private func store(_ kind: String, documents: Int64 = 2_000) throws -> Store {
    let path = scratch.file("source/a.db")
    var store: Store
    switch kind {
    case "memory": store = try anyStore()
    case "temporary": store = try Store(.temporary)
    case "journal": store = try Store.file(path) { $0.journalMode = .delete }
    case "utf16": store = try Store.file(path) { $0.encoding = .utf16 }
    default: store = try Store.file(path)
    }
    try store["a"].insert(
      (0..<documents).map {
        [
          "n": .int($0), "tags": [.int($0 % 7)],
          "text": .string(String(repeating: "é", count: 2_000)),
        ]
      })
    try store["a"].createIndex("n", unique: true)
    try store["a"].createIndex("tags")
    guard kind == "readonly" else { return store }
    try store.close()
    store = try Store.file(path) { $0.isReadOnly = true }
    return store
  }

  private var target: String { scratch.file("b.db") }

  @Test(
    "A backup of any kind of store is complete and reports progress", .sqlite, arguments: kinds)
  func complete(kind: String) throws {
    let store = try store(kind)
    var steps: [Double] = []
    try store.backup(to: target) { steps.append($0) }

    #expect(steps == steps.sorted() && steps.last == 1 && steps.count > 1)
    #expect(steps.allSatisfy { (0...1).contains($0) })
    let copy = try Store(.file(target))
    #expect(try copy["a"].count() == 2_000)
    #expect(try copy["a"].find(Field("tags") == 3).count() == 286)
    #expect(try copy["a"].indexes() == store["a"].indexes())
    #expect(try copy.verify().isEmpty)
    #expect(try copy["a"].insert(["n": -1]).rowID == 2_001)
    #expect(try store["a"].count() == 2_000)
    try copy.close()
    #expect(try scratch.names.filter { $0 != "source" } == ["b.db"])
  }

  @Test(
    "The store stays usable during a backup, even from the progress closure", .sqlite,
    arguments: kinds)
  func inUse(kind: String) throws {
    let store = try store(kind)
    var writes: Int64 = 0
    try store.backup(to: target) { _ in
      #expect(try store["a"].count() == 2_000 + Int(writes))
      guard kind != "readonly" else { return }
      writes += 1
      try store["a"].insert(["n": .int(-writes)])
    }
    #expect(try store["a"].count() == 2_000 + Int(writes))
    let copy = try Store(.file(target))
    #expect((2_000...2_000 + Int(writes)).contains(try copy["a"].count()))
    #expect(try copy.verify().isEmpty)
  }

  @Test("A backup aborted by its progress closure leaves no file", .sqlite, arguments: kinds)
  func aborted(kind: String) throws {
    let store = try store(kind)
    #expect(throws: CancellationError.self) {
      try store.backup(to: target) { if $0 > 0.3 { throw CancellationError() } }
    }
    #expect(try scratch.names.filter { $0 != "source" }.isEmpty)
    #expect(try store["a"].count() == 2_000)
    try store.backup(to: target)
  }

  @Test(
    "Closing a store that copies its own connection ends the backup, which leaves no file", .sqlite,
    arguments: ["memory", "temporary", "journal", "readonly"])
  func closed(kind: String) throws {
    let store = try store(kind)
    #expect(code { try store.backup(to: target) { _ in try store.close() } } == .closed)
    #expect(try scratch.names.filter { $0 != "source" }.isEmpty)
    try store.reopen()
    let isFile = ["journal", "readonly"].contains(kind)
    #expect(try store["a"].count() == (isFile ? 2_000 : 0))
  }

  @Test("Canceling the task ends a backup and leaves no file")
  func canceled() async throws {
    let store = try store("file")
    let (steps, continuation) = AsyncStream.makeStream(of: Double.self)
    let gate = DispatchSemaphore(value: 0)
    let task = Task {
      try await store.backup(to: target) {
        continuation.yield($0)
        gate.wait()
      }
    }
    for await _ in steps { break }
    task.cancel()
    for _ in 0..<100 { gate.signal() }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try scratch.names == ["source"])
  }

  @Test("A backup replaces an existing file only if requested")
  func replacing() throws {
    let store = try store("file", documents: 10)
    _ = try scratch.write(Array("precious".utf8), "b.db")
    #expect(code { try store.backup(to: target) } == .alreadyExists)
    #expect(try scratch.bytes("b.db") == Data("precious".utf8))
    #expect(throws: CancellationError.self) {
      try store.backup(to: target, replacing: true) { _ in throw CancellationError() }
    }
    #expect(try scratch.bytes("b.db") == Data("precious".utf8))
    _ = try scratch.write(Array("an old log".utf8), "b.db-wal")
    try store.backup(to: target, replacing: true)
    #expect(try Store(.file(target))["a"].count() == 10)
  }

  @Test("A store cannot be backed up onto itself, however the path is spelled")
  func ontoItself() throws {
    let store = try store("file", documents: 10)
    let path = scratch.file("source/a.db")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.file("link.db"), withDestinationPath: path)
    try FileManager.default.linkItem(atPath: path, toPath: scratch.file("hard.db"))
    for same in [
      path, scratch.file("source/../source/a.db"), scratch.file("source//a.db"),
      scratch.file("link.db"), scratch.file("hard.db"),
    ] {
      for replacing in [false, true] {
        #expect(
          code { try store.backup(to: same, replacing: replacing) } == .invalidArgument, "\(same)")
      }
    }
    #expect(try store["a"].count() == 10)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A backup into a folder takes the file name of the source", .sqlite,
    arguments: ["memory", "file"])
  func folder(kind: String) throws {
    let store = try store(kind, documents: 10)
    try FileManager.default.createDirectory(
      atPath: scratch.file("folder"), withIntermediateDirectories: false)
    try store.backup(to: scratch.file("folder"))
    #expect(code { try store.backup(to: scratch.file("folder")) } == .alreadyExists)
    let copy = try Store(.file(scratch.file(kind == "file" ? "folder/a.db" : "folder/store.db")))
    #expect(try copy["a"].count() == 10)
    try copy.close()
    // The source's own folder contains a file of that name: the store itself.
    guard kind == "file" else { return }
    #expect(code { try store.backup(to: scratch.file("source")) } == .invalidArgument)
  }

  @Test(
    "An occupied name, a missing folder, and an invalid path are rejected, and no folder is removed",
    .sqlite)
  func impossible() throws {
    let store = try store("memory", documents: 10)
    // Create both names that the copy could take in that folder.
    let folder = scratch.file("folder")
    try FileManager.default.createDirectory(
      atPath: folder + "/store.db", withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: folder + "/a.db", withIntermediateDirectories: false)
    _ = try scratch.write([1], "folder/precious")
    #expect(code { try store.backup(to: folder, replacing: true) } == .cannotOpen)
    #expect(code { try store.backup(to: folder) } == .cannotOpen)
    let error = error { try store.backup(to: scratch.file("missing/b.db")) }
    #expect(error?.code == .cannotOpen)
    #expect(error?[.path] == scratch.file("missing/b.db"))
    #expect(code { try store.backup(to: "") } == .invalidArgument)
    #expect(code { try store.backup(to: "a\0b") } == .invalidArgument)
    #expect(code { try store.read { try store.backup(to: target) } } == .invalidArgument)
    #expect(try scratch.names == ["folder"])
    #expect(FileManager.default.fileExists(atPath: scratch.file("folder/precious")))
  }

  @Test("A backup includes pending saves")
  func pendingSaves() throws {
    let store = try store("file", documents: 1)
    store.saveInterval = 10
    try store["a"].save(["n": 77], key: "k")
    try store.backup(to: target)
    #expect(try Store(.file(target))["a"].get("k")?["n"] == 77)
  }
}
