// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import Synchronization

// @unchecked: everything that changes is touched only while `lock` is held; connections belong to
// whoever has taken them.
/// Connections to one server, taken by one call at a time.
///
/// Calls of the engine contract block, and are run by the store on threads where that does no harm: so a
/// connection is handed out under a lock rather than by an actor, whose threads are the ones that must not
/// block.
final class PostgresPool: @unchecked Sendable {
  private let lock = NSCondition()
  private var idle: [PostgresConnection] = []
  private var open = 0
  private var isClosed = false
  private let conninfo: String
  private let configuration: PostgresConfiguration
  /// Whether nothing stands between, once that is known.
  private var isDirect: Bool?
  /// Whether the server was ever reached.
  private var wasReached = false

  init(_ conninfo: String, _ configuration: PostgresConfiguration) {
    self.conninfo = conninfo
    self.configuration = configuration
  }

  /// Runs a block with a connection that nobody else has, again if that turns out to have been lost since it
  /// was used last: so it must be one that can be repeated.
  ///
  /// - Throws: ``StoreError/Code/locked`` if none becomes free in time, ``StoreError/Code/cannotOpen``,
  ///   ``StoreError/Code/closed``.
  func withConnection<Result>(_ work: (PostgresConnection) throws -> Result) throws -> Result {
    while true {
      let connection = try take()
      let wasUsed = connection.wasUsed
      defer { giveBack(connection) }
      do {
        return try work(connection)
      } catch let failure as PostgresFailure where failure.isConnectionLoss && wasUsed {}
    }
  }

  func take() throws -> PostgresConnection {
    let isNew = try waitForPlace()
    if let isNew { return isNew }
    do {
      return try connect()
    } catch {
      lock.withLock {
        open -= 1
        lock.signal()
      }
      throw error
    }
  }

  /// An idle connection, or nil for the right to open one.
  private func waitForPlace() throws -> PostgresConnection? {
    lock.lock()
    defer { lock.unlock() }
    let deadline = Date(
      timeIntervalSinceNow: Double(configuration.busyTimeout.milliseconds) / 1_000)
    while true {
      if isClosed { throw Self.closed }
      if let connection = idle.popLast() { return connection }
      if open < configuration.maximumConnections {
        open += 1
        return nil
      }
      guard lock.wait(until: deadline) else {
        throw StoreError(
          .locked, "All connections of the pool are in use",
          [.limit: "\(configuration.maximumConnections) connections"])
      }
    }
  }

  func giveBack(_ connection: PostgresConnection) {
    // Nobody knows what a transaction that was left open holds.
    let isUsable = !connection.isLost && !connection.hasTransaction
    connection.wasUsed = true
    lock.withLock {
      if connection.isLost {
        // The server was restarted, or is another one now: the others are lost too, or soon will be.
        open -= idle.count
        idle.removeAll()
      }
      if isUsable && !isClosed { idle.append(connection) } else { open -= 1 }
      lock.broadcast()
    }
  }

  private func connect() throws -> PostgresConnection {
    if let isDirect = lock.withLock({ self.isDirect }) { return try open(isDirect: isDirect) }
    let first = try open(isDirect: false)
    // A pooler names no process of the server, or another one for each transaction.
    let process = try first.run(.once("SELECT pg_backend_pid()::bigint")).int(0, 0)
    let isDirect = process == first.claimedProcess
    lock.withLock { self.isDirect = isDirect }
    return isDirect ? try open(isDirect: true) : first
  }

  private func open(isDirect: Bool) throws -> PostgresConnection {
    let connection: PostgresConnection
    do {
      connection = try PostgresConnection(
        conninfo, connectTimeout: configuration.connectTimeout,
        keepsStatements: configuration.keepsStatements ?? isDirect)
    } catch {
      guard lock.withLock({ wasReached }) else { throw error }
      throw StoreError(
        .connectionLost, "The server cannot be reached any more, and nothing was written",
        [.engineMessage: error[.engineMessage] ?? ""])
    }
    lock.withLock { wasReached = true }
    guard connection.serverVersion >= Self.oldestServer else {
      throw StoreError(
        .unsupported, "The server is too old",
        [.expected: "PostgreSQL 14", .actual: "\(connection.serverVersion / 10_000)"])
    }
    if isDirect { connection.serverProcess = connection.claimedProcess }
    return connection
  }

  /// Numbers have infinities since 14.
  private static let oldestServer = 140_000

  /// Closes what is idle and waits for what is in use.
  func close() {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    open -= idle.count
    idle.removeAll()
    lock.broadcast()
    while open > 0 { lock.wait() }
  }

  /// - Throws: ``StoreError/Code/closed``.
  func requireOpen() throws { if lock.withLock({ isClosed }) { throw Self.closed } }

  static let closed = StoreError(.closed, "The store is closed")
}
