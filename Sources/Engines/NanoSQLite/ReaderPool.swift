// SPDX-License-Identifier: MIT

import Dispatch
import GRDB
import NanoDocument
import Synchronization

/// Connections that only read, opened when they are first needed and lent to one call at a time.
///
/// GRDB's own pool begins a transaction for every read, which costs a lone get 2.6 times as much.
final class ReaderPool: Sendable {
  // @unchecked: `connection` is touched only by the call that the reader is lent to.
  final class Reader: @unchecked Sendable {
    let queue: DatabaseQueue
    let connection: SQLiteConnection
    init(_ queue: DatabaseQueue) throws {
      self.queue = queue
      connection = try queue.unsafeRead { db in
        guard let handle = db.sqliteConnection else { throw SQLiteEngine.closed }
        return SQLiteConnection(handle, isReadOnly: true)
      }
    }

    func close() throws {
      connection.removeAll()
      try queue.close()
    }
  }

  private let idle = Mutex<[Reader]>([])
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
    let reader = try idle.withLock { $0.popLast() } ?? Reader(open())
    defer { idle.withLock { $0.append(reader) } }
    return try work(reader)
  }

  /// Waits until no reader is lent out, then closes them.
  func close() throws {
    for _ in 0..<maximum { permits.wait() }
    defer { for _ in 0..<maximum { permits.signal() } }
    for reader in idle.withLock({ readers in
      defer { readers = [] }
      return readers
    }) { try reader.close() }
  }
}
