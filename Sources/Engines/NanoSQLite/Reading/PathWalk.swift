// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSQL

/// The tables of a SELECT of every value that a path reaches in a row, elements of arrays included and
/// arrays themselves and nulls left out.
///
/// Each name is one step: the value is wrapped into an array and walked with `json_tree`; what it finds
/// without passing through an object is what the path reaches, since only keys below objects have a
/// period. (The column `path` would be that of the container, which has none for the fields of an
/// element.)
struct PathWalk {
  /// What stands behind FROM.
  let tables: String
  /// What stands behind WHERE.
  let condition: String
  /// The table whose `value` and `type` are those of what is reached.
  let last: String

  init(_ path: FieldPath, in body: String, index: String) throws(StoreError) {
    var from: [String] = []
    var value = body
    guard !path.addressesElement else {
      throw StoreError(
        .unsupported, "An index on elements cannot address one element by number",
        [.index: index, .field: path.description, .hint: "a name of digits stands in quotes"])
    }
    for (step, name) in path.components.enumerated() {
      guard let literal = FieldExpression.literal(FieldPath(components: [name])) else {
        throw Self.notIndexable(path, index)
      }
      from.append("json_tree(json_array(json(\(value) -> \(literal)))) AS e\(step)")
      value = "CASE e\(step).type WHEN 'object' THEN e\(step).value ELSE '{}' END"
    }
    tables = from.joined(separator: ", ")
    last = "e\(path.components.count - 1)"
    condition = path.components.indices.map {
      "e\($0).type NOT IN ('array', 'null') AND instr(e\($0).fullkey, '.') = 0"
    }.joined(separator: " AND ")
  }

  static func notIndexable(_ path: FieldPath, _ index: String) -> StoreError {
    StoreError(
      .unsupported, "A field of this name cannot be indexed",
      [
        .index: index, .field: path.description,
        .hint: "SQLite's path language has no escape for quotes, backslashes and controls",
      ])
  }
}
