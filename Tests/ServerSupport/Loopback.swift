// SPDX-License-Identifier: MIT

import Foundation

/// A failed system call.
struct SocketFailure: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  init(_ call: String) {
    self.call = call
    code = errno
  }

  var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// TCP connections on the local machine, using system calls directly.
enum Loopback {
  #if canImport(Darwin)
    private static let stream = SOCK_STREAM
  #else
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #endif

  /// Returns an unused port, below those that the system assigns: connections of other tests would take one of these
  /// before the server listens.
  static func freePort() throws -> Int {
    for _ in 0..<1_000 {
      guard let (socket, port) = try? listen(on: .random(in: 15_000..<32_000)) else { continue }
      close(socket)
      return port
    }
    throw SocketFailure("listen")
  }

  /// - Parameter port: The port, or 0 for any unused one.
  static func listen(on port: Int) throws -> (socket: Int32, port: Int) {
    let socket = try make()
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = address(port)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let done = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.bind(socket, $0, size) == 0 && Foundation.listen(socket, 64) == 0
          && getsockname(socket, $0, &size) == 0
      }
    }
    guard done else {
      defer { close(socket) }
      throw SocketFailure("listen")
    }
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
  }

  static func connect(to port: Int) throws -> Int32 {
    let socket = try make()
    var address = address(port)
    let done = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard done else {
      defer { close(socket) }
      throw SocketFailure("connect")
    }
    return socket
  }

  /// Returns whether a server accepts connections on the port.
  static func isOpen(_ port: Int) -> Bool {
    guard let socket = try? connect(to: port) else { return false }
    close(socket)
    return true
  }

  private static func make() throws -> Int32 {
    let socket = socket(AF_INET, stream, 0)
    guard socket >= 0 else { throw SocketFailure("socket") }
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    return socket
  }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
