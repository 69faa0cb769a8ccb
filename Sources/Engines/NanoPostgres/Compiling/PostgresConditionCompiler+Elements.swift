// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresConditionCompiler {
  /// The types whose values are not objects on the server.
  private static let plain: ObservedTypes = [.null, .bool, .int, .double, .string, .array]

  /// Translates an equality at a path that may enter arrays, to a lookup in an element index, or in the index
  /// of ``IndexingPolicy/everything``. Both support only equality, and select a
  /// superset if there are objects, whose fields they enter.
  func entered(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue) -> Translation?
  {
    guard comparison == .equal, let literal = JSONPathLiteral.text(value),
      let summary = metadata.observed(path), !summary.types.contains(.url),
      !summary.types.contains(.decimal), !summary.types.contains(.irregular)
    else { return nil }
    guard
      let column = ElementIndexExpression(path, metadata.names),
      metadata.collection.indexing == .everything
        || metadata.collection.indexes.contains(where: {
          $0.definition.kind == .elements
            && ElementIndexExpression($0.definition.columns[0].path, metadata.names)?.column
              == column.column
        })
    else { return nil }
    let usesAll = metadata.collection.indexing == .everything
    let isFlat = path.components.count == 1 && summary.types.isSubset(of: Self.plain)
    // A document without the field has no value, for which these operators return NULL.
    let hasField: PostgresSQL = usesAll ? "" : "\(column.column) IS NOT NULL AND "
    if !usesAll, isFlat, !summary.entersNestedArray {
      return Translation(sql: hasField + contains(column.column, value, literal), isExact: true)
    }
    let steps = usesAll ? column.wholePath : column.path
    let sql =
      hasField + "\(usesAll ? "body" : column.column) @? "
      + .value(.text("\(steps) ? (@ == \(literal))")) + "::jsonpath"
    return Translation(sql: sql, isExact: isFlat)
  }

  /// A condition on scalars and arrays of scalars, which the server evaluates in a fraction of the time of a jsonpath.
  private func contains(_ column: String, _ value: DocumentValue, _ literal: String) -> PostgresSQL
  {
    if case .string(let text) = value { return "\(column) ? " + .value(.text(text)) }
    return "\(column) @> " + .value(.text(literal)) + "::jsonb"
  }
}

/// The expression of an element index: the first field of the path, with all its contents.
struct ElementIndexExpression {
  /// The indexed expression.
  let column: String
  /// The path from the value of that expression to the elements, through any arrays.
  let path: String
  /// The path from the document to the elements.
  let wholePath: String

  /// Returns `nil` if the path addresses an element by number, or if jsonb cannot store one of its names.
  init?(_ path: FieldPath, _ names: PostgresNames) {
    guard !path.addressesElement, PostgresFieldExpression(path, names) != nil,
      let place = PostgresFieldExpression(FieldPath(components: [path.components[0]]), names)
    else { return nil }
    column = place.value
    // `**` matches values at any depth: more than the elements of nested arrays.
    let steps = path.components.map { JSONPathLiteral.name(PostgresFieldExpression.storedName($0)) }
    let inner = steps.dropFirst().map { "." + $0 + ".**" }.joined()
    self.path = "$.**" + inner
    wholePath = "$." + steps[0] + ".**" + inner
  }
}

/// Literals of the jsonpath language.
///
/// Source: https://www.postgresql.org/docs/current/datatype-json.html#DATATYPE-JSONPATH
enum JSONPathLiteral {
  /// Returns `nil` for values that are not JSON scalars, and for texts that jsonpath cannot represent.
  static func text(_ value: DocumentValue) -> String? {
    switch value {
    case .string(let text): return text.utf8.contains(0) ? nil : name(text)
    case .double(let number) where !number.isFinite: return nil
    case .int, .double:
      return ComparisonKey(value).map(\.number)
    case .bool(let flag): return flag ? "true" : "false"
    default: return nil
    }
  }

  /// Returns the text in double quotes, with JSON's escapes.
  static func name(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(.string(text))
    return writer.text
  }
}
