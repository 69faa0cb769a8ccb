// SPDX-License-Identifier: MIT

import Foundation
package import NanoStore

/// What the value of `--arg` stands for.
///
/// `2010` is an integer, `7.5` a number, `true`, `false` and `null` are themselves, `'2010'` is text,
/// `["a", "b"]` a list for `IN ?`, `{"$date": …}` a date; everything else is text as it stands.
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
    // Letters would let `nan` and `infinity` through, which are likelier to be words.
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

  /// Text in a form that ``parse(_:)`` gives back as it was.
  package static func quoted(_ text: String) -> String {
    TerminalText.quoted(text, by: "'")
  }

  private static func unquoted(_ text: String) -> String? {
    let quote: Unicode.Scalar = "'"
    // By scalars: a mark after a quote makes another character of it.
    let scalars = text.unicodeScalars
    guard scalars.count >= 2, scalars.first == quote, scalars.last == quote else { return nil }
    var plain = String.UnicodeScalarView()
    var rest = scalars.dropFirst().dropLast()
    while let scalar = rest.popFirst() {
      plain.append(scalar)
      if scalar == quote, rest.first == quote { rest.removeFirst() }
    }
    return String(plain)
  }
}
