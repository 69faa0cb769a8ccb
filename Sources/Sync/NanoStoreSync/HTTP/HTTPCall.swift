// SPDX-License-Identifier: MIT

import NIOCore
import NIOHTTP1
import NanoDocument

/// A request to a peer.
struct HTTPCall: Sendable {
  var method: HTTPMethod
  var url: String
  var headers: HTTPHeaders
  var body: HTTPBody?
  /// Whether a session is not asked for when there is none, because this call asks for it.
  var isAuthorized = true
  /// How long the peer may take to answer after the request was sent.
  var patience: Patience = .reading

  enum Patience: Sendable {
    case reading
    case writing
  }

  init(_ method: HTTPMethod, _ url: String, _ body: HTTPBody? = nil) {
    self.method = method
    self.url = url
    self.body = body
    headers = ["Accept": "application/json", "Accept-Encoding": "gzip"]
    if let body { headers.add(name: "Content-Type", value: body.contentType) }
  }
}

enum HTTPBody: Sendable {
  case json([UInt8])
  case form([(String, String)])
  case multipart(MultipartBody)

  static func json(_ object: DocumentObject) -> HTTPBody {
    var writer = JSONWriter(capacity: 1_024)
    writer.text(.object(object), dialect: .plain)
    return .json(writer.withBytes { Array($0) })
  }

  var contentType: String {
    switch self {
    case .json: "application/json"
    case .form: "application/x-www-form-urlencoded"
    case .multipart(let body): body.contentType
    }
  }
}

/// The time limits of exchanges.
package struct HTTPLimits: Sendable {
  /// How long establishing a connection may take. It applies to clients that are created with
  /// ``HTTPPeer/configuration(_:)``.
  package var connecting: Duration = .seconds(10)
  /// The longest pause in which the peer sends nothing. Three heartbeats of a feed.
  package var silence: Duration = .seconds(30)
  /// The longest time until the answer to a write begins: the peer may index or replicate first.
  package var writing: Duration = .seconds(60)
  /// How long a call waits for changes.
  package var waiting: Duration = .seconds(60)

  package init() {}
}
