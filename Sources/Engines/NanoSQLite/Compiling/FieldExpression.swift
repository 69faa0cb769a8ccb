// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoSQL

/// The SQL that reads a field from a stored body.
///
/// Indexes and queries both come here: SQLite uses an index on an expression only where the text of
/// the expression is the same.
enum FieldExpression {
  /// `json_extract(body,'$."a"."b"')`; nil if a name cannot be written in SQLite's path language,
  /// which has no escape for quotes, backslashes and controls.
  static func extract(_ path: FieldPath, from column: String = "body") -> String? {
    literal(path).map { "json_extract(\(column),\($0))" }
  }

  /// `'$."a"."b"'`.
  static func literal(_ path: FieldPath) -> String? {
    guard path.components.allSatisfy(isPlain) else { return nil }
    let names = path.components.map { ".\"" + storedName($0) + "\"" }
    return SQLName.literal("$" + names.joined())
  }

  /// A name that begins with `$` is stored with one more, so that no field is taken for one of the
  /// forms of values that JSON lacks.
  static func storedName(_ name: String) -> String {
    name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
  }
}
