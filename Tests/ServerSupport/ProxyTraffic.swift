// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// The state shared by the connections of a proxy.
final class ProxyTraffic: Sendable {
  typealias Direction = CuttingProxy.Direction

  struct State {
    var open: [ObjectIdentifier: ProxyConnection] = [:]
    var connections = 0
    var bytes: [Direction: Int] = [:]
    var limits: [Direction: Int] = [:]
    var delays: [Direction: Duration] = [:]
    var refusesNew = false
    var hasEnded = false
  }

  let state = Mutex(State())

  /// Accepts connections until the proxy is closed.
  func accept(from listener: Int32, to port: Int) {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      let (hasEnded, refusesNew) = state.withLock { ($0.hasEnded, $0.refusesNew) }
      if hasEnded {
        if client >= 0 { close(client) }
        break
      }
      if client < 0 {
        // The client disconnected already, or there are no more descriptors at the moment.
        usleep(1_000)
        continue
      }
      guard !refusesNew, let server = try? Loopback.connect(to: port) else {
        ProxyConnection.reset(client)
        continue
      }
      guard let connection = ProxyConnection(client: client, server: server, self) else { continue }
      let isTaken = state.withLock { state in
        guard !state.hasEnded else { return false }
        state.open[ObjectIdentifier(connection)] = connection
        state.connections += 1
        return true
      }
      if !isTaken { connection.cut(.reset) }
      connection.start()
    }
    close(listener)
  }

  /// Marks the proxy as closed. Returns false if it already was.
  func end() -> Bool {
    state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
  }

  func cutAll(_ ending: CuttingProxy.Ending) {
    for connection in state.withLock({ Array($0.open.values) }) { connection.cut(ending) }
  }

  func limit(_ direction: Direction, _ bytes: Int?) {
    state.withLock { $0.limits[direction] = bytes }
  }

  /// Returns how many of the bytes may be forwarded, and whether the connection is then cut. Deducts them from the
  /// limit.
  func allowance(_ direction: Direction, for count: Int) -> (count: Int, isLast: Bool) {
    state.withLock { state in
      guard let limit = state.limits[direction] else { return (count, false) }
      guard limit > count else {
        state.limits[direction] = nil
        return (limit, true)
      }
      state.limits[direction] = limit - count
      return (count, false)
    }
  }

  func passed(_ direction: Direction, _ count: Int) {
    state.withLock { $0.bytes[direction, default: 0] += count }
  }

  func delay(_ direction: Direction) -> Duration {
    state.withLock { $0.delays[direction] ?? .zero }
  }

  func forget(_ connection: ProxyConnection) {
    state.withLock { $0.open[ObjectIdentifier(connection)] = nil }
  }
}
