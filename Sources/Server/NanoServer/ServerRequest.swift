// SPDX-License-Identifier: MIT

package import Foundation

/// An HTTP request that has passed the checks of ``AccessRules``.
package struct ServerRequest: Sendable {
  /// The HTTP methods that handlers can receive.
  package enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
  }

  package let method: Method
  /// The decoded components of the path after the token.
  package let path: [String]
  /// The decoded parameters of the query string, in order.
  package let parameters: [(name: String, value: String)]
  /// The body; empty for `GET`.
  package let body: Data

  package init(
    method: Method = .get, path: [String], parameters: [(name: String, value: String)] = [],
    body: Data = Data()
  ) {
    self.method = method
    self.path = path
    self.parameters = parameters
    self.body = body
  }

  /// Returns the first parameter with this name; nil if it is missing or empty.
  package subscript(name: String) -> String? {
    parameters.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
  }
}

/// An HTTP target such as `/token/api/store?a=1`, decoded.
struct RequestTarget {
  let path: [String]
  let parameters: [(name: String, value: String)]

  /// Nil if the target is not an absolute path, or an escape is malformed.
  init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path: [String] = []
    for component in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = Self.decoded(component) else { return nil }
      path.append(decoded)
    }
    self.path = path
    var parameters: [(name: String, value: String)] = []
    for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(sides[0]),
        let value = sides.count > 1 ? Self.decoded(sides[1]) : ""
      else { return nil }
      parameters.append((name, value))
    }
    self.parameters = parameters
  }

  /// Decodes percent escapes. A plus sign stays one: pages encode spaces as `%20`.
  private static func decoded(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
