// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The SQL that reads one field, for indexes, comparisons and orders alike: the server uses an index on an
/// expression only where the expression is the same.
struct PostgresFieldExpression {
  let names: PostgresNames
  /// The value as jsonb; SQL NULL where there is none.
  let value: String

  /// Nil if a name cannot stand in jsonb.
  init?(_ path: FieldPath, _ names: PostgresNames, body: String = "body") {
    guard let steps = Self.steps(path) else { return nil }
    self.names = names
    if path.components.count == 1 {
      // A sixth less time for a scan than by a path of one step.
      let name = SQLName.literal(Self.storedName(path.components[0]))
      value = "(\(body) -> \(name))"
      string = "((\(body) ->> \(name)) COLLATE \"C\")"
    } else {
      value = "(\(body) #> \(SQLName.literal(steps)))"
      string = "((\(body) #>> \(SQLName.literal(steps))) COLLATE \"C\")"
    }
  }

  /// A value that stands in a column.
  init(value: String, _ names: PostgresNames) {
    self.value = value
    self.names = names
    string = "((\(value) #>> '{}') COLLATE \"C\")"
  }

  var number: String { "\(names.qualified("nano_number"))(\(value))" }
  /// The collation is said at each place: the database's own may be any.
  var text: String { "(\(names.qualified("nano_text"))(\(value)) COLLATE \"C\")" }
  var tail: String { "(\(names.qualified("nano_tail"))(\(value)) COLLATE \"C\")" }
  var unique: String { "(\(names.qualified("nano_unique"))(\(value)) COLLATE \"C\")" }
  /// The whole text of a string.
  let string: String
  var isString: String { "jsonb_typeof(\(value)) = 'string'" }

  /// A path as a literal of `text[]`: `{"a","b"}`.
  private static func steps(_ path: FieldPath) -> String? {
    var names: [String] = []
    for name in path.components {
      guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
      var quoted = "".unicodeScalars
      for scalar in storedName(name).unicodeScalars {
        if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
        quoted.append(scalar)
      }
      names.append("\"" + String(quoted) + "\"")
    }
    return "{" + names.joined(separator: ",") + "}"
  }

  /// A name that begins with `$` is stored with one more.
  static func storedName(_ name: String) -> String {
    name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
  }
}
