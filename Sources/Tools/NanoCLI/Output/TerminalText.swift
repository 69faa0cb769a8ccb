// SPDX-License-Identifier: MIT

/// Text that does nothing to a terminal.
package enum TerminalText {
  /// Control characters, and those that turn the direction of writing, are shown as escapes.
  package static func text(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isActive) else { return text }
    var printable = ""
    for scalar in text.unicodeScalars {
      guard isActive(scalar) else {
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

  /// The same for JSON, with JSON's escapes. All such characters stand in strings but the line ends
  /// of the layout, for which JSON in strings has escapes anyway.
  package static func json(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { isActive($0) && $0 != "\n" }) else { return text }
    var printable = ""
    for scalar in text.unicodeScalars {
      if isActive(scalar), scalar != "\n" {
        // All of them have four hexadecimal digits at most.
        printable += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
      } else {
        printable.unicodeScalars.append(scalar)
      }
    }
    return printable
  }

  /// Between two quotes, with those inside doubled. By scalars: a mark after a quote makes another character of it,
  /// but the quote that it is for other programs.
  package static func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
    var quoted = String.UnicodeScalarView()
    quoted.append(quote)
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == quote { quoted.append(scalar) }
    }
    quoted.append(quote)
    return String(quoted)
  }

  private static func isActive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: true
    case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
