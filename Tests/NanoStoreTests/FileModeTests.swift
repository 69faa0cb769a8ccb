// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("File permissions", .sqlite)
struct FileModeTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  /// Returns the modes of the database, its WAL files, and a backup, created by a process with this umask.
  private func modes(umask: String, _ words: String...) throws -> [String: Int] {
    let other = try HelperProcess(shell: "umask \(umask)")
    let path = scratch.file("a.db")
    try other.write((["open", path] + words).joined(separator: "\t"))
    #expect(try other.readReply() == "ok")
    #expect(try other.send("save", "a", "k", "{\"n\":1}") == "ok")
    #expect(try other.send("backup", scratch.file("b.db")) == "ok")
    var modes: [String: Int] = [:]
    for name in try scratch.names {
      let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name))
      modes[name] = attributes[.posixPermissions] as? Int
    }
    return modes
  }

  @Test(
    "A private store's database, WAL, shared memory, and backup are accessible only to their owner")
  func privateFiles() throws {
    let modes = try modes(umask: "022", "private")
    #expect(modes == ["a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600, "b.db": 0o600])
  }

  @Test("A private store that a symbolic link to a missing file creates is private")
  func privateLink() throws {
    let folder = scratch.file("data")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: scratch.file("link.db"), withDestinationPath: "data/a.db")
    let store = try Store.file(scratch.file("link.db")) { $0.isPrivate = true }
    try store["a"].save(["n": 1], key: "k")
    for name in ["a.db", "a.db-wal", "a.db-shm"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test(
    "Otherwise the umask applies", arguments: [("022", 0o644), ("027", 0o640), ("077", 0o600)])
  func umask(umask: String, expected: Int) throws {
    let modes = try modes(umask: umask)
    #expect(Set(modes.keys) == ["a.db", "a.db-wal", "a.db-shm", "b.db"])
    #expect(Set(modes.values) == [expected])
  }

  @Test("A backup is not more accessible than its source, and an existing file keeps its mode")
  func backupOfPrivate() throws {
    let store = try Store.file(scratch.file("a.db")) { $0.isPrivate = true }
    try store["a"].save(["n": 1], key: "k")
    try store.close()
    #expect(try modes(umask: "022")["b.db"] == 0o600)
    try FileManager.default.removeItem(atPath: scratch.file("b.db"))
    #expect(try modes(umask: "000")["a.db"] == 0o600)
  }

  @Test("A recovered file is not more accessible than the damaged one")
  func recovered() throws {
    let store = try Store.file(scratch.file("a.db")) { $0.isPrivate = true }
    try store["a"].save(["n": 1], key: "k")
    try store.close()
    try Store.recover(from: scratch.file("a.db"), to: scratch.file("c.db"))
    let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file("c.db"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("A temporary store leaves no file, even if its process is killed")
  func temporary() throws {
    let other = try HelperProcess(
      shell: "cd '\(scratch.path)'; export TMPDIR='\(scratch.path)' SQLITE_TMPDIR='\(scratch.path)'"
    )
    #expect(try other.send("temporary") == "ok")
    #expect(try other.send("count", "a", "[n] < 10") == "ok 10")
    other.kill()
    #expect(try scratch.names.isEmpty)
  }
}
