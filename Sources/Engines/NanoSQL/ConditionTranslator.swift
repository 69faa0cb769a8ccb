// SPDX-License-Identifier: MIT

package import NanoQuery

/// SQL with its parameters, in the form of one engine.
package protocol SQLExpression: ExpressibleByStringLiteral where StringLiteralType == String {
  static func + (a: Self, b: Self) -> Self
  static func joined(_ parts: [Self], by separator: String) -> Self
  /// A condition that every row or no row satisfies.
  static func constant(_ truth: Bool) -> Self
  var parameterCount: Int { get }
}

extension SQLExpression {
  /// `(a) AND (b)`; nil for no parts.
  package static func all(_ parts: [Self]) -> Self? { logic(parts, " AND ") }
  /// `(a) OR (b)`; nil for no parts.
  package static func any(_ parts: [Self]) -> Self? { logic(parts, " OR ") }

  private static func logic(_ parts: [Self], _ word: String) -> Self? {
    if parts.count <= 1 { return parts.first }
    guard parts.count > longestChain else {
      return joined(parts.map { "(" + $0 + ")" }, by: word)
    }
    let chains = stride(from: 0, to: parts.count, by: longestChain).map {
      Array(parts[$0..<min($0 + longestChain, parts.count)])
    }
    return logic(chains.compactMap { logic($0, word) }, word)
  }

  /// The most parts that are joined without further parentheses. Each adds a level to the expression, of which SQLite
  /// permits 1,000. Arbitrary; a small part of that, because conditions are nested.
  private static var longestChain: Int { 64 }
}

/// The SQL of a condition, which selects at least every document that satisfies it.
package protocol ConditionTranslation {
  associatedtype SQL: SQLExpression
  var sql: SQL { get }
  /// Whether it selects no other documents.
  var isExact: Bool { get }
  init(sql: SQL, isExact: Bool)
}

/// The size of the SQL of a condition.
package struct TranslationLimits {
  /// The number of parameters.
  package var parameters: Int
  /// The number of parts of a conjunction.
  package var conjuncts: Int
  /// The number of parts of a disjunction.
  package var alternatives: Int

  package init(parameters: Int, conjuncts: Int, alternatives: Int) {
    self.parameters = parameters
    self.conjuncts = conjuncts
    self.alternatives = alternatives
  }
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
  /// What is beyond the limits is only checked on the documents. Nil if there are none.
  var limits: TranslationLimits? { get }
  /// Translates a condition that is not a constant, conjunction or disjunction. A comparison with a value has the
  /// value on the right.
  func translateSimple(_ condition: Condition) -> Translation?
  /// Translates a whole condition whose parts cannot be translated one by one.
  func translateWhole(_ condition: Condition) -> Translation?
}

extension ConditionTranslator {
  package func translateWhole(_ condition: Condition) -> Translation? { nil }
  package var limits: TranslationLimits? { nil }

  /// Splits a condition into SQL, one translation for each conjunct that has one, and the rest, which is
  /// evaluated on each document that the SQL selects. Nil if nothing is left.
  package func translateConjuncts(
    _ condition: Condition
  ) -> (translations: [Translation], rest: Condition?) {
    var translations: [Translation] = []
    var rest: [Condition] = []
    var parameters = 0
    for conjunct in condition.conjuncts {
      if case .constant(true) = conjunct { continue }
      let stored =
        if let defaults { conjunct.asStored(defaults) } else { Condition?.some(conjunct) }
      var translation = if let stored { translate(stored) } else { Translation?.none }
      if let limits, let count = translation?.sql.parameterCount {
        let isBeyond =
          parameters + count > limits.parameters || translations.count >= limits.conjuncts
        // Joins stay: whether related documents are read instead is decided for each join by itself.
        if isBeyond, !conjunct.hasUnreadRelated { translation = nil } else { parameters += count }
      }
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
      let used = limits.map { parts.prefix($0.conjuncts) } ?? parts[...]
      let translations = used.map(translate)
      guard let sql = Translation.SQL.all(translations.compactMap { $0?.sql }) else {
        return translateWhole(condition)
      }
      let isExact = used.count == parts.count && translations.allSatisfy { $0?.isExact == true }
      return Translation(sql: sql, isExact: isExact)
    case .any(let parts):
      if let limits, parts.count > limits.alternatives { return translateWhole(condition) }
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
