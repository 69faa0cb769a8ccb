// SPDX-License-Identifier: MIT

/// An HTTP response of a ``RequestHandler``.
package struct ServerResponse: Sendable {
  package let status: Int
  package let contentType: String
  package let body: [UInt8]

  package init(status: Int = 200, contentType: String, body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// Returns a response with a sentence for a person.
  package static func text(_ status: Int, _ text: String) -> ServerResponse {
    ServerResponse(
      status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }
}

/// Begins a stream of server-sent events. It is canceled when the client closes the connection.
package typealias EventStream = @Sendable () -> AsyncStream<[UInt8]>

/// Responds to requests that have passed the checks of ``AccessRules``.
package protocol RequestHandler: Sendable {
  /// Returns the response. The task is canceled when the client closes the connection.
  func respond(to request: ServerRequest) async -> ServerResponse
  /// Returns the server-sent events for a request; nil if ``respond(to:)`` responds to it.
  func stream(for request: ServerRequest) -> EventStream?
  /// Returns the download for a `GET` request; nil if ``respond(to:)`` responds to it.
  func download(for request: ServerRequest) async -> ServerDownload?
  /// Returns what receives the body of a `POST` request; nil if ``respond(to:)`` responds to it.
  func upload(for request: ServerRequest) -> ServerUpload?
}

extension RequestHandler {
  package func stream(for request: ServerRequest) -> EventStream? { nil }
  package func download(for request: ServerRequest) async -> ServerDownload? { nil }
  package func upload(for request: ServerRequest) -> ServerUpload? { nil }
}
