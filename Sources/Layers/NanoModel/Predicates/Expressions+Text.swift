// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.text(base, .contains, other, self))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.text(base, .beginsWith, prefix, self))
  }
}

extension PredicateExpressions.StringContainsRegex: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.text(subject, .regexp, regex, self))
  }
}

extension PredicateTranslator {
  fileprivate func text<T: PredicateExpression, P: PredicateExpression>(
    _ text: T, _ match: TextMatch, _ pattern: P, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    let truth = try combined(text, pattern) { (text, pattern) in
      guard let text = text.content.text, let pattern = pattern.content.text else { return nil }
      return .text(text, match, pattern)
    }
    guard T.Output.self == String.self, let truth else { throw .untranslatable(whole, "texts") }
    return truth
  }
}

extension Term.Content {
  fileprivate var text: QueryExpression? {
    switch self {
    case .constant(let value as String): .value(.string(value))
    case .constant(let value as PredicateExpressions.PredicateRegex):
      .value(.string(value.stringRepresentation))
    case .stored(.string(let text)): .value(.string(text))
    case .location(let location): location.expression
    default: nil
    }
  }
}
