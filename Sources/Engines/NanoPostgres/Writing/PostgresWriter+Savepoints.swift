// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What the running savepoints of a transaction have locked and read.
///
/// Rolling back to a savepoint releases the locks that were acquired since (PostgreSQL documents it for
/// `ROLLBACK TO SAVEPOINT` under "Explicit Locking"), although the block around it may depend on what was read. A serializable transaction
/// therefore also acquires advisory locks for the session, which keeps them, until the outermost savepoint has ended; locks
/// on rows exist for transactions only, so it acquires those again, and fails if a row has changed in between.
struct SavepointLog {
  /// The number of nested savepoints.
  fileprivate(set) var depth = 0
  /// Whether a statement of the program may have changed documents, whose revisions are unknown then.
  var mayHaveChanged = false
  /// The number of locks of savepoints that were rolled back.
  fileprivate var kept = 0
  /// The number of locks that the savepoints of the transaction hold.
  var count: Int { kept + locks.count }
  fileprivate var locks: [(number: Int64, isShared: Bool)] = []
  /// What was read and locked since the last savepoint.
  fileprivate var reads: [ExactName: Reads] = [:]

  fileprivate struct Reads {
    let collection: PostgresCollection
    /// The revisions of the rows.
    var revisions: [Int64: Int64] = [:]
  }

  /// Statements for the locks from a position on, of each kind.
  private func statements(
    from start: Int = 0, _ make: ([Int64], _ isShared: Bool) -> PostgresStatement
  ) -> [PostgresStatement] {
    [false, true].compactMap { isShared in
      let numbers = locks[start...].filter { $0.isShared == isShared }.map(\.number)
      return numbers.isEmpty ? nil : make(numbers, isShared)
    }
  }

  /// Statements that acquire locks for the transaction, which the session holds. One that it does not hold, because
  /// acquiring it failed, is left out.
  fileprivate func acquiringAgain(from start: Int) -> [PostgresStatement] {
    statements(from: start) { PostgresLocks.tryAgain(Array(Set($0)), isShared: $1) }
  }

  /// Statements that release all of them for the session.
  fileprivate var releasing: [PostgresStatement] { statements(PostgresLocks.release) }
}

extension PostgresWriter {
  private var keepsLocks: Bool { isSerializable && savepoints.depth > 0 }

  /// Acquires locks in the given order until the transaction ends.
  func acquire(_ numbers: [Int64]) -> PostgresStatement {
    guard keepsLocks else { return PostgresLocks.acquire(numbers) }
    session.holdsLocks = true
    savepoints.locks += numbers.map { ($0, false) }
    return PostgresLocks.acquireForSession(numbers)
  }

  func share(_ number: Int64) -> PostgresStatement {
    guard keepsLocks else { return PostgresLocks.share(number) }
    session.holdsLocks = true
    savepoints.locks.append((number, true))
    return PostgresLocks.shareForSession(number)
  }

  /// Notes a document that was read and locked, unless the transaction has written it.
  func noteRead(_ document: KnownDocument, _ table: WriterTable) {
    // A server with shards does not lock rows of all of them.
    guard keepsLocks, !table.isWhole, !savepoints.mayHaveChanged,
      table.hasNotWritten(document.rowID), table.collection.layout != .distributed
    else { return }
    savepoints.reads[
      table.collection.folded, default: SavepointLog.Reads(collection: table.collection)
    ].revisions[document.rowID] = document.revision
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    savepoints.depth += 1
    let (outerReads, firstLock) = (savepoints.reads, savepoints.locks.count)
    savepoints.reads = [:]
    defer {
      savepoints.depth -= 1
      let inner = savepoints.reads
      savepoints.reads = outerReads
      if savepoints.depth > 0 {
        for (name, reads) in inner {
          savepoints.reads[name, default: reads].revisions.merge(reads.revisions) { a, _ in a }
        }
      }
    }
    let name = "nano_\(savepoints.depth)"
    // Paths recorded before the savepoint survive its rollback.
    var statements = tables.values.flatMap(pendingPaths)
    statements.append(PostgresStatement("SAVEPOINT \(name)"))
    _ = try session.run(statements)
    let states = tables.mapValues { ($0, $0.savepointState) }
    let (wasDropped, wasAbsent, held) = (dropped, absent, holdsMetadata)
    let swept = expiry.swept
    do {
      let result = try work()
      if let failure = session.failure { throw failure.error() }
      let release = PostgresStatement("RELEASE SAVEPOINT \(name)")
      _ = try session.run([release] + (savepoints.depth == 1 ? savepoints.releasing : []))
      forgetLocks()
      return result
    } catch {
      try session.rollBack(to: name)
      let release = PostgresStatement("RELEASE SAVEPOINT \(name)")
      (dropped, absent, holdsMetadata) = (wasDropped, wasAbsent, held)
      expiry.swept = swept
      knowsBlobTables = false
      for folded in tables.keys where states[folded] == nil { core.cache.invalidate(folded) }
      tables = states.mapValues { $0.0 }
      for (table, state) in states.values { table.restore(state) }
      try keepLocks(from: firstLock, after: release)
      for (table, _) in states.values {
        // The rollback may include paths and definitions.
        core.cache.invalidate(table.collection.folded)
        try reload(table)
        table.paths = table.collection.paths.copy()
      }
      throw error
    }
  }

  /// Acquires the locks again that a rollback has released.
  ///
  /// - Throws: ``StoreError/Code/locked`` if another transaction has changed what the savepoint has read.
  private func keepLocks(from firstLock: Int, after release: PostgresStatement) throws {
    guard isSerializable, !session.isLost else { return }
    // Ended, so that no later failure rolls back to it.
    let locks =
      [release] + savepoints.acquiringAgain(from: firstLock)
      + (savepoints.depth == 1 ? savepoints.releasing : [])
    _ = try session.run(locks)
    if savepoints.depth == 1 { savepoints.kept += savepoints.locks.count }
    forgetLocks()
    for (_, reads) in savepoints.reads.sorted(by: { $0.key.text.isBefore($1.key.text) }) {
      let rows = reads.revisions
      let found = try session.run(
        ("SELECT id, revision FROM \(reads.collection.table) WHERE "
          + PostgresSQL.hasRowID(in: rows.keys.sorted()) + " ORDER BY id FOR UPDATE").statement)
      let isSame =
        found.count == rows.count
        && (0..<found.count).allSatisfy { row in
          // A trigger may have raised the revision that was read, which the rollback has restored.
          rows[found.int(row, 0)].map { found.optionalInt(row, 1) ?? 1 <= $0 } ?? false
        }
      guard isSame else { throw session.fail(.conflict).error() }
    }
  }

  private func forgetLocks() {
    guard savepoints.depth == 1 else { return }
    savepoints.locks = []
    session.holdsLocks = false
  }
}
