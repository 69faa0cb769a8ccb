// SPDX-License-Identifier: MIT

/// Quoting of names and literals in SQL.
///
/// Works on Unicode scalars: for `String`, a quote followed by a combining mark is a single character that
/// differs from a quote, but SQLite sees a quote.
package enum SQLName {
  /// Returns the name in double quotes, with quotes inside doubled.
  package static func quoted(_ name: String) -> String {
    quoted(name, "\"")
  }

  /// Returns the text in single quotes, with quotes inside doubled.
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
