// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import GRDB
import GRDBSQLite
package import Logging
import NanoDocument
package import NanoEngine
import Synchronization

// @unchecked: `connection` is accessed only while `writing` is held, which `SQLiteConnection.owner` records.
/// A document engine on SQLite: one writing connection, and for files several read connections that work
/// concurrently.
///
/// GRDB opens, configures, backs up, and closes the connections. A call uses a connection on the caller's
/// thread: each connection is lent to one call at a time, and a hop to GRDB's queue would add a quarter to the
/// time of a small read.
package final class SQLiteEngine: Engine, @unchecked Sendable {
  /// The settings with which the engine was opened.
  package let configuration: SQLiteConfiguration
  /// The path of the file with its tilde expanded; `nil` for in-memory and temporary databases.
  package let path: String?
  let writer: DatabaseQueue
  private let connection: SQLiteConnection
  private let writing = NSLock()
  /// The backups that the writing connection copies in steps. Accessed only while `writing` is held.
  var backups: [BackupSteps] = []
  private let logger: Logger?
  private let observer: QueryObserver?
  /// `nil` if one connection is used for everything.
  private let readers: ReaderPool?
  /// The connections that read large attachments, without memory mapping and with a small page cache, so that their
  /// memory is bounded; `nil` if ``readers`` is.
  let blobReaders: ReaderPool?
  /// The attachments that are being read.
  let keptBlobs = KeptBlobs()
  let blobPins = BlobPins()
  private let isClosed = Atomic(false)
  /// Whether the file at the path is no longer the open one, or no longer exists.
  private let isReplaced = Atomic(false)
  /// The identity of the open file; `nil` for databases without one.
  private let identity: FileIdentity?
  private let hasWarned = Atomic(false)
  /// Delivers commits, which are posted while `writing` is held.
  let commits = CommitBroadcast()
  /// Polls for commits of other connections while there is an observer.
  let poller: CommitPoller
  /// `nil` if the engine does not know the state of the write-ahead log.
  private let logHeader: LogHeader?

  /// Stored, because the store asks in each call: collecting them took a seventh of a small commit.
  package let capabilities: Capabilities
  // Not an array literal as an `OptionSet`, whose generic initializer took a fifteenth of the time of opening the
  // first store of a process.
  private static let ofAllDatabases = Capabilities(
    rawValue: [
      Capabilities.sql, .uniqueIndexes, .elementIndexes, .uniqueElementIndexes, .backup,
      .everythingIndex, .changes, .fullTextIndexes, .changeTracking, .blobs, .expiration,
    ].reduce(0) { $0 | $1.rawValue })

  /// Opens a database and creates its internal tables if it is new.
  ///
  /// - Parameters:
  ///   - logger: Receives warnings, and executed statements at the level `trace`.
  ///   - observer: Receives reports about queries that an index could have served; `nil` if they are not observed.
  /// - Throws: ``StoreError`` with ``StoreError/Code/notADatabase``, ``StoreError/Code/newerFormat``,
  ///   ``StoreError/Code/cannotOpen``, and others. An existing file is unchanged.
  package init(
    _ location: SQLiteConfiguration.Location, _ configuration: SQLiteConfiguration,
    logger: Logger? = nil, observer: QueryObserver? = nil
  ) throws {
    try configuration.validate()
    let configuration = configuration.withImplied
    self.configuration = configuration
    self.logger = logger
    self.observer = observer
    poller = CommitPoller(every: configuration.changeInterval.inSeconds)
    let isNew: Bool
    (path, isNew) = try DatabaseFile.prepare(location, configuration)
    do {
      writer = try DatabaseFile.open(path, location, configuration, isReader: false)
    } catch {
      let explained = DatabaseFile.explained(error, path)
      if isNew, let path { DatabaseFile.removeIfEmpty(path) }
      throw explained
    }
    let opened: FileIdentity?
    var hasLog = configuration.journalMode == .wal
    do {
      connection = try writer.writeWithoutTransaction { db in
        guard let handle = db.sqliteConnection else { throw Self.closed }
        let setup = SQLiteConnection(handle, isReadOnly: configuration.isReadOnly)
        try DatabaseSetup(setup, configuration, isFile: location.isFile).run()
        setup.removeAll()
        // Created again, because the setup determines the encoding.
        let connection = SQLiteConnection(
          handle, isReadOnly: configuration.isReadOnly,
          isGuarded: !configuration.allowsInternalWrites, logger: logger,
          observer: observer)
        connection.clock = configuration.clock
        connection.busyTimeout = configuration.busyMilliseconds
        let format = try connection.first(SQLFragment("PRAGMA user_version")) { $0.int(0) } ?? 0
        if format >= Schema.newestFormatVersion {
          connection.hasExpirations.set()
        }
        // Opening a file to write sets its journal.
        if configuration.isReadOnly {
          let journal = try connection.first(SQLFragment("PRAGMA journal_mode")) { $0.text(0) }
          hasLog = journal == "wal"
        }
        return connection
      }
      connection.owner.release()
      opened = try path.flatMap { try FileStatus($0).identity }
      identity = opened
    } catch {
      let explained = DatabaseFile.explained(error, path)
      try? writer.close()
      if isNew, let path { DatabaseFile.removeIfEmpty(path) }
      throw explained
    }
    logger?.debug(
      "store opened",
      metadata: [
        "kind": "\(location.isFile ? "file" : "\(location)")",
        "durability": "\(configuration.durability.rawValue)",
      ])
    // Only a WAL lets readers and the writer work concurrently.
    let hasReaders = configuration.journalMode == .wal || configuration.isReadOnly
    let shared = hasReaders ? path : nil
    let hasExpirations = connection.hasExpirations
    func pool(_ configuration: SQLiteConfiguration) -> ReaderPool? {
      shared.map { path in
        ReaderPool(configuration, logger, observer, hasExpirations) {
          let reader = try DatabaseFile.open(path, location, configuration, isReader: true)
          // Otherwise, some readers could read the old file and others the new one.
          guard try FileStatus(path).identity == opened else { throw Self.replaced(path) }
          return reader
        }
      }
    }
    // With internal writes, a statement may change the journal or the locking mode.
    let keepsLog = shared != nil && !configuration.isReadOnly && !configuration.allowsInternalWrites
    logHeader = keepsLog ? LogHeader(of: connection.handle) : nil
    readers = pool(configuration)
    // With a rollback journal, the snapshot of an attachment that is being read would keep every program from writing.
    blobReaders = hasLog ? pool(configuration.forBlobs) : nil
    if readers == nil { connection.blobPins = blobPins }
    capabilities = Self.ofAllDatabases
      .union(path == nil ? [] : .durable).union(readers == nil ? [] : .concurrentReads)
  }

  deinit { try? close() }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try requireUsable()
    guard let readers else {
      return try onWriter(interruption) { connection in
        guard scope != .call else { return try work(SQLiteReader(connection)) }
        // Without a write-ahead log, another process could write between statements.
        return try connection.consistently { try work(SQLiteReader(connection)) }
      }
    }
    return try translated {
      try readers.with { reader in
        try interruptible(interruption, reader.connection, reader.queue) {
          guard scope != .call else { return try work(SQLiteReader(reader.connection)) }
          return try reader.connection.transaction(SQLiteConnection.reading) {
            try work(SQLiteReader(reader.connection))
          }
        }
      }
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard let readers, interruption == nil else {
      return try read(.call, interruption) { try $0.get(identity, in: collection, visit) }
    }
    try requireUsable()
    let reader = try readers.take()
    defer { readers.putBack(reader) }
    do {
      return try reader.getter.get(identity, in: collection, visit)
    } catch let error as StoreError {
      throw named(error, collection)
    }
  }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try requireUsable()
    guard !configuration.isReadOnly else {
      throw StoreError.openedReadOnly
    }
    let result = try onWriter(interruption) { connection in
      let transaction = SQLiteWriter(connection)
      connection.record(commits.isObserved)
      do {
        var changed: Commit?
        let result = try connection.transaction("BEGIN IMMEDIATE") {
          connection.noteBegin()
          try requireSameFile()
          warnOfSeveralWriters(connection)
          let result = try work(transaction)
          try transaction.flush()
          changed = try changes(connection)
          return result
        }
        connection.noteCommit()
        // Pages of chunks would fill the cache, although they are not read again.
        if transaction.appendedChunks { sqlite3_db_release_memory(connection.handle) }
        if let observer { transaction.reportWrites(to: observer) }
        if commits.isObserved { post(changed, connection) }
        return result
      } catch {
        // Discards cached collections and paths that the transaction added, which are not in the file.
        connection.tables.removeAll()
        connection.noteRollback()
        throw error
      }
    }
    if commits.isObserved { commits.deliver() }
    return result
  }

  /// Warns about a race condition: SQLite before 3.51.3 can lose a commit if two connections write and
  /// checkpoint at the same instant (https://www.sqlite.org/wal.html#walresetbug). Within a process, only one
  /// connection writes.
  private func warnOfSeveralWriters(_ connection: SQLiteConnection) {
    guard connection.sawOtherWriter, sqlite3_libversion_number() < 3_051_003,
      !hasWarned.exchange(true, ordering: .relaxed)
    else { return }
    logger?.warning(
      "Another connection writes to the file; SQLite before 3.51.3 has a rare race condition in this case",
      metadata: ["sqlite": "\(String(cString: sqlite3_libversion()))"])
  }

  /// Runs a block on the writing connection, outside a transaction.
  func onWriter<Result>(
    _ interruption: Interruption?, _ work: (SQLiteConnection) throws -> Result
  ) throws -> Result {
    try requireUsable()
    try refuseReentry()
    return try translated {
      lockForWriting()
      defer { writing.unlock() }
      try requireUsable()
      connection.owner.take()
      defer { connection.owner.release() }
      // Attached only now, not while waiting, so that it cannot stop a statement of a different call.
      return try interruptible(interruption, connection, writer) { try work(connection) }
    }
  }

  private func lockForWriting() {
    guard !writing.try() else { return }
    guard let observer else { return writing.lock() }
    observer.waiting.wrappingAdd(1, ordering: .relaxed)
    observer.writerWaits()
    writing.lock()
    observer.waiting.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Ends a backup that the writing connection copies, also after the engine was closed.
  func end(_ backup: BackupSteps) {
    writing.lock()
    defer { writing.unlock() }
    backup.finish()
    backups.removeAll { $0 === backup }
  }

  /// Runs a block on the writing connection if it is not in use.
  func ifWriterIsFree(_ work: (SQLiteConnection) -> Void) {
    guard writing.try() else { return }
    defer { writing.unlock() }
    connection.owner.take()
    defer { connection.owner.release() }
    if !hasClosed { work(connection) }
  }

  package var clock: any StoreClock { configuration.clock }
  package var hasExpirations: Bool { connection.hasExpirations.isSet }
  package var isReadOnly: Bool { configuration.isReadOnly }
  package var maximumReads: Int { readers == nil ? 1 : configuration.maximumReaders }

  package var lastCommit: CommitStamp? {
    isReplaced.load(ordering: .relaxed) ? nil : logHeader?.lastCommit
  }

  var hasClosed: Bool { isClosed.load(ordering: .acquiring) }

  @inline(__always)
  func requireUsable() throws(StoreError) {
    guard !isClosed.load(ordering: .acquiring) else { throw Self.closed }
    guard !isReplaced.load(ordering: .relaxed) else { throw Self.replaced(path) }
  }

  /// Checks that the path still leads to the open file. SQLite would keep reading and writing a file without a
  /// path, and its commits would be lost.
  ///
  /// - Throws: ``StoreError/Code/fileReplaced``.
  func requireSameFile() throws(StoreError) {
    guard let path, let identity else { return }
    // If the path can no longer be examined, for example after the process dropped privileges, nothing is
    // concluded.
    guard let status = try? FileStatus(path), status.identity != identity else { return }
    isReplaced.store(true, ordering: .relaxed)
    throw Self.replaced(path)
  }

  private static func replaced(_ path: String?) -> StoreError {
    StoreError(
      .fileReplaced, "The file of the store was deleted, moved, or replaced while it was open",
      [.path: path ?? "", .hint: "close the store and open it again"])
  }

  /// Rejects a reentrant call: this thread already holds the lock, so waiting for it would deadlock.
  private func refuseReentry() throws(StoreError) {
    guard connection.owner.isCurrent else { return }
    throw StoreError(
      .invalidArgument, "A call on the writing connection is not reentrant")
  }

  func interruptible<Result>(
    _ interruption: Interruption?, _ connection: SQLiteConnection, _ queue: DatabaseQueue,
    _ work: () throws -> Result
  ) throws -> Result {
    connection.currentCollection = nil
    do {
      guard let interruption else { return try work() }
      connection.interruption = interruption
      defer { connection.interruption = nil }
      return try interruption.whileRunning(stop: { queue.interrupt() }, work)
    } catch let error as StoreError {
      if Self.concealsInterruption.contains(error.code), let interruption {
        try interruption.check()
      }
      throw named(error, connection.currentCollection)
    }
  }

  /// Errors that a canceled call can end with: it waited for a lock, or SQLite was interrupted while it parsed a
  /// statement within another one, which it reports as an error of that statement or of the schema.
  private static let concealsInterruption: Set<StoreError.Code> = [
    .locked, .database, .corruptFile,
  ]

  /// Adds the file and the collection to an error about damage, space, or the system.
  private func named(_ error: StoreError, _ collection: String?) -> StoreError {
    if error.code == .tooComplex, let collection { return error.adding(.collection, collection) }
    let codes: [StoreError.Code] = [
      .corruptFile, .notADatabase, .corruptDocument, .database, .full, .inputOutput,
    ]
    guard codes.contains(error.code) else { return error }
    let located = collection.map { error.adding(.collection, $0) } ?? error
    // SQLite's errors about a user-supplied statement do not concern the file, unless its header has another text
    // encoding than temporary tables.
    let concernsFile =
      error.code != .database || error[.operation] == "execute"
      || error[.engineMessage]?.contains("same text encoding") == true
    guard concernsFile, let path else { return located }
    return located.adding(.path, path)
  }

  private func translated<Result>(_ work: () throws -> Result) throws -> Result {
    do { return try work() } catch { throw SQLiteErrors.translated(error, operation: "run") }
  }

  package func close() throws { try close { _ in } }

  /// - Parameter last: Runs on the writing connection after the engine's other connections are closed.
  func close(_ last: (SQLiteConnection) throws -> Void) throws {
    try refuseReentry()
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    logger?.debug("store closed")
    poller.end()
    do {
      keptBlobs.closeAll()
      try blobReaders?.close()
      try readers?.close()
      writing.lock()
      defer { writing.unlock() }
      connection.owner.take()
      defer { connection.owner.release() }
      // A connection with an unfinished backup cannot be closed. The call of the backup ends with an error.
      for backup in backups { backup.finish() }
      let result = Result { try last(connection) }
      logHeader?.close()
      connection.prepareToClose()
      try writer.close()
      try result.get()
    } catch {
      throw SQLiteErrors.translated(error, operation: "close")
    }
    if let path, configuration.isReadOnly, !configuration.isImmutable {
      LogFiles(of: path).removeIfEmpty()
    }
  }

  static let closed = StoreError(.closed, "The store is closed")
}

extension SQLiteConfiguration.Location {
  var isFile: Bool { if case .file = self { true } else { false } }
}
