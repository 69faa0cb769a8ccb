// SPDX-License-Identifier: MIT

/// Quoting of names and literals in SQL.
package enum SQLName {
  /// Returns the name in double quotes, with quotes inside doubled.
  package static func quoted(_ name: String) -> String { name.quoted(with: "\"") }

  /// Returns the text in single quotes, with quotes inside doubled.
  package static func literal(_ text: String, _ dialect: SQLText.Dialect = .sqlite) -> String {
    let quoted = text.quoted(with: "'")
    guard dialect == .postgres, text.utf8.contains(UInt8(ascii: "\\")) else { return quoted }
    // Only with the prefix do backslashes not depend on `standard_conforming_strings`. After the space, it is not the
    // end of a name.
    var escaped = " E".unicodeScalars
    for scalar in quoted.unicodeScalars {
      if scalar == "\\" { escaped.append(scalar) }
      escaped.append(scalar)
    }
    return String(escaped)
  }
}
