// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Simplifying combinators: redundant parts would keep conditions from using indexes.
extension Condition {
  func and(_ other: Condition) -> Condition {
    var parts: [Condition] = []
    for part in conjuncts + other.conjuncts where !parts.contains(part) { parts.append(part) }
    if parts.contains(.constant(false)) { return .constant(false) }
    let needed = parts.filter { part in
      part != .constant(true) && !parts.contains { $0 != part && $0.implies(part) }
    }
    return needed.isEmpty ? .constant(true) : needed.count == 1 ? needed[0] : .all(needed)
  }

  func or(_ other: Condition) -> Condition {
    var parts: [Condition] = []
    for part in disjuncts + other.disjuncts where !parts.contains(part) { parts.append(part) }
    if parts.contains(.constant(true)) { return .constant(true) }
    let needed = parts.filter { $0 != .constant(false) }
    return needed.isEmpty ? .constant(false) : needed.count == 1 ? needed[0] : .any(needed)
  }

  var opposite: Condition {
    switch self {
    case .constant(let truth): .constant(!truth)
    case .not(let part): part
    default: .not(self)
    }
  }

  private var conjuncts: [Condition] {
    if case .all(let parts) = self { parts } else { [self] }
  }
  private var disjuncts: [Condition] {
    if case .any(let parts) = self { parts } else { [self] }
  }

  /// Returns whether the condition compares a field and therefore implies that it exists.
  private func implies(_ part: Condition) -> Bool {
    let reached: FieldPath
    switch part {
    case .not(.isNull(.field(let path))), .exists(let path): reached = path
    default: return false
    }
    return comparedPaths.contains { path in
      path.components.starts(with: reached.components) { $0.hasSameBytes(as: $1) }
    }
  }

  private var comparedPaths: [FieldPath] {
    switch self {
    case .comparison(let left, _, let right): [left, right].compactMap(\.path)
    case .text(let operand, _, _), .membership(let operand, _): [operand].compactMap(\.path)
    default: []
    }
  }

  /// The condition as a constant, if it does not depend on the document.
  var folded: Condition {
    guard fields.isEmpty, !usesAttributes, !hasLeafConditions,
      let truth = try? Evaluator(DocumentSubject([:])).holds(self)
    else { return self }
    return .constant(truth)
  }
}

extension QueryExpression {
  fileprivate var path: FieldPath? {
    if case .field(let path) = self { path } else { nil }
  }
}
