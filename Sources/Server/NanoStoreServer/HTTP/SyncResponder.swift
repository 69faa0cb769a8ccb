// SPDX-License-Identifier: MIT

import HTTPTypes
import Hummingbird
import HummingbirdCore
import NanoSync

/// Translates between Hummingbird and the handler.
struct SyncResponder: Sendable {
  let handler: SyncHandler

  /// - Parameters:
  ///   - mounted: The number of components of the path that belong to the handler; nil if all do.
  ///   - onClose: Calls a closure when the client closes the connection. Without it, a feed fails with its next write.
  func response(
    to request: Request, address: String?, mounted: Int? = nil,
    onClose: ((@escaping @Sendable () -> Void) -> Void)? = nil
  ) async -> Response {
    let parts = BodyParts(request)
    let body = SyncRequestBody {
      do {
        return try await parts.next().map { Array($0.readableBytesView) }
      } catch let error as CancellationError {
        throw error
      } catch {
        // The client's, or the network's: nothing failed here.
        throw ProtocolError.badRequest("The body is malformed or incomplete.")
      }
    }
    let (prefix, target) = Self.split(request.head.path ?? "/", mounted)
    var headers = request.headers
    if let authority = request.head.authority, let name = HTTPField.Name("Host") {
      headers[name] = authority
    }
    guard
      let call = SyncRequest(
        method: request.method.rawValue, target: target, prefix: prefix, headers: headers,
        body: body, address: address)
    else {
      return sent(.error(.badRequest("The URL is malformed.")), request, parts, nil)
    }
    return sent(await handler.respond(to: call), request, parts, onClose)
  }

  /// Separates the prefix under which the handler is mounted from the rest of a target.
  static func split(_ target: String, _ mounted: Int?) -> (prefix: String, target: String) {
    guard let mounted else { return ("", target) }
    let end = target.firstIndex(of: "?") ?? target.endIndex
    let components = target[..<end].split(separator: "/")
    let count = components.count - mounted
    guard count > 0, count <= components.count else { return ("", target) }
    let start = components[count - 1].endIndex
    let rest = target[start...]
    return (String(target[..<start]), rest.hasPrefix("/") ? String(rest) : "/" + rest)
  }

  private func sent(
    _ response: SyncResponse, _ request: Request, _ parts: BodyParts,
    _ onClose: ((@escaping @Sendable () -> Void) -> Void)?
  ) -> Response {
    var headers = response.headers
    // Hummingbird then closes the connection; a client that is not notified uses it again, and fails.
    let isLast = request.headers[.connection]?.lowercased() == "close"
    if isLast { headers[.connection] = "close" }
    let body: ResponseBody
    switch response.body {
    case .bytes(let bytes) where isLast && !parts.haveEnded:
      body = ResponseBody(contentLength: bytes.count) { writer in
        try await writer.write(ByteBuffer(bytes: bytes))
        try await writer.finish(nil)
        // Hummingbird discards the rest of a body before the next request, but not before it closes the connection. A
        // client that sends the whole body before it reads the response would wait forever.
        while try await parts.next() != nil {}
      }
    case .bytes(let bytes): body = ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
    case .stream(let stream):
      if let disconnection = stream.disconnection { onClose?({ disconnection.close() }) }
      body = ResponseBody(contentLength: stream.length) { writer in
        try await stream.produce { try await writer.write(ByteBuffer(bytes: $0)) }
        try await writer.finish(nil)
      }
    }
    return Response(status: .init(code: response.status), headers: headers, body: body)
  }
}

// @unchecked: the handler reads `iterator` until it responds, and then the response does; never both at once.
/// The body of a request as it arrives.
private final class BodyParts: @unchecked Sendable {
  private var iterator: RequestBody.AsyncIterator
  /// Whether nothing follows. What follows the end of a body is the next request.
  private(set) var haveEnded = false

  init(_ request: Request) { iterator = request.body.makeAsyncIterator() }

  func next() async throws -> ByteBuffer? {
    guard !haveEnded else { return nil }
    let part = try await iterator.next()
    haveEnded = part == nil
    return part
  }
}
