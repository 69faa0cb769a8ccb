// SPDX-License-Identifier: MIT

import Foundation
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

  /// The expression under which an index stores the values of a field.
  private struct IndexedField {
    var expression: String
    /// The side table of an element index; `nil` for a field index.
    var elements: String?
    var summary: PathSummary?
    var hasDecimals: Bool { summary?.types.contains(.decimal) == true }
  }

  private func indexedField(_ path: FieldPath) -> IndexedField? {
    let summary = metadata.observed(path)
    if let table = metadata.elementTable(for: path) {
      return IndexedField(expression: "value", elements: table, summary: summary)
    }
    guard let summary, !summary.entersArray, metadata.isIndexed(path),
      let expression = summary.types.contains(.decimal)
        ? DecimalExpression(path)?.number : FieldExpression.extract(path)
    else { return nil }
    return IndexedField(expression: expression, elements: nil, summary: summary)
  }

  private func finish(_ indexed: IndexedField, _ test: SQLFragment, isExact: Bool) -> Translation {
    guard let table = indexed.elements else {
      return Translation(sql: test, isExact: isExact, isLookup: true)
    }
    let sql = SQLFragment("id IN (SELECT id FROM \(SQLName.quoted(table)) WHERE ") + test + ")"
    // The side table does not store the types of elements: a boolean looks like a number there.
    return Translation(sql: sql, isExact: false, isLookup: true)
  }

  private func field(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue)
    -> Translation?
  {
    guard let interval = comparison.interval, let operation = comparison.sql,
      let indexed = indexedField(path),
      let (binding, literalClass) = ExtractedValue.parameter(value)
    else { return nil }
    guard !missesEqual(indexed, literalClass), isPreserved(value) else { return nil }
    if isDecimal(indexed, literalClass) { return decimals(indexed, interval, value) }
    guard interval == .equal || isOrdered(indexed, literalClass) else { return nil }
    var test = SQLFragment("\(indexed.expression) \(operation) ") + .parameter(binding)
    // Without statistics, SQLite estimates that an open range selects a quarter of the table, and scans the table
    // rather than sort the rows that the index finds.
    if interval != .equal { test = "likelihood(" + test + ", 0.01)" }
    return finish(indexed, test, isExact: isAlone(indexed, literalClass))
  }

  /// Returns whether a comparison involves decimals, so that the index finds a superset.
  private func isDecimal(_ indexed: IndexedField, _ literal: PathSummary.PlainClass?) -> Bool {
    literal == .decimal || literal == .number && indexed.hasDecimals
  }

  /// Compares with the nearest number, which decimals next to the value have too.
  private func decimals(
    _ indexed: IndexedField, _ interval: Comparison.Interval, _ value: DocumentValue
  ) -> Translation? {
    guard let binding = number(value, indexed) else { return nil }
    guard interval != .equal else {
      return finish(
        indexed, SQLFragment("\(indexed.expression) = ") + .parameter(binding), isExact: false)
    }
    guard isOrdered(indexed, .decimal) else { return nil }
    let operation = interval == .upTo ? "<=" : ">="
    let test = SQLFragment("\(indexed.expression) \(operation) ") + .parameter(binding)
    return finish(indexed, "likelihood(" + test + ", 0.01)", isExact: false)
  }

  private func number(_ value: DocumentValue, _ indexed: IndexedField) -> SQLBinding? {
    indexed.elements != nil && indexed.hasDecimals
      ? PlainBinding.binding(value) : DecimalPlace.bindings(value)?.number
  }

  private func between(_ path: FieldPath, _ low: DocumentValue, _ high: DocumentValue)
    -> Translation?
  {
    guard let indexed = indexedField(path),
      let (lowBinding, lowClass) = ExtractedValue.parameter(low),
      let (highBinding, highClass) = ExtractedValue.parameter(high)
    else { return nil }
    if isDecimal(indexed, lowClass) || isDecimal(indexed, highClass) {
      guard let from = decimals(indexed, .from, low), let to = decimals(indexed, .upTo, high),
        indexed.elements == nil
      else { return nil }
      return Translation(sql: from.sql + " AND " + to.sql, isExact: false, isLookup: true)
    }
    guard lowClass == highClass,
      isOrdered(indexed, lowClass), !missesEqual(indexed, lowClass)
    else { return nil }
    let test =
      SQLFragment("\(indexed.expression) BETWEEN ") + .parameter(lowBinding) + " AND "
      + .parameter(highBinding)
    return finish(indexed, test, isExact: isAlone(indexed, lowClass))
  }

  private func membership(_ path: FieldPath, _ list: [QueryExpression]) -> Translation? {
    guard let indexed = indexedField(path), list.count <= Self.longestList else { return nil }
    var bindings: [SQLFragment] = []
    var isExact = true
    for element in list {
      guard case .value(let value) = element,
        let (binding, literal) = ExtractedValue.parameter(value),
        !missesEqual(indexed, literal), isPreserved(value)
      else { return nil }
      let isDecimal = isDecimal(indexed, literal)
      guard let found = isDecimal ? number(value, indexed) : binding else { return nil }
      bindings.append(.parameter(found))
      isExact = isExact && !isDecimal && isAlone(indexed, literal)
    }
    let test =
      SQLFragment("\(indexed.expression) IN (") + SQLFragment.joined(bindings, by: ", ") + ")"
    return finish(indexed, test, isExact: isExact)
  }

  private func prefixed(_ path: FieldPath, _ prefix: String) -> Translation? {
    guard let indexed = indexedField(path), isOrdered(indexed, .text), !missesEqual(indexed, .text),
      !prefix.utf8.contains(0)
    else { return nil }
    var test = SQLFragment("\(indexed.expression) >= ") + .parameter(.text(prefix))
    var isExact = isAlone(indexed, .text)
    if let upper = TextRange.upperBound(ofPrefix: prefix) {
      test = test + " AND \(indexed.expression) < " + .parameter(.text(upper))
    } else {
      isExact = isExact && prefix.isEmpty
    }
    return finish(indexed, test, isExact: isExact)
  }

  /// SQLite's limit is 32,766 parameters; half of that leaves room for other conditions.
  private static let longestList = 16_383

  /// Returns whether a range in stored order contains all matches. It does not for URLs and nonfinite values,
  /// whose stored forms sort elsewhere, nor for data, because base64 does not sort like the bytes.
  private func isOrdered(_ indexed: IndexedField, _ literal: PathSummary.PlainClass?) -> Bool {
    guard let literal, let summary = indexed.summary else { return false }
    guard literal != .text || metadata.ordersText else { return false }
    // Elements that are decimals have their stored form there.
    if indexed.elements != nil, indexed.hasDecimals, literal == .number || literal == .decimal {
      return false
    }
    return !summary.types.contains(.irregular)
  }

  /// Returns whether an equality lookup may miss matches. A text also equals a URL with that text, whose stored form
  /// differs. A date also equals one that is stored with its exact interval, as -0.0 is. A number also equals a decimal
  /// among elements, whose entry differs if the catalog does not track the path.
  private func missesEqual(_ indexed: IndexedField, _ literal: PathSummary.PlainClass?) -> Bool {
    switch literal {
    case .text: indexed.summary?.types.contains(.url) ?? true
    case .date: indexed.summary?.types.contains(.irregular) ?? true
    case .number, .decimal: indexed.elements != nil && indexed.summary == nil
    default: false
    }
  }

  /// Returns whether all values of the field have the class of the literal.
  private func isAlone(_ indexed: IndexedField, _ literal: PathSummary.PlainClass?) -> Bool {
    literal != nil && indexed.summary?.plainClass == literal
  }
}

