// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// What a transaction leaves behind, so that the server can be asked what became of it when the answer to its
/// COMMIT was lost: a row with a number that nobody else has.
///
/// The server's own number of the transaction is not enough: after a crash it may be given again.
struct TransactionToken {
  private let id = UUID()
  /// The server's number; nil if it was not told.
  private let transaction: String?
  /// The process of the server that ran a single statement, whose number nobody knows; nil behind a pooler.
  var process: Int?

  /// - Parameter session: The one that began the transaction; nil for a single statement.
  init(_ session: PostgresSession?) {
    transaction = session?.opening.last.flatMap {
      $0.columns == 3 ? $0.optionalText(0, 2) : nil
    }
  }

  var value: PostgresValue { .uuid(id) }

  /// Stands before COMMIT.
  func statement(_ names: PostgresNames) -> PostgresStatement {
    PostgresStatement(
      "INSERT INTO \(names.qualified("nano_transactions")) (id) VALUES ($1)", [.uuid(id)])
  }

  /// Returns if the transaction was committed.
  ///
  /// - Throws: ``StoreError/Code/connectionLost`` if it was not, ``StoreError/Code/outcomeUnknown`` if the
  ///   server cannot be asked in time.
  func settle(_ failure: PostgresFailure, _ core: PostgresCore) throws {
    let deadline = Date(
      timeIntervalSinceNow: Double(core.configuration.busyTimeout.milliseconds) / 1_000)
    var pause = 0.01
    repeat {
      switch try? outcome(core) {
      case .committed?: return
      case .undone?:
        throw StoreError(
          .connectionLost, "The connection to the server was lost, and nothing was written",
          [.engineMessage: failure.message])
      case .running?, nil: Thread.sleep(forTimeInterval: pause)
      }
      pause = min(pause * 2, 0.25)
    } while Date() < deadline
    throw StoreError(
      .outcomeUnknown, "The connection was lost during a commit, which may have happened",
      [
        .hint: "look whether the change is there, or write with an operation id",
        .engineMessage: failure.message,
      ])
  }

  private enum Outcome { case committed, undone, running }

  private func outcome(_ core: PostgresCore) throws -> Outcome {
    try core.pool.withConnection { connection in
      // A standby may not have it yet.
      let standby = try connection.run(.once("SELECT pg_is_in_recovery()"))
      if standby.bool(0, 0) { return .running }
      // Asked first: when it runs no more, what the row says is final.
      let isOver = try transaction == nil ? isGone(connection) : true
      if let transaction {
        do {
          let rows = try connection.run(
            .once("SELECT pg_xact_status($1::text::xid8)", [.text(transaction)]))
          if rows.optionalText(0, 0) == "in progress" { return .running }
        } catch let failure as PostgresFailure where !failure.isConnectionLoss {
          // After a crash the number may be one of the future.
        }
      }
      let rows = try connection.run(
        .once(
          "SELECT 1::bigint FROM \(core.names.qualified("nano_transactions")) WHERE id = $1",
          [.uuid(id)]))
      return rows.count > 0 ? .committed : isOver ? .undone : .running
    }
  }

  /// Whether the process that got the statement is no more. One of the same number that came later only makes
  /// the caller wait.
  private func isGone(_ connection: PostgresConnection) throws -> Bool {
    guard let process else { return false }
    let rows = try connection.run(
      .once(
        "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = $1::bigint",
        [.int(Int64(process))]))
    return rows.count == 0
  }
}

extension PostgresValue {
  static func uuid(_ id: UUID) -> PostgresValue {
    withUnsafeBytes(of: id.uuid) { bytes in
      .uuid(
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}
