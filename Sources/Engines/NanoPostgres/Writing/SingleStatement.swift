// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// A transaction in one round trip: locks, and a statement that writes documents and the transaction token, if the cached
/// metadata of the collection is valid.
struct SingleStatement {
  let core: PostgresCore
  let collection: PostgresCollection
  private(set) var token = TransactionToken(nil)

  init(_ core: PostgresCore, _ collection: PostgresCollection) {
    self.core = core
    self.collection = collection
  }

  enum Outcome {
    /// The rows of the last statement.
    case rows(PostgresResult)
    /// The write needs a transaction: the table does not exist, or a unique index rejected the document.
    case needsTransaction
    /// It was committed, but the response was lost.
    case committed(stamp: Int64)
  }

  /// - Parameters:
  ///   - keys: The keys to lock.
  ///   - absent: A collection that must not be created meanwhile.
  ///   - lockTimeout: How long to wait for a lock, in milliseconds, if that is shorter than the busy timeout.
  mutating func run(
    _ sql: PostgresSQL, keys: [DocumentKey] = [], absent: ExactName? = nil,
    lockTimeout: Int64 = .max, _ interruption: Interruption?
  ) throws -> Outcome {
    let session = PostgresSession(core.pool, .none, isRetryable: false, interruption)
    defer { session.end() }
    do {
      let statements = locks(keys, absent, lockTimeout) + [sql.statement]
      return .rows(try session.run(statements)[statements.count - 1])
    } catch {
      guard let failure = session.failure else { throw error }
      if failure.isMissingObject || failure.state == PostgresFailure.uniqueViolation {
        return .needsTransaction
      }
      guard failure.isConnectionLoss else { throw error }
      token.process = session.serverProcess
      session.release()
      return .committed(stamp: try token.resolve(failure, core))
    }
  }

  /// Sets the limits of the transaction and locks what the documents need, before the snapshot of the statement that
  /// writes them.
  private func locks(
    _ keys: [DocumentKey], _ absent: ExactName?, _ lockTimeout: Int64
  ) -> [PostgresStatement] {
    var sql: PostgresSQL = "SELECT " + core.limits(lockTimeout: lockTimeout)
    let names = ([collection.folded] + (absent.map { [$0] } ?? [])).sorted {
      $0.text.isBefore($1.text)
    }
    for name in names {
      sql += ", pg_advisory_xact_lock_shared(" + .value(.int(core.locks.collection(name))) + ")"
    }
    let numbers = Set(keys.map { core.locks.key($0, of: collection.folded) }).sorted()
    if numbers.count > 1 { return [sql.statement, PostgresLocks.acquire(numbers)] }
    for number in numbers { sql += ", pg_advisory_xact_lock(" + .value(.int(number)) + ")" }
    return [sql.statement]
  }

  /// A query `c` that has one row if the metadata is valid.
  func valid(absent: ExactName? = nil) -> PostgresSQL {
    let catalog = core.names.qualified("nano_collections")
    var sql: PostgresSQL = "c AS (SELECT 1 FROM \(catalog) WHERE folded = "
    sql += .value(.exact(collection.folded))
    sql += " AND generation = " + .value(.int(collection.generation))
    sql += " AND incarnation = " + .value(.int(collection.incarnation))
    if let absent {
      sql +=
        " AND NOT EXISTS (SELECT FROM \(catalog) WHERE folded = " + .value(.exact(absent)) + ")"
    }
    return sql + ")"
  }

  /// A query `tok` that inserts the token if `doc` has as many rows as given: a rejected write must not appear committed.
  /// The stamp is taken when the documents are locked.
  ///
  /// - Parameter count: The number of documents, without which the statement fails; `nil` for one, which may be missing.
  func tokenInsert(forAll count: Int? = nil) -> PostgresSQL {
    var sql: PostgresSQL = "tok AS (INSERT INTO \(core.names.qualified("nano_transactions")) "
    sql += "(id, writer, changed) SELECT " + .value(token.value) + ", "
    sql += .value(.int(core.writer)) + ", " + .value(.texts([collection.folded.text])) + " FROM "
    if let count {
      sql += "(SELECT count(*) FROM doc) AS d (n) WHERE 1 / (d.n = " + .value(.int(Int64(count)))
      sql += ")::int = 1"
    } else {
      sql += "doc"
    }
    return sql + " RETURNING stamp)"
  }
}

/// The outcome of a write of one document.
enum SingleWriteOutcome {
  case stored(SingleWriteResult)
  /// It was committed, but the response was lost.
  case committed(stamp: Int64)
  /// There was no such document.
  case unchanged
  /// Nothing was written; the write needs a transaction.
  case needsTransaction
}

/// What was written.
struct SingleWriteResult {
  var rowID: Int64
  var kind: Change.Kind
  var stamp: Int64
}
