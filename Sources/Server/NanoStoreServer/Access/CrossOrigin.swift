// SPDX-License-Identifier: MIT

import HTTPTypes
import NanoSync

/// The origins whose pages may use a sync server.
public enum SyncOrigins: Sendable, Hashable {
  /// No pages of other origins.
  case none
  /// Pages of these origins, such as `https://app.example.com`.
  case only(Set<String>)
  /// All pages. Safe only if users identify themselves by what pages cannot send, as a bearer token.
  case any

  func allows(_ origin: String) -> Bool {
    switch self {
    case .none: false
    case .only(let origins): origins.contains(origin)
    case .any: true
    }
  }

  /// Whether browsers can send this text as an origin (RFC 6454, section 6.2).
  static func isOrigin(_ text: String) -> Bool {
    // Web views of apps may send the second one.
    guard text != "null", text != "file://" else { return true }
    guard let separator = text.firstRange(of: "://") else { return false }
    let (scheme, host) = (text[..<separator.lowerBound], text[separator.upperBound...])
    return !scheme.isEmpty && !host.isEmpty && text == text.lowercased()
      && !host.contains { "/?#@ ".contains($0) }
  }
}

/// Cross-origin resource sharing: which pages of other origins may use the server.
struct CrossOrigin: Sendable {
  let origins: SyncOrigins

  private static let methods = ["GET", "PUT", "POST", "HEAD", "DELETE", "OPTIONS", "COPY"]
  private static let requestHeaders: Set<String> = [
    "accept", "accept-language", "authorization", "content-encoding", "content-language",
    "content-type", "cookie", "destination", "if-match", "if-none-match", "if-range",
    "last-event-id", "origin", "range", "referer", "x-couch-full-commit", "x-csrf-token",
    "x-requested-with",
  ]
  private static let exposedHeaders =
    "content-type, cache-control, accept-ranges, content-range, etag, retry-after, server"

  /// Returns the response to a preflight request; nil if the request is none, or asks for what is not allowed.
  func preflight(_ request: SyncRequest) -> SyncResponse? {
    guard request.method == "OPTIONS", let origin = allowedOrigin(request),
      let method = request.header("Access-Control-Request-Method"), Self.methods.contains(method)
    else { return nil }
    let asked = request.header("Access-Control-Request-Headers") ?? ""
    let names = asked.split(separator: ",").map { String($0).trimmingSpaces.lowercased() }
    guard names.allSatisfy({ Self.requestHeaders.contains($0) }) else { return nil }
    var response = SyncResponse(status: 204)
    Self.set("Access-Control-Allow-Origin", origin, &response)
    Self.set("Access-Control-Allow-Credentials", "true", &response)
    Self.set("Access-Control-Allow-Methods", Self.methods.joined(separator: ", "), &response)
    Self.set("Access-Control-Allow-Headers", asked, &response)
    // Browsers ask again for each URL after this many seconds.
    Self.set("Access-Control-Max-Age", "600", &response)
    response.headers[.vary] = "Origin"
    return response
  }

  /// Adds the headers by which a page may read a response, an error included.
  func add(to response: inout SyncResponse, for request: SyncRequest) {
    guard origins != .none else { return }
    response.headers[.vary] = "Origin"
    guard let origin = allowedOrigin(request) else { return }
    Self.set("Access-Control-Allow-Origin", origin, &response)
    Self.set("Access-Control-Allow-Credentials", "true", &response)
    if request.method != "OPTIONS" || response.status != 204 {
      Self.set("Access-Control-Expose-Headers", Self.exposedHeaders, &response)
    }
  }

  private func allowedOrigin(_ request: SyncRequest) -> String? {
    request.header("Origin").flatMap { origins.allows($0) ? $0 : nil }
  }

  private static func set(_ name: String, _ value: String, _ response: inout SyncResponse) {
    if let name = HTTPField.Name(name) { response.headers[name] = value }
  }
}
