// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoSQL

/// The steps performed on a database when it is opened.
struct DatabaseSetup {
  private let connection: SQLiteConnection
  private let configuration: SQLiteConfiguration
  private let isFile: Bool

  init(_ connection: SQLiteConnection, _ configuration: SQLiteConfiguration, isFile: Bool) {
    self.connection = connection
    self.configuration = configuration
    self.isFile = isFile
  }

  /// Applies the settings that SQLite keeps per connection.
  static func apply(
    _ configuration: SQLiteConfiguration, to connection: SQLiteConnection, isFile: Bool
  ) throws(StoreError) {
    // With a rollback journal, a power failure can corrupt the file under NORMAL. Under FULL, it can restore a
    // journal that was deleted to commit, which rolls back the commit and corrupts a file that has been
    // truncated since (https://www.sqlite.org/pragma.html#pragma_synchronous).
    let needsMore = [.delete, .truncate, .persist].contains(configuration.journalMode)
    let synchronous =
      switch configuration.durability {
      case .fast: "OFF"
      case .normal: needsMore ? "EXTRA" : "NORMAL"
      case .full: needsMore ? "EXTRA" : "FULL"
      }
    try connection.execute(
      """
      PRAGMA synchronous = \(isFile ? synchronous : "OFF");
      PRAGMA cache_size = -\(max(1, configuration.pageCacheSize / 1024));
      PRAGMA mmap_size = \(configuration.mappedSize);
      PRAGMA temp_store = \(configuration.temporaryStorage.rawValue);
      """)
    // On Apple platforms, a plain sync leaves the data in the cache of the disk. Elsewhere, this has no effect.
    if configuration.durability == .full {
      try connection.execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    }
    // SQLite before 3.41 considers its own JSON functions unsafe, which indexes on elements need. The store's
    // functions cannot be used in a schema either way.
    if sqlite3_libversion_number() >= 3_041_000 {
      try connection.execute("PRAGMA trusted_schema = OFF")
    }
    if connection.isReadOnly { try limitSize(configuration, connection) }
  }

  private static func limitSize(
    _ configuration: SQLiteConfiguration, _ connection: SQLiteConnection
  ) throws(StoreError) {
    guard let maximum = configuration.maximumSize else { return }
    do {
      let size = try connection.first(SQLFragment("PRAGMA page_size")) { $0.int(0) } ?? 0
      try connection.execute("PRAGMA max_page_count = \(max(1, Int64(maximum) / max(1, size)))")
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.database, "The maximum size of the file cannot be set")
    }
  }

  /// Checks that the file is a store, or initializes it as one if it is new.
  func run() throws {
    // In one transaction, since another process may be creating the store.
    let application = try connection.consistently {
      let application = try number("PRAGMA application_id")
      let version = try number("PRAGMA user_version")
      if application == Schema.applicationID {
        guard version <= Schema.newestFormatVersion else { throw newer(version) }
      } else {
        try requireEmpty(application)
      }
      return application
    }
    guard !configuration.isReadOnly else { return }
    try requireWritable()
    // Before the first page is written. In an existing file, the page size would take effect with the next VACUUM.
    if application != Schema.applicationID {
      try connection.execute("PRAGMA page_size = \(configuration.pageSize)")
      try connection.execute("PRAGMA encoding = '\(configuration.encoding.rawValue)'")
    }
    try setJournalMode()
    try Self.limitSize(configuration, connection)
    if application != Schema.applicationID { try createInternalTables() }
  }

  /// Rejects a file that SQLite opened read-only because opening it for writing failed. This fallback is meant
  /// for files without write permission; after a transient system failure, every write would fail until the
  /// store is reopened.
  private func requireWritable() throws(StoreError) {
    guard isFile, sqlite3_db_readonly(connection.handle, "main") == 1,
      let name = sqlite3_db_filename(connection.handle, "main"), access(name, W_OK) == 0
    else { return }
    throw StoreError(
      .cannotOpen, "The file could not be opened for writing, although its permissions allow it",
      [.hint: "try again"])
  }

  private func number(_ pragma: String) throws -> Int64 {
    try connection.first(SQLFragment(pragma)) { $0.int(0) } ?? 0
  }

  private func newer(_ version: Int64) -> StoreError {
    StoreError(
      .newerFormat, "The file was written by a newer version of NanoStore",
      [
        .expected: "format \(Schema.newestFormatVersion) or older", .actual: "format \(version)",
        .hint: "update the library",
      ])
  }

  private func requireEmpty(_ application: Int64) throws {
    let tables = try number("SELECT count(*) FROM sqlite_schema")
    guard application == 0, tables == 0 else {
      throw StoreError(
        .notADatabase, "The file is a database created by another program",
        [.hint: "import its documents into a new store"])
    }
    guard !configuration.isReadOnly else {
      throw StoreError(
        .notADatabase, "The file is empty and contains no store",
        [.hint: "the first write creates one"])
    }
  }

  private func setJournalMode() throws {
    let requested = isFile ? configuration.journalMode.rawValue : "memory"
    let actual = try retryingWhileLocked {
      try connection.first(SQLFragment("PRAGMA journal_mode = \(requested)")) { $0.text(0) }
    }
    guard isFile, actual != requested else {
      // A log is opened by the first read after the switch to it. It is deleted on closing only if this connection
      // opened it, because those that only read must not.
      if isFile, configuration.journalMode == .wal { _ = try number("PRAGMA schema_version") }
      return
    }
    throw StoreError(
      .readOnly, "The journal mode of the file cannot be set",
      [.expected: requested, .actual: (actual ?? nil) ?? ""])
  }

  /// Tries again until the busy timeout is over. SQLite does not call the busy handler if two connections change the
  /// journal mode at once, because both hold the lock that the other one needs.
  private func retryingWhileLocked<Result>(_ work: () throws -> Result) throws -> Result {
    let end = ContinuousClock.now + configuration.busyTimeout
    while true {
      do {
        return try work()
      } catch let error as StoreError where error.code == .locked {
        guard ContinuousClock.now < end else { throw error }
        // As SQLite's own handler pauses on average.
        sqlite3_sleep(10)
      }
    }
  }

  /// Creates the internal tables. Another process may be doing the same concurrently.
  private func createInternalTables() throws {
    try connection.transaction("BEGIN IMMEDIATE") {
      guard try number("PRAGMA application_id") != Schema.applicationID else { return }
      try connection.execute(Schema.internalTables)
      try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
      try connection.execute("PRAGMA user_version = \(Schema.formatVersion)")
    }
  }
}
