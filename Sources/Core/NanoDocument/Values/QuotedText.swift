// SPDX-License-Identifier: MIT

extension String {
  /// Returns the text in quotes, with quotes inside doubled.
  ///
  /// Works on Unicode scalars: for `String`, a quote followed by a combining mark is a single character
  /// that differs from a quote, but parsers see a quote.
  package func quoted(with quote: Unicode.Scalar) -> String {
    var quoted = UnicodeScalarView()
    quoted.append(quote)
    for scalar in unicodeScalars {
      quoted.append(scalar)
      if scalar == quote { quoted.append(scalar) }
    }
    quoted.append(quote)
    return String(quoted)
  }
}
