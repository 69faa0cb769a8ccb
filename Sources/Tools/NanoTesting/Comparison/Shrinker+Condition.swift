// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery

extension EngineRequest {
  var smaller: [EngineRequest] {
    let simpler: [EngineRequest] =
      switch self {
      case .pages, .distinct, .aggregate: [.find(query)]
      case .pipeline(let pipeline, let query):
        [.find(query)]
          + pipeline.stages.indices.map { index in
            var smaller = pipeline
            smaller.stages.remove(at: index)
            return .pipeline(smaller, query)
          }
      default: []
      }
    return simpler + query.smaller.map { with($0) }
  }

  var short: String {
    switch self {
    case .find(let query): "find \(query.short)"
    case .pages(let query, let size): "pages of \(size): \(query.short)"
    case .distinct(let path, let query): "distinct \(path): \(query.short)"
    case .aggregate(let query): "\(query.aggregates) by \(query.groups): \(query.query.short)"
    case .pipeline(let pipeline, let query): "\(query.short) |> \(pipeline.queryText)"
    case .contents: "contents"
    }
  }
}

extension Query {
  package var smaller: [Query] {
    var queries: [Query] = []
    func add(_ change: (inout Query) -> Void) {
      var copy = self
      change(&copy)
      if copy != self { queries.append(copy) }
    }
    add { $0.limit = nil }
    add { $0.offset = 0 }
    add { $0.after = nil }
    for index in orderings.indices {
      add { query in
        query.orderings.remove(at: index)
        query.after = query.after.map { after in
          var values = after.values
          values.remove(at: index)
          return PagePosition(values: values, rowID: after.rowID)
        }
      }
    }
    for smaller in condition.smaller { add { $0.condition = smaller } }
    return queries
  }

  package var short: String {
    var parts = [condition.queryText]
    if !orderings.isEmpty { parts.append("ORDER BY \(orderings.map(\.queryText))") }
    if let limit { parts.append("LIMIT \(limit)") }
    if offset > 0 { parts.append("OFFSET \(offset)") }
    if let after { parts.append("AFTER \(after)") }
    return parts.joined(separator: " ")
  }
}

extension Condition {
  /// The parts of the condition, and the condition with one part reduced.
  var smaller: [Condition] {
    switch self {
    case .constant: return []
    case .all(let parts):
      return [.constant(true)] + parts + ScriptShrinker.smaller(parts, \.smaller).map { .all($0) }
    case .any(let parts):
      return [.constant(true)] + parts + ScriptShrinker.smaller(parts, \.smaller).map { .any($0) }
    case .not(let part):
      return [.constant(true), part] + part.smaller.map { .not($0) }
    case .element(let path, let part): return part.smaller.map { .element(path, $0) }
    case .leaf(let part): return part.smaller.map { .leaf($0) }
    case .membership(let operand, let list):
      return ScriptShrinker.smaller(list) { _ in [] }.map { .membership(operand, $0) }
    case .between(let operand, let low, let high):
      return [
        .comparison(operand, .greaterOrEqual, low), .comparison(operand, .lessOrEqual, high),
      ]
    case .comparison(let left, let comparison, let right):
      return left.smaller.map { .comparison($0, comparison, right) }
        + right.smaller.map { .comparison(left, comparison, $0) }
    case .text(let left, let match, let right):
      return left.smaller.map { .text($0, match, right) }
        + right.smaller.map { .text(left, match, $0) }
    case .same(let left, let right):
      return left.smaller.map { .same($0, right) } + right.smaller.map { .same(left, $0) }
    case .isNull(let operand): return operand.smaller.map { .isNull($0) }
    case .truth(let operand): return operand.smaller.map { .truth($0) }
    case .related(let related):
      return [.constant(true)]
        + related.condition.smaller.map {
          var smaller = related
          smaller.condition = $0
          return .related(smaller)
        }
    case .exists, .search: return []
    }
  }
}

extension QueryExpression {
  /// The operands of the expression, and the expression with one operand reduced.
  var smaller: [QueryExpression] {
    switch self {
    case .value, .field, .attribute, .parameter: return []
    case .negated(let operand): return [operand] + operand.smaller.map { .negated($0) }
    case .cast(let operand, let type):
      return [operand] + operand.smaller.map { .cast($0, type) }
    case .arithmetic(let left, let operation, let right):
      return [left, right] + left.smaller.map { .arithmetic($0, operation, right) }
        + right.smaller.map { .arithmetic(left, operation, $0) }
    case .function(let function, let operands):
      return operands
        + ScriptShrinker.smaller(operands, \.smaller).filter { $0.count == operands.count }
        .map { .function(function, $0) }
    case .choice(let branches, let otherwise):
      return [otherwise] + branches.map(\.value)
    case .truth(let condition): return condition.smaller.map { .truth($0) }
    case .elements(let operand, let condition, let value):
      return [operand] + operand.smaller.map { .elements($0, where: condition, select: value) }
        + condition.smaller.map { .elements(operand, where: $0, select: value) }
        + (value == .field(.element)
          ? [] : [.elements(operand, where: condition, select: .field(.element))])
    }
  }
}
