// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// A transaction of two statements in one round trip: locks, and a statement that writes one document and the transaction
/// token, if the cached metadata of the collection is valid.
struct SingleStatement {
  let core: PostgresCore
  let collection: PostgresCollection
  private(set) var token = TransactionToken(nil)

  init(_ core: PostgresCore, _ collection: PostgresCollection) {
    self.core = core
    self.collection = collection
  }

  enum Outcome {
    /// The rows of the second statement.
    case rows(PostgresResult)
    /// The write needs a transaction: the table does not exist, or a unique index rejected the document.
    case needsTransaction
    /// It was committed, but the response was lost.
    case committed(stamp: Int64)
  }

  /// - Parameters:
  ///   - key: The key to lock; `nil` for none.
  ///   - absent: A collection that must not be created meanwhile.
  mutating func run(
    _ sql: PostgresSQL, key: DocumentKey?, absent: ExactName? = nil, _ interruption: Interruption?
  ) throws -> Outcome {
    let session = PostgresSession(core.pool, .none, isRetryable: false, interruption)
    defer { session.end() }
    do {
      let rows = try session.run([locks(key, absent), sql.statement])[1]
      return .rows(rows)
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

  /// Sets the limits of the transaction and locks what the document needs, before the snapshot of the statement that
  /// writes it.
  private func locks(_ key: DocumentKey?, _ absent: ExactName?) -> PostgresStatement {
    var sql: PostgresSQL = "SELECT " + core.limits
    let names = ([collection.folded] + (absent.map { [$0] } ?? [])).sorted {
      $0.text.isBefore($1.text)
    }
    for name in names {
      sql += ", pg_advisory_xact_lock_shared(" + .value(.int(core.locks.collection(name))) + ")"
    }
    if let key {
      sql += ", pg_advisory_xact_lock("
      sql += .value(.int(core.locks.key(key, of: collection.folded))) + ")"
    }
    return sql.statement
  }

  /// A query `c` that has one row if the metadata is valid.
  func valid(absent: ExactName? = nil) -> PostgresSQL {
    let catalog = core.names.qualified("nano_collections")
    var sql: PostgresSQL = "c AS (SELECT 1 FROM \(catalog) WHERE folded = "
    sql += .value(.exact(collection.folded))
    sql += " AND generation = " + .value(.int(collection.generation))
    sql += " AND incarnation = " + .value(.int(collection.incarnation))
    if let absent {
      sql += " AND NOT EXISTS (SELECT FROM \(catalog) WHERE folded = " + .value(.exact(absent)) + ")"
    }
    return sql + ")"
  }

  /// A query `tok` that inserts the token for a row of `doc`: a rejected write must not appear committed. The stamp is
  /// taken when the document is locked.
  var tokenInsert: PostgresSQL {
    var sql: PostgresSQL = "tok AS (INSERT INTO \(core.names.qualified("nano_transactions")) "
    sql += "(id, writer, changed) SELECT " + .value(token.value) + ", "
    sql += .value(.int(core.writer)) + ", " + .value(.texts([collection.folded.text]))
    return sql + " FROM doc RETURNING stamp)"
  }
}

/// What a single statement wrote.
struct SingleWriteResult {
  var rowID: Int64
  var kind: Change.Kind
  var stamp: Int64
}
