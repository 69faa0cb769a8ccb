// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoSync

/// Cookies that prove a login for a while: the user and the time of expiry, with a code that only the server can compute.
struct SessionTokens: Sendable {
  private let key: SymmetricKey
  let lifetime: Duration
  /// Attributes of the cookie beyond the usual ones.
  private let attributes: String

  init(secret: [UInt8]?, lifetime: Duration, attributes: String = "") {
    key = secret.map { SymmetricKey(data: $0) } ?? SymmetricKey(size: .bits256)
    self.lifetime = lifetime
    self.attributes = attributes
  }

  static let cookieName = "AuthSession"

  enum Check: Sendable, Equatable {
    case valid(SyncUser, expiresSoon: Bool)
    /// The token is expired, or another server issued it.
    case unknown
    case malformed
  }

  func token(for user: SyncUser, now: Date = Date()) -> String {
    let payload: DocumentObject = [
      "name": user.name.map { .string($0) } ?? .null,
      "roles": .array(user.roles.map { .string($0) }),
      "until": .int(Int64(now.timeIntervalSince1970) + lifetime.components.seconds),
    ]
    let text = Self.text(SyncJSON.bytes(payload))
    return "\(text).\(Self.text(Array(code(text))))"
  }

  func check(_ token: String, now: Date = Date()) -> Check {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let payload = Self.bytes(parts[0]), let code = Self.bytes(parts[1]),
      let object = try? DocumentObject(json: payload, dialect: .plain),
      let until = object["until"]?.int64
    else { return .malformed }
    // Compares in constant time.
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        code, authenticating: Data(parts[0].utf8), using: key)
    else { return .unknown }
    let rest = until - Int64(now.timeIntervalSince1970)
    guard rest > 0 else { return .unknown }
    return .valid(
      SyncUser(
        name: object["name"]?.string, roles: object["roles"]?.array?.compactMap(\.string) ?? []),
      expiresSoon: rest < lifetime.components.seconds / 2)
  }

  /// The header `Set-Cookie` that sets the token, or clears it.
  func cookie(_ token: String?) -> String {
    let age = token == nil ? 0 : lifetime.components.seconds
    return
      "\(Self.cookieName)=\(token ?? ""); Version=1; Max-Age=\(age); Path=/; HttpOnly\(attributes)"
  }

  private func code(_ text: String) -> HMAC<SHA256>.MAC {
    HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  private static func bytes(_ text: String) -> Data? {
    let text = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
  }
}
