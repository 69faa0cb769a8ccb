// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let operation: NanoQuery.Arithmetic =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw .untranslatable(self)
      }
    return try translator.arithmetic(lhs, operation, rhs, self)
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.arithmetic(lhs, .divide, rhs, self)
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.arithmetic(lhs, .remainder, rhs, self)
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    try translator.arithmetic(lhs, .divide, rhs, self)
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let kind = StoredType(Output.self).kind
    let term = try translator.term(wrapped).mapped { (part) throws(StoreError) in
      try part.content.operand(kind).map { operand in
        // Multiplies by -1, since subtracting from zero would lose the sign of zero.
        kind.isFloating
          ? kind.result(.arithmetic(operand, .multiply, .value(.double(-1))))
          : kind.result(.negated(operand))
      }
    }
    guard let term else { throw .untranslatable(self, StoredType.Kind.arithmeticReason) }
    return term
  }
}

extension PredicateTranslator {
  fileprivate func arithmetic<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ operation: Arithmetic, _ right: R, _ whole: some PredicateExpression
  ) throws(StoreError) -> Term {
    let kind = StoredType(L.Output.self).kind
    let other = try term(right)
    let term = try term(left).mapped { (a) throws(StoreError) in
      try other.mapped { (b) throws(StoreError) in
        guard let x = try a.content.operand(kind), let y = try b.content.operand(kind) else {
          return nil
        }
        return kind.computed(x, operation, y)
      }
    }
    guard let term else { throw .untranslatable(whole, StoredType.Kind.arithmeticReason) }
    return term
  }
}

extension Term.Content {
  /// Returns a numeric operand, or nil if the type has no exact arithmetic in the store.
  ///
  /// Stored numbers are converted to the type: 12.0 to an integer, 12 to a double.
  fileprivate func operand(_ kind: StoredType.Kind) throws(StoreError) -> QueryExpression? {
    let cast: CastType
    switch kind {
    case .double: cast = .real
    case .integer(_, fits: true): cast = .integer
    // Swift rounds a `Float` after each step; the store computes in doubles.
    default: return nil
    }
    switch self {
    case .constant(let value): return try storedForm(value).map(QueryExpression.value)
    case .stored(let value): return .cast(.value(value), cast)
    case .location(let location): return location.isKey ? nil : .cast(location.expression, cast)
    case .computed(let expression): return expression
    default: return nil
    }
  }
}

extension StoredType.Kind {
  fileprivate static var arithmeticReason: String {
    "signed integers of at most 64 bits, or doubles"
  }

  fileprivate func computed(
    _ x: QueryExpression, _ operation: Arithmetic, _ y: QueryExpression
  ) -> Term {
    let value = QueryExpression.arithmetic(x, operation, y)
    guard operation == .divide || operation == .remainder else { return result(value) }
    let isZero = Condition.comparison(y, .equal, .value(.int(0))).folded
    guard isFloating else {
      let traps = operation == .remainder ? isZero.or(overflowsRemainder(x, y)) : isZero
      var term = result(value).limited(to: traps.opposite)
      term.fails = term.fails.or(traps)
      return term
    }
    // The store returns null for a division by zero; Swift returns an infinity or NaN.
    let infinite = QueryExpression.arithmetic(
      x, .multiply, .function(.pow, [y, .value(.double(-1))]))
    return result(value).limited(to: isZero.opposite)
      .joined(with: result(infinite).limited(to: isZero))
  }

  /// The quotient of the least value and -1 overflows, for which Swift also traps on the remainder.
  private func overflowsRemainder(_ x: QueryExpression, _ y: QueryExpression) -> Condition {
    func least<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Int64 { Int64(Integer.min) }
    guard case .integer(let type, _) = self else { return .constant(false) }
    return Condition.comparison(y, .equal, .value(.int(-1))).folded
      .and(Condition.comparison(x, .equal, .value(.int(least(type)))).folded)
  }

  /// Returns a computed result. It fails where the result overflows the type, which would trap in
  /// Swift.
  fileprivate func result(_ value: QueryExpression) -> Term {
    guard case .integer(let type, _) = self else { return Term(.computed(value)) }
    let fits = Self.fits(value, type).folded
    return Term([Term.Case(when: fits, content: .computed(value))], fails: fits.opposite)
  }

  private static func fits<Integer: FixedWidthInteger>(
    _ value: QueryExpression, _ type: Integer.Type
  ) -> Condition {
    // The store computes a result beyond 64 bits as a double.
    if Int64(Integer.max) == .max {
      return .comparison(.function(.typeof, [value]), .equal, .value("integer"))
    }
    return .between(value, .value(.int(Int64(Integer.min))), .value(.int(Int64(Integer.max))))
  }
}
