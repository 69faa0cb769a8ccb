// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

@testable import NanoServerSupport

/// Sends back what it gets, and counts it.
final class EchoServer: Sendable {
  let port: Int
  private let received = Received()

  /// What the threads share, which outlive the server.
  private final class Received: Sendable {
    let count = Mutex(0)
  }

  init() throws {
    let (listener, port) = try Loopback.listen(on: 0)
    self.port = port
    Thread.detachNewThread { [received] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { continue }
        Thread.detachNewThread { Self.echo(client, received) }
      }
    }
  }

  private static func echo(_ socket: Int32, _ received: Received) {
    let line = Line(socket)
    while true {
      let bytes = line.receiveSome(1 << 16)
      guard !bytes.isEmpty else { return }
      received.count.withLock { $0 += bytes.count }
      try? line.send(bytes)
    }
  }

  /// Whether exactly so many bytes come.
  func wait(for count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while received.count.withLock({ $0 }) < count, ContinuousClock.now < end { usleep(1_000) }
    // Time for those that should not come.
    usleep(20_000)
    return received.count.withLock { $0 } == count
  }
}

/// One end of a connection. It is closed with the value.
final class Line: Sendable {
  private let socket: Int32
  private let lastError = Mutex<Int32>(0)

  init(_ socket: Int32) { self.socket = socket }

  convenience init(to port: Int) throws { self.init(try Loopback.connect(to: port)) }

  deinit { close(socket) }

  /// Whether what was received last was an error instead of the end.
  var wasReset: Bool { lastError.withLock { $0 } == ECONNRESET }

  func send(_ bytes: [UInt8]) throws {
    #if canImport(Darwin)
      var yes: Int32 = 1
      setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { throw SocketFailure("send") }
      rest = rest.dropFirst(count)
    }
  }

  /// So many bytes, or fewer when the connection ends before.
  func receive(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = receiveSome(min(count - bytes.count, 1 << 16))
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  func receiveSome(_ count: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = recv(socket, &buffer, count, 0)
    if received < 0 { lastError.withLock { $0 = errno } }
    return Array(buffer.prefix(max(received, 0)))
  }
}
