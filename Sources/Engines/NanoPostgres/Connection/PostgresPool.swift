// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import Synchronization

// @unchecked: mutable state is accessed only while `lock` is held; connections belong to the caller that has
// taken them.
/// A pool of connections to one server, each used by one call at a time.
///
/// Calls of the engine contract block, and the store runs them on threads where blocking is harmless.
/// A lock therefore protects the pool, and not an actor, whose threads must not block.
final class PostgresPool: @unchecked Sendable {
  private let lock = NSCondition()
  private var idle: [PostgresConnection] = []
  private var open = 0
  private var isClosed = false
  private let conninfo: String
  private let configuration: PostgresConfiguration
  /// Whether there is no pooler between client and server; `nil` until determined.
  private var isDirect: Bool?
  /// Whether a connection to the server ever succeeded.
  private var hasConnected = false

  init(_ conninfo: String, _ configuration: PostgresConfiguration) {
    self.conninfo = conninfo
    self.configuration = configuration
  }

  /// - Throws: ``StoreError/Code/readOnly`` if the store was opened read-only.
  func requireWritable() throws(StoreError) {
    guard configuration.isReadOnly else { return }
    throw StoreError.openedReadOnly
  }

  /// Runs a closure with an exclusive connection, and runs it again if the connection was lost since its last
  /// use. The closure must be idempotent.
  ///
  /// - Throws: ``StoreError/Code/locked`` if no connection becomes available in time,
  ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/closed``.
  func withConnection<Result>(_ work: (PostgresConnection) throws -> Result) throws -> Result {
    while true {
      let connection = try take()
      let wasUsed = connection.wasUsed
      defer { putBack(connection) }
      do {
        return try work(connection)
      } catch let failure as PostgresFailure where failure.isConnectionLoss && wasUsed {}
    }
  }

  func take() throws -> PostgresConnection {
    let isNew = try waitForConnection()
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

  /// Returns an idle connection, or `nil` for the permission to open one.
  private func waitForConnection() throws -> PostgresConnection? {
    lock.lock()
    defer { lock.unlock() }
    let deadline = Date(
      timeIntervalSinceNow: configuration.busyTimeout.inSeconds)
    while true {
      if isClosed { throw Self.closed }
      if let connection = idle.popLast() { return connection }
      if open < configuration.maximumConnections {
        open += 1
        return nil
      }
      guard lock.wait(until: deadline) else {
        throw StoreError(
          .locked, "All connections of the pool are in use; increase 'maximumConnections'",
          [.limit: "\(configuration.maximumConnections) connections"])
      }
    }
  }

  func putBack(_ connection: PostgresConnection) {
    // The state of a transaction that was left open is unknown.
    let isUsable = !connection.isLost && !connection.hasTransaction
    connection.wasUsed = true
    lock.withLock {
      if connection.isLost {
        // The server was restarted, or replaced: the other connections are lost too, or soon will be.
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
    // A pooler reports no process of the server, or a different one for each transaction.
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
      guard lock.withLock({ hasConnected }) else { throw error }
      throw StoreError(
        .connectionLost, "The server can no longer be reached; nothing was written",
        [.engineMessage: error[.engineMessage] ?? ""])
    }
    lock.withLock { hasConnected = true }
    guard connection.serverVersion >= Self.oldestServer else {
      throw StoreError(
        .unsupported, "The server is too old",
        [.expected: "PostgreSQL 14", .actual: "\(connection.serverVersion / 10_000)"])
    }
    if isDirect { connection.serverProcess = connection.claimedProcess }
    return connection
  }

  /// Version 14 is the first whose `numeric` type has infinities.
  private static let oldestServer = 140_000

  /// Closes idle connections and waits for those in use.
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
