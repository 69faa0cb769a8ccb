// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoSQL

/// What is done with a database when it is opened.
struct DatabaseSetup {
  private let connection: SQLiteConnection
  private let configuration: SQLiteConfiguration
  private let isFile: Bool

  init(_ connection: SQLiteConnection, _ configuration: SQLiteConfiguration, isFile: Bool) {
    self.connection = connection
    self.configuration = configuration
    self.isFile = isFile
  }

  /// Settings that each connection has for itself.
  static func apply(
    _ configuration: SQLiteConfiguration, to connection: SQLiteConnection, isFile: Bool
  ) throws(StoreError) {
    // With a rollback journal, a power failure may damage the file under NORMAL; and under FULL it may bring back a
    // journal that was deleted to commit, which undoes the commit, and damages a file that has been made shorter since
    // (https://www.sqlite.org/pragma.html#pragma_synchronous).
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
      PRAGMA cache_size = -\(max(1, configuration.cacheSize / 1024));
      PRAGMA mmap_size = \(configuration.mappedSize);
      PRAGMA temp_store = \(configuration.temporaryStorage.rawValue);
      """)
    // SQLite before 3.41 takes its own JSON functions for unsafe ones, which our indexes on elements
    // need. None of ours can stand in a schema either way.
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
      throw StoreError(.database, "The size of the file cannot be limited")
    }
  }

  /// Checks that the file is ours, or makes it so if it is new.
  func run() throws {
    let application = try number("PRAGMA application_id")
    let version = try number("PRAGMA user_version")
    if application == Schema.applicationID {
      guard version <= Schema.formatVersion else { throw newer(version) }
    } else {
      try requireEmpty(application)
    }
    guard !configuration.isReadOnly else { return }
    try requireWritable()
    // Only effective while the database is empty, and before its first page is written.
    try connection.execute("PRAGMA page_size = \(configuration.pageSize)")
    if application != Schema.applicationID {
      try connection.execute("PRAGMA encoding = '\(configuration.encoding.rawValue)'")
    }
    try setJournalMode()
    try Self.limitSize(configuration, connection)
    if application != Schema.applicationID { try createInternalTables() }
  }

  /// SQLite opens a file for reading when it cannot open it for writing. That is meant for files without the
  /// permission; after a passing failure of the system every write would be refused until the store is reopened.
  private func requireWritable() throws(StoreError) {
    guard isFile, sqlite3_db_readonly(connection.handle, "main") == 1,
      let name = sqlite3_db_filename(connection.handle, "main"), access(name, W_OK) == 0
    else { return }
    throw StoreError(
      .cannotOpen, "The file could not be opened for writing, which its permissions allow",
      [.hint: "try again"])
  }

  private func number(_ pragma: String) throws -> Int64 {
    try connection.first(SQLFragment(pragma)) { $0.int(0) } ?? 0
  }

  private func newer(_ version: Int64) -> StoreError {
    StoreError(
      .newerFormat, "The file was written by a newer version of NanoStore",
      [
        .expected: "format \(Schema.formatVersion) or older", .actual: "format \(version)",
        .hint: "update the library",
      ])
  }

  private func requireEmpty(_ application: Int64) throws {
    let tables = try number("SELECT count(*) FROM sqlite_schema")
    guard application == 0, tables == 0 else {
      throw StoreError(
        .notADatabase, "The file is a database of another program",
        [.hint: "import its documents into a new store"])
    }
    guard !configuration.isReadOnly else {
      throw StoreError(
        .notADatabase, "The file is empty and holds no store",
        [.hint: "the first write creates one"])
    }
  }

  private func setJournalMode() throws {
    let wanted = isFile ? configuration.journalMode.rawValue : "memory"
    let actual = try connection.first(SQLFragment("PRAGMA journal_mode = \(wanted)")) { $0.text(0) }
    guard isFile, actual != wanted else { return }
    throw StoreError(
      .readOnly, "The journal mode of the file cannot be set",
      [.expected: wanted, .actual: (actual ?? nil) ?? ""])
  }

  /// Another process may do the same at this moment.
  private func createInternalTables() throws {
    try connection.transaction("BEGIN IMMEDIATE") {
      guard try number("PRAGMA application_id") != Schema.applicationID else { return }
      try connection.execute(Schema.internalTables)
      try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
      try connection.execute("PRAGMA user_version = \(Schema.formatVersion)")
    }
  }
}
