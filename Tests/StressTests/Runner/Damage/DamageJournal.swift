// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoStore
import NanoTestSupport

/// Copies a store in the middle of a transaction, as a crash would leave it.
///
/// The file then has changed pages that were never committed, and the journal has their previous contents: a *hot*
/// journal, which SQLite rolls back before it reads the file (https://www.sqlite.org/lockingv3.html#hot_journals).
struct DamageJournal {
  private let source: String

  init(_ source: String) { self.source = source }

  func copy(to target: String) throws {
    let before = try Data(contentsOf: URL(filePath: source))
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try require(sqlite3_open(source, &handle) == SQLITE_OK, "\(source) cannot be opened")
    for sql in Self.transaction {
      let isDone = sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
      try require(isDone, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
    try DamageSamples.copy(source, to: target)
    _ = sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
    let after = try Data(contentsOf: URL(filePath: target))
    try require(before != after, "no change of the uncommitted transaction is in the file")
    try checkHeader(of: target + "-journal")
    try checkRollback(of: target)
  }

  /// With a cache of so few pages, SQLite writes changed pages to the file before the transaction is committed, and
  /// synchronizes the journal before it does so. The number of pages in the journal is written then.
  private static let transaction = [
    "PRAGMA cache_size = 10", "PRAGMA cache_spill = ON", "PRAGMA synchronous = FULL",
    "BEGIN IMMEDIATE",
    "UPDATE people SET body = json_set(body, '$.age', 1), revision = revision + 1",
    "UPDATE films SET body = json_set(body, '$.title', 'tonic'), revision = revision + 1",
    "DELETE FROM notes WHERE id > 6",
  ]

  /// Checks the header (https://www.sqlite.org/fileformat.html#rollbackjournal): without the magic, or with a count of
  /// zero, SQLite would roll nothing back.
  private func checkHeader(of journal: String) throws {
    guard let bytes = FileManager.default.contents(atPath: journal), bytes.count > 512 else {
      throw StressTestFailure("the copy has no journal")
    }
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    try require(Array(bytes.prefix(8)) == magic, "the journal has no magic")
    let pages = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
    try require(pages > 0, "the header of the journal has the page count \(pages)")
  }

  /// Expects the state before the transaction when a copy is opened.
  private func checkRollback(of target: String) throws {
    func contents(_ file: String) throws -> [String] {
      try DamageSamples.Kind.journal.open(file).using { store in
        try DamageSamples.collections.map { try DamageUse.text(DamageUse.scan(store, $0)) }
      }
    }
    let copy = target + ".check"
    try DamageSamples.copy(target, to: copy)
    let isRolledBack = try contents(copy) == contents(source)
    try require(isRolledBack, "the uncommitted transaction was not rolled back")
    let journal = FileManager.default.fileExists(atPath: copy + "-journal")
    try require(!journal, "the journal of a copy still exists after it was opened")
    for suffix in DamageSamples.suffixes { unlink(copy + suffix) }
  }
}
