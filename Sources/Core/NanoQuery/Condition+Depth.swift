// SPDX-License-Identifier: MIT

extension Condition {
  /// The maximum number of levels, including those of expressions: those of query text, and a few that a store adds for
  /// pages and filters. Evaluating them fits into the 512 KiB of stack of a secondary thread in a debug build.
  package static let maximumDepth = QueryParser.maximumHeight + 4

  /// Returns whether the nesting exceeds a number of levels, without descending further.
  func isDeeper(than levels: Int) -> Bool {
    guard levels > 0 else { return true }
    let rest = levels - 1
    switch self {
    case .constant, .exists, .search: return false
    case .all(let parts), .any(let parts): return parts.contains { $0.isDeeper(than: rest) }
    case .not(let part), .element(_, let part), .leaf(let part): return part.isDeeper(than: rest)
    case .comparison(let left, _, let right), .text(let left, _, let right),
      .same(let left, let right):
      return left.isDeeper(than: rest) || right.isDeeper(than: rest)
    case .membership(let operand, let list):
      return operand.isDeeper(than: rest) || list.contains { $0.isDeeper(than: rest) }
    case .between(let operand, let low, let high):
      return [operand, low, high].contains { $0.isDeeper(than: rest) }
    case .isNull(let operand): return operand.isDeeper(than: rest)
    // Query text has no level for the conversion of an expression or a condition to the other.
    case .truth(.truth(let condition)): return condition.isDeeper(than: rest - 1)
    case .truth(let operand): return operand.isDeeper(than: levels)
    case .related(let related):
      return related.local.isDeeper(than: rest) || related.condition.isDeeper(than: rest)
    }
  }
}

extension QueryExpression {
  fileprivate func isDeeper(than levels: Int) -> Bool {
    guard levels > 0 else { return true }
    let rest = levels - 1
    switch self {
    case .value, .field, .attribute, .parameter: return false
    case .negated(let operand), .cast(let operand, _): return operand.isDeeper(than: rest)
    case .arithmetic(let left, _, let right):
      return left.isDeeper(than: rest) || right.isDeeper(than: rest)
    case .function(_, let operands): return operands.contains { $0.isDeeper(than: rest) }
    case .choice(let branches, let otherwise):
      return otherwise.isDeeper(than: rest)
        || branches.contains {
          $0.condition.isDeeper(than: rest) || $0.value.isDeeper(than: rest)
        }
    case .truth(.truth(let operand)): return operand.isDeeper(than: rest - 1)
    case .truth(let condition): return condition.isDeeper(than: levels)
    case .elements(let array, where: let condition, select: let value):
      return array.isDeeper(than: rest) || condition.isDeeper(than: rest)
        || value.isDeeper(than: rest)
    }
  }
}
