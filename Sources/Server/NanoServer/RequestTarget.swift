// SPDX-License-Identifier: MIT

/// An HTTP target such as `/token/api/store?a=1`, decoded.
package struct RequestTarget: Sendable {
  package let path: [String]
  package let parameters: [(name: String, value: String)]

  /// Nil if the target is not an absolute path, or an escape is malformed.
  ///
  /// - Parameter plusIsSpace: Whether a plus sign in the query is a space, as in forms. In the path it stays a plus sign.
  package init?(_ text: String, plusIsSpace: Bool = false) {
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
      guard let name = Self.decoded(sides[0], plusIsSpace: plusIsSpace),
        let value = sides.count > 1 ? Self.decoded(sides[1], plusIsSpace: plusIsSpace) : ""
      else { return nil }
      parameters.append((name, value))
    }
    self.parameters = parameters
  }

  /// Decodes percent escapes.
  private static func decoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
    let text = plusIsSpace ? text.replacing("+", with: " ") : text
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      // `UInt8.init(_:radix:)` accepts a sign.
      guard rest.count >= 2,
        rest.prefix(2).allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
