// SPDX-License-Identifier: MIT

/// Escapes text for display in a terminal.
package enum TerminalText {
  /// Replaces control characters, and characters that change the text direction, with escapes.
  package static func text(_ text: String) -> String { escaped(text) { isActive($0) } }

  /// Replaces the same characters in CSV and TSV, except for the line feeds and tabs of the layout.
  package static func table(_ text: String) -> String {
    escaped(text) { isActive($0) && $0 != "\n" && $0 != "\t" }
  }

  private static func escaped(
    _ text: String, where isEscaped: (Unicode.Scalar) -> Bool
  ) -> String {
    guard text.unicodeScalars.contains(where: isEscaped) else { return text }
    var printable = ""
    for scalar in text.unicodeScalars {
      guard isEscaped(scalar) else {
        printable.unicodeScalars.append(scalar)
        continue
      }
      switch scalar {
      case "\n": printable += "\\n"
      case "\r": printable += "\\r"
      case "\t": printable += "\\t"
      default: printable += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return printable
  }

  /// Replaces the same characters in JSON with JSON escapes.
  ///
  /// Outside strings, only the line feeds of the layout occur; inside strings, JSON already escapes line feeds.
  package static func json(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { isActive($0) && $0 != "\n" }) else { return text }
    var printable = ""
    for scalar in text.unicodeScalars {
      if isActive(scalar), scalar != "\n" {
        // All of these characters have at most four hexadecimal digits.
        printable += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
      } else {
        printable.unicodeScalars.append(scalar)
      }
    }
    return printable
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
