// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import GRDBSQLite
import NanoStore

/// What is promised of locks, with nobody else at work: how long one is waited for, and that none is left behind.
struct LockPhase {
  let folder: String
  private static let timeout = 0.3
  /// A machine that is busy wakes a thread late.
  private static let margin = 2.0

  func run() throws -> Figures {
    let path = folder + "/locks.db"
    var configuration = Store.Configuration()
    configuration.busyTimeout = Self.timeout
    let store = try Store(.file(path), configuration: configuration)
    defer { try? store.close() }
    try store["things"].insert(["n": 0], key: "k")
    let other = try PlainConnection(path)
    defer { other.close() }
    var figures = Figures()
    for _ in 0..<3 {
      try refused(store, other)
      try waits(store, other)
      figures["locks waited for"] += 2
    }
    for delay in 0..<20 {
      try cancelled(store, other, after: delay)
      figures["cancellations"] += 1
    }
    return figures
  }

  /// A lock that stays is an error when the time is up, neither before nor long after.
  private func refused(_ store: Store, _ other: PlainConnection) throws {
    try other.run("BEGIN IMMEDIATE")
    let start = ContinuousClock.now
    var code: StoreError.Code?
    do { try store["things"].save(["n": 1], key: "k") } catch let error as StoreError {
      code = error.code
    }
    let time = ContinuousClock.now - start
    try require(code == .locked, "a locked file gives \(code?.rawValue ?? "no error")")
    try require(time >= .seconds(Self.timeout * 0.95), "a lock was waited for \(time) only")
    try require(time <= .seconds(Self.timeout + Self.margin), "a lock was waited for \(time)")
    // Reading needs no lock.
    try require(try store["things"].get("k") != nil, "nothing is read beside a lock")
    try other.run("ROLLBACK")
    try store["things"].save(["n": 2], key: "k")
  }

  /// A lock that goes in time is waited for.
  private func waits(_ store: Store, _ other: PlainConnection) throws {
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
      throw TrialFailure("a lock that went was not waited for: \(error)")
    }
  }

  /// A transaction that is cancelled leaves no lock and no change.
  private func cancelled(_ store: Store, _ other: PlainConnection, after delay: Int) throws {
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
      "a cancelled transaction ends with \(result.error.map { "\($0)" } ?? "no error")")
    try other.run("BEGIN IMMEDIATE")
    try other.run("ROLLBACK")
    let after = try store["things"].get("k")?["n"]?.int
    try require(before == after, "a cancelled transaction left \(after ?? 0)")
    try require(try store["things"].get("again") == nil, "a cancelled transaction left a document")
  }

  // @unchecked: written before the semaphore is signalled and read after it was waited for.
  private final class Outcome: @unchecked Sendable { var error: (any Error)? }
}

/// A connection of another program, which waits for nothing.
private final class PlainConnection {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw TrialFailure("\(path) cannot be opened")
    }
  }

  func run(_ statement: String) throws {
    let code = sqlite3_exec(handle, statement, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw TrialFailure("\(statement) beside the store: SQLite's code \(code)")
    }
  }

  func close() {
    sqlite3_close(handle)
    handle = nil
  }
}
