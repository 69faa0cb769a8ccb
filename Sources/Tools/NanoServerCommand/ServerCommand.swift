// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import Logging
import NanoCLI
import NanoDocument
import NanoServer
import NanoStoreCore
import NanoStoreServer

/// Serves a store to other stores.
struct ServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nanostore-server",
    abstract: "Serve a store to other stores, CouchDB and PouchDB, which synchronize with it.",
    discussion: """
      Serves collections as databases of the CouchDB replication protocol until interrupted. Unless --host is given, \
      the server accepts connections from this machine only; for other machines, it requires --users or \
      --allow-anonymous.
      """)

  @OptionGroup var arguments: ServeOptions

  func run() async throws {
    DescriptorLimit.raise()
    let store: Store
    let configuration: SyncServerConfiguration
    do {
      configuration = try serverConfiguration()
      store = try ServedStore.open(arguments.database)
    } catch {
      throw Self.failure(InspectedStore.sentence(error))
    }
    let server = SyncServer(store, configuration: configuration)
    do {
      try await server.run(stopsOnSignals: true) { [arguments] port in
        let host = arguments.host.contains(":") ? "[\(arguments.host)]" : arguments.host
        let scheme = arguments.certificate == nil ? "http" : "https"
        let name = InspectedStore.displayName(of: arguments.database)
        print(TerminalText.text("Serving \(name) at \(scheme)://\(host):\(port)/"))
        if arguments.users == nil {
          print("Everyone who can connect may read and write; --users restricts access.")
        }
        print("Press Control-C to stop.")
        // The output may be a pipe, which is flushed only when it is full.
        fflush(nil)
      }
    } catch let error as StoreError {
      throw Self.failure(InspectedStore.sentence(error))
    } catch {
      let reason = ListeningFailure.reason(error)
      let host = TerminalText.text(arguments.host)
      throw Self.failure(
        "The server cannot listen on \(host), port \(arguments.port): \(reason)")
    }
    try store.close()
  }

  private func serverConfiguration() throws -> SyncServerConfiguration {
    var configuration = SyncServerConfiguration()
    configuration.address = arguments.host
    configuration.port = arguments.port
    configuration.hostNames = arguments.hostNames
    configuration.allowsAnonymous = arguments.allowAnonymous
    configuration.allowsCreatingDatabases = arguments.manageDatabases
    configuration.allowsDeletingDatabases = arguments.manageDatabases
    if !arguments.collections.isEmpty {
      configuration.databases = .only(Set(arguments.collections))
    }
    if arguments.origins.contains("*") {
      configuration.allowedOrigins = .any
    } else if !arguments.origins.isEmpty {
      configuration.allowedOrigins = .only(Set(arguments.origins))
    }
    if let certificate = arguments.certificate, let key = arguments.key {
      configuration.tls = SyncTLS(certificateFile: certificate, keyFile: key)
    }
    if let limit = arguments.rateLimit {
      // A client that pages sends several requests at once. Arbitrary.
      configuration.rateLimit = SyncRateLimit(
        requestsPerSecond: limit, burst: Int(min(max(20, limit * 2), 1_000_000)))
    }
    if let file = arguments.users {
      let users = try UserFile(path: file)
      configuration.authenticate = { users.user($0) }
    }
    var logger = Logger(label: "nanostore.server") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = arguments.verbose ? .debug : .error
    configuration.logger = logger
    return configuration
  }

  private static func failure(_ sentence: String) -> ExitCode {
    FileHandle.standardError.write(Data("error: \(sentence)\n".utf8))
    return .failure
  }
}
