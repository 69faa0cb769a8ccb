// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import GRDBSQLite
import NanoStore

/// Checks lock handling without other activity: how long a call checkWait for a lock, and that no lock is left behind.
struct LockPhase {
  let folder: String
  private static let timeout = 0.3
  /// A busy machine wakes threads late.
  private static let margin = 60.0

  func run() throws -> Figures {
    let path = folder + "/locks.db"
    var configuration = SQLiteConfiguration()
    configuration.busyTimeout = .seconds(Self.timeout)
    let store = try Store(.file(path), engine: configuration)
    defer { try? store.close() }
    try store["things"].insert(["n": 0], key: "k")
    let other = try PlainConnection(path)
    defer { other.close() }
    configuration.busyTimeout = .seconds(600)
    let patient = try Store(.file(path), engine: configuration)
    defer { try? patient.close() }
    var figures = Figures()
    for _ in 0..<3 {
      try checkTimeout(store, other)
      try checkWait(patient, other)
      figures["locks waited for"] += 2
    }
    for delay in 0..<20 {
      try checkCancellation(store, other, after: delay)
      figures["cancellations"] += 1
    }
    return figures
  }

  /// A lock that is held causes an error after the timeout, not earlier and not much later.
  private func checkTimeout(_ store: Store, _ other: PlainConnection) throws {
    try other.run("BEGIN IMMEDIATE")
    let start = ContinuousClock.now
    var code: StoreError.Code?
    do { try store["things"].save(["n": 1], key: "k") } catch let error as StoreError {
      code = error.code
    }
    let time = ContinuousClock.now - start
    try require(code == .locked, "a locked file causes \(code?.rawValue ?? "no error")")
    try require(time >= .seconds(Self.timeout * 0.95), "a call waited only \(time) for a lock")
    try require(time <= .seconds(Self.timeout + Self.margin), "a call waited \(time) for a lock")
    // Reading needs no lock.
    try require(try store["things"].get("k") != nil, "a read failed while a lock was held")
    try other.run("ROLLBACK")
    try store["things"].save(["n": 2], key: "k")
  }

  /// A call checkWait for a lock that is released in time.
  private func checkWait(_ store: Store, _ other: PlainConnection) throws {
    try other.run("BEGIN IMMEDIATE")
    let done = DispatchSemaphore(value: 0)
    let result = Outcome()
    Task.detached {
      do { try await store["things"].save(["n": 3], key: "k") } catch { result.error = error }
      done.signal()
    }
    Thread.sleep(forTimeInterval: Self.timeout / 3)
    try other.run("ROLLBACK")
    done.wait()
    if let error = result.error {
      throw StressTestFailure("a call did not wait for a lock that was released: \(error)")
    }
  }

  /// A canceled transaction leaves no lock and no changes.
  private func checkCancellation(_ store: Store, _ other: PlainConnection, after delay: Int) throws
  {
    let before = try store["things"].get("k")?["n"]?.int
    let done = DispatchSemaphore(value: 0)
    let result = Outcome()
    let task = Task.detached {
      do {
        try await store.write {
          try store["things"].save(["n": 99], key: "k")
          while true { try store["things"].save(["n": 100], key: "again") }
        }
      } catch { result.error = error }
      done.signal()
    }
    Thread.sleep(forTimeInterval: Double(delay) / 1_000)
    task.cancel()
    done.wait()
    let code = (result.error as? StoreError)?.code
    try require(
      result.error is CancellationError || code == .interrupted,
      "a canceled transaction ends with \(result.error.map { "\($0)" } ?? "no error")")
    try other.run("BEGIN IMMEDIATE")
    try other.run("ROLLBACK")
    let after = try store["things"].get("k")?["n"]?.int
    try require(before == after, "a canceled transaction left \(after ?? 0)")
    try require(try store["things"].get("again") == nil, "a canceled transaction left a document")
  }

  // @unchecked: written before the semaphore is signaled and read after waiting for it.
  private final class Outcome: @unchecked Sendable { var error: (any Error)? }
}

/// A connection of another program, without a busy timeout.
private final class PlainConnection {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw StressTestFailure("\(path) cannot be opened")
    }
  }

  func run(_ statement: String) throws {
    let code = sqlite3_exec(handle, statement, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw StressTestFailure("\(statement): SQLite error \(code)")
    }
  }

  func close() {
    sqlite3_close(handle)
    handle = nil
  }
}
