// SPDX-License-Identifier: MIT

import HTTPTypes

/// Headers of every response.
enum SecurityHeaders {
  /// Pages run the server's own scripts only, and connect to nothing else. Forms are handled by scripts.
  static let contentSecurityPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
    "img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  static let fields: [(name: String, value: String)] = [
    ("Content-Security-Policy", contentSecurityPolicy),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    // The URL contains the token.
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ("Cache-Control", "no-store"),
  ]

  static func add(to headers: inout HTTPFields) {
    for (name, value) in fields {
      guard let name = HTTPField.Name(name) else { continue }
      headers[name] = value
    }
  }
}
