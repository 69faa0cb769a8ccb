// SPDX-License-Identifier: MIT

/// A secret that a client presents with each request.
package struct AccessToken: Sendable {
  /// The token as part of a URL.
  package let text: String

  /// Creates a random token of 192 bits.
  package init() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    text = String(
      decoding: (0..<32).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] },
      as: UTF8.self)
  }

  /// Creates a token from a text that is used again, so that bookmarks keep working.
  ///
  /// Nil if the text is shorter than ``minimumLength`` or does not consist of ASCII letters, digits, `-` and `_`.
  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D
        || byte == 0x5F
    }
    guard isValid, text.utf8.count >= Self.minimumLength else { return nil }
    self.text = text
  }

  /// The minimum length of a chosen token; arbitrary, and too long to be guessed over a network.
  package static let minimumLength = 16

  /// Returns whether a text is this token. The time depends only on the lengths.
  package func matches(_ other: String) -> Bool {
    let (a, b) = (Array(text.utf8), Array(other.utf8))
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
