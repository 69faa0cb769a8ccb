// SPDX-License-Identifier: MIT

package import HTTPTypes
import NanoServer

/// A request of the replication protocol, independent of the server that received it.
package struct SyncRequest {
  package let method: String
  /// The decoded components of the path after the prefix under which the server is mounted. Nothing is normalized:
  /// `.`, `..` and escaped slashes are data.
  package let path: [String]
  /// The prefix, such as `/sync`; empty at the root.
  package let prefix: String
  package let parameters: [(name: String, value: String)]
  package let headers: HTTPFields
  package let body: SyncRequestBody
  /// The address of the client, if it is known.
  package let address: String?

  /// - Parameter target: The path and the query, as received; nil if an escape in it is malformed.
  package init?(
    method: String, target: String, prefix: String = "", headers: HTTPFields = [:],
    body: SyncRequestBody = .empty, address: String? = nil
  ) {
    guard let target = RequestTarget(target, plusIsSpace: true) else { return nil }
    self.init(
      method: method, path: target.path, prefix: prefix, parameters: target.parameters,
      headers: headers, body: body, address: address)
  }

  package init(
    method: String, path: [String], prefix: String = "",
    parameters: [(name: String, value: String)] = [], headers: HTTPFields = [:],
    body: SyncRequestBody = .empty, address: String? = nil
  ) {
    self.method = method
    // `/db/` is `/db`, and `/db/doc/` is `/db/doc`; of an attachment's path, the slash is part of the name.
    let hasSlash = path.last?.isEmpty == true && path.count <= 3
    self.path = hasSlash ? Array(path.dropLast()) : path
    self.prefix = prefix
    self.parameters = parameters
    self.headers = headers
    self.body = body
    self.address = address
  }

  package func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

  /// The value of a parameter; nil if it is missing.
  package subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The method, in which `HEAD` is a `GET` whose body is not sent.
  var verb: String { method == "HEAD" ? "GET" : method }

  func isTrue(_ name: String) -> Bool { self[name] == "true" }

  /// The media types that the client accepts, without their parameters; empty if it does not say.
  var accepted: [String] {
    (headers[.accept] ?? "").split(separator: ",").map {
      String($0.prefix { $0 != ";" }).trimmingSpaces.lowercased()
    }
  }

  /// Whether the client accepts a media type, as it does if it does not say.
  func accepts(_ type: String) -> Bool {
    let group = type.prefix { $0 != "/" } + "/*"
    return accepted.isEmpty
      || accepted.contains { $0 == type || $0 == group || $0 == "*/*" }
  }

  var contentType: String {
    (headers[.contentType] ?? "").prefix { $0 != ";" }.description.trimmingSpaces.lowercased()
  }

  /// Whether the client has the response with this entity tag.
  func hasCopy(_ tag: String) -> Bool {
    (headers[.ifNoneMatch] ?? "").split(separator: ",").contains {
      let known = String($0).trimmingSpaces
      return known == "*" || known == tag || known == "W/\(tag)"
    }
  }

  /// The header `Range`; nil if the client has a part of content with another entity tag, or does not know its tag.
  func range(of tag: String) -> String? {
    guard headers[.ifRange].map({ $0.trimmingSpaces == tag }) ?? true else { return nil }
    return headers[.range]
  }
}

extension String {
  var trimmingSpaces: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
