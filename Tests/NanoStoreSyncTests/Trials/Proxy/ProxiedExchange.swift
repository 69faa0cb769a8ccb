// SPDX-License-Identifier: MIT

import NIOCore
import NIOPosix

/// A request to a proxy, and what becomes of it.
struct ProxiedExchange: Sendable {
  let request: HTTPMessage
  let client: any Channel
  let answer: NIOAsyncChannelOutboundWriter<ByteBuffer>
  let serverPort: Int

  /// - Returns: Whether the connection to the client stays open.
  func run(_ fault: ProxyFault?) async throws -> Bool {
    switch fault {
    case nil: return try await forward(to: answer)
    case .refuse: return false
    case .status(let status):
      try await answer.write(Self.failure(status))
      return true
    case .busy(let seconds):
      try await answer.write(Self.failure(503, "Retry-After: \(seconds)\r\n"))
      return true
    case .cutRequest(let part):
      let bytes = request.closing(true).bytes
      try await withServer { _, sent in
        try await sent.write(ByteBuffer(bytes: bytes.prefix(Int(Double(bytes.count) * part))))
        // Otherwise, the server may not see what was sent before the end.
        try await Task.sleep(for: .milliseconds(2))
      }
      return false
    case .cutAnswer(let length):
      _ = try await forward(to: answer, atMost: length)
      return false
    case .lostAnswer:
      _ = try await forward(to: nil)
      try await answer.write(Self.failure(502))
      return true
    case .duplicate:
      _ = try await forward(to: nil)
      return try await forward(to: answer)
    case .delay(let pause):
      try await Task.sleep(for: pause)
      return try await forward(to: answer)
    case .late(let pause):
      client.close(promise: nil)
      try await Task.sleep(for: pause)
      _ = try await forward(to: nil)
      return false
    }
  }

  private static func failure(_ status: Int, _ headers: String = "") -> ByteBuffer {
    let body = #"{"error":"faulty","reason":"proxy"}"#
    return ByteBuffer(
      string: "HTTP/1.1 \(status) Faulty\r\n\(headers)Content-Type: application/json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Sends the request to the server, on a connection of its own, and passes its answer on.
  ///
  /// - Returns: Whether the whole answer was passed on.
  private func forward(
    to target: NIOAsyncChannelOutboundWriter<ByteBuffer>?, atMost limit: Int = .max
  ) async throws -> Bool {
    // A feed is endless: without a client that reads it, the server only begins to send it.
    let limit = target == nil && request.target.contains("feed=") ? 1 : limit
    return try await withServer { received, sent in
      try await sent.write(ByteBuffer(bytes: request.closing(true).bytes))
      var reader = HTTPMessageReader(received)
      guard let head = try await reader.head() else { return false }
      var piece: [UInt8]? = head.closing(false).bytes
      var rest = limit
      var (length, end) = (-(piece?.count ?? 0), [UInt8]())
      while let bytes = piece {
        try await target?.write(ByteBuffer(bytes: bytes.prefix(rest)))
        rest -= min(rest, bytes.count)
        if rest == 0 { return false }
        length += bytes.count
        end = Array((end + bytes).suffix(5))
        piece = try await reader.piece()
      }
      // Otherwise, the server was killed.
      return head.header("content-length").map { Int($0) == length }
        ?? end.elementsEqual("0\r\n\r\n".utf8)
    }
  }

  private func withServer<Result: Sendable>(
    _ work:
      @Sendable (
        NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>
      ) async throws -> Result
  ) async throws -> Result {
    let server = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: serverPort) { channel in
        channel.eventLoop.makeCompletedFuture { try ProxiedConnection(channel) }
      }
    // A feed that the client no longer reads ends at the server, too.
    let channel = server.channel.channel
    client.closeFuture.whenComplete { [isLate = !client.isActive] _ in
      if !isLate { channel.close(promise: nil) }
    }
    return try await server.channel.executeThenClose { received, sent in
      try await work(received, sent)
    }
  }
}
