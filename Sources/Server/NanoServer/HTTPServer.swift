// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore

/// An HTTP server that checks every request and passes it to a handler.
///
/// Connections are not kept alive: while a handler runs, the server watches the connection, and cancels the handler's
/// task when the client closes it. A connection through the loopback interface costs less than a millisecond.
package struct HTTPServer<Handler: RequestHandler>: Sendable {
  private let handler: Handler
  private let rules: AccessRules
  private let configuration: HTTPServerConfiguration
  private let logger: Logger

  package init(
    _ handler: Handler, rules: AccessRules,
    configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
    logger: Logger
  ) {
    self.handler = handler
    self.rules = rules
    self.configuration = configuration
    self.logger = logger
  }

  /// Serves until the task is canceled or, if `stopsOnSignals` is set, the process receives `SIGINT` or `SIGTERM`.
  ///
  /// - Parameter whenReady: Called with the port when the server accepts connections.
  /// - Throws: An I/O error if the server cannot listen.
  package func run(
    stopsOnSignals: Bool = false, whenReady: @escaping @Sendable (_ port: Int) async -> Void
  ) async throws {
    var listener = HTTPListener(address: configuration.address, port: configuration.port)
    listener.maximumConnections = configuration.maximumConnections
    // Streams end by cancellation. A second is enough for them, and for a response that is being written.
    listener.shutdownTimeout = .seconds(1)
    listener.stopsOnSignals = stopsOnSignals
    try await listener.run(
      CallbackResponder<ServerContext> { await response(to: $0, context: $1) },
      whenReady: whenReady, logger: logger)
  }

  private func response(to request: Request, context: ServerContext) async -> Response {
    let headers = request.headers
    let decision = rules.decision(
      on: AccessRules.Head(
        method: request.method.rawValue, target: request.head.path ?? "",
        host: request.head.authority, origin: headers[.origin],
        site: HTTPField.Name("Sec-Fetch-Site").flatMap { headers[$0] },
        mode: HTTPField.Name("Sec-Fetch-Mode").flatMap { headers[$0] },
        contentType: headers[.contentType]), port: context.port)
    switch decision {
    case .rejected(let status, let reason): return sent(.text(status, reason + "\n"), request)
    case .redirected(let path):
      var fields = self.headers("text/plain; charset=utf-8")
      fields[.location] = path
      return Response(status: .seeOther, headers: fields)
    case .accepted(let method, let path, let parameters):
      let head = ServerRequest(method: method, path: path, parameters: parameters)
      if let stream = handler.stream(for: head) { return streamed(stream, request) }
      if method == .get, let download = await handler.download(for: head) {
        return downloaded(download, request)
      }
      if method == .post, let upload = handler.upload(for: head) {
        return await uploaded(upload, request)
      }
      do {
        let response = try await request.body.consumeWithCancellationOnInboundClose { body in
          let bytes = try await body.collect(upTo: configuration.maximumBody)
          return await handler.respond(
            to: ServerRequest(
              method: method, path: path, parameters: parameters,
              body: Data(bytes.readableBytesView)))
        }
        return sent(response, request)
      } catch is CancellationError {
        return sent(.text(408, "The request was cancelled.\n"), request)
      } catch is NIOTooManyBytesError {
        return sent(
          .text(413, "The body is longer than \(configuration.maximumBody) bytes.\n"), request)
      } catch {
        return sent(.text(400, "The body of the request is malformed.\n"), request)
      }
    }
  }

  private func sent(_ response: ServerResponse, _ request: Request) -> Response {
    Response(
      status: .init(code: response.status), headers: headers(response.contentType),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
  }

  /// Returns a response whose body is written until the stream ends, the client closes the connection, or the server
  /// shuts down.
  private func streamed(_ produce: @escaping EventStream, _ request: Request) -> Response {
    let body = ResponseBody { writer in
      // A stream that fails ends, and the client connects again.
      try? await request.body.consumeWithCancellationOnInboundClose { _ in
        for await bytes in produce().cancelOnGracefulShutdown() {
          try await writer.write(ByteBuffer(bytes: bytes))
        }
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers("text/event-stream"), body: body)
  }

  /// Returns a response whose body is written while it is produced. If it fails, the connection is closed early.
  private func downloaded(_ download: ServerDownload, _ request: Request) -> Response {
    let body = ResponseBody(contentLength: download.length) { writer in
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await download.body { try await writer.write(ByteBuffer(bytes: $0)) }
      }
      try await writer.finish(nil)
    }
    var headers = headers(download.contentType)
    headers[.contentDisposition] = download.disposition
    return Response(status: .init(code: download.status), headers: headers, body: body)
  }

  /// Passes on the parts of a body, which may be of any length.
  private func uploaded(_ upload: ServerUpload, _ request: Request) async -> Response {
    do {
      let response = try await request.body.consumeWithCancellationOnInboundClose { body in
        var parts = body.makeAsyncIterator()
        return await upload(
          ServerUploadBody(length: request.headers[.contentLength].flatMap { Int($0) }) {
            try await parts.next().map { Array($0.readableBytesView) }
          })
      }
      return sent(response, request)
    } catch {
      return sent(.text(408, "The request was cancelled.\n"), request)
    }
  }

  private func headers(_ contentType: String) -> HTTPFields {
    var headers = HTTPFields()
    SecurityHeaders.add(to: &headers)
    headers[.contentType] = contentType
    headers[.connection] = "close"
    return headers
  }
}

/// The settings of an ``HTTPServer``.
package struct HTTPServerConfiguration: Sendable {
  /// The address to listen on; the loopback interface by default.
  package var address = "127.0.0.1"
  /// The port; 0 lets the system choose one.
  package var port = 0
  /// The maximum number of connections; others wait to be accepted.
  package var maximumConnections = 64
  /// The maximum length of a request's body.
  package var maximumBody = 32 << 20

  package init() {}
}
