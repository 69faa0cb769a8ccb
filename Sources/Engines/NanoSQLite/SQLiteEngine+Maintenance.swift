// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument
public import NanoEngine
import NanoSQL

extension SQLiteEngine {
  public func compact() throws {
    guard !configuration.isReadOnly else {
      throw StoreError(.readOnly, "The store was opened for reading only")
    }
    try onWriter(nil) { connection in
      // VACUUM runs SQLite's own `json_extract` over the indexes, never ours, and before 3.41 SQLite
      // does not trust its own one in a schema.
      try connection.execute("PRAGMA trusted_schema = ON")
      defer {
        if configuration.usesFastFieldAccess {
          try? connection.execute("PRAGMA trusted_schema = OFF")
        }
      }
      try connection.execute("VACUUM")
      if path != nil { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }
  }

  /// Copies page by page beside the destination, then moves the copy into place, so that a backup
  /// is there whole or not at all.
  public func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    let target = NSString(string: destination.path).expandingTildeInPath
    guard destination.replacing || !FileManager.default.fileExists(atPath: target) else {
      throw StoreError(
        .alreadyExists, "A file is there already; a backup does not replace it unless told",
        [.path: target])
    }
    guard target != path else {
      throw StoreError(.invalidArgument, "A store cannot be backed up onto itself")
    }
    let temporary = target + ".nanostore-\(UUID().uuidString)"
    defer { removeDatabase(temporary) }
    do {
      try copy(to: temporary, progress)
      try replace(target, with: temporary)
    } catch {
      throw SQLiteErrors.translated(error, operation: "backup")
    }
  }

  /// Pages that one step copies: about 4 MB, so that a writer waits a few milliseconds at most.
  private static let pagesPerStep: CInt = 1_000

  private func copy(to path: String, _ progress: ((Double) throws -> Void)?) throws {
    let copy = try DatabaseQueue(path: path)
    defer { try? copy.close() }
    func run(_ source: DatabaseQueue) throws {
      try source.backup(to: copy, pagesPerStep: Self.pagesPerStep) { state in
        try progress?(Double(state.completedPageCount) / Double(max(1, state.totalPageCount)))
      }
    }
    guard let source = try separateReader() else {
      return try onWriter(nil) { _ in try run(writer) }
    }
    defer { try? source.close() }
    // In one snapshot, so that writers go on and the copy need not begin anew after each of them.
    try source.unsafeRead { db in
      try db.execute(sql: "BEGIN; SELECT 1 FROM nano_collections")
    }
    try run(source)
    try source.unsafeRead { db in try db.execute(sql: "COMMIT") }
  }

  /// A connection of its own, where others can be open beside the writer.
  private func separateReader() throws -> DatabaseQueue? {
    guard let path, configuration.journalMode == .wal else { return nil }
    _ = try read(.call, nil) { try $0.collections() }
    return try DatabaseFile.open(path, .file(path), configuration, isReader: true)
  }

  private func replace(_ target: String, with temporary: String) throws {
    let manager = FileManager.default
    do {
      if manager.fileExists(atPath: target) { removeDatabase(target) }
      try manager.moveItem(atPath: temporary, toPath: target)
    } catch {
      throw StoreError(
        .inputOutput, "The backup cannot be moved into place",
        [.path: target, .engineMessage: "\(error)"])
    }
  }

  private func removeDatabase(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  public func statistics() throws -> EngineStatistics {
    try read(.snapshot, nil) { reader in
      guard let connection = (reader as? SQLiteReader)?.connection else { throw Self.closed }
      func number(_ sql: String) throws -> Int {
        try connection.first(SQLFragment(sql)) { Int($0.int(0)) } ?? 0
      }
      func text(_ sql: String) throws -> String {
        try connection.first(SQLFragment(sql)) { $0.text(0) ?? "" } ?? ""
      }
      let pageSize = try number("PRAGMA page_size")
      var settings: [String: String] = [:]
      for name in [
        "page_size", "cache_size", "encoding", "synchronous", "journal_mode", "temp_store",
        "busy_timeout", "mmap_size", "user_version",
      ] { settings[name] = try text("PRAGMA \(name)") }
      return EngineStatistics(
        collections: try reader.collections().map { collection in
          EngineStatistics.Collection(
            name: collection.name,
            documents: try number("SELECT count(*) FROM \(SQLName.quoted(collection.name))"),
            indexes: try reader.indexes(in: collection.name).count)
        },
        size: try number("PRAGMA page_count") * pageSize,
        unused: try number("PRAGMA freelist_count") * pageSize,
        engine: "SQLite \(String(cString: sqlite3_libversion()))", settings: settings)
    }
  }
}
