// SPDX-License-Identifier: MIT

import Dispatch
import GRDB
import Logging
import NanoDocument
import NanoEngine
import Synchronization

/// Read-only connections, opened on first use and lent to one call at a time.
///
/// GRDB's pool begins a transaction for every read, which makes a single get 2.6 times as slow.
final class ReaderPool: Sendable {
  // @unchecked: `connection` is used only by the call that the reader is lent to, which debug builds check.
  final class Reader: @unchecked Sendable {
    let queue: DatabaseQueue
    let connection: SQLiteConnection
    /// Reads single documents outside a transaction.
    let getter: SQLiteReader
    init(
      _ queue: DatabaseQueue, _ configuration: SQLiteConfiguration, _ logger: Logger?,
      _ observer: QueryObserver?, _ hasExpirations: ExpirationFlag
    ) throws {
      self.queue = queue
      connection = try queue.unsafeRead { db in
        guard let handle = db.sqliteConnection else { throw SQLiteEngine.closed }
        let connection = SQLiteConnection(
          handle, isReadOnly: true, isGuarded: !configuration.allowsInternalWrites,
          logger: logger, observer: observer, hasExpirations: hasExpirations)
        connection.clock = configuration.clock
        connection.busyTimeout = configuration.busyMilliseconds
        return connection
      }
      getter = SQLiteReader(connection, keepsTime: false)
    }

    func close() throws {
      connection.owner.take()
      connection.prepareToClose()
      try queue.close()
    }
  }

  private struct State {
    var idle: [Reader] = []
    /// The number of readers, lent or idle.
    var count = 0
    /// The calls that wait for a reader or, once the pool is closed, the closing that waits for one.
    var waiting = 0
    var isClosed = false
  }
  private let state = Mutex(State())
  private let returned = DispatchSemaphore(value: 0)
  /// As `returned`, for the closing. With one semaphore for both, the closing could consume the signal of a call,
  /// which would then wait forever.
  private let returnedForClosing = DispatchSemaphore(value: 0)
  private let configuration: SQLiteConfiguration
  private let logger: Logger?
  private let observer: QueryObserver?
  private let hasExpirations: ExpirationFlag
  private let open: @Sendable () throws -> DatabaseQueue

  init(
    _ configuration: SQLiteConfiguration, _ logger: Logger?, _ observer: QueryObserver?,
    _ hasExpirations: ExpirationFlag, open: @escaping @Sendable () throws -> DatabaseQueue
  ) {
    self.configuration = configuration
    self.logger = logger
    self.observer = observer
    self.hasExpirations = hasExpirations
    self.open = open
  }

  func with<Result>(_ work: (Reader) throws -> Result) throws -> Result {
    let reader = try take()
    defer { putBack(reader) }
    return try work(reader)
  }

  private enum Offer {
    case reader(Reader)
    case slot
    case wait
  }

  func take() throws -> Reader {
    let reader = try takeOrOpen()
    reader.connection.owner.takeForAssertions()
    return reader
  }

  private func takeOrOpen() throws -> Reader {
    while true {
      let offer: Offer = try state.withLock { state throws(StoreError) in
        // A call that was waiting here when the pool was closed must not open a connection.
        if state.isClosed { throw SQLiteEngine.closed }
        if let reader = state.idle.popLast() { return .reader(reader) }
        if state.count < configuration.maximumReaders {
          state.count += 1
          return .slot
        }
        state.waiting += 1
        return .wait
      }
      switch offer {
      case .reader(let reader): return reader
      case .wait: returned.wait()
      case .slot:
        do {
          return try Reader(open(), configuration, logger, observer, hasExpirations)
        } catch {
          free { $0.count -= 1 }
          throw SQLiteErrors.translated(error, operation: "open")
        }
      }
    }
  }

  func putBack(_ reader: Reader) {
    reader.connection.owner.releaseForAssertions()
    free { $0.idle.append(reader) }
  }

  private func free(_ change: (inout State) -> Void) {
    let woken = state.withLock { state -> DispatchSemaphore? in
      change(&state)
      guard state.waiting > 0 else { return nil }
      state.waiting -= 1
      return state.isClosed ? returnedForClosing : returned
    }
    woken?.signal()
  }

  /// Waits until no reader is lent, then closes all readers.
  func close() throws {
    // Waiting calls wake up one by one and find the pool closed.
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = 0 }
      return state.waiting
    }
    for _ in 0..<waiting { returned.signal() }
    var closed: [Reader] = []
    while let reader = try takeForClosing() { closed.append(reader) }
    for reader in closed { try reader.close() }
  }

  private func takeForClosing() throws -> Reader? {
    guard state.withLock({ $0.count > 0 }) else { return nil }
    while true {
      let isWaiting = state.withLock { state in
        guard state.idle.isEmpty else { return false }
        state.waiting += 1
        return true
      }
      if isWaiting { returnedForClosing.wait() }
      if let reader = state.withLock({ state -> Reader? in
        guard let reader = state.idle.popLast() else { return nil }
        state.count -= 1
        return reader
      }) {
        return reader
      }
      if state.withLock({ $0.count == 0 }) { return nil }
    }
  }
}
