// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.truth(lhs).and(translator.truth(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.truth(lhs).or(translator.truth(rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.truth(wrapped).opposite)
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let test = try translator.truth(test)
    var term = try translator.term(trueBranch).limited(to: test.holds)
      .joined(with: translator.term(falseBranch).limited(to: test.isFalse))
    term.fails = test.fails.or(term.fails)
    return term
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let outer = try translator.term(wrapped)
    let present = outer.present
    let inner = try translator.entering(variable, present).term(transform)
      .limited(to: present.applies)
    let null = Term.Case(when: outer.isNull, content: .constant(Result?.none as Any))
    return Term(inner.cases + [null], fails: outer.fails.or(inner.fails))
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let left = try translator.term(lhs)
    return try left.present.joined(with: translator.term(rhs).limited(to: left.isNull))
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.term(inner).forced
  }
}

extension Term {
  /// The term without null; it fails where the value is null.
  var forced: Term {
    var term = present
    term.fails = fails.or(isNull)
    return term
  }
}

/// The casts that never change the value: to the same type, and from an optional to its wrapped
/// type.
private enum Cast {
  case same, unwraps

  init?(_ input: Any.Type, _ desired: Any.Type) {
    guard !(desired is any OptionalType.Type) else { return nil }
    if input == desired {
      self = .same
    } else if (input as? any OptionalType.Type)?.wrappedType == desired {
      self = .unwraps
    } else {
      return nil
    }
  }

  static let reason = "a cast to the property's type or to its wrapped type"
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    guard Cast(Input.Output.self, Desired.self) != nil else {
      throw .untranslatable(self, Cast.reason)
    }
    return try translator.term(input)
  }
}

extension PredicateExpressions.ForceCast: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    guard Cast(Input.Output.self, Desired.self) != nil else {
      throw .untranslatable(self, Cast.reason)
    }
    return try translator.term(input).forced
  }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    guard Cast(Input.Output.self, Desired.self) != nil else {
      throw .untranslatable(self, Cast.reason)
    }
    let term = try translator.term(input)
    return Term(Truth(holds: term.present.applies, fails: term.fails))
  }
}
