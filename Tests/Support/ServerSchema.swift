// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
public import NanoStore
import NanoStorePostgres

/// A new schema on the test server, which several stores open, as several processes do.
///
/// Tests that use it have the trait `.postgres`.
public struct ServerSchema: Sendable {
  public let name = TestEngine.schema()
  private let url: String

  public init() throws {
    guard let url = TestEngine.url else {
      throw StoreError(.cannotOpen, "No server could be started for the tests")
    }
    self.url = url
  }

  public func store() throws -> Store {
    var configuration = PostgresConfiguration()
    configuration.schema = name
    configuration.durability = .normal
    configuration.maximumConnections = 4
    // No wait ends by time.
    configuration.busyTimeout = .seconds(600)
    configuration.connectTimeout = .seconds(600)
    return try Store.postgres(url, engine: configuration)
  }
}

extension ServerSchema {
  /// Executes statements as another program, which takes none of the store's locks.
  public func psql(_ sql: String) throws {
    guard let server = PostgresServer.shared else {
      throw StoreError(.cannotOpen, "No server could be started for the tests")
    }
    try server.psql("SET search_path = \(name);\n" + sql, url: url)
  }
}

/// A write block on a thread of its own that stays open until it is ended.
public final class OpenTransaction: Sendable {
  private let mayEnd = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Returns when the statements have run.
  public init(_ store: Store, _ work: @escaping @Sendable () throws -> Void) {
    let hasRun = DispatchSemaphore(value: 0)
    let (mayEnd, hasEnded) = (mayEnd, hasEnded)
    Thread.detachNewThread {
      try? store.write {
        defer { hasRun.signal() }
        try work()
        hasRun.signal()
        mayEnd.wait()
      }
      hasEnded.signal()
    }
    hasRun.wait()
  }

  /// Commits it.
  public func end() {
    mayEnd.signal()
    hasEnded.wait()
  }
}

/// Runs a closure on the specified number of threads, which may block, until all have finished.
public func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    Thread.detachNewThread {
      let group = DispatchGroup()
      for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
          work(number)
          group.leave()
        }
      }
      group.wait()
      continuation.resume()
    }
  }
}
