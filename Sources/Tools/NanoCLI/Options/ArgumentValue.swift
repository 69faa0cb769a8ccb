// SPDX-License-Identifier: MIT

import Foundation
package import NanoStore

/// Parses the value of `--arg`.
///
/// `2010` is an integer and `7.5` a double; `true`, `false` and `null` are the JSON literals; `'2010'` is a string,
/// `["a", "b"]` an array for `IN ?` and `{"$date": …}` a date. Everything else is a string, unchanged.
package enum ArgumentValue {
  package static func parse(_ text: String) -> DocumentValue {
    if let quoted = unquoted(text) { return .string(quoted) }
    switch text {
    case "true": return true
    case "false": return false
    case "null": return nil
    default: break
    }
    if let integer = Int64(text) { return .int(integer) }
    // `Double` also parses `nan` and `infinity`, which are more likely to be words here.
    if text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let double = Double(text) {
      return .double(double)
    }
    if let first = text.utf8.first, "[{".utf8.contains(first),
      let value = try? DocumentValue(json: text)
    {
      return value
    }
    return .string(text)
  }

  /// Quotes a string so that ``parse(_:)`` returns it unchanged.
  package static func quoted(_ text: String) -> String {
    text.quoted(with: "'")
  }

  private static func unquoted(_ text: String) -> String? {
    let quote: Unicode.Scalar = "'"
    // By scalars, because a combining mark after a quote forms a different character.
    let scalars = text.unicodeScalars
    guard scalars.count >= 2, scalars.first == quote, scalars.last == quote else { return nil }
    var unquoted = String.UnicodeScalarView()
    var rest = scalars.dropFirst().dropLast()
    while let scalar = rest.popFirst() {
      unquoted.append(scalar)
      if scalar == quote, rest.first == quote { rest.removeFirst() }
    }
    return String(unquoted)
  }
}
