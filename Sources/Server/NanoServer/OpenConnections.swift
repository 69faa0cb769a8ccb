// SPDX-License-Identifier: MIT

import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// The connections that have sent a request. They are closed when the time that requests have to finish is over.
///
/// The server itself is not canceled: it would drop the connections that it has accepted but not yet begun to serve, and
/// the `deinit` of their NIOAsyncWriter ends the process. `ServiceGroup` also ends the process if a canceled service
/// takes longer than `maximumCancellationDuration`, which no busy machine can promise.
final class OpenConnections: Sendable {
  private struct Connection {
    let channel: any Channel
    /// Cancels the request that is being answered; a connection has at most one at a time. A task keeps its result, the
    /// response, so it must not outlive the request.
    var cancel: (@Sendable () -> Void)?
    /// Is called when the connection is closed. The next request on the connection removes it.
    var closed: (@Sendable () -> Void)?
  }

  private struct State {
    var connections: [ObjectIdentifier: Connection] = [:]
    var isClosing = false
  }

  private let state = Mutex(State())

  /// Notes a connection that has sent a request, until it is closed.
  fileprivate func add(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let isNew = state.withLock { state in
      state.connections.updateValue(Connection(channel: channel), forKey: id) == nil
    }
    guard isNew else { return }
    channel.closeFuture.whenComplete { [self] _ in
      let connection = state.withLock { $0.connections.removeValue(forKey: id) }
      connection?.cancel?()
      connection?.closed?()
    }
  }

  /// Sets what is called when a connection is closed. One for each connection: callbacks of its future stay until then.
  func onClose(_ channel: any Channel, _ action: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      let id = ObjectIdentifier(channel)
      state.connections[id]?.closed = action
      return state.connections[id] != nil
    }
    if !isOpen { action() }
  }

  /// Notes what cancels the request of a connection, and cancels it if the connection is closed already.
  fileprivate func begin(_ channel: any Channel, cancel: @escaping @Sendable () -> Void) {
    let (isOpen, isClosing) = state.withLock { state in
      let id = ObjectIdentifier(channel)
      state.connections[id]?.cancel = cancel
      return (state.connections[id] != nil, state.isClosing)
    }
    if isClosing || !isOpen { close(Connection(channel: channel, cancel: cancel)) }
  }

  /// Notes that a request was answered; its response may still be on the way.
  fileprivate func end(_ channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)]?.cancel = nil }
  }

  /// Cancels all requests and closes their connections, also those of requests that begin later.
  fileprivate func closeAll() {
    let open = state.withLock { state in
      state.isClosing = true
      return Array(state.connections.values)
    }
    for connection in open { close(connection) }
  }

  private func close(_ connection: Connection) {
    connection.cancel?()
    connection.channel.close(promise: nil)
  }
}

/// Passes requests to another responder as tasks that can be canceled.
struct CancelableResponder<Responder: HTTPResponder>: HTTPResponder
where Responder.Context == ServerContext {
  let responder: Responder
  let connections: OpenConnections

  func respond(to request: Request, context: ServerContext) async throws -> Response {
    var context = context
    context.connections = connections
    connections.add(context.channel)
    let response = Task { [context] in
      try await responder.respond(to: request, context: context)
    }
    connections.begin(context.channel) { response.cancel() }
    defer { connections.end(context.channel) }
    return try await withTaskCancellationHandler {
      try await response.value
    } onCancel: {
      response.cancel()
    }
  }
}

/// Closes the connections when a graceful shutdown has lasted for a time.
struct ShutdownDeadline: Service {
  let timeout: Duration
  let connections: OpenConnections

  func run() async throws {
    try? await gracefulShutdown()
    // Not awaited: the group stops the server only when this service has ended.
    Task {
      try? await Task.sleep(for: timeout)
      connections.closeAll()
    }
  }
}
