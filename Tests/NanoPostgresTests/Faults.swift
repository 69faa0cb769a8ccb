// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// What the tests of failures have in common.
enum Faults {
  private static let environment = ProcessInfo.processInfo.environment

  /// How long trials are: 1 for a suite of some minutes.
  static let rounds = environment["NANOSTORE_ROUNDS"].flatMap { Int($0) } ?? 1
  static let seed =
    environment["NANOSTORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: .min ... .max)

  static func server() throws -> PostgresServer {
    try #require(PostgresServer.shared, "no server could be started")
  }

  /// A configuration whose calls do not wait long.
  static func configuration(
    _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) -> PostgresConfiguration {
    var configuration = TestDatabase.configuration()
    configuration.busyTimeout = .seconds(10)
    change(&configuration)
    return configuration
  }

  /// Runs a block on so many threads at once, and returns when all are done.
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

  /// Limits a wait by time and by attempts: where other tests keep the threads busy, minutes may pass between two attempts.
  private struct Patience {
    private let end = ContinuousClock.now + .seconds(60)
    private var attempts = 0

    mutating func isExhausted() -> Bool {
      attempts += 1
      return attempts > 1_000 && ContinuousClock.now > end
    }
  }

  /// Waits until something holds, for as long as a slow machine may take.
  static func wait(
    for what: Comment, _ location: SourceLocation = #_sourceLocation,
    until holds: () throws -> Bool
  ) throws {
    var patience = Patience()
    while try !holds() {
      if patience.isExhausted() { try #require(Bool(false), what, sourceLocation: location) }
      usleep(5_000)
    }
  }

  /// The same without keeping a thread that tasks need.
  static func wait(
    for what: Comment, _ location: SourceLocation = #_sourceLocation,
    until holds: @Sendable () async throws -> Bool
  ) async throws {
    var patience = Patience()
    while try await !holds() {
      if patience.isExhausted() { try #require(Bool(false), what, sourceLocation: location) }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Runs a block that waits, on a thread of its own.
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
      Issue.record("\(error) is no error of a store")
      return nil
    }
  }
}

/// A store whose connections can be lost, and one beside it whose connections are not.
struct CutStore {
  let proxy: CuttingProxy
  let cut: Store
  let direct: Store
  let name: String

  init(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws {
    let server = try Faults.server()
    let configuration = Faults.configuration(change)
    proxy = try CuttingProxy(before: server)
    name = configuration.schema
    cut = try Store.postgres(
      proxy.url() + "?application_name=\(name)", configuration: configuration)
    direct = try Store.postgres(server.url(), configuration: configuration)
  }

  /// The server's connections of the store that may be cut.
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
