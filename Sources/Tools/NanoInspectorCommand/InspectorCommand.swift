// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import Logging
import NanoCLI
import NanoInspector
import NanoServer
import NanoStoreCore

/// Serves the pages that show a store.
struct InspectorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nanostore-inspector",
    abstract: "Show a store in the browser while other programs use it.",
    discussion: """
      Prints a URL with a random token and serves it until interrupted. Unless --write is given, the store is opened \
      read-only; unless --host is given, the server accepts connections from this machine only.
      """)

  @OptionGroup var arguments: InspectOptions

  /// Maintenance that another process of this program requests; see ``MaintenanceProcess``.
  @Option(help: .hidden) var perform: MaintenanceTask?

  func validate() throws {
    if let token = arguments.token, AccessToken(token) == nil {
      throw ValidationError(
        "--token requires at least \(AccessToken.minimumLength) letters, digits, '-' and '_'")
    }
  }

  func run() async throws {
    if let perform { return try await MaintenanceProcess.perform(perform, arguments) }
    let store: Store
    do {
      store = try InspectedStore.open(
        arguments.database, allowsWrites: arguments.write, isImmutable: arguments.immutable)
    } catch {
      throw Self.failure(InspectedStore.sentence(error))
    }
    let token = arguments.token.flatMap { AccessToken($0) } ?? AccessToken()
    let link = arguments.open ? OneTimeLink() : nil
    let server = HTTPServer(
      Inspector(store, options: options),
      rules: AccessRules(
        token: token, names: [Self.bracketed(arguments.host)] + arguments.hostNames,
        link: link),
      configuration: configuration, logger: Self.logger)
    do {
      try await server.run(stopsOnSignals: true) { [arguments, options] port in
        let origin = "http://\(Self.name(for: arguments)):\(port)"
        print(TerminalText.text("Inspector of \(options.location): \(origin)/\(token.text)/"))
        print(
          options.allowsWrites ? "Pages may change the store." : "The store is opened read-only.")
        print("Press Control-C to stop.")
        // The output may be a pipe, which is flushed only when it is full.
        fflush(nil)
        if let link { Browser.open("\(origin)/\(link.path)") }
      }
    } catch {
      let reason = ListeningFailure.reason(error)
      let host = TerminalText.text(arguments.host)
      throw Self.failure(
        "The inspector cannot listen on \(host), port \(arguments.port): \(reason)")
    }
    try store.close()
  }

  private var options: InspectorOptions {
    var options = InspectorOptions(location: InspectedStore.displayName(of: arguments.database))
    options.allowsWrites = arguments.write
    options.timeLimit = .milliseconds(arguments.timeLimit)
    options.maintenance = { [arguments] in try await MaintenanceProcess.run($0, arguments) }
    options.pagesFolder = arguments.pages.map { URL(filePath: $0, directoryHint: .isDirectory) }
    return options
  }

  private var configuration: HTTPServerConfiguration {
    var configuration = HTTPServerConfiguration()
    configuration.address = arguments.host
    configuration.port = arguments.port
    return configuration
  }

  private static var logger: Logger {
    var logger = Logger(label: "nanostore.inspector") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    return logger
  }

  /// The name in the URL.
  private static func name(for arguments: InspectOptions) -> String {
    arguments.hostNames.first ?? bracketed(arguments.host)
  }

  /// The form of an address in a URL and in the header `Host`.
  private static func bracketed(_ host: String) -> String {
    host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }

  private static func failure(_ sentence: String) -> ExitCode {
    FileHandle.standardError.write(Data("error: \(sentence)\n".utf8))
    return .failure
  }
}
