// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Translates conditions to SQLite's SQL where indexes help.
///
/// Where the path catalog shows that all values of a field have one type, the SQL is exact. The rest is evaluated
/// on each document that the SQL selects, with the semantics of the reference evaluator.
struct ConditionCompiler: ConditionTranslator {
  let metadata: CollectionMetadata
  /// Whether joins should look up related documents one by one, because another condition finds few documents.
  var prefersLookups = false
  /// The number of pairs of parentheses around the conditions.
  var depth = 0
  var defaults: FieldDefaults? { metadata.defaults }
  var checksEverything: Bool { metadata.hasForeignRows }
  /// SQLite's limit is 32,766 parameters; the difference leaves room for the other parts of a query. Planning takes
  /// time quadratic in the number of parts: 50 ms for 1,000 conjuncts, 300 ms for 5,000 lookups in the wildcard index.
  var limits: TranslationLimits? {
    TranslationLimits(parameters: 32_000, conjuncts: 1_000, alternatives: 5_000)
  }

  /// The parser of older SQLite versions has a stack of 100 symbols. A pair of parentheses takes three of them, and the
  /// largest statement around the conditions with the largest comparison in them about 50.
  private static let maximumDepth = 16

  func nested(_ levels: Int) -> ConditionCompiler? {
    guard levels <= Self.maximumDepth - depth else { return nil }
    var nested = self
    nested.depth += levels
    return nested
  }

  struct Split {
    var sql: SQLFragment?
    var rest: Condition?
  }

  func split(_ condition: Condition) -> Split {
    if condition.hasUnreadRelated, !prefersLookups, hasLookup(condition) {
      var compiler = self
      compiler.prefersLookups = true
      return compiler.split(condition)
    }
    let (translations, rest) = translateConjuncts(condition)
    let sql = SQLFragment.all(Self.useful(translations).map(\.sql)).map(orForeign)
    return Split(sql: sql, rest: rest)
  }

  /// Returns whether a conjunct finds documents by an index, without related ones.
  private func hasLookup(_ condition: Condition) -> Bool {
    condition.conjuncts.contains { !$0.hasRelated && translate($0)?.isLookup == true }
  }

  /// Adds the rows of other programs, whose documents are all checked. With `OR`, SQLite would scan the table
  /// instead of searching two indexes.
  private func orForeign(_ sql: SQLFragment) -> SQLFragment {
    guard metadata.hasForeignRows else { return sql }
    let rows = "SELECT id FROM \(SQLName.quoted(metadata.table)) WHERE "
    return SQLFragment("id IN (" + rows, []) + sql
      + SQLFragment(" UNION ALL " + rows + "revision IS NULL)", [])
  }

  /// Omits range scans of the wildcard index if a better lookup exists, and all but one otherwise. SQLite collects
  /// all rows of each index search, and a range may have many. Omitted conditions are checked on the documents.
  private static func useful(_ translations: [Translation]) -> [Translation] {
    let others = translations.filter { $0.leaves != .range }
    guard !others.contains(where: \.isLookup) else { return others }
    return others + translations.filter { $0.leaves == .range }.prefix(1)
  }

  struct Translation: ConditionTranslation {
    var sql: SQLFragment
    var isExact: Bool
    /// The kind of lookup in the wildcard index; `nil` if the SQL does not use that index.
    var leaves: Leaves?
    /// Whether the SQL searches an index.
    var isLookup = false

    enum Leaves { case equality, range }

    init(sql: SQLFragment, isExact: Bool) { self.init(sql: sql, isExact: isExact, isLookup: false) }
    init(sql: SQLFragment, isExact: Bool, leaves: Leaves? = nil, isLookup: Bool) {
      self.sql = sql
      self.isExact = isExact
      self.leaves = leaves
      self.isLookup = isLookup
    }
  }

  func translateWhole(_ condition: Condition) -> Translation? {
    (condition.searches ? checked(condition) : nil) ?? wildcardTranslation(condition)
  }

  func translateSimple(_ condition: Condition) -> Translation? {
    indexTranslation(condition) ?? wildcardTranslation(condition)
  }

