// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The SQL that reads a field.
///
/// Indexes, comparisons and orderings share it, because the server uses an index on an expression only for the same
/// expression.
struct PostgresFieldExpression {
  let names: PostgresNames
  /// The value as jsonb; SQL NULL if there is none.
  let value: String

  /// Returns `nil` if jsonb cannot store one of the names as it is; see ``isStorable(_:)``.
  init?(_ path: FieldPath, _ names: PostgresNames, body: String = "body") {
    guard let steps = Self.steps(path) else { return nil }
    self.names = names
    if path.components.count == 1 {
      // A scan takes a sixth less time than with a path of one step.
      let name = SQLName.literal(Self.storedName(path.components[0]), .postgres)
      value = "(\(body) -> \(name))"
      string = "((\(body) ->> \(name)) COLLATE \"C\")"
    } else if path.components.contains(where: Self.readsAsPosition) {
      // `->` takes a text for a name, also of digits: an index has the fields of objects, and no elements of arrays.
      let names = path.components.map { SQLName.literal(Self.storedName($0), .postgres) }
      let parent = names.dropLast().reduce(body) { "(\($0) -> \($1))" }
      value = "(\(parent) -> \(names[names.count - 1]))"
      string = "((\(parent) ->> \(names[names.count - 1])) COLLATE \"C\")"
    } else {
      value = "(\(body) #> \(SQLName.literal(steps, .postgres)))"
      string = "((\(body) #>> \(SQLName.literal(steps, .postgres))) COLLATE \"C\")"
    }
  }

  /// Creates an expression for a value in a column.
  init(value: String, _ names: PostgresNames) {
    self.value = value
    self.names = names
    string = "((\(value) #>> '{}') COLLATE \"C\")"
  }

  var number: String { "\(names.qualified("nano_number"))(\(value))" }
  /// The text of the value. Its collation is always explicit, because the database's default may be any.
  var text: String { "(\(names.qualified("nano_text"))(\(value)) COLLATE \"C\")" }
  var tail: String { "(\(names.qualified("nano_tail"))(\(value)) COLLATE \"C\")" }
  var unique: String { "(\(names.qualified("nano_unique"))(\(value)) COLLATE \"C\")" }
  /// The full text of a string.
  let string: String
  var isString: String { "jsonb_typeof(\(value)) = 'string'" }

  /// Returns the path as a literal of `text[]`: `{"a","b"}`.
  private static func steps(_ path: FieldPath) -> String? {
    var names: [String] = []
    for name in path.components {
      guard !name.isEmpty, isStorable(name) else { return nil }
      var quoted = "".unicodeScalars
      for scalar in storedName(name).unicodeScalars {
        if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
        quoted.append(scalar)
      }
      names.append("\"" + String(quoted) + "\"")
    }
    return "{" + names.joined(separator: ",") + "}"
  }

  /// Whether `#>` would take a name for the position of an element: what C's `strtol` reads completely.
  private static func readsAsPosition(_ name: String) -> Bool {
    var rest = name.unicodeScalars.drop { " \t\n\u{0B}\u{0C}\r".unicodeScalars.contains($0) }
    if rest.first == "-" || rest.first == "+" { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy { ("0"..."9").contains($0) }
  }

  /// Whether no other name has the same form on the server, where ``QueryableBody`` writes NUL as U+FFFD.
  private static func isStorable(_ name: String) -> Bool {
    !name.unicodeScalars.contains { $0 == "\0" || $0 == "\u{FFFD}" }
  }

  /// Returns the stored form of a name. A leading `$` is doubled.
  static func storedName(_ name: String) -> String {
    name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
  }
}
