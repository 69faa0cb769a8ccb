// SPDX-License-Identifier: MIT

/// How names are written in SQL.
///
/// By scalars: a quote with a combining mark behind it is one character for String and another than
/// the quote, but the quote that it is for SQLite.
package enum SQLName {
  /// In double quotes, doubled inside.
  package static func quoted(_ name: String) -> String {
    quoted(name, "\"")
  }

  /// As text in single quotes, doubled inside.
  package static func literal(_ text: String) -> String {
    quoted(text, "'")
  }
  private static func quoted(_ text: String, _ quote: Unicode.Scalar) -> String {
    var quoted = String.UnicodeScalarView()
    quoted.append(quote)
    for scalar in text.unicodeScalars {
      quoted.append(scalar)
      if scalar == quote { quoted.append(scalar) }
    }
    quoted.append(quote)
    return String(quoted)
  }
}
