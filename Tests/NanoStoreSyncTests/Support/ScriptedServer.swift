// SPDX-License-Identifier: MIT

import Foundation
import NIOCore
import NIOPosix
import NanoDocument
import Synchronization

/// A server on a port of this machine whose answers a test determines byte by byte.
final class ScriptedServer: Sendable {
  struct Request: Sendable {
    var method: String
    /// The path as it was sent, without the query.
    var path: String
    /// The query, decoded.
    var query: [String: String]
    /// By name in small letters.
    var headers: [String: String]
    var body: [UInt8]

    var json: DocumentObject { (try? DocumentObject(json: body, dialect: .plain)) ?? [:] }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  /// What the server does after a request.
  enum Step: Sendable {
    case send([UInt8])
    /// Waits until the client closes the connection.
    case hang
    /// Waits until a gate opens.
    case wait(Gate)
    case close
  }

  typealias Handler = @Sendable (Request) async -> [Step]

  let port: Int
  var url: String { "http://127.0.0.1:\(port)" }
  private let received = Mutex<[Request]>([])
  /// Opens when a client closed a connection on which the server was waiting.
  let hungUp = Gate()

  /// The requests so far.
  var requests: [Request] { received.withLock { $0 } }
  /// Their methods and paths.
  var log: [String] { requests.map { "\($0.method) \($0.path)" } }

  private init(port: Int) { self.port = port }

  /// Runs a server while a closure runs.
  ///
  /// - Parameter answersEarly: Whether it answers before it has read the body of a request.
  static func serving<Result: Sendable>(
    _ handler: @escaping Handler, answersEarly: Bool = false,
    while work: @escaping @Sendable (ScriptedServer) async throws -> Result
  ) async throws -> Result {
    let accepted = AsyncStream<Connection>.makeStream()
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let received = AsyncStream<ByteBuffer>.makeStream()
          try channel.pipeline.syncOperations.addHandler(Receiver(received.continuation))
          accepted.continuation.yield(Connection(channel: channel, received: received.stream))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    defer { listener.close(promise: nil) }
    let server = ScriptedServer(port: listener.localAddress?.port ?? 0)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        await withTaskGroup(of: Void.self) { group in
          for await connection in accepted.stream {
            group.addTask { await server.serve(connection, handler, answersEarly) }
          }
        }
        return nil
      }
      group.addTask { try await work(server) }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  private struct Connection: Sendable {
    let channel: any Channel
    let received: AsyncStream<ByteBuffer>
  }

  /// Passes on what a connection receives.
  private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let received: AsyncStream<ByteBuffer>.Continuation

    init(_ received: AsyncStream<ByteBuffer>.Continuation) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received.yield(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) { received.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  private func serve(
    _ connection: Connection, _ handler: Handler, _ answersEarly: Bool
  ) async {
    defer { connection.channel.close(promise: nil) }
    var reader = RequestReader(ignoresBodies: answersEarly)
    var pieces = connection.received.makeAsyncIterator()
    while true {
      while reader.request == nil {
        guard let piece = await pieces.next() else { return }
        reader.read(piece)
      }
      guard let request = reader.take() else { return }
      received.withLock { $0.append(request) }
      for step in await handler(request) {
        switch step {
        case .send(let bytes):
          do {
            try await connection.channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
          } catch {
            hungUp.open()
            return
          }
        case .hang:
          while await pieces.next() != nil {}
          hungUp.open()
          return
        case .wait(let gate): await gate.wait()
        case .close: return
        }
      }
    }
  }
}

/// Reads requests from a connection.
private struct RequestReader {
  let ignoresBodies: Bool
  private var bytes: [UInt8] = []
  private(set) var request: ScriptedServer.Request?
  private var isFollowing = false

  init(ignoresBodies: Bool) { self.ignoresBodies = ignoresBodies }

  mutating func read(_ piece: ByteBuffer) {
    bytes += piece.readableBytesView
    advance()
  }

  mutating func take() -> ScriptedServer.Request? {
    defer {
      request = nil
      advance()
    }
    return request
  }

  private mutating func advance() {
    // What follows the head of a request is its body.
    guard request == nil, !(ignoresBodies && isFollowing),
      let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))
    else { return }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] =
        parts.count > 1 ? parts[1].drop { $0 == " " }.description : ""
    }
    // Clients of ours always state the length.
    let length = ignoresBodies ? 0 : Int(headers["content-length"] ?? "") ?? 0
    guard bytes.count >= end.upperBound + length else { return }
    let start = lines[0].split(separator: " ")
    let target = start[1].split(separator: "?", maxSplits: 1)
    var query: [String: String] = [:]
    for pair in target.count > 1 ? target[1].split(separator: "&") : [] {
      let parts = pair.split(separator: "=", maxSplits: 1)
      query[String(parts[0])] = parts.count > 1 ? parts[1].removingPercentEncoding : ""
    }
    request = ScriptedServer.Request(
      method: String(start[0]), path: String(target[0]), query: query, headers: headers,
      body: Array(bytes[end.upperBound..<(end.upperBound + length)]))
    bytes.removeFirst(end.upperBound + length)
    isFollowing = true
  }
}

extension [ScriptedServer.Step] {
  /// An answer with a body of known length.
  static func answer(
    _ status: Int, _ body: [UInt8], _ headers: [String: String] = [:]
  ) -> [ScriptedServer.Step] {
    [.head(status, headers.merging(["Content-Length": "\(body.count)"]) { $1 }), .send(body)]
  }

  static func json(
    _ status: Int, _ text: String, _ headers: [String: String] = [:]
  ) -> [ScriptedServer.Step] {
    answer(
      status, [UInt8](text.utf8), headers.merging(["Content-Type": "application/json"]) { $1 })
  }

  /// The error that CouchDB reports for what does not exist.
  static var missing: [ScriptedServer.Step] {
    .json(404, #"{"error":"not_found","reason":"missing"}"#)
  }

  /// The answer about an existing database.
  static var database: [ScriptedServer.Step] {
    .json(200, #"{"db_name":"notes","update_seq":"3-abc","instance_start_time":"0"}"#)
  }

  /// An answer in chunks.
  static func chunked(_ status: Int, _ chunks: [String]) -> [ScriptedServer.Step] {
    [.head(status, ["Transfer-Encoding": "chunked"])] + chunks.map { .chunk($0) } + [
      .text("0\r\n\r\n")
    ]
  }

  /// What the server sends, without pauses.
  var bytes: [UInt8] {
    flatMap { step -> [UInt8] in
      if case .send(let bytes) = step { bytes } else { [] }
    }
  }
}

extension ScriptedServer.Step {
  static func text(_ text: String) -> ScriptedServer.Step { .send(Array(text.utf8)) }

  /// The status and the headers of an answer.
  static func head(_ status: Int, _ headers: [String: String]) -> ScriptedServer.Step {
    let lines = headers.map { "\($0): \($1)\r\n" }.sorted().joined()
    return .text("HTTP/1.1 \(status) Status\r\n\(lines)\r\n")
  }

  static func chunk(_ text: String) -> ScriptedServer.Step {
    .text("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
  }
}

/// Something that happens once, for which others wait.
final class Gate: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func open() { continuation.finish() }
  func wait() async { for await _ in stream {} }
}
