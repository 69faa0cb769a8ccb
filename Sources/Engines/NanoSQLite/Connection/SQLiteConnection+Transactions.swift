// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine

extension SQLiteConnection {
  /// Runs a block between BEGIN and COMMIT; rolls back if it throws.
  func transaction<Result>(_ begin: String, _ work: () throws -> Result) throws -> Result {
    assertHeld()
    try prepareRollback()
    try runBoundary(begin)
    isTransactionOpen = true
    defer {
      isTransactionOpen = false
      loss = nil
      endTriggerSwitch()
    }
    do {
      let result = try work()
      try requireTransaction()
      let reads = begin == Self.reading && sqlite3_txn_state(handle, "main") != SQLITE_TXN_WRITE
      do {
        try runBoundary("COMMIT")
      } catch let error as StoreError where reads && error.code == .corruptFile {
        // SQLite refuses it once damage was found. What verification has found is kept.
        rollback()
      }
      return result
    } catch {
      rollback()
      throw error
    }
  }

  /// Begins a transaction that reads.
  static let reading = "BEGIN DEFERRED"

  /// Runs a block whose statements all see the same state.
  func consistently<Result>(_ work: () throws -> Result) throws -> Result {
    isInTransaction ? try work() : try transaction(Self.reading, work)
  }

  /// - Throws: The error by which the transaction was lost.
  @inline(__always)
  func requireTransaction() throws(StoreError) {
    if let loss { throw loss }
    guard !isInTransaction else { return }
    throw StoreError(.database, "The transaction was ended by a statement inside it")
  }

  /// Rolls back to a savepoint, unless the whole transaction is lost. If that fails, for example after a read
  /// error, the transaction is lost: a caller that catches the error must not commit what remains of the
  /// savepoint's changes.
  func undo(to savepoint: String) {
    knowsBlobTables = false
    guard loss == nil, isInTransaction else { return }
    do {
      try executeSavepoint("ROLLBACK TO \(savepoint); RELEASE \(savepoint)")
    } catch {
      lose(error)
    }
  }

  /// Runs a block and records the reason if its transaction is lost, for statements that are not run by
  /// ``with(_:_:)``.
  func recordingLoss<Result>(_ work: () throws -> Result) throws -> Result {
    assertHeld()
    try interruption?.check()
    if let loss { throw loss }
    do {
      return try work()
    } catch {
      noteFailure(error)
      throw error
    }
  }

  /// Runs a block that takes pending changes and writes them. If it throws, the transaction is lost, because they
  /// are no longer pending, and only some may have been written.
  func completely(_ work: () throws -> Void) throws {
    do {
      try work()
    } catch {
      lose(error)
      throw error
    }
  }

  /// Makes every following statement and the commit throw an error, because what the transaction has written is
  /// incomplete. Does not roll back, because statements may be running; that happens where the block ends.
  func lose(_ error: any Error) {
    guard isTransactionOpen, loss == nil else { return }
    loss = error as? StoreError ?? StoreError(.database, "A statement of the transaction failed")
  }

  /// Notes what the error of a statement means for the transaction and for SQLite's caches.
  ///
  /// After most errors, SQLite undoes the statement. If memory or space runs out or the file cannot be written, it may be
  /// a statement between two that belong together, so the transaction is lost, even if SQLite keeps it.
  func noteFailure(_ error: any Error) {
    let code = (error as? StoreError)?.code
    if code == .outOfMemory { hasStaleCaches = true }
    guard isTransactionOpen else { return }
    if !isInTransaction {
      hasStaleCaches = true
    } else {
      guard code == .outOfMemory || code == .inputOutput || code == .full,
        sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE
      else { return }
    }
    lose(error)
  }

  /// Runs `COMMIT` or one of the statements that begin a transaction.
  private func runBoundary(_ text: String) throws {
    if let cached = boundaries.first(where: { $0.text == text }) {
      return try use(cached.statement) { try $0.run() }
    }
    let statement = try SQLiteStatement(text, on: self)
    boundaries.append((text, statement))
    try use(statement) { try $0.run() }
  }

  private func prepareRollback() throws {
    // A transaction whose rollback failed.
    if isInTransaction { rollback() }
    if hasStaleCaches { resetSchemaCache() }
    if rollbackStatement == nil { rollbackStatement = try SQLiteStatement("ROLLBACK", on: self) }
  }

  /// Rolls back the open transaction, unless SQLite has already done so, as after a full disk. Does not call
  /// ``use(_:_:)``, which rejects an interrupted call.
  private func rollback() {
    guard isInTransaction else { return }
    if let rollbackStatement {
      sqlite3_step(rollbackStatement.handle)
      rollbackStatement.reset()
    }
    // After a schema change, SQLite prepares the statement again, which can run out of memory.
    if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Discards everything that SQLite caches about the file; has an effect only between transactions.
  func resetSchemaCache() {
    guard !isInTransaction else { return }
    removeAll()
    // `writable_schema` was never on; the reset is used because it discards the schema, and with it the state of
    // full-text indexes. Beginning and ending a read releases a snapshot.
    let code = sqlite3_exec(
      handle, "PRAGMA writable_schema = RESET; BEGIN; SELECT 1 FROM sqlite_schema; COMMIT", nil,
      nil, nil)
    hasStaleCaches = code != SQLITE_OK
    rollback()
  }
}

extension SQLiteConnection {
  /// Counts the commits of all connections that the transaction, or the last statement outside of one, has seen.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// The committed state that this connection sees; `nil` if it has not begun to read.
  var committedState: CommittedState? {
    assertHeld()
    guard sqlite3_txn_state(handle, "main") != SQLITE_TXN_NONE else { return nil }
    return CommittedState(observer: number, count: dataVersion)
  }

  /// Called when a writing transaction has begun.
  func noteBegin() {
    transactions += 1
    isUnchanged = dataVersion == versionAfterCommit
    sawOtherWriter = !isUnchanged && versionAfterCommit != nil
    // Includes tables that this transaction does not use, because the next transaction will detect no commit in
    // between.
    if !isUnchanged { for table in tables.values { table.isPrepared = false } }
  }
  func noteCommit() { versionAfterCommit = dataVersion }
  func noteRollback() {
    versionAfterCommit = nil
    isUnchanged = false
    knowsBlobTables = false
  }
}
