// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

/// Uses a process that runs as `nobody`, because permission bits do not restrict root.
@Suite(
  "Files and folders without write permission",
  .enabled(
    if: HelperProcess.canRunAsNobody,
    "No process can run as a different user, and root can write everywhere"))
struct PermissionTests {
  let scratch: Scratch
  let path: String

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a.db")
    let store = try Store.file(path)
    try store["a"].save(["n": 1], key: "k")
    try store.close()
  }

  private func permit(_ file: Int, folder: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: path)
    try FileManager.default.setAttributes([.posixPermissions: folder], ofItemAtPath: scratch.path)
  }

  /// Makes `nobody` the owner of the file if this process runs as root.
  private func changeOwner() throws {
    guard getuid() == 0 else { return }
    try FileManager.default.setAttributes(
      [.ownerAccountID: HelperProcess.nobody], ofItemAtPath: path)
  }

  @Test("A store with a read-only file can be read, and a write throws .readOnly")
  func readOnlyFile() throws {
    try permit(0o444, folder: 0o777)
    try changeOwner()
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path) == "ok")
    #expect(try other.send("get", "a", "k") == "ok 1")
    #expect(try other.send("save", "a", "k", "{\"n\":2}") == "error readOnly")
    #expect(try other.send("get", "a", "k") == "ok 1")
    #expect(try other.send("close") == "ok")
    #expect(try Store.file(path)["a"].get("k")?["n"] == 1)
  }

  @Test(
    "Opening another user's read-only file creates no WAL that its owner could not use",
    .enabled(if: getuid() == 0))
  func foreignReadOnlyFile() throws {
    try permit(0o444, folder: 0o777)
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path) == "error cannotOpen")
    #expect(try other.send("open", path, "readonly") == "error cannotOpen")
    #expect(try scratch.names == ["a.db"])
  }

  @Test("In a read-only folder, a store can be read if it is opened as immutable")
  func readOnlyFolder() throws {
    try permit(0o444, folder: 0o555)
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path, "readonly") == "error cannotOpen")
    #expect(try other.send("open", path, "immutable") == "ok")
    #expect(try other.send("get", "a", "k") == "ok 1")
    #expect(try other.send("count", "a", "[n] = 1") == "ok 1")
    #expect(try other.send("save", "a", "k", "{\"n\":2}") == "error readOnly")
    #expect(try scratch.names == ["a.db"])
  }

  @Test(
    "A read-only file can be backed up, even into a folder that is writable but not readable"
  )
  func backupOfReadOnly() throws {
    let open = scratch.file("open")
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
    let unreadable = scratch.file("unreadable")
    try FileManager.default.createDirectory(atPath: unreadable, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o333], ofItemAtPath: unreadable)
    try permit(0o444, folder: 0o777)
    try changeOwner()
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path, "readonly") == "ok")
    #expect(try other.send("backup", open + "/b.db") == "ok")
    #expect(try other.send("backup", unreadable + "/b.db") == "ok")
    #expect(try Store.file(open + "/b.db")["a"].get("k")?["n"] == 1)
    #expect(try Store.file(unreadable + "/b.db")["a"].get("k")?["n"] == 1)
  }

  @Test("A store cannot be created in a read-only folder")
  func noNewStore() throws {
    try permit(0o444, folder: 0o555)
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", scratch.file("new.db")) == "error cannotOpen")
    #expect(try other.send("open", scratch.file("x/new.db")) == "error cannotOpen")
    #expect(try scratch.names == ["a.db"])
  }

  @Test("An unreadable file is not opened")
  func unreadable() throws {
    try permit(0o000, folder: 0o777)
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path) == "error cannotOpen")
    #expect(try other.send("open", path, "readonly") == "error cannotOpen")
  }

  @Test("A backup into a read-only folder leaves no file")
  func backup() throws {
    try permit(0o666, folder: 0o777)
    let closed = scratch.file("closed")
    try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed)
    let other = try HelperProcess(asNobody: true)
    #expect(try other.send("open", path) == "ok")
    #expect(try other.send("backup", closed + "/b.db") == "error cannotOpen")
    #expect(try FileManager.default.contentsOfDirectory(atPath: closed).isEmpty)
  }
}
