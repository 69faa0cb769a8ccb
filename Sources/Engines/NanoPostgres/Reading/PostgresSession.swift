// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What runs the statements of one block: takes a connection with the first of them, begins the transaction in
/// the same round trip, and ends it with the block.
///
/// Confined to the thread that runs the block.
final class PostgresSession {
  enum Mode {
    /// Each statement for itself.
    case none
    /// All statements see one state.
    case snapshot
    case writing
  }

  private let pool: PostgresPool
  private let mode: Mode
  private let settings: [PostgresStatement]
  /// Whether a first round trip that was lost may be sent again: not one that is a transaction of its own and
  /// writes.
  private let isRepeatable: Bool
  let interruption: Interruption?
  private var connection: PostgresConnection?
  private(set) var hasBegun = false
  /// Results of what is sent with BEGIN.
  private(set) var opening: [PostgresResult] = []
  private var cursors = 0
  /// Why the transaction can only be undone.
  private(set) var failure: PostgresFailure?

  /// - Parameter settings: Sent right behind BEGIN.
  init(
    _ pool: PostgresPool, _ mode: Mode, settings: [PostgresStatement] = [],
    isRepeatable: Bool = true, _ interruption: Interruption?
  ) {
    self.pool = pool
    self.mode = mode
    self.settings = settings
    self.isRepeatable = isRepeatable
    self.interruption = interruption
  }

  /// Runs statements in one round trip. What the server refuses is thrown as an error of the store, since the
  /// caller's own blocks may catch it, and kept in ``failure``: the server takes nothing more of a transaction
  /// then, until it is undone to a savepoint.
  func run(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
    try interruption?.check()
    if let failure, mode != .none { throw failure.error() }
    return try keepingFailure {
      guard let connection, hasBegun || mode == .none else { return try runFirst(statements) }
      return try connection.run(statements, interruption)
    }
  }

  private func keepingFailure<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as PostgresFailure {
      self.failure = failure
      throw failure.error()
    }
  }

  /// Undoes what came behind a savepoint, also what failed.
  func undo(to savepoint: String) throws {
    guard let connection, !connection.isLost else { return }
    // Not stopped: what is undone by half is of no use.
    _ = try keepingFailure {
      try connection.run([.once("ROLLBACK TO SAVEPOINT \(savepoint)")])
    }
    failure = nil
  }

  /// Sends statements whose results nobody waits for, such as the end of a savepoint.
  func send(_ statements: [PostgresStatement]) { connection?.send(statements) }

  func run(_ statement: PostgresStatement) throws -> PostgresResult {
    try run([statement])[0]
  }

  private var begin: [PostgresStatement] {
    switch mode {
    case .none: []
    case .snapshot: [PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
    case .writing: [PostgresStatement("BEGIN")]
    }
  }

  /// The first round trip. A connection of the pool may have been lost since it was used last; nothing was
  /// applied then, and another one is tried, until there is a new one.
  private func runFirst(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
    while true {
      let connection = try pool.take()
      if !isRepeatable, connection.wasUsed, connection.wasClosed() {
        pool.giveBack(connection)
        continue
      }
      self.connection = connection
      let before = begin + settings
      do {
        connection.hasTransaction = mode != .none
        let results = try connection.run(before + statements, interruption)
        hasBegun = mode != .none
        opening = Array(results.prefix(before.count))
        return Array(results.dropFirst(before.count))
      } catch let failure as PostgresFailure
        where failure.isConnectionLoss && connection.wasUsed && isRepeatable
      {
        self.connection = nil
        pool.giveBack(connection)
      } catch {
        hasBegun = mode != .none && !connection.isLost
        throw error
      }
    }
  }

  /// Sends rows by COPY.
  func copyIn(_ statement: String, _ rows: borrowing CopyBuffer) throws {
    try interruption?.check()
    guard let connection else { return }
    do {
      try connection.copyIn(statement, rows)
    } catch let failure as PostgresFailure {
      self.failure = failure
      throw failure.error()
    }
  }

  /// Ends a transaction that only read, or undoes one that wrote; nobody waits for it.
  func end() {
    guard let connection else { return }
    if hasBegun, !connection.isLost {
      connection.send([PostgresStatement(mode == .writing ? "ROLLBACK" : "COMMIT")])
      connection.hasTransaction = false
    }
    release()
  }

  /// The transaction was ended by a statement.
  func noteEnded() {
    connection?.hasTransaction = false
    hasBegun = false
  }

  func release() {
    guard let connection else { return }
    self.connection = nil
    hasBegun = false
    failure = nil
    pool.giveBack(connection)
  }

  /// The process of the server at the other end; nil if that is not known.
  var serverProcess: Int? { connection?.serverProcess }

  var isLost: Bool { connection?.isLost == true }

  func nextCursor() -> String {
    cursors += 1
    return "nano_cursor_\(cursors)"
  }
}
