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
