// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import NanoDocument
public import NanoEngine
import Synchronization

/// Documents in SQLite: one connection that writes, and in files several that read beside it.
///
/// GRDB opens, configures, backs up and closes the connections. A call uses one on the thread of
/// the caller: it is lent out to one at a time, so a hop to GRDB's queue would only cost a small
/// read a quarter of its time.
// @unchecked: `connection` is touched only while `writing` is held.
public final class SQLiteEngine: Engine, @unchecked Sendable {
  public let configuration: SQLiteConfiguration
  /// The file, with its tilde expanded; nil for memory and temporary databases.
  public let path: String?
  let writer: DatabaseQueue
  private let connection: SQLiteConnection
  private let writing = NSLock()
  /// Nil where there is one connection for everything.
  private let readers: ReaderPool?
  private let isClosed = Atomic(false)

  public var capabilities: Capabilities {
    var all: Capabilities = [.sql, .uniqueIndexes, .elementIndexes, .backup]
    if path != nil { all.insert(.durable) }
    if readers != nil { all.insert(.concurrentReads) }
    return all
  }

  /// Opens a database and makes its internal tables if it is new.
  ///
  /// - Throws: ``StoreError`` with ``StoreError/Code/notADatabase``,
  ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/cannotOpen`` and others. An existing file
  ///   is unchanged.
  public init(
    _ location: SQLiteConfiguration.Location, _ configuration: SQLiteConfiguration
  ) throws {
    self.configuration = configuration
    path = try DatabaseFile.prepare(location, configuration)
    do {
      writer = try DatabaseFile.open(path, location, configuration, isReader: false)
    } catch {
      throw DatabaseFile.explained(error, path)
    }
    do {
      connection = try writer.writeWithoutTransaction { db in
        guard let handle = db.sqliteConnection else { throw Self.closed }
        let setup = SQLiteConnection(handle, isReadOnly: configuration.isReadOnly)
        try DatabaseSetup(setup, configuration, isFile: location.isFile).run()
        setup.removeAll()
        // Made anew, because the setup settles the encoding.
        return SQLiteConnection(handle, isReadOnly: configuration.isReadOnly)
      }
    } catch {
      let explained = DatabaseFile.explained(error, path)
      try? writer.close()
      throw explained
    }
    readers =
      path.map { path in
        ReaderPool(maximum: configuration.maximumReaders) {
          try DatabaseFile.open(path, location, configuration, isReader: true)
        }
      }
  }

  deinit { try? close() }

  public func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    guard !isClosed.load(ordering: .acquiring) else { throw Self.closed }
    guard let readers else {
      return try onWriter(interruption) { connection in try work(SQLiteReader(connection)) }
    }
    return try readers.with { reader in
      try interruptible(interruption, reader.queue) {
        guard scope == .snapshot else { return try work(SQLiteReader(reader.connection)) }
        return try reader.connection.transaction("BEGIN DEFERRED") {
          try work(SQLiteReader(reader.connection))
        }
      }
    }
  }

  public func write<Result>(
    _ interruption: Interruption?, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    guard !configuration.isReadOnly else {
      throw StoreError(.readOnly, "The store was opened for reading only")
    }
    return try onWriter(interruption) { connection in
      let transaction = SQLiteWriter(connection)
      do {
        return try connection.transaction("BEGIN IMMEDIATE") {
          let result = try work(transaction)
          try transaction.flushPaths()
          return result
        }
      } catch {
        // Collections and paths that the transaction brought are not in the file.
        connection.tables.removeAll()
        throw error
      }
    }
  }

  /// Runs a block on the writing connection, outside a transaction.
  func onWriter<Result>(
    _ interruption: Interruption?, _ work: (SQLiteConnection) throws -> Result
  ) throws -> Result {
    guard !isClosed.load(ordering: .acquiring) else { throw Self.closed }
    writing.lock()
    defer { writing.unlock() }
    guard !isClosed.load(ordering: .acquiring) else { throw Self.closed }
    return try interruptible(interruption, writer) { try work(connection) }
  }

  private func interruptible<Result>(
    _ interruption: Interruption?, _ queue: DatabaseQueue, _ work: () throws -> Result
  ) throws -> Result {
    do {
      guard let interruption else { return try work() }
      return try interruption.whileRunning(stop: { queue.interrupt() }, work)
    } catch {
      throw SQLiteErrors.translated(error, operation: "run")
    }
  }

  public func close() throws {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    do {
      try readers?.close()
      writing.lock()
      defer { writing.unlock() }
      connection.removeAll()
      try writer.close()
    } catch {
      throw SQLiteErrors.translated(error, operation: "close")
    }
  }

  static let closed = StoreError(.closed, "The store is closed")
}

extension SQLiteConnection {
  /// Runs a block between BEGIN and COMMIT; an error rolls back.
  func transaction<Result>(_ begin: String, _ work: () throws -> Result) throws -> Result {
    try with(begin) { try $0.run() }
    do {
      let result = try work()
      try with("COMMIT") { try $0.run() }
      return result
    } catch {
      // After a full disk or an interruption SQLite may have rolled back already.
      if isInTransaction { try? with("ROLLBACK") { try $0.run() } }
      throw error
    }
  }
}

extension SQLiteConfiguration.Location {
  var isFile: Bool { if case .file = self { true } else { false } }
}
