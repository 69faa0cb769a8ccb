// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoSQLite

@Suite("Files that are renamed when they are complete")
struct UnfinishedFileTests {
  /// SQLite leaves the log if the last connection cannot write its pages into the file.
  @Test("A log that was left is written into the file before it is renamed")
  func log() throws {
    let folder = try TemporaryFolder()
    let file = UnfinishedFile(for: folder.file())
    try file.create(mode: 0o600)
    let log = file.copy + "-wal"
    let left: [(path: String, content: Data)]
    do {
      let writer = try PlainSQLite(file.copy)
      try writer.run("PRAGMA journal_mode = WAL")
      try writer.run("CREATE TABLE t(n)")
      try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
      try writer.run("INSERT INTO t VALUES (7)")
      left = try [file.copy, log].map { ($0, try Data(contentsOf: URL(filePath: $0))) }
    }
    for (path, content) in left { try content.write(to: URL(filePath: path)) }

    try file.moveIntoPlace()

    #expect(!FileManager.default.fileExists(atPath: log))
    let reader = try PlainSQLite(folder.file())
    #expect(try reader.run("SELECT n FROM t") == [["7"]])
    #expect(try reader.integrity() == "ok")
  }
}
