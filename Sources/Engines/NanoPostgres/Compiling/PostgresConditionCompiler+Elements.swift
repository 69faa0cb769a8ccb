// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresConditionCompiler {
  /// Values that are no objects on the server.
  private static let plain: ObservedTypes = [.null, .bool, .int, .double, .string, .array]

  /// A value looked for where arrays may be entered: found by the index on their elements if there is one, or
  /// by that of everything. Either finds only equal values, and too many where objects stand, whose fields it
  /// enters.
  func entered(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue) -> Answer? {
    guard comparison == .equal, let literal = JSONPathLiteral.text(value),
      let known = facts.observed(path), !known.types.contains(.url),
      !known.types.contains(.irregular)
    else { return nil }
    guard
      let column = ElementIndexExpression(path, facts.names),
      facts.collection.indexing == .everything
        || facts.collection.indexes.contains(where: {
          $0.definition.kind == .elements
            && ElementIndexExpression($0.definition.columns[0].path, facts.names)?.column
              == column.column
        })
    else { return nil }
    let usesAll = facts.collection.indexing == .everything
    let steps = usesAll ? column.wholePath : column.path
    let sql =
      "\(usesAll ? "body" : column.column) @? "
      + .value(.text("\(steps) ? (@ == \(literal))")) + "::jsonpath"
    return Answer(
      sql: sql, isExact: path.components.count == 1 && known.types.isSubset(of: Self.plain))
  }
}

/// What an index on elements is made of: the field at the beginning of the path, with everything in it.
struct ElementIndexExpression {
  /// The expression that is indexed.
  let column: String
  /// From the value of that expression to the elements, through any arrays.
  let path: String
  /// The same from the whole document.
  let wholePath: String

  /// Nil if the path addresses an element by number, or a name cannot stand in jsonb.
  init?(_ path: FieldPath, _ names: PostgresNames) {
    guard !path.addressesElement,
      let place = PostgresFieldExpression(FieldPath(components: [path.components[0]]), names)
    else { return nil }
    column = place.value
    // `**` is what stands here at any depth: more than the elements of arrays in arrays.
    let steps = path.components.map { JSONPathLiteral.name(PostgresFieldExpression.storedName($0)) }
    let inner = steps.dropFirst().map { "." + $0 + ".**" }.joined()
    self.path = "$.**" + inner
    wholePath = "$." + steps[0] + ".**" + inner
  }
}

/// Values in the language of jsonpath.
///
/// Source: https://www.postgresql.org/docs/current/datatype-json.html#DATATYPE-JSONPATH
enum JSONPathLiteral {
  /// Nil for values that are not scalars of JSON, and for texts that it cannot hold.
  static func text(_ value: DocumentValue) -> String? {
    switch value {
    case .string(let text): return text.utf8.contains(0) ? nil : name(text)
    case .int, .double:
      return ComparisonKey(value).map(\.number)
    case .bool(let flag): return flag ? "true" : "false"
    default: return nil
    }
  }

  /// In double quotes, with the escapes of JSON.
  static func name(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(.string(text))
    return writer.text
  }
}
