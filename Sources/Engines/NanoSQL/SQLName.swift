// SPDX-License-Identifier: MIT

/// Quoting of names and literals in SQL.
package enum SQLName {
  /// Returns the name in double quotes, with quotes inside doubled.
  package static func quoted(_ name: String) -> String { name.quoted(with: "\"") }

  /// Returns the text in single quotes, with quotes inside doubled.
  package static func literal(_ text: String) -> String { text.quoted(with: "'") }
}
