// SPDX-License-Identifier: MIT

import Foundation
package import Hummingbird
package import HummingbirdCore
package import Logging
import NIOCore
package import ServiceLifecycle

/// Listens on a port, and passes requests to a responder until it is stopped.
package struct HTTPListener: Sendable {
  package var address: String
  /// The port; 0 lets the system choose one.
  package var port: Int
  /// The maximum number of connections; others wait to be accepted.
  package var maximumConnections = 64
  /// The time that running requests have to finish before they are canceled and their connections closed.
  package var shutdownTimeout = Duration.seconds(1)
  /// Whether `SIGINT`, `SIGTERM` and, unless the process ignores it, `SIGHUP` stop the server, or only the cancellation
  /// of the task.
  package var stopsOnSignals = false
  /// How connections are served.
  package var server = HTTPListener.plain
  /// Services that run beside the server, and are stopped before it.
  package var services: [any Service] = []

  /// Closes connections on which nothing arrives, so that they cannot use up the number of connections. Longer than what
  /// clients and reverse proxies keep connections for, or they would meet a closed one: Caddy's two minutes.
  package static let plain = HTTPServerBuilder.http1(
    configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(150)))

  package init(address: String, port: Int) {
    self.address = address
    self.port = port
  }

  /// Serves until the listener is stopped.
  ///
  /// - Parameter whenReady: Called with the port when the server accepts connections.
  /// - Throws: An I/O error if the server cannot listen.
  package func run<Responder: HTTPResponder>(
    _ responder: Responder, whenReady: @escaping @Sendable (_ port: Int) async -> Void,
    logger: Logger
  ) async throws where Responder.Context == ServerContext {
    let connections = OpenConnections()
    let application = Application(
      responder: CancelableResponder(responder: responder, connections: connections),
      server: server,
      configuration: ApplicationConfiguration(
        address: .hostname(address, port: port), serverName: nil,
        availableConnectionsDelegate: MaximumAvailableConnections(maximumConnections)),
      onServerRunning: { await whenReady($0.localAddress?.port ?? 0) }, logger: logger)
    let deadline = ShutdownDeadline(timeout: shutdownTimeout, connections: connections)
    let group = ServiceGroupConfiguration(
      services: ([application] + services + [deadline]).map { .init(service: $0) },
      gracefulShutdownSignals: stopsOnSignals
        ? [.sigint, .sigterm] + (Self.ignoresHangup() ? [] : [.sighup]) : [],
      logger: logger)
    let running = ServiceGroup(configuration: group)
    // Cancellation must not reach the server: see OpenConnections.
    let serving = Task { try await running.run() }
    try await withTaskCancellationHandler {
      try await serving.value
    } onCancel: {
      Task { await running.triggerGracefulShutdown() }
    }
  }

  /// Whether the process ignores `SIGHUP`, because `nohup` has started it.
  private static func ignoresHangup() -> Bool {
    let handler = signal(SIGHUP, SIG_DFL)
    _ = signal(SIGHUP, handler)
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// The context of a request.
package struct ServerContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// The port on which the request arrived.
  package let port: Int
  /// The IP address of the client.
  package let address: String?
  let channel: any Channel
  /// Where the connection is noted.
  var connections: OpenConnections?

  package init(source: Source) {
    coreContext = .init(source: source)
    port = source.channel.localAddress?.port ?? 0
    address = source.channel.remoteAddress?.ipAddress
    channel = source.channel
  }

  /// Lets a client that closes only its sending half count as gone, so that its request is canceled: the two cannot be
  /// distinguished until something is sent.
  package func cancelsOnClose() {
    _ = channel.setOption(.allowRemoteHalfClosure, value: false)
  }

  /// Calls a closure when the connection is closed, unless another request follows on it before.
  package func onClose(_ action: @escaping @Sendable () -> Void) {
    connections?.onClose(channel, action)
  }
}
