// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A proxy in front of a server that cuts connections on demand.
///
/// ```swift
/// let proxy = try CuttingProxy(before: server)
/// proxy.cut(afterBytesToClient: 0)   // the server commits, and the acknowledgment is lost
/// ```
public final class CuttingProxy: Sendable {
  public enum Direction: Sendable, CaseIterable {
    case toServer, toClient
  }

  /// How a cut connection ends for both sides.
  public enum Ending: Sendable {
    /// As if the other side had closed it. Bytes that were already forwarded are delivered.
    case finished
    /// With an error, as if the other machine had restarted. Bytes that were already forwarded may be lost.
    case reset
  }

  public let port: Int
  let traffic = ProxyTraffic()
  private let listener: Int32

  public convenience init(before server: PostgresServer) throws {
    try self.init(beforePort: server.port)
  }

  /// - Parameter serverPort: A port on this machine. Connections are reset while no server listens there.
  public init(beforePort serverPort: Int) throws {
    (listener, port) = try Loopback.listen(on: 0)
    Thread.detachNewThread { [traffic, listener] in
      traffic.accept(from: listener, to: serverPort)
    }
  }

  deinit { close() }

  /// Returns the libpq URL of a connection through the proxy.
  public func url(_ database: PostgresServer.Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// Ends all open connections.
  public func cutAll(_ ending: Ending = .reset) { traffic.cutAll(ending) }

  /// Forwards the specified number of bytes to the server, over all connections, and then ends the connection that
  /// sent the last of them: immediately, or if 0, once there is something to forward. Forwarded bytes are delivered.
  ///
  /// The limit applies once. A new limit replaces it, and nil removes it.
  public func cut(afterBytesToServer bytes: Int?) { traffic.limit(.toServer, bytes) }

  /// Does the same for bytes to the client. With 0, the server has executed the request, and its response is lost.
  public func cut(afterBytesToClient bytes: Int?) { traffic.limit(.toClient, bytes) }

  /// Whether new connections are reset before any byte is forwarded.
  public var refuseNew: Bool {
    get { traffic.state.withLock { $0.refusesNew } }
    set { traffic.state.withLock { $0.refusesNew = newValue } }
  }

  /// Delays each forwarded chunk of at most 64 KB.
  public func delay(_ direction: Direction, by time: Duration) {
    traffic.state.withLock { $0.delays[direction] = time }
  }

  /// Returns the number of bytes forwarded since the proxy was created. A byte that has arrived is counted.
  public func bytes(_ direction: Direction) -> Int {
    traffic.state.withLock { $0.bytes[direction] ?? 0 }
  }

  /// The number of connections accepted since the proxy was created, excluding refused ones.
  public var connections: Int { traffic.state.withLock { $0.connections } }

  /// The number of open connections.
  public var openConnections: Int { traffic.state.withLock { $0.open.count } }

  /// Ends all connections and accepts no more.
  public func close() {
    guard traffic.end() else { return }
    cutAll()
    // Wakes the accepting thread, which then closes the listener.
    if let socket = try? Loopback.connect(to: port) { _ = Foundation.close(socket) }
  }
}
