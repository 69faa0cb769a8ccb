// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import NanoSync

/// Finds out which user sends a request.
struct Authentication: Sendable {
  let authenticate: (@Sendable (SyncLogin) async throws -> SyncUser?)?
  let sessions: SessionTokens

  struct Result: Sendable {
    /// Nil if the client has not identified itself, and anonymous users have no access.
    var user: SyncUser?
    /// How the user was recognized, as `_session` reports it.
    var method: String?
    /// A new cookie, before the old one expires.
    var cookie: String?
  }

  static let wrongPassword = ProtocolError(401, "unauthorized", "Name or password is incorrect.")

  func user(of request: SyncRequest) async throws -> Result {
    guard let authenticate else {
      // Nothing to be recognized by: everyone administers the server, as in CouchDB without administrators.
      return Result(
        user: SyncUser(name: nil, roles: [SyncUser.administratorRole]), method: nil, cookie: nil)
    }
    if let credentials = try Self.credentials(request) {
      guard let user = try await authenticate(credentials) else { throw Self.wrongPassword }
      return Result(user: user, method: "default", cookie: nil)
    }
    if let token = Self.cookie(request), !token.isEmpty {
      switch sessions.check(token) {
      case .valid(let user, let expiresSoon):
        return Result(
          user: user, method: "cookie",
          cookie: expiresSoon ? sessions.cookie(sessions.token(for: user)) : nil)
      case .malformed:
        throw ProtocolError.badRequest(
          "Malformed AuthSession cookie. Please clear your cookies.")
      case .unknown: break
      }
    }
    return Result(user: try await authenticate(.none), method: nil, cookie: nil)
  }

  /// Returns the user with a password.
  func user(name: String, password: String) async throws -> SyncUser? {
    try await authenticate?(.password(name: name, password: password))
  }

  private static func credentials(_ request: SyncRequest) throws -> SyncLogin? {
    guard let value = request.headers[.authorization]?.trimmingSpaces else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1).map { String($0).trimmingSpaces }
    guard parts.count == 2 else { return nil }
    switch parts[0].lowercased() {
    case "basic":
      guard let data = Data(base64Encoded: parts[1]),
        let text = String(validating: data, as: UTF8.self),
        // Of bytes: a combining mark at the beginning of the password would belong to the colon.
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
      else {
        throw ProtocolError.badRequest("Authorization header has invalid base64 value")
      }
      return .password(
        name: String(decoding: text.utf8[..<colon], as: UTF8.self),
        password: String(decoding: text.utf8[colon...].dropFirst(), as: UTF8.self))
    case "bearer": return .token(parts[1])
    default: return nil
    }
  }

  private static func cookie(_ request: SyncRequest) -> String? {
    let prefix = SessionTokens.cookieName + "="
    for value in request.headers[values: .cookie] {
      for pair in value.split(separator: ";") {
        let pair = String(pair).trimmingSpaces
        if pair.hasPrefix(prefix) {
          return pair.dropFirst(prefix.count).filter { $0 != "\"" }
        }
      }
    }
    return nil
  }
}
