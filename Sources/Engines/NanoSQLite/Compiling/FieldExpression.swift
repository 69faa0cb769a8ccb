// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSQL

/// The SQL that reads a field from a stored body.
///
/// Indexes and queries share it, because SQLite uses an index on an expression only for the same expression text.
enum FieldExpression {
  /// Returns `json_extract(body,'$."a"."b"')`; `nil` if a name cannot be written in SQLite's path syntax, which has
  /// no escapes for quotes, backslashes and control characters.
  static func extract(_ path: FieldPath, from column: String = "body") -> String? {
    literal(path).map { "json_extract(\(column),\($0))" }
  }

  /// Returns the path as a literal: `'$."a"."b"'`. A leading `$` of a name is doubled, so that no field is mistaken for
  /// the stored form of a value that JSON lacks.
  ///
  /// Written byte by byte, because every query translates its fields.
  static func literal(_ path: FieldPath) -> String? {
    guard path.components.allSatisfy(isPlain) else { return nil }
    let capacity = path.components.reduce(3) { $0 + 2 * $1.utf8.count + 3 }
    return String(unsafeUninitializedCapacity: capacity) { buffer in
      var count = 0
      func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
      }
      append(quote)
      append(dollar)
      for name in path.components {
        append(UInt8(ascii: "."))
        append(doubleQuote)
        if name.utf8.first == dollar { append(dollar) }
        for byte in name.utf8 {
          append(byte)
          if byte == quote { append(byte) }
        }
        append(doubleQuote)
      }
      append(quote)
      return count
    }
  }

  private static let dollar = UInt8(ascii: "$")
  private static let quote = UInt8(ascii: "'")
  private static let doubleQuote = UInt8(ascii: "\"")

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
  }
}
