// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Runs the statements of one closure. Takes a connection with the first statement, begins the transaction in
/// the same round trip, and ends it with the closure.
///
/// Confined to the thread that runs the closure.
final class PostgresSession {
  enum Mode {
    /// Each statement runs on its own.
    case none
    /// All statements read one snapshot.
    case snapshot
    /// All statements are part of one write transaction.
    case writing
  }

  private let pool: PostgresPool
  private let mode: Mode
  /// Otherwise the server plans a statement again for each value, as long as it estimates that plan to be better, which
  /// takes longer than a small query: an index expression has several functions.
  private static let genericPlans = PostgresStatement(
    "SET LOCAL plan_cache_mode = force_generic_plan")
  /// Otherwise the server compiles a statement that it estimates to be expensive. For the functions that it inlines for
  /// each comparison, that takes many times longer than the statement, and cannot be canceled.
  private static let noCompilation = PostgresStatement("SET LOCAL jit = off")
  /// Sent after BEGIN, in the same round trip.
  var settings: [PostgresStatement]
  /// Whether the first round trip may be repeated after the connection was lost. A single statement that
  /// commits a write must not be.
  private let isRetryable: Bool
  let interruption: Interruption?
  private var connection: PostgresConnection?
  private(set) var hasBegun = false
  /// The results of the statements sent with BEGIN.
  private(set) var opening: [PostgresResult] = []
  private var cursors = 0
  /// Statements whose results are known, to send with the next ones.
  private var queue: [PostgresStatement] = []
  /// Whether the connection may hold locks beyond the transaction. It is not used again then.
  var holdsLocks = false
  /// The failure after which the transaction can only be rolled back.
  private(set) var failure: PostgresFailure?

  /// - Parameter settings: Statements to send after BEGIN, in the same round trip.
  init(
    _ pool: PostgresPool, _ mode: Mode, settings: [PostgresStatement] = [],
    isRetryable: Bool = true, _ interruption: Interruption?
  ) {
    self.pool = pool
    self.mode = mode
    self.settings = settings
    self.isRetryable = isRetryable
    self.interruption = interruption
  }

  /// Runs statements in one round trip. A failure is thrown as a `StoreError`, which the caller's closures may
  /// catch, and kept in ``failure``: the server accepts no further statement of a failed transaction until it
  /// is rolled back to a savepoint.
  func run(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
    try interruption?.check()
    if let failure, mode != .none { throw failure.error() }
    // Before BEGIN is sent, or the transaction would be in an unknown state.
    for statement in statements { try statement.requireSendable() }
    let queued = queue
    queue = []
    return try keepingFailure {
      guard let connection, hasBegun || mode == .none else { return try runFirst(statements) }
      guard !queued.isEmpty else { return try connection.run(statements, interruption) }
      return Array(try connection.run(queued + statements, interruption).dropFirst(queued.count))
    }
  }

  /// Lets the server reuse plans for any values, until the transaction ends; no effect once it has begun.
  func prefersGenericPlans() {
    if mode == .snapshot, connection == nil, settings.isEmpty {
      settings.append(Self.genericPlans)
    }
  }

  /// Queues a statement whose result is known. A failure is that of the next statement, or of the commit.
  func enqueue(_ statement: PostgresStatement) { queue.append(statement) }

  /// Makes the transaction one that can only be rolled back.
  func fail(_ failure: PostgresFailure) -> PostgresFailure {
    self.failure = failure
    return failure
  }

  private func keepingFailure<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch let failure as PostgresFailure {
      self.failure = failure
      throw failure.error()
    }
  }

  /// Rolls back to a savepoint, which also clears a failure.
  func rollBack(to savepoint: String) throws {
    guard let connection, !connection.isLost else { return }
    queue = []
    // Not interruptible: a partial rollback is of no use.
    _ = try keepingFailure {
      try connection.run([.once("ROLLBACK TO SAVEPOINT \(savepoint)")])
    }
    failure = nil
  }

  /// Sends statements without waiting for their results, such as the release of a savepoint.
  func send(_ statements: [PostgresStatement]) {
    connection?.send(queue + statements)
    queue = []
  }

  func run(_ statement: PostgresStatement) throws -> PostgresResult {
    try run([statement])[0]
  }

  private var begin: [PostgresStatement] {
    switch mode {
    case .none: []
    case .snapshot:
      [
        PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), Self.noCompilation,
      ]
    case .writing: [PostgresStatement("BEGIN")]
    }
  }

  /// Runs the first round trip. A pooled connection may have been lost since its last use. Nothing was applied
  /// then, and other connections are tried, up to a new one.
  private func runFirst(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
    if mode == .writing { try pool.requireWritable() }
    while true {
      let connection = try pool.take()
      if !isRetryable, connection.wasUsed, connection.wasClosed() {
        pool.putBack(connection)
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
        where failure.isConnectionLoss && connection.wasUsed && isRetryable
      {
        self.connection = nil
        pool.putBack(connection)
      } catch {
        hasBegun = mode != .none && !connection.isLost
        throw error
      }
    }
  }

  /// Sends rows with COPY.
  func copyIn(_ statement: String, _ rows: borrowing CopyBuffer) throws {
    if !queue.isEmpty { _ = try run([]) }
    try interruption?.check()
    guard let connection else { return }
    do {
      try connection.copyIn(statement, rows, interruption)
    } catch let failure as PostgresFailure {
      self.failure = failure
      throw failure.error()
    }
  }

  /// Commits a transaction that only read, or rolls back one that wrote, without waiting for the result.
  func end() {
    queue = []
    guard let connection else { return }
    // Otherwise the connection is closed within the transaction, after which a pooler closes that to the server too.
    if hasBegun, !connection.isLost, !holdsLocks {
      let isWriting = mode == .writing
      // In a failed transaction, the connection could not make room for a new prepared statement.
      connection.send([
        PostgresStatement(
          isWriting ? "ROLLBACK" : "COMMIT", isPrepared: !isWriting && failure == nil)
      ])
      connection.hasTransaction = false
    }
    release()
  }

  /// Records that a statement ended the transaction.
  func noteEnded() {
    connection?.hasTransaction = false
    hasBegun = false
  }

  func release() {
    guard let connection else { return }
    self.connection = nil
    hasBegun = false
    failure = nil
    // The pool closes a connection with a transaction.
    if holdsLocks { connection.hasTransaction = true }
    holdsLocks = false
    pool.putBack(connection)
  }

  /// The process ID of the server at the other end; `nil` if unknown.
  var serverProcess: Int? { connection?.serverProcess }

  var isLost: Bool { connection?.isLost == true }

  func nextCursor() -> String {
    cursors += 1
    return "nano_cursor_\(cursors)"
  }
}
