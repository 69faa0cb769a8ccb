// SPDX-License-Identifier: MIT

import Logging
import NanoStore
import NanoStoreServer

/// The sync server of a store on a port of this machine.
enum TrialServer {
  static func running<Result: Sendable>(
    _ store: Store, while work: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    var configuration = SyncServerConfiguration()
    configuration.port = 0
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    configuration.allowsCreatingDatabases = true
    configuration.shutdownTimeout = .milliseconds(500)
    let server = SyncServer(store, configuration: configuration)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        try await server.run { continuation.yield($0) }
        return nil
      }
      group.addTask {
        for await port in ports { return try await work(port) }
        throw CancellationError()
      }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}
