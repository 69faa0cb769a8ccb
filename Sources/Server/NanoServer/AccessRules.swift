// SPDX-License-Identifier: MIT

/// Decides which requests a server responds to.
///
/// A web page of another origin can send requests to a port of this machine, and a page whose name is rebound to
/// `127.0.0.1` can even read the responses. So a request needs the token, has to name this server in `Host`, and must
/// not come from another origin.
package struct AccessRules: Sendable {
  /// The token, the first component of every path: relative links contain it, and unlike a cookie, it is not sent to
  /// other ports of the machine.
  package let token: AccessToken
  /// The names by which clients may address the server, in lowercase.
  private let names: [String]
  private let link: OneTimeLink?

  /// The maximum length of a request's target; arbitrary, and twice what browsers can handle with ease.
  package static let maximumTarget = 16 << 10
  /// The types of bodies: calls, and files.
  private static let types = ["application/json", "application/octet-stream"]

  /// - Parameters:
  ///   - names: Names beyond those of the loopback interface.
  ///   - link: A path that leads to the page without the token.
  package init(token: AccessToken, names: [String] = [], link: OneTimeLink? = nil) {
    self.token = token
    self.link = link
    self.names = ["127.0.0.1", "localhost", "[::1]"] + names.map { $0.lowercased() }
  }

  /// What the decision depends on.
  package struct Head: Sendable {
    package var method: String
    package var target: String
    package var host: String?
    package var origin: String?
    /// The header `Sec-Fetch-Site`, which browsers send and scripts cannot change.
    package var site: String?
    /// The header `Sec-Fetch-Mode`.
    package var mode: String?
    package var contentType: String?

    package init(
      method: String = "GET", target: String, host: String?, origin: String? = nil,
      site: String? = nil, mode: String? = nil, contentType: String? = nil
    ) {
      self.method = method
      self.target = target
      self.host = host
      self.origin = origin
      self.site = site
      self.mode = mode
      self.contentType = contentType
    }
  }

  package enum Decision: Sendable {
    case accepted(ServerRequest.Method, path: [String], parameters: [(name: String, value: String)])
    case rejected(status: Int, reason: String)
    case redirected(path: String)
  }

  /// Checks the head of a request to the server's port.
  package func decision(on head: Head, port: Int) -> Decision {
    // Before the token, so that a rebound name learns nothing.
    guard let host = head.host, isOwn(host, port: port) else {
      return .rejected(status: 421, reason: "The request is for another host.")
    }
    if let origin = head.origin {
      guard origin.hasPrefix("http://"), isOwn(String(origin.dropFirst(7)), port: port) else {
        return .rejected(status: 403, reason: "The request comes from a page of another origin.")
      }
    }
    if let site = head.site, site != "same-origin", site != "none" {
      // A link on another page may open the URL, for example in a terminal in the browser.
      guard head.method == "GET", head.mode == "navigate" else {
        return .rejected(status: 403, reason: "The request comes from a page of another site.")
      }
    }
    guard let method = ServerRequest.Method(rawValue: head.method) else {
      return .rejected(status: 405, reason: "The server accepts GET and POST.")
    }
    guard head.target.utf8.count <= Self.maximumTarget else {
      return .rejected(status: 414, reason: "The URL is longer than \(Self.maximumTarget) bytes.")
    }
    guard let target = RequestTarget(head.target) else {
      return .rejected(status: 400, reason: "The URL is malformed.")
    }
    if method == .get, target.path.count == 1, link?.use(target.path[0]) == true {
      return .redirected(path: "/\(token.text)/")
    }
    guard let token = target.path.first, self.token.matches(token) else {
      return .rejected(
        status: 403, reason: "The URL lacks the server's token; open the URL that it printed.")
    }
    if method == .post {
      // Forms and scripts of other pages cannot send these types without the server's consent.
      guard let type = head.contentType?.lowercased(), Self.types.contains(where: type.hasPrefix)
      else {
        return .rejected(
          status: 415,
          reason: "The body of a POST has to be \(Self.types.joined(separator: " or ")).")
      }
    }
    return .accepted(method, path: Array(target.path.dropFirst()), parameters: target.parameters)
  }

  /// Returns whether a name with an optional port is that of this server.
  private func isOwn(_ authority: String, port: Int) -> Bool {
    let authority = authority.lowercased()
    return names.contains { authority == "\($0):\(port)" || port == 80 && authority == $0 }
  }
}
