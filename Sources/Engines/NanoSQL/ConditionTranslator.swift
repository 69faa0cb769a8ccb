// SPDX-License-Identifier: MIT

package import NanoQuery

/// SQL with its parameters, in the form of one engine.
package protocol SQLExpression: ExpressibleByStringLiteral where StringLiteralType == String {
  static func + (a: Self, b: Self) -> Self
  static func joined(_ parts: [Self], by separator: String) -> Self
  /// A condition that every row or no row satisfies.
  static func constant(_ truth: Bool) -> Self
}

extension SQLExpression {
  /// `(a) AND (b)`; nil for no parts.
  package static func all(_ parts: [Self]) -> Self? { logic(parts, " AND ") }
  /// `(a) OR (b)`; nil for no parts.
  package static func any(_ parts: [Self]) -> Self? { logic(parts, " OR ") }

  private static func logic(_ parts: [Self], _ word: String) -> Self? {
    if parts.count <= 1 { return parts.first }
    return joined(parts.map { "(" + $0 + ")" }, by: word)
  }
}

/// The SQL of a condition, which selects at least every document that satisfies it.
package protocol ConditionTranslation {
  associatedtype SQL: SQLExpression
  var sql: SQL { get }
  /// Whether it selects no other documents.
  var isExact: Bool { get }
  init(sql: SQL, isExact: Bool)
}

/// Translates conditions to the SQL of one engine.
///
/// An engine translates single comparisons. Everything that follows from them, which is the same for all engines,
/// is here: conjunctions, disjunctions, defaults, exactness, and what is left to check on the documents.
package protocol ConditionTranslator {
  associatedtype Translation: ConditionTranslation
  /// The values that queries assume for missing fields. Indexes store documents without them.
  var defaults: FieldDefaults? { get }
  /// Whether there are rows that the paths in the catalog do not cover, so that every part is also checked on the
  /// documents.
  var checksEverything: Bool { get }
  /// Translates a condition that is not a constant, conjunction or disjunction. A comparison with a value has the
  /// value on the right.
  func translateSimple(_ condition: Condition) -> Translation?
  /// Translates a whole condition whose parts cannot be translated one by one.
  func translateWhole(_ condition: Condition) -> Translation?
}

extension ConditionTranslator {
  package func translateWhole(_ condition: Condition) -> Translation? { nil }

  /// Splits a condition into SQL, one translation for each conjunct that has one, and the rest, which is
  /// evaluated on each document that the SQL selects. Nil if nothing is left.
  package func translateConjuncts(
    _ condition: Condition
  ) -> (translations: [Translation], rest: Condition?) {
    var translations: [Translation] = []
    var rest: [Condition] = []
    for conjunct in condition.conjuncts {
      if case .constant(true) = conjunct { continue }
      let stored =
        if let defaults { conjunct.asStored(defaults) } else { Condition?.some(conjunct) }
      let translation = if let stored { translate(stored) } else { Translation?.none }
      if let translation { translations.append(translation) }
      if translation?.isExact != true || checksEverything { rest.append(conjunct) }
    }
    return (translations, rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest))
  }

  /// The SQL of a condition on stored documents; nil if there is none that selects a superset.
  package func translate(_ condition: Condition) -> Translation? {
    switch condition {
    case .constant(let truth): return Translation(sql: .constant(truth), isExact: true)
    case .all(let parts):
      // A part without SQL narrows the result, so that leaving it out selects a superset.
      let translations = parts.map(translate)
      guard let sql = Translation.SQL.all(translations.compactMap { $0?.sql }) else {
        return translateWhole(condition)
      }
      return Translation(sql: sql, isExact: translations.allSatisfy { $0?.isExact == true })
    case .any(let parts):
      let translations = parts.compactMap(translate)
      guard translations.count == parts.count else { return translateWhole(condition) }
      let sql = Translation.SQL.any(translations.map(\.sql)) ?? .constant(false)
      return Translation(sql: sql, isExact: translations.allSatisfy(\.isExact))
    case .comparison(.value(let value), let comparison, let other):
      return translateSimple(.comparison(other, comparison.mirrored, .value(value)))
    default: return translateSimple(condition)
    }
  }
}

extension Condition {
  /// The conditions that all have to hold: nested conjunctions flattened.
  package var conjuncts: [Condition] {
    guard case .all(let parts) = self else { return [self] }
    return parts.flatMap(\.conjuncts)
  }
}
