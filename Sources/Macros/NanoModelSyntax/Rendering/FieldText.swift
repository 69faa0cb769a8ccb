// SPDX-License-Identifier: MIT

/// Converts field names to their forms in documents and in source code.
enum FieldText {
  /// Returns a name as stored between quotes in documents: with a leading `$` doubled, and with JSON escapes.
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

  /// Returns a Swift string literal.
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

  /// Returns the metatype expression of a type.
  static func metatype(_ type: String) -> String {
    type.allSatisfy { $0.isLetter || $0.isNumber || ".<>_".contains($0) }
      ? "\(type).self" : "(\(type)).self"
  }

  /// Returns the literal that precedes the value of a field: `,"name":`, or `{"name":` for the first field.
  static func opening(_ property: StoredProperty, _ mark: String = ",") -> String {
    literal("\(mark)\"\(stored(property.storedName))\":")
  }
}
