// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// A row with a random ID that a transaction leaves behind, so that its outcome can be determined when the
/// response to COMMIT is lost.
///
/// The server's own transaction ID is not sufficient: after a crash it may be assigned again.
struct TransactionToken {
  /// Begins with the time, so that new IDs are added at the end of the index, as UUIDs of version 7 (RFC 9562).
  private let id = PostgresValue.uuid(
    UInt64(max(0, Date.now.timeIntervalSince1970 * 1_000)) << 16 | .random(in: 0...0xFFFF),
    .random(in: 0 ... .max))
  /// The server's transaction ID; `nil` if unknown.
  private let transaction: String?
  /// The process ID of the server that ran a single statement, whose transaction ID is unknown; `nil` behind a
  /// pooler.
  var process: Int?

  /// - Parameter session: The session that began the transaction; `nil` for a single statement.
  init(_ session: PostgresSession?) {
    transaction = session?.opening.last.flatMap {
      $0.columns >= 3 ? $0.optionalText(0, $0.columns - 1) : nil
    }
  }

  var value: PostgresValue { id }

  /// The statement that inserts the token, to run before COMMIT. It returns the stamp of the commit.
  ///
  /// - Parameter changed: The names of the changed collections; `nil` if any may have changed.
  func statement(_ core: PostgresCore, changed: [ExactName]?) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO \(core.names.qualified("nano_transactions")) (id, writer, changed, applied) \
      VALUES ($1, $2, $3, clock_timestamp()) RETURNING stamp
      """,
      [id, .int(core.writer), changed.map { .texts($0.map(\.text)) } ?? .null])
  }

  /// Determines the outcome of the transaction. Returns the stamp if it was committed.
  ///
  /// - Throws: ``StoreError/Code/connectionLost`` if it was rolled back, ``StoreError/Code/outcomeUnknown`` if
  ///   the server cannot be reached in time.
  func resolve(_ failure: PostgresFailure, _ core: PostgresCore) throws -> Int64 {
    let deadline = Date(
      timeIntervalSinceNow: core.configuration.busyTimeout.inSeconds)
    var pause = 0.01
    repeat {
      switch try? outcome(core) {
      case .committed(let stamp)?: return stamp
      case .rolledBack?:
        throw StoreError(
          .connectionLost, "The connection to the server was lost; nothing was written",
          [.engineMessage: failure.message])
      case .running?, nil: Thread.sleep(forTimeInterval: pause)
      }
      pause = min(pause * 2, 0.25)
    } while Date() < deadline
    throw StoreError(
      .outcomeUnknown, "The connection was lost during a commit, which may have succeeded",
      [
        .hint: "check whether the change exists, or write with an operation ID",
        .engineMessage: failure.message,
      ])
  }

  private enum Outcome {
    case committed(stamp: Int64)
    case rolledBack, running
  }

  private func outcome(_ core: PostgresCore) throws -> Outcome {
    try core.pool.withConnection { connection in
      // A standby may not have the row yet.
      let standby = try connection.run(.once("SELECT pg_is_in_recovery()"))
      if standby.bool(0, 0) { return .running }
      // Checked first: once the transaction has ended, the presence of the row is conclusive.
      let hasEnded = try transaction == nil ? hasExited(connection) : true
      if let transaction {
        do {
          let rows = try connection.run(
            .once("SELECT pg_xact_status($1::text::xid8)", [.text(transaction)]))
          if rows.optionalText(0, 0) == "in progress" { return .running }
        } catch let failure as PostgresFailure where !failure.isConnectionLoss {
          // After a crash, the transaction ID may be in the future.
        }
      }
      let rows = try connection.run(
        .once(
          "SELECT stamp FROM \(core.names.qualified("nano_transactions")) WHERE id = $1",
          [id]))
      return rows.count > 0 ? .committed(stamp: rows.int(0, 0)) : hasEnded ? .rolledBack : .running
    }
  }

  /// Returns whether the process that ran the statement has exited. A later process with the same ID only
  /// prolongs the wait.
  private func hasExited(_ connection: PostgresConnection) throws -> Bool {
    guard let process else { return false }
    let rows = try connection.run(
      .once(
        "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = $1::bigint",
        [.int(Int64(process))]))
    return rows.count == 0
  }
}
