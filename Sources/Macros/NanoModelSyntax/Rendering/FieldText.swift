// SPDX-License-Identifier: MIT

/// The text of a field's name, in documents and in source.
enum FieldText {
  /// A name as documents hold it between quotes: a `$` put before one at the beginning, and JSON's escapes.
  static func stored(_ name: String) -> String {
    var stored = name.hasPrefix("$") ? "$" : ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"", "\\": stored += "\\\(scalar)"
      case "\u{8}": stored += "\\b"
      case "\t": stored += "\\t"
      case "\n": stored += "\\n"
      case "\u{C}": stored += "\\f"
      case "\r": stored += "\\r"
      case "\0"..<" ":
        let digits = String(scalar.value, radix: 16)
        stored += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: stored.unicodeScalars.append(scalar)
      }
    }
    return stored
  }

  /// A string literal of this text.
  static func literal(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case "\0"..<" ", "\u{7F}": escaped += "\\u{\(String(scalar.value, radix: 16))}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return "\"\(escaped)\""
  }

  /// The expression for a type itself.
  static func metatype(_ type: String) -> String {
    type.allSatisfy { $0.isLetter || $0.isNumber || ".<>_".contains($0) }
      ? "\(type).self" : "(\(type)).self"
  }

  /// The literal of what stands before a field's value: `,"name":`, for the first one `{"name":`.
  static func opening(_ property: StoredProperty, _ mark: String = ",") -> String {
    literal("\(mark)\"\(stored(property.storedName))\":")
  }
}
