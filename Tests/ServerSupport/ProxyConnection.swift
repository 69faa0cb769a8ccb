// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// One connection of a proxy, with a thread for each direction. Both wait only in `poll`, so that a cut can wake
/// them.
final class ProxyConnection: Sendable {
  private typealias Direction = CuttingProxy.Direction

  private struct State {
    var threads = 2
    var cut: CuttingProxy.Ending?
  }

  private let client: Int32
  private let server: Int32
  /// A pipe that becomes readable, and is never read, once the connection is cut.
  private let signal: (reading: Int32, writing: Int32)
  private let state = Mutex(State())
  private let traffic: ProxyTraffic

  /// Takes ownership of the sockets. Returns nil if there are no more descriptors.
  init?(client: Int32, server: Int32, _ traffic: ProxyTraffic) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      Self.reset(client)
      close(server)
      return nil
    }
    self.client = client
    self.server = server
    self.traffic = traffic
    signal = (ends[0], ends[1])
    for descriptor in ends + [client, server] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    for socket in [client, server] {
      _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
      Self.set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
      #if canImport(Darwin)
        Self.set(socket, SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
      #endif
    }
  }

  func start() {
    for direction in Direction.allCases {
      Thread.detachNewThread {
        self.pass(direction)
        self.leave()
      }
    }
  }

  func cut(_ ending: CuttingProxy.Ending) {
    state.withLock { state in
      // The last thread to finish closes this pipe.
      guard state.cut == nil, state.threads > 0 else { return }
      state.cut = ending
      var byte: UInt8 = 0
      _ = write(signal.writing, &byte, 1)
    }
  }

  /// Forwards bytes until the end of the stream or until the connection is cut.
  private func pass(_ direction: Direction) {
    let (source, target) = direction == .toServer ? (client, server) : (server, client)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while wait(for: source, POLLIN) {
      let count = recv(source, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      if count < 0 { return cut(.reset) }
      guard pause(traffic.delay(direction)) else { return }
      if count == 0 {
        shutdown(target, Int32(SHUT_WR))
        return
      }
      let (allowed, isLast) = traffic.allowance(direction, for: count)
      // Counted first, so that whoever has received the bytes finds them counted.
      traffic.passed(direction, allowed)
      guard send(buffer[..<allowed], to: target) else { return }
      if isLast { return cut(.finished) }
    }
  }

  private func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(target, $0.baseAddress, $0.count, flags) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        guard wait(for: target, POLLOUT) else { return false }
      } else if errno != EINTR {
        cut(.reset)
        return false
      }
    }
    return true
  }

  /// Waits for a socket event. Returns false if the connection is cut.
  private func wait(for socket: Int32, _ event: Int32) -> Bool {
    var both = [
      pollfd(fd: signal.reading, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket, events: Int16(event), revents: 0),
    ]
    while poll(&both, 2, -1) < 0 {}
    return both[0].revents == 0
  }

  /// Waits for the specified time. Returns false if the connection is cut.
  private func pause(_ time: Duration) -> Bool {
    guard time > .zero else { return true }
    var one = pollfd(fd: signal.reading, events: Int16(POLLIN), revents: 0)
    let milliseconds = time / Duration.milliseconds(1)
    while poll(&one, 1, Int32(milliseconds.rounded(.up))) < 0 {}
    return one.revents == 0
  }

  /// Closes everything when the last thread finishes.
  private func leave() {
    let last = state.withLock { state in
      state.threads -= 1
      return state.threads == 0 ? Optional(state.cut ?? .finished) : nil
    }
    guard let last else { return }
    for socket in [client, server] {
      if last == .reset {
        Self.reset(socket)
      } else {
        // Closing alone would reset a connection with unread bytes.
        shutdown(socket, Int32(SHUT_WR))
        close(socket)
      }
    }
    close(signal.reading)
    close(signal.writing)
    traffic.forget(self)
  }

  /// Closes a socket so that the other side gets an error.
  static func reset(_ socket: Int32) {
    set(socket, SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
    close(socket)
  }

  private static func set<Value>(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Value) {
    withUnsafePointer(to: value) {
      _ = setsockopt(socket, level, name, $0, socklen_t(MemoryLayout<Value>.size))
    }
  }
}
