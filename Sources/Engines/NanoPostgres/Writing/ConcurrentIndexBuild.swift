// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
package import NanoEngine
import NanoQuery

extension PostgresEngine {
  package func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool {
    try core.convertingErrors {
      try ConcurrentIndexBuild(self, index, collection, interruption).run()
      return true
    }
  }
}

/// Creates an index with `CREATE INDEX CONCURRENTLY`, while other transactions write to the collection.
///
/// The statement runs outside of transactions, and leaves an invalid index if it is interrupted
/// (https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY). The index is recorded
/// in the catalog once it is valid, until when no query uses it and no list contains it. A second connection keeps a
/// transaction open that holds the lock of the build, so that an unrecorded index whose lock is free is known to be
/// left over. It has no transaction ID, and delays neither the change feed nor the server's cleanup.
private struct ConcurrentIndexBuild {
  private let engine: PostgresEngine
  private let index: IndexDefinition
  private let collection: String
  private let interruption: Interruption?
  private var core: PostgresCore { engine.core }

  private struct Place {
    let collection: ExactName
    let sqlName: String
    let statement: String
  }

  init(
    _ engine: PostgresEngine, _ index: IndexDefinition, _ collection: String,
    _ interruption: Interruption?
  ) {
    (self.engine, self.index, self.collection) = (engine, index, collection)
    self.interruption = interruption
  }

  func run() throws {
    guard core.configuration.maximumConnections > 1 else {
      throw StoreError(
        .unsupported, "Creating an index concurrently takes two connections",
        [.hint: "increase 'maximumConnections'", .index: index.name])
    }
    guard let place = try place() else { return }
    let holder = try holder(
      of: core.locks.build(place.sqlName), core.locks.builds(of: place.collection))
    defer { holder.end() }
    guard let place = try self.place() else { return }
    do {
      try create(place)
      try record(place, holder)
    } catch let error as StoreError where error.code == .uniqueViolation {
      // The server already rejects such documents. After another error the next call drops the index, since dropping
      // it waits for other transactions.
      try drop(place.sqlName)
      throw error
    }
  }

  /// Creates an index, after it dropped an incomplete one.
  ///
  /// A build of another program whose connection was lost goes on for a while. It waits for the snapshot of this
  /// one, which waits for the lock of the table, until the server ends one of them. If both change the index at the
  /// same time, the server reports an internal error ("tuple concurrently updated").
  private func create(_ place: Place) throws {
    var attempts = 0
    while true {
      do {
        try drop(place.sqlName)
        return try alone(place.statement)
      } catch let error as StoreError
        where [PostgresFailure.deadlock, PostgresFailure.internalError].contains(error[.engineCode])
        && attempts < Self.maximumAttempts
      {
        attempts += 1
        Thread.sleep(forTimeInterval: Self.pause)
      }
    }
  }

  /// Arbitrary: as many other builds of one table are unlikely.
  private static let maximumAttempts = 10

  /// Returns a session with a transaction that holds two locks, after waiting for other programs that create indexes
  /// of the same collection: two builds of a table would wait for each other.
  private func holder(of index: Int64, _ collection: Int64) throws -> PostgresSession {
    while true {
      let session = PostgresSession(core.pool, .writing, interruption)
      do {
        let results = try session.run([
          PostgresStatement(
            "SELECT pg_try_advisory_xact_lock($1) AND pg_try_advisory_xact_lock($2)",
            [.int(collection), .int(index)]),
          // Has no snapshot, and ends the statement before, whose snapshot the build would wait for.
          PostgresStatement("SAVEPOINT nano_build"),
        ])
        if results[0].bool(0, 0) { return session }
      } catch {
        session.end()
        throw error
      }
      session.end()
      // A statement that waits has a snapshot, for which the build of the other program would wait.
      Thread.sleep(forTimeInterval: Self.pause)
    }
  }

  /// Arbitrary: builds take longer.
  private static let pause = 0.05

  /// Returns what to create; `nil` if the index exists.
  private func place() throws -> Place? {
    try recording { writer, new in
      let collection = new.table.collection
      guard !collection.layout.isSplit else {
        throw StoreError(
          .unsupported, "Indexes of a partitioned collection cannot be created concurrently",
          [.collection: collection.description.name, .index: index.name])
      }
      let statement = try writer.definition(index, new.sqlName, collection, isConcurrent: true)
      return Place(
        collection: collection.folded, sqlName: new.sqlName, statement: statement)
    }
  }

  /// Runs a closure that reads or writes the record of the index, unless the index exists.
  ///
  /// It shares the lock of the collection: waiting for it alone would hold up writers.
  private func recording<Result>(
    _ work: (PostgresWriter, (table: WriterTable, sqlName: String)) throws -> Result
  ) throws -> Result? {
    try engine.write(interruption) { writer in
      guard let writer = writer as? PostgresWriter else { return nil }
      let sqlName = PostgresNames.index(index.name, of: collection.folded.text)
      let lock = core.locks.buildRecord(sqlName)
      _ = try writer.session.run(PostgresLocks.acquire([lock]))
      return try writer.newIndex(index, in: collection, isWhole: false).map {
        try work(writer, $0)
      }
    }
  }

  /// Runs a statement that the server does not allow in a transaction.
  private func alone(_ statement: String) throws {
    let session = PostgresSession(core.pool, .none, isRetryable: false, interruption)
    defer { session.end() }
    do {
      _ = try session.run(.once(statement))
    } catch  where session.failure?.state == PostgresFailure.uniqueViolation {
      throw StoreError(
        .uniqueViolation, "Documents have duplicate values, so the index cannot be unique",
        [.collection: collection, .index: index.name])
    }
  }

  private func drop(_ sqlName: String) throws {
    try alone("DROP INDEX CONCURRENTLY IF EXISTS \(core.names.qualified(sqlName))")
  }

  private func record(_ place: Place, _ holder: PostgresSession) throws {
    _ = try recording { writer, new in
      // A transaction that later acquires the lock of the build sees the record.
      _ = try holder.run(PostgresStatement("SELECT 1"))
      let valid = try writer.session.run(
        PostgresStatement(
          "SELECT indisvalid FROM pg_catalog.pg_index "
            + "WHERE indexrelid = to_regclass($1) AND indrelid = to_regclass($2)",
          [.text(core.names.qualified(place.sqlName)), .text(new.table.collection.table)]))
      guard valid.count > 0, valid.bool(0, 0) else {
        throw StoreError(
          .locked, "The collection was dropped while an index was created",
          [.collection: collection, .index: index.name])
      }
      try writer.record(index, place.sqlName, "fields", index.object, new.table)
    }
  }
}
