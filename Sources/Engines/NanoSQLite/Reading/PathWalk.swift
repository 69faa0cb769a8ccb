// SPDX-License-Identifier: MIT

import NanoDocument
import NanoSQL

/// The FROM and WHERE clauses of a SELECT of every value at a path of a row. Elements of arrays are included;
/// arrays themselves and nulls are not.
///
/// Each name is one step: the value is wrapped in an array and walked with `json_tree`. The entries that
/// `json_tree` finds without passing through an object are the values at the path, because only keys below
/// objects contain a period. (The column `path` would be that of the container, which contains none for the
/// fields of an element.)
struct PathWalk {
  /// The FROM clause.
  let tables: String
  /// The WHERE clause.
  let condition: String
  /// The table whose `value` and `type` columns are those of the values found.
  let last: String

  init(_ path: FieldPath, in body: String, index: String) throws(StoreError) {
    var from: [String] = []
    var value = body
    guard !path.addressesElement else { throw .elementByPosition(path, index: index) }
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
      .unsupported, "A field with this name cannot be indexed",
      [
        .index: index, .field: path.description,
        .hint: "SQLite's path syntax cannot express quotes, backslashes, and control characters",
      ])
  }
}
