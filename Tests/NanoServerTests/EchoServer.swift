// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

@testable import NanoServerSupport

/// Sends back the bytes that it receives, and counts them.
final class EchoServer: Sendable {
  let port: Int
  private let received = Received()

  /// State shared with the threads, which outlive the server.
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

  /// Waits for bytes, and returns whether exactly the specified number arrived.
  func wait(for count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(300)
    while received.count.withLock({ $0 }) < count, ContinuousClock.now < end { usleep(1_000) }
    // Leaves time for excess bytes.
    usleep(20_000)
    return received.count.withLock { $0 } == count
  }
}

/// One end of a connection, which is closed on deallocation.
final class Line: Sendable {
  private let socket: Int32
  private let lastError = Mutex<Int32>(0)

  init(_ socket: Int32) { self.socket = socket }

  convenience init(to port: Int) throws { self.init(try Loopback.connect(to: port)) }

  deinit { close(socket) }

  /// Whether the last receive failed with a reset instead of the end of the stream.
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

  /// Receives the specified number of bytes, or fewer if the connection ends.
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