  private func wildcardTranslation(_ condition: Condition) -> Translation? {
    guard let leaves = metadata.leaves else { return nil }
    let compiler = WildcardIndexCompiler(index: leaves, ordersText: metadata.ordersText)
    return compiler.translate(condition).map {
      Translation(
        sql: $0.sql, isExact: false, leaves: $0.isEquality ? .equality : .range,
        isLookup: $0.isEquality)
    }
  }

  private func indexTranslation(_ condition: Condition) -> Translation? {
    switch condition {
    case .comparison(.field(let path), let comparison, .value(let value)):
      return field(path, comparison, value)
    case .between(.field(let path), .value(let low), .value(let high)):
      return between(path, low, high)
    case .membership(.field(let path), let list): return membership(path, list)
    case .text(.field(let path), .beginsWith, .value(.string(let prefix))):
      return prefixed(path, prefix)
    case .isNull(.field(let path)):
      guard let indexed = indexedField(path), indexed.elements == nil else {
        return nil
      }
      return Translation(sql: "\(indexed.expression) IS NULL", isExact: true)
    case .not(.exists(let path)):
      // An index does not distinguish null from missing.
      guard let indexed = indexedField(path), indexed.elements == nil,
        let types = indexed.summary?.types
      else { return nil }
      return Translation(sql: "\(indexed.expression) IS NULL", isExact: !types.contains(.null))
    case .comparison(.attribute(let attribute), let comparison, .value(let value)):
      return self.attribute(attribute, comparison, value)
    case .membership(.attribute(let attribute), let list):
      return attributeMembership(attribute, list)
    case .search(let search):
      guard let found = metadata.fullTextLookup(search) else { return nil }
      return Translation(
        sql: "id IN (" + found.rows + ")", isExact: found.isExact, isLookup: true)
    case .not(let part) where part.searches: return checked(condition)
    case .related(let related): return self.related(related, isNegated: false)
    case .not(.related(let related)): return self.related(related, isNegated: true)
    case .isNull(.attribute(let attribute)) where attribute != .rowID:
      return attribute.column.map { Translation(sql: "\($0) IS NULL", isExact: true) }
    default: return nil
    }
  }
}

extension ConditionCompiler {
  /// Translates the whole condition, so that its searches use their indexes instead of reading each document;
  /// `nil` if no index executes one of them exactly.
  private func checked(_ condition: Condition) -> Translation? {
    guard condition.hasExactSearch(metadata) else { return nil }
    return Translation(sql: exact(condition), isExact: true)
  }

  /// Deeply nested parts are checked on the documents.
  private func exact(_ condition: Condition) -> SQLFragment {
    if case .search(let search) = condition, let found = metadata.fullTextLookup(search),
      found.isExact
    {
      return "id IN (" + found.rows + ")"
    }
    guard condition.hasExactSearch(metadata) else {
      return QueryCompiler(metadata).check(condition)
    }
    switch condition {
    case .all(let parts):
      guard let joined = exact(parts) else { break }
      return SQLFragment.all(joined) ?? "1"
    case .any(let parts):
      guard let joined = exact(parts) else { break }
      return SQLFragment.any(joined) ?? "0"
    case .not(let part):
      guard let nested = nested(1) else { break }
      return "NOT (" + nested.exact(part) + ")"
    default: break
    }
    return QueryCompiler(metadata).check(condition)
  }

  /// Returns `nil` for parts that would be nested too deeply.
  private func exact(_ parts: [Condition]) -> [SQLFragment]? {
    guard let nested = nested(SQLFragment.levels(ofParts: parts.count)) else { return nil }
    return parts.map { nested.exact($0) }
  }
}

extension Condition {
  /// Returns whether the condition contains a search that an index executes exactly.
  fileprivate func hasExactSearch(_ metadata: CollectionMetadata) -> Bool {
    switch self {
    case .search(let search): metadata.fullTextLookup(search)?.isExact == true
    case .all(let parts), .any(let parts): parts.contains { $0.hasExactSearch(metadata) }
    case .not(let part): part.hasExactSearch(metadata)
    default: false
    }
  }
}
