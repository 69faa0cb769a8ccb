// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Stands before a server and loses connections when a test wants that.
///
/// ```swift
/// let proxy = try CuttingProxy(before: server)
/// proxy.cut(afterBytesToClient: 0)   // the server commits, and nobody hears of it
/// ```
public final class CuttingProxy: Sendable {
  public enum Direction: Sendable, CaseIterable {
    case toServer, toClient
  }

  /// How a connection ends for those at its ends.
  public enum Ending: Sendable {
    /// As if the other side had closed it. What was passed on before is delivered.
    case finished
    /// With an error, as if the other side's machine had started anew. What was passed on before may be lost.
    case reset
  }

  public let port: Int
  let traffic = ProxyTraffic()
  private let listener: Int32

  public convenience init(before server: PostgresServer) throws {
    try self.init(beforePort: server.port)
  }

  /// - Parameter serverPort: On this machine. Connections are reset while nobody listens there.
  public init(beforePort serverPort: Int) throws {
    (listener, port) = try Loopback.listen(on: 0)
    Thread.detachNewThread { [traffic, listener] in
      traffic.accept(from: listener, to: serverPort)
    }
  }

  deinit { close() }

  /// What libpq takes for a connection through the proxy.
  public func url(_ database: PostgresServer.Database = .plain) -> String {
    "postgresql://postgres@127.0.0.1:\(port)/\(database)"
  }

  /// Ends all connections that there are now.
  public func cutAll(_ ending: Ending = .reset) { traffic.cutAll(ending) }

  /// Passes so many more bytes to the server, of all connections together, and then ends the one that sent the last
  /// of them: at once, or for 0 when there is something to pass. What was passed is delivered.
  ///
  /// The limit is used up by this. Giving another one replaces it, and nil takes it away.
  public func cut(afterBytesToServer bytes: Int?) { traffic.limit(.toServer, bytes) }

  /// The same for bytes to the client. With 0 the server has done what it was asked for, and its answer is lost.
  public func cut(afterBytesToClient bytes: Int?) { traffic.limit(.toClient, bytes) }

  /// Whether new connections are reset before a byte has passed.
  public var refuseNew: Bool {
    get { traffic.state.withLock { $0.refusesNew } }
    set { traffic.state.withLock { $0.refusesNew = newValue } }
  }

  /// How long each piece of what is passed, of at most 64 KB, waits before it is passed on.
  public func delay(_ direction: Direction, by time: Duration) {
    traffic.state.withLock { $0.delays[direction] = time }
  }

  /// The bytes that were passed on since the proxy was made.
  public func bytes(_ direction: Direction) -> Int {
    traffic.state.withLock { $0.bytes[direction] ?? 0 }
  }

  /// The connections that were accepted since the proxy was made, without those refused.
  public var connections: Int { traffic.state.withLock { $0.connections } }

  /// Those that are there now.
  public var openConnections: Int { traffic.state.withLock { $0.open.count } }

  /// Ends all connections, and takes no more.
  public func close() {
    guard traffic.end() else { return }
    cutAll()
    // Wakes the thread that accepts, which closes it.
    if let socket = try? Loopback.connect(to: port) { _ = Foundation.close(socket) }
  }
}
