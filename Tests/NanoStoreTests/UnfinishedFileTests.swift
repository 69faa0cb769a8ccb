// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Unfinished files of backups and recoveries", .sqlite)
struct UnfinishedFileTests {
  let scratch: Scratch
  init() throws {
    scratch = try Scratch()
    try Store.file(scratch.file("a.db")).using { try $0["a"].save(["n": 1], key: "k") }
  }

  private static let name = "b.db.nanostore-" + UUID().uuidString
  private static let parts = ["", ".damaged"].flatMap { part in
    ["", "-wal", "-shm", "-journal"].map { part + $0 }
  }

  private func make(_ operation: String, _ destination: String = "b.db") throws {
    switch operation {
    case "backup":
      try Store.file(scratch.file("a.db")).using { try $0.backup(to: scratch.file(destination)) }
    default:
      _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file(destination))
    }
  }

  @Test("A new file that holds only an attachment is not deleted as unused")
  func attachmentOnly() throws {
    let store = try Store.file(scratch.file("new.db"))
    let attachment = try store.addAttachment(.data(Data([1])))

    try store.discardIfUnused()

    let reopened = try Store.file(scratch.file("new.db"))
    #expect(try reopened.data(of: attachment) == Data([1]))
  }

  @Test(
    "Files that a killed process left for the same destination are removed, and no others",
    arguments: ["backup", "recover"])
  func leftovers(operation: String) throws {
    for part in Self.parts { _ = try scratch.write([1, 2, 3], Self.name + part) }
    // A leftover of which only the WAL exists.
    _ = try scratch.write([1], "b.db.nanostore-\(UUID().uuidString).damaged-wal")
    let others = ["b.db.nanostore-notes", "bb.db.nanostore-\(UUID().uuidString)", "b.db-notes"]
    for other in others { _ = try scratch.write([1], other) }

    try make(operation)

    #expect(try Set(scratch.names) == Set(["a.db", "b.db"] + others))
    #expect(try Store.file(scratch.file("b.db")).using { try $0["a"].count() } == 1)
  }

  @Test(
    "The unfinished file of a running process stays", arguments: ["backup", "recover"])
  func running(operation: String) throws {
    let unfinished = try scratch.write([1], Self.name)
    let file = open(unfinished, O_RDONLY)
    defer { close(file) }
    #expect(flock(file, LOCK_EX | LOCK_NB) == 0)

    try make(operation)

    #expect(try Set(scratch.names) == ["a.db", "b.db", Self.name])
  }

  @Test(
    "An error at the destination reports its path, the reason, and a hint",
    arguments: ["backup", "recover"])
  func destination(operation: String) throws {
    let noFolder = error { try make(operation, "none/b.db") }
    #expect(noFolder?.code == .cannotOpen)
    #expect(noFolder?[.path] == scratch.file("none/b.db"))
    #expect(noFolder?[.engineMessage] == "No such file or directory")
    #expect(noFolder?[.hint]?.contains("create it") == true)

    let notAFolder = error { try make(operation, "a.db/b.db") }
    #expect(notAFolder?.code == .cannotOpen)
    #expect(notAFolder?[.path] == scratch.file("a.db/b.db"))

    let tooLong = error { try make(operation, String(repeating: "x", count: 250)) }
    #expect(tooLong?.code == .cannotOpen)
    #expect(tooLong?[.hint] == "use a shorter name")
    #expect(try scratch.names == ["a.db"])
  }

  @Test("Recovering a file that is not a store names that file in the error")
  func notAStore() throws {
    let source = try scratch.write("no store at all".utf8, "text")
    let failure = error { try Store.recover(from: source, to: scratch.file("b.db")) }
    #expect(failure?.code == .notADatabase)
    #expect(failure?[.path] == source)
    #expect(try scratch.names == ["a.db", "text"])
  }

  @Test("A folder that cannot be created throws a readable error")
  func folder() throws {
    let failure = error { _ = try Store.file(scratch.file("a.db/folder/b.db")) }
    #expect(failure?.code == .cannotOpen)
    #expect(failure?[.engineMessage] == "Not a directory")
    #expect(failure.map { "\($0.debugDescription)".contains("NSCocoaErrorDomain") } == false)
  }
}
