// SPDX-License-Identifier: MIT

import Dispatch
import GRDB
import NanoDocument
import Synchronization

/// Connections that only read, opened when they are first needed and lent to one call at a time.
///
/// GRDB's own pool begins a transaction for every read, which costs a lone get 2.6 times as much.
final class ReaderPool: Sendable {
  // @unchecked: `connection` is touched only by blocks that run on `queue`, one at a time.
  final class Reader: @unchecked Sendable {
    let queue: DatabaseQueue
    let connection: SQLiteConnection
    init(_ queue: DatabaseQueue) {
      self.queue = queue
      connection = queue.unsafeRead { SQLiteConnection($0.sqliteConnection!, isReadOnly: true) }
    }

    func close() throws {
      queue.unsafeRead { _ in connection.removeAll() }
      try queue.close()
    }
  }

  private struct State {
    var idle: [Reader] = []
    var isClosed = false
  }
  private let state = Mutex(State())
  private let permits: DispatchSemaphore
  private let maximum: Int
  private let open: @Sendable () throws -> DatabaseQueue

  init(maximum: Int, open: @escaping @Sendable () throws -> DatabaseQueue) {
    self.maximum = max(1, maximum)
    permits = DispatchSemaphore(value: self.maximum)
    self.open = open
  }

  func with<Result>(_ work: (Reader) throws -> Result) throws -> Result {
    permits.wait()
    defer { permits.signal() }
    let waiting = try state.withLock { state throws(StoreError) in
      // A call that waited here while the pool was closed must not open a connection again.
      if state.isClosed { throw SQLiteEngine.closed }
      return state.idle.popLast()
    }
    let reader = try waiting ?? Reader(open())
    defer { state.withLock { $0.idle.append(reader) } }
    return try work(reader)
  }

  /// Waits until no reader is lent out, then closes them.
  func close() throws {
    for _ in 0..<maximum { permits.wait() }
    defer { for _ in 0..<maximum { permits.signal() } }
    let readers = state.withLock { state in
      defer { state.idle = [] }
      state.isClosed = true
      return state.idle
    }
    for reader in readers { try reader.close() }
  }
}
