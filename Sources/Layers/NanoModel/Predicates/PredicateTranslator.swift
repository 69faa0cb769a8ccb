// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

/// An expression type that can be translated to a condition.
protocol TranslatableExpression: PredicateExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term
}

/// Translates predicates to conditions.
struct PredicateTranslator {
  /// Whether documents can store fields under former names.
  let includesFormerNames: Bool
  /// The number of enclosing closures over list elements.
  var depth: Int
  /// The values of variables, and the depth at which each was bound.
  var variables: [PredicateExpressions.VariableID: (term: Term, depth: Int)]
  /// Translates an expression.
  func term<E: PredicateExpression>(_ expression: E) throws(StoreError) -> Term {
    guard let translatable = expression as? any TranslatableExpression else {
      throw .untranslatable(expression)
    }
    return try translatable.translated(by: self)
  }

  /// Translates a Boolean expression.
  func truth<E: PredicateExpression>(_ expression: E) throws(StoreError) -> Truth {
    let term = try term(expression)
    var holds = Condition.constant(false)
    for part in term.cases {
      guard let condition = part.content.isTrue else { throw .untranslatable(expression) }
      holds = holds.or(part.when.and(condition))
    }
    return Truth(holds: holds, fails: term.fails)
  }

  /// Returns the translator for a nested scope in which a variable has a value.
  ///
  /// - Parameter deeper: Whether the scope is a closure over elements of a list in the document.
  func entering<Element>(
    _ variable: PredicateExpressions.Variable<Element>, _ term: Term, deeper: Bool = false
  ) -> PredicateTranslator {
    var inner = self
    inner.depth += deeper ? 1 : 0
    inner.variables[variable.key] = (term, inner.depth)
    return inner
  }

  /// Combines the cases of two operands with an operator.
  func combined<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R,
    _ condition: (Term.Case, Term.Case) throws(StoreError) -> Condition?
  ) throws(StoreError) -> Truth? {
    let (lefts, rights) = (try term(left), try term(right))
    var holds = Condition.constant(false)
    for a in lefts.cases {
      for b in rights.cases {
        let when = a.when.and(b.when)
        guard when != .constant(false) else { continue }
        guard let part = try condition(a, b) else { return nil }
        holds = holds.or(when.and(part.folded))
      }
    }
    return Truth(holds: holds, fails: lefts.fails.or(rights.fails))
  }
}

extension Term {
  /// Replaces each case by the cases that a closure returns.
  func mapped(
    _ change: (Case) throws(StoreError) -> Term?
  ) throws(StoreError) -> Term? {
    var result = Term([], fails: fails)
    for part in cases {
      guard let inner = try change(part) else { return nil }
      for var next in inner.cases {
        next.when = part.when.and(next.when)
        if next.when != .constant(false) { result.cases.append(next) }
      }
      result.fails = result.fails.or(part.when.and(inner.fails))
    }
    return result
  }

  /// The cases in which the value is not null.
  var present: Term {
    var present = self
    present.cases = cases.compactMap { part in
      var part = part
      part.when = part.when.and(part.isNull.opposite)
      part.mayBeNull = false
      return part.when == .constant(false) ? nil : part
    }
    return present
  }

  /// The condition that the value is null.
  var isNull: Condition {
    cases.reduce(.constant(false)) { $0.or($1.when.and($1.isNull)) }
  }
  /// The condition that a case applies.
  var applies: Condition { cases.reduce(.constant(false)) { $0.or($1.when) } }

  /// Restricts all cases to documents that satisfy a condition.
  func limited(to condition: Condition) -> Term {
    Term(
      cases.map { part in
        var part = part
        part.when = condition.and(part.when)
        return part
      }, fails: condition.and(fails))
  }

  /// Adds cases, which must exclude these.
  func joined(with other: Term) -> Term {
    Term(cases + other.cases, fails: fails.or(other.fails))
  }
}

extension Term.Case {
  /// The condition that the content is null.
  var isNull: Condition {
    switch content {
    case .constant(let value): .constant(unwrapped(value) == nil)
    case .stored(let value): .constant(value.isNull)
    case .location(let location): mayBeNull ? location.isNull : .constant(false)
    case .computed(let expression): mayBeNull ? .isNull(expression) : .constant(false)
    case .extreme(let list, _):
      mayBeNull ? .comparison(list.expression, .equal, .value(.array([]))) : .constant(false)
    case .truth, .elements, .count: .constant(false)
    }
  }
}

extension Term.Content {
  /// The condition that the content is true; nil if it is not Boolean.
  var isTrue: Condition? {
    switch self {
    case .constant(let value): (unwrapped(value) as? Bool).map(Condition.constant)
    case .stored(.bool(let flag)): .constant(flag)
    case .location(let location): .comparison(location.expression, .equal, .value(true))
    case .truth(let condition): condition
    default: nil
    }
  }
}
