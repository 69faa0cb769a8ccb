// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension DocumentValue {
  /// The value as a literal of query text.
  var queryText: String {
    switch self {
    case .null: "NULL"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .int(let value): "\(value)"
    case .double(let value): Self.literal(value)
    case .decimal(let value): "DECIMAL " + Self.literal(value.description)
    case .string(let text): Self.literal(text)
    case .date(let date):
      // A date outside the storable years has no literal, and no stored date equals it.
      "DATE " + Self.literal(QueryDate.text(date) ?? "out of range")
    case .data(let data): "x'\(data.map { Self.hex($0) }.joined())'"
    case .url(let url): "URL " + Self.literal(url.absoluteString)
    case .array(let elements):
      "json_array(\(elements.map(\.queryText).joined(separator: ", ")))"
    case .object(let object): "json_object(\(Self.pairs(object)))"
    }
  }

  private static func literal(_ text: String) -> String {
    text.quoted(with: "'")
  }

  private static func literal(_ number: Double) -> String {
    if number.isNaN { return "REAL 'nan'" }
    // As SQLite's shell writes it: the literal overflows to infinity when parsed.
    if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
    return "\(number)"
  }

  private static func pairs(_ object: DocumentObject) -> String {
    object.map { literal($0.name) + ", " + $0.value.queryText }.joined(separator: ", ")
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + digits : digits
  }
}

extension FieldPath {
  /// The path in brackets, with quotes around names that would otherwise be parsed differently.
  var queryText: String {
    if isElement { return "[@]" }
    let names = components.enumerated().map { index, name in
      needsQuotes(name, at: index) ? name.quoted(with: "\"") : name
    }
    return "[\(names.joined(separator: "."))]"
  }

  private func needsQuotes(_ name: String, at index: Int) -> Bool {
    if name.isEmpty || isQuotedNumber(index) || index == 0 && name == "@" { return true }
    if components.count == 1, Attribute(textName: name) != nil { return true }
    // Compares bytes, as the lexer does: `Character` combines a period with a following combining mark.
    return name.utf8.contains {
      [UInt8(ascii: "."), UInt8(ascii: "\""), UInt8(ascii: "]")].contains($0)
    }
  }
}
