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

  /// Returns the path as a literal: `'$."a"."b"'`.
  static func literal(_ path: FieldPath) -> String? {
    guard path.components.allSatisfy(isPlain) else { return nil }
    let names = path.components.map { ".\"" + storedName($0) + "\"" }
    return SQLName.literal("$" + names.joined())
  }

  /// Returns the stored form of a name. A leading `$` is doubled, so that no field is mistaken for the stored form of
  /// a value that JSON lacks.
  static func storedName(_ name: String) -> String {
    name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
  }
}
