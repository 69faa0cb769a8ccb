// SPDX-License-Identifier: MIT

package import HTTPTypes
import NanoDocument
package import NanoSync

/// A response of the replication protocol.
package struct SyncResponse: Sendable {
  package var status: Int
  package var headers: HTTPFields
  package var body: Body

  package enum Body: Sendable {
    case bytes([UInt8])
    /// Bytes that are produced while they are sent. If the closure throws, the connection is closed early, so that the
    /// client does not take the beginning for the whole.
    case stream(Stream)
  }

  package struct Stream: Sendable {
    /// Writes bytes, and returns when the client can receive more.
    package typealias Write = ([UInt8]) async throws -> Void

    /// The length, if it is known.
    package var length: Int?
    /// Tells a stream that waits for events that the client has closed the connection; nil for any other, which fails
    /// when it writes.
    package var disconnection: Disconnection?
    package var produce: @Sendable (Write) async throws -> Void
  }

  package init(status: Int = 200, headers: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  static let json = "application/json"

  /// Returns a response with JSON, which ends with a line feed, as CouchDB's does.
  static func json(
    _ value: DocumentValue, status: Int = 200, headers: HTTPFields = [:]
  ) -> SyncResponse {
    json(SyncJSON.bytes(value), status: status, headers: headers)
  }

  static func json(
    _ bytes: [UInt8], status: Int = 200, headers: HTTPFields = [:]
  ) -> SyncResponse {
    var response = SyncResponse(
      status: status, headers: headers, body: .bytes(bytes + [UInt8(ascii: "\n")]))
    response.headers[.contentType] = json
    if response.headers[.cacheControl] == nil {
      response.headers[.cacheControl] = "must-revalidate"
    }
    return response
  }

  static func stream(
    status: Int = 200, contentType: String = json, length: Int? = nil,
    disconnection: Disconnection? = nil,
    headers: HTTPFields = [:], _ produce: @escaping @Sendable (Stream.Write) async throws -> Void
  ) -> SyncResponse {
    var response = SyncResponse(
      status: status, headers: headers,
      body: .stream(Stream(length: length, disconnection: disconnection, produce: produce)))
    response.headers[.contentType] = contentType
    if response.headers[.cacheControl] == nil {
      response.headers[.cacheControl] = "must-revalidate"
    }
    return response
  }

  /// Returns the response to a client that has the content.
  static func notModified(_ tag: String) -> SyncResponse {
    var response = SyncResponse(status: 304)
    response.headers[.eTag] = tag
    return response
  }

  package static func error(_ error: ProtocolError) -> SyncResponse {
    json(["error": .string(error.name), "reason": .string(error.reason)], status: error.status)
  }

  static let accepted: DocumentValue = ["ok": true]
}