extension ConditionCompiler {
  private func attribute(
    _ attribute: Attribute, _ comparison: Comparison, _ value: DocumentValue
  ) -> Translation? {
    guard let column = attribute.column, let operation = comparison.sql else { return nil }
    switch (attribute, value) {
    case (.rowID, .int(let id)):
      return Translation(
        sql: SQLFragment("\(column) \(operation) ") + .parameter(.int(id)), isExact: true)
    case (.type, .string(let name))
    where !name.utf8.contains(0) && isPreserved(value)
      && (metadata.ordersText || [.equal, .notEqual].contains(comparison)):
      return Translation(
        sql: SQLFragment("\(column) \(operation) ") + .parameter(.text(name)), isExact: true)
    case (.key, .string(let key)) where comparison == .equal:
      guard let binding = keyBinding(key) else { return Translation(sql: "0", isExact: true) }
      return Translation(sql: SQLFragment("\(column) = ") + .parameter(binding), isExact: true)
    case (.added, .date(let date)): return added(comparison, date)
    default: return nil
    }
  }

  private func attributeMembership(_ attribute: Attribute, _ list: [QueryExpression])
    -> Translation?
  {
    var bindings: [SQLFragment] = []
    guard let column = attribute.column, list.count <= Self.longestList else { return nil }
    for element in list {
      switch (attribute, element) {
      case (.rowID, .value(.int(let id))): bindings.append(.parameter(.int(id)))
      case (.type, .value(.string(let name)))
      where !name.utf8.contains(0) && isPreserved(.string(name)):
        bindings.append(.parameter(.text(name)))
      case (.key, .value(.string(let key))):
        if let binding = keyBinding(key) { bindings.append(.parameter(binding)) }
      default: return nil
      }
    }
    let sql = SQLFragment("\(column) IN (") + SQLFragment.joined(bindings, by: ", ") + ")"
    return Translation(sql: sql, isExact: true)
  }

  /// Returns the parameter for a key; `nil` for a text that no key of the database can be.
  private func keyBinding(_ key: String) -> SQLBinding? {
    switch try? DocumentKey(key) {
    case .uuid(let high, let low)?: .uuid(high, low)
    case .text(let text)? where isPreserved(.string(text)): .text(text)
    case .text?, nil: nil
    }
  }

  /// Whether SQLite compares a value as it is. A UTF-16 database, where texts have no order either, compares some as
  /// different texts.
  private func isPreserved(_ value: DocumentValue) -> Bool {
    guard !metadata.ordersText, case .string(let text) = value else { return true }
    return TextEncoding.preserves(text)
  }

  private func added(_ comparison: Comparison, _ date: Date) -> Translation? {
    guard let range = CreationDateRange(comparison, date) else { return nil }
    var bounds: [SQLFragment] = []
    if let low = range.low { bounds.append(SQLFragment("added >= ") + .parameter(.int(low))) }
    if let high = range.high { bounds.append(SQLFragment("added <= ") + .parameter(.int(high))) }
    return Translation(sql: .joined(bounds, by: " AND "), isExact: false)
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
