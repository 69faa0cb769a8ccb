// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

/// A constant range.
private protocol RangeOfValues {
  var lower: Any? { get }
  var upper: Any? { get }
  var includesUpper: Bool { get }
}
extension ClosedRange: RangeOfValues {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
extension Range: RangeOfValues {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeFrom: RangeOfValues {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { nil }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeThrough: RangeOfValues {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
extension PartialRangeUpTo: RangeOfValues {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}

/// A range whose bounds are expressions of the predicate.
private protocol RangeOfTerms: PredicateExpression {
  func contains<Element: PredicateExpression>(
    _ element: Element, _ translator: PredicateTranslator, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth
}

extension PredicateExpressions.ClosedRange: RangeOfTerms {
  fileprivate func contains<Element: PredicateExpression>(
    _ element: Element, _ translator: PredicateTranslator, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    try translator.isBetween(lower, element, upper, .lessOrEqual, whole)
  }
}

extension PredicateExpressions.Range: RangeOfTerms {
  fileprivate func contains<Element: PredicateExpression>(
    _ element: Element, _ translator: PredicateTranslator, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    try translator.isBetween(lower, element, upper, .less, whole)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    if let range = range as? any RangeOfTerms {
      return Term(try range.contains(element, translator, self))
    }
    guard let range = try translator.term(range).constant,
      let truth = try translator.range(range, contains: element, self)
    else { throw .untranslatable(self, "a range of numbers, strings or dates") }
    return Term(truth)
  }
}

extension PredicateTranslator {
  fileprivate func isBetween<
    L: PredicateExpression, E: PredicateExpression, U: PredicateExpression
  >(
    _ lower: L, _ element: E, _ upper: U, _ comparison: Comparison,
    _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    let isOver = try self.comparison(lower, .lessOrEqual, element, whole)
    let isUnder = try self.comparison(element, comparison, upper, whole)
    // Swift traps when the bounds are in the wrong order.
    let isRange = try self.comparison(lower, .lessOrEqual, upper, whole)
    let all = isRange.and(isOver).and(isUnder)
    return Truth(holds: all.holds, fails: all.fails.or(isRange.isFalse))
  }

  /// Returns the condition that a constant range contains an element, or nil if the value is not a
  /// range.
  func range<E: PredicateExpression>(
    _ range: Any, contains element: E, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth? {
    guard let range = range as? any RangeOfValues else { return nil }
    let element = try term(element)
    let kind = StoredType(E.Output.self).kind
    var holds = Condition.constant(false)
    for part in element.cases {
      guard kind.hasOrder, kind.isText || !part.content.isKey else { return nil }
      var within = part.when
      for (bound, comparison) in [
        (range.lower, Comparison.greaterOrEqual),
        (range.upper, range.includesUpper ? .lessOrEqual : .less),
      ] {
        guard let bound else { continue }
        let other = Term.Case(content: .constant(bound))
        guard let test = try part.compares(comparison, other, isFloating: kind.isFloating) else {
          return nil
        }
        within = within.and(test)
      }
      holds = holds.or(within)
    }
    return Truth(holds: holds, fails: element.fails)
  }
}
