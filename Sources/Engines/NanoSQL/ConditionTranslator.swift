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

  /// The number of pairs of parentheses around a part that is joined with others.
  package static func levels(ofParts count: Int) -> Int {
    if count <= 1 { return 0 }
    if count <= longestChain { return 1 }
    return 1 + levels(ofParts: (count + longestChain - 1) / longestChain)
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
  /// The comparisons in the whole condition, each by its ``ConditionTranslator/weight(_:)``.
  package var comparisons: Int

  package init(
    parameters: Int, conjuncts: Int = .max, alternatives: Int = .max, comparisons: Int = .max
  ) {
    self.parameters = parameters
    self.conjuncts = conjuncts
    self.alternatives = alternatives
    self.comparisons = comparisons
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
  /// The weight in ``TranslationLimits/comparisons`` of a condition that is not a constant, conjunction, disjunction or
  /// negation.
  func weight(_ condition: Condition) -> Int
  /// Returns an equivalent condition with fewer comparisons, if there is one.
  func merged(_ condition: Condition) -> Condition
  /// Translates a condition that is not a constant, conjunction or disjunction. A comparison with a value has the
  /// value on the right.
  func translateSimple(_ condition: Condition) -> Translation?
  /// Translates a whole condition whose parts cannot be translated one by one.
  func translateWhole(_ condition: Condition) -> Translation?
  /// Returns the translator of conditions inside this many more pairs of parentheses; `nil` if the engine does not
  /// accept SQL that is nested so deeply.
  func nested(_ levels: Int) -> Self?
}

extension ConditionTranslator {
  package func translateWhole(_ condition: Condition) -> Translation? { nil }
  package func nested(_ levels: Int) -> Self? { self }
  package var limits: TranslationLimits? { nil }
  package func weight(_ condition: Condition) -> Int { 1 }
  package func merged(_ condition: Condition) -> Condition { condition }

  /// Splits a condition into SQL, one translation for each conjunct that has one, and the rest, which is
  /// evaluated on each document that the SQL selects. Nil if nothing is left.
  package func translateConjuncts(
    _ condition: Condition
  ) -> (translations: [Translation], rest: Condition?) {
    var translations: [Translation] = []
    var rest: [Condition] = []
    let conjuncts = condition.conjuncts.filter {
      if case .constant(true) = $0 { false } else { true }
    }
    for (conjunct, translation) in zip(conjuncts, translateWithinLimits(conjuncts)) {
      if let translation { translations.append(translation) }
      if translation?.isExact != true || checksEverything { rest.append(conjunct) }
    }
    return (translations, rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest))
  }

  /// Translates each conjunct, as long as they are within the limits together.
  private func translateWithinLimits(_ conjuncts: [Condition]) -> [Translation?] {
    let stored = conjuncts.map { conjunct -> Condition? in
      guard let defaults else { return merged(conjunct) }
      return conjunct.asStored(defaults).map { merged($0) }
    }
    guard let limits else {
      return stored.map { condition -> Translation? in condition.flatMap { translate($0) } }
    }
    var translations = [Translation?](repeating: nil, count: conjuncts.count)
    var used = (parameters: 0, conjuncts: 0, comparisons: 0)
    let sizes = stored.map { $0.map { size($0) } ?? 0 }
    for index in order(conjuncts, sizes) {
      guard let condition = stored[index], used.conjuncts < limits.conjuncts,
        sizes[index] <= limits.comparisons - used.comparisons,
        let translation = translate(condition),
        translation.sql.parameterCount <= limits.parameters - used.parameters
      else { continue }
      translations[index] = translation
      used.parameters += translation.sql.parameterCount
      used.conjuncts += 1
      used.comparisons += sizes[index]
    }
    return translations
  }

  /// The order in which conjuncts use the limits. Joins are first: related documents that are not read cannot be
  /// checked. Small conjuncts are next, since they select as few documents as large ones.
  private func order(_ conjuncts: [Condition], _ sizes: [Int]) -> [Int] {
    guard conjuncts.count > 1 else { return Array(conjuncts.indices) }
    let ranks = zip(conjuncts, sizes).map { $0.hasUnreadRelated ? -1 : $1 }
    return conjuncts.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
  }

  private func size(_ condition: Condition) -> Int {
    switch condition {
    case .constant: 0
    case .all(let parts), .any(let parts): parts.reduce(0) { $0 + size($1) }
    case .not(let part): size(part)
    default: weight(condition)
    }
  }

  /// The SQL of a condition on stored documents; nil if there is none that selects a superset.
  package func translate(_ condition: Condition) -> Translation? {
    switch condition {
    case .constant(let truth): return Translation(sql: .constant(truth), isExact: true)
    case .all:
      // A part without SQL narrows the result, so that leaving it out selects a superset.
      let parts = condition.conjuncts
      let used = limits.map { parts.prefix($0.conjuncts) } ?? parts[...]
      guard let nested = nested(Translation.SQL.levels(ofParts: used.count)) else {
        return translateWhole(condition)
      }
      let translations = used.map { nested.translate($0) }
      guard let sql = Translation.SQL.all(translations.compactMap { $0?.sql }) else {
        return translateWhole(condition)
      }
      let isExact = used.count == parts.count && translations.allSatisfy { $0?.isExact == true }
      return Translation(sql: sql, isExact: isExact)
    case .any:
      let parts = condition.alternatives
      if let limits, parts.count > limits.alternatives { return translateWhole(condition) }
      guard let nested = nested(Translation.SQL.levels(ofParts: parts.count)) else {
        return translateWhole(condition)
      }
      let translations = parts.compactMap { nested.translate($0) }
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

  /// The conditions of which one has to hold: nested disjunctions flattened.
  package var alternatives: [Condition] {
    guard case .any(let parts) = self else { return [self] }
    return parts.flatMap(\.alternatives)
  }
}
