// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// Shared helpers of the fault tests.
enum Faults {
  private static let environment = ProcessInfo.processInfo.environment

  /// The length of the stress tests. With 1, the suite takes a few minutes.
  static let rounds = environment["NANOSTORE_ROUNDS"].flatMap { Int($0) } ?? 1
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)

  static func server() throws -> PostgresServer {
    try #require(PostgresServer.shared, "no server could be started")
  }

  static func configuration(
    _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) -> PostgresConfiguration {
    var configuration = TestDatabase.configuration()
    change(&configuration)
    return configuration
  }

  /// Runs a closure on the specified number of threads, and returns when all have finished.
  static func inThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        work(number)
        group.leave()
      }
    }
    group.wait()
  }

  /// Limits a wait by time and by attempts, because on a busy machine minutes may pass between two attempts.
  private struct WaitLimit {
    private let end = ContinuousClock.now + .seconds(300)
    private var attempts = 0

    mutating func isExhausted() -> Bool {
      attempts += 1
      return attempts > 1_000 && ContinuousClock.now > end
    }
  }

  /// Waits until a condition holds, even on a slow machine.
  static func wait(
    for what: Comment, _ location: SourceLocation = #_sourceLocation,
    until holds: () throws -> Bool
  ) throws {
    var limit = WaitLimit()
    while try !holds() {
      if limit.isExhausted() { try #require(Bool(false), what, sourceLocation: location) }
      usleep(5_000)
    }
  }

  /// Waits asynchronously, without blocking a thread of the cooperative pool.
  static func wait(
    for what: Comment, _ location: SourceLocation = #_sourceLocation,
    until holds: @Sendable () async throws -> Bool
  ) async throws {
    var limit = WaitLimit()
    while try await !holds() {
      if limit.isExhausted() { try #require(Bool(false), what, sourceLocation: location) }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Runs a blocking closure on a separate thread.
  static func onThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
  }

  static func code(_ work: () throws -> Void) -> StoreError.Code? {
    do {
      try work()
      return nil
    } catch let error as StoreError {
      return error.code
    } catch {
      Issue.record("\(error) is not a StoreError")
      return nil
    }
  }
}

/// A store whose connections can be cut, and one with direct connections.
struct CutStore {
  let proxy: CuttingProxy
  let cut: Store
  let direct: Store
  let name: String

  init(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws {
    let server = try Faults.server()
    // After a cut, a call asks the server for its outcome this long.
    let configuration = Faults.configuration {
      $0.busyTimeout = .seconds(10)
      change(&$0)
    }
    proxy = try CuttingProxy(before: server)
    name = configuration.schema
    cut = try Store.postgres(
      proxy.url() + "?application_name=\(name)", engine: configuration)
    direct = try Store.postgres(server.url(), engine: configuration)
  }

  /// Returns the number of server connections of the store that can be cut.
  func connections() throws -> Int {
    let rows = try direct.sql(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ?", name)
    return Int(rows.first?["n"]?.int ?? 0)
  }

  func close() throws {
    try cut.close()
    try direct.close()
    proxy.close()
  }
}
