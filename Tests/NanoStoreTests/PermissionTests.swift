// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

/// By a process of a user whom permission bits bind, since they do nothing for root.
@Suite(
  "Files and folders that cannot be written",
  .enabled(
    if: OtherProcess.canRunAsNobody,
    "No process of another user can be started here, and root may write everywhere"))
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

  /// Makes the other process's user the owner, unless it is this process's.
  private func handOver() throws {
    guard getuid() == 0 else { return }
    try FileManager.default.setAttributes(
      [.ownerAccountID: OtherProcess.nobody], ofItemAtPath: path)
  }

  @Test("A file that its owner may only read is read, and a write says so")
  func readOnlyFile() throws {
    try permit(0o444, folder: 0o777)
    try handOver()
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path) == "ok")
    #expect(try other.ask("get", "a", "k") == "ok 1")
    #expect(try other.ask("save", "a", "k", "{\"n\":2}") == "error readOnly")
    #expect(try other.ask("get", "a", "k") == "ok 1")
    #expect(try other.ask("close") == "ok")
    #expect(try Store.file(path)["a"].get("k")?["n"] == 1)
  }

  @Test(
    "Another user's file that may only be read gets no log that its owner could not use",
    .enabled(if: getuid() == 0))
  func foreignReadOnlyFile() throws {
    try permit(0o444, folder: 0o777)
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path) == "error cannotOpen")
    #expect(try other.ask("open", path, "readonly") == "error cannotOpen")
    #expect(try scratch.names == ["a.db"])
  }

  @Test("In a folder that can only be read a store is read when it is opened as immutable")
  func readOnlyFolder() throws {
    try permit(0o444, folder: 0o555)
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path, "readonly") == "error cannotOpen")
    #expect(try other.ask("open", path, "immutable") == "ok")
    #expect(try other.ask("get", "a", "k") == "ok 1")
    #expect(try other.ask("count", "a", "[n] = 1") == "ok 1")
    #expect(try other.ask("save", "a", "k", "{\"n\":2}") == "error readOnly")
    #expect(try scratch.names == ["a.db"])
  }

  @Test(
    "A file that can only be read is backed up, and into a folder that can be written to but not read"
  )
  func backupOfReadOnly() throws {
    let open = scratch.file("open")
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
    let blind = scratch.file("blind")
    try FileManager.default.createDirectory(atPath: blind, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o333], ofItemAtPath: blind)
    try permit(0o444, folder: 0o777)
    try handOver()
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path, "readonly") == "ok")
    #expect(try other.ask("backup", open + "/b.db") == "ok")
    #expect(try other.ask("backup", blind + "/b.db") == "ok")
    #expect(try Store.file(open + "/b.db")["a"].get("k")?["n"] == 1)
    #expect(try Store.file(blind + "/b.db")["a"].get("k")?["n"] == 1)
  }

  @Test("In a folder that can only be read no store is made")
  func noNewStore() throws {
    try permit(0o444, folder: 0o555)
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", scratch.file("new.db")) == "error cannotOpen")
    #expect(try other.ask("open", scratch.file("x/new.db")) == "error cannotOpen")
    #expect(try scratch.names == ["a.db"])
  }

  @Test("A file that cannot be read at all is not opened")
  func unreadable() throws {
    try permit(0o000, folder: 0o777)
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path) == "error cannotOpen")
    #expect(try other.ask("open", path, "readonly") == "error cannotOpen")
  }

  @Test("A backup into a folder that cannot be written leaves nothing")
  func backup() throws {
    try permit(0o666, folder: 0o777)
    let closed = scratch.file("closed")
    try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: closed)
    let other = try OtherProcess(asNobody: true)
    #expect(try other.ask("open", path) == "ok")
    #expect(try other.ask("backup", closed + "/b.db") == "error cannotOpen")
    #expect(try FileManager.default.contentsOfDirectory(atPath: closed).isEmpty)
  }
}
