// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Translates conditions to SQLite's SQL, as far as indexes help.
///
/// Where the path catalog shows that all values of a field have one type, the SQL is exact. The rest is evaluated
/// on each document that the SQL selects, with the semantics of the reference evaluator.
struct ConditionCompiler: ConditionTranslator {
  let facts: CollectionMetadata
  var defaults: FieldDefaults? { facts.defaults }
  var checksEverything: Bool { facts.hasForeignRows }

  struct Split {
    var sql: SQLFragment?
    var rest: Condition?
  }

  func split(_ condition: Condition) -> Split {
    let (translations, rest) = translateConjuncts(condition)
    let sql = SQLFragment.all(Self.useful(translations).map(\.sql)).map(orForeign)
    return Split(sql: sql, rest: rest)
  }

  /// Adds the rows of other programs, all of which are checked. With OR, SQLite would scan the table instead of
  /// searching two indexes.
  private func orForeign(_ sql: SQLFragment) -> SQLFragment {
    guard facts.hasForeignRows else { return sql }
    let rows = "SELECT id FROM \(SQLName.quoted(facts.table)) WHERE "
    return SQLFragment("id IN (" + rows, []) + sql
      + SQLFragment(" UNION ALL " + rows + "revision IS NULL)", [])
  }

  /// Leaves out ranges of the wildcard index where something better exists: SQLite collects all rows that each of
  /// several index searches finds, and a range may find many. What is left out is checked on the documents.
  private static func useful(_ answers: [Answer]) -> [Answer] {
    let others = answers.filter { $0.leaves != .range }
    guard !others.contains(where: \.isLookUp) else { return others }
    return others + answers.filter { $0.leaves == .range }.prefix(1)
  }

  struct Answer: ConditionTranslation {
    var sql: SQLFragment
    var isExact: Bool
    /// How it uses the wildcard index, if it does.
    var leaves: Leaves?
    /// Whether it searches an index.
    var isLookUp = false

    enum Leaves { case equality, range }

    init(sql: SQLFragment, isExact: Bool) { self.init(sql: sql, isExact: isExact, isLookUp: false) }
    init(sql: SQLFragment, isExact: Bool, leaves: Leaves? = nil, isLookUp: Bool) {
      self.sql = sql
      self.isExact = isExact
      self.leaves = leaves
      self.isLookUp = isLookUp
    }
  }

  func translateWhole(_ condition: Condition) -> Answer? {
    (condition.searches ? checked(condition) : nil) ?? leafAnswer(condition)
  }

  func translateSimple(_ condition: Condition) -> Answer? {
    plainAnswer(condition) ?? leafAnswer(condition)
  }

  private func leafAnswer(_ condition: Condition) -> Answer? {
    guard let leaves = facts.leaves else { return nil }
    let compiler = WildcardIndexCompiler(index: leaves, ordersText: facts.ordersText)
    return compiler.answer(condition).map {
      Answer(
        sql: $0.sql, isExact: false, leaves: $0.isEquality ? .equality : .range,
        isLookUp: $0.isEquality)
    }
  }

  private func plainAnswer(_ condition: Condition) -> Answer? {
    switch condition {
    case .comparison(.field(let path), let comparison, .value(let value)):
      return field(path, comparison, value)
    case .between(.field(let path), .value(let low), .value(let high)):
      return between(path, low, high)
    case .membership(.field(let path), let list): return membership(path, list)
    case .text(.field(let path), .beginsWith, .value(.string(let prefix))):
      return prefixed(path, prefix)
    case .isNull(.field(let path)):
      guard let place = place(path), place.isPlain, place.elements == nil else { return nil }
      return Answer(sql: "\(place.expression) IS NULL", isExact: true)
    case .not(.exists(let path)):
      // The index has one entry for null and for missing.
      guard let place = place(path), place.isPlain, place.elements == nil,
        let types = place.facts?.types
      else { return nil }
      return Answer(sql: "\(place.expression) IS NULL", isExact: !types.contains(.null))
    case .comparison(.attribute(let attribute), let comparison, .value(let value)):
      return self.attribute(attribute, comparison, value)
    case .membership(.attribute(let attribute), let list):
      return attributeMembership(attribute, list)
    case .search(let search):
      guard let found = facts.answer(search) else { return nil }
      return Answer(
        sql: "id IN (" + found.rows + ")", isExact: found.isExact, isLookUp: true)
    case .not(let part) where part.searches: return checked(condition)
    case .isNull(.attribute(let attribute)) where attribute != .rowID && attribute != .leafPath:
      return Answer(sql: "\(Self.column(attribute)) IS NULL", isExact: true)
    default: return nil
    }
  }
}

extension ConditionCompiler {
  /// The whole condition in SQL, so that its searches are asked of their indexes rather than of each
  /// document; nil if that gains nothing.
  private func checked(_ condition: Condition) -> Answer? {
    guard condition.hasExactSearch(facts) else { return nil }
    return Answer(sql: exact(condition), isExact: true)
  }

  private func exact(_ condition: Condition) -> SQLFragment {
    if case .search(let search) = condition, let found = facts.answer(search), found.isExact {
      return "id IN (" + found.rows + ")"
    }
    guard condition.hasExactSearch(facts) else {
      return QueryCompiler(facts).check(condition)
    }
    switch condition {
    case .all(let parts): return SQLFragment.all(parts.map(exact)) ?? "1"
    case .any(let parts): return SQLFragment.any(parts.map(exact)) ?? "0"
    case .not(let part): return "NOT (" + exact(part) + ")"
    default: return QueryCompiler(facts).check(condition)
    }
  }

  /// Where an index keeps the values of a field.
  private struct Place {
    var expression: String
    /// The side table that holds the elements, if it is an index on elements.
    var elements: String?
    /// Whether the expression gives the one value that the path reaches.
    var isPlain: Bool
    var facts: PathSummary?
  }

  private func place(_ path: FieldPath) -> Place? {
    let known = facts.observed(path)
    if let table = facts.elementTable(for: path) {
      return Place(expression: "value", elements: table, isPlain: true, facts: known)
    }
    guard let known, !known.entersArray, facts.isIndexed(path),
      let expression = FieldExpression.extract(path)
    else { return nil }
    return Place(expression: expression, elements: nil, isPlain: true, facts: known)
  }

  private func finish(_ place: Place, _ test: SQLFragment, isExact: Bool) -> Answer {
    guard let table = place.elements else {
      return Answer(sql: test, isExact: isExact, isLookUp: true)
    }
    let sql = SQLFragment("id IN (SELECT id FROM \(SQLName.quoted(table)) WHERE ") + test + ")"
    // An element's type is not kept in the side table: a boolean looks like a number there.
    return Answer(sql: sql, isExact: false, isLookUp: true)
  }

  private func field(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue) -> Answer?
  {
    guard comparison != .notEqual, let place = place(path),
      let (binding, literalClass) = ExtractedValue.parameter(value)
    else { return nil }
    guard comparison == .equal || isOrdered(place, literalClass) else { return nil }
    guard !missesEqual(place, literalClass) else { return nil }
    var test = SQLFragment("\(place.expression) \(comparison.sql) ") + .parameter(binding)
    // Without statistics SQLite takes an open range for a quarter of the table, and scans it rather
    // than sort what the index finds.
    if comparison != .equal { test = "likelihood(" + test + ", 0.01)" }
    return finish(place, test, isExact: isAlone(place, literalClass))
  }

  private func between(_ path: FieldPath, _ low: DocumentValue, _ high: DocumentValue) -> Answer? {
    guard let place = place(path), let (lowBinding, lowClass) = ExtractedValue.parameter(low),
      let (highBinding, highClass) = ExtractedValue.parameter(high), lowClass == highClass,
      isOrdered(place, lowClass), !missesEqual(place, lowClass)
    else { return nil }
    let test =
      SQLFragment("\(place.expression) BETWEEN ") + .parameter(lowBinding) + " AND "
      + .parameter(highBinding)
    return finish(place, test, isExact: isAlone(place, lowClass))
  }

  private func membership(_ path: FieldPath, _ list: [QueryExpression]) -> Answer? {
    guard let place = place(path), list.count <= Self.longestList else { return nil }
    var bindings: [SQLFragment] = []
    var isExact = true
    for element in list {
      guard case .value(let value) = element,
        let (binding, literal) = ExtractedValue.parameter(value),
        !missesEqual(place, literal)
      else { return nil }
      bindings.append(.parameter(binding))
      isExact = isExact && isAlone(place, literal)
    }
    let test =
      SQLFragment("\(place.expression) IN (") + SQLFragment.joined(bindings, by: ", ") + ")"
    return finish(place, test, isExact: isExact)
  }

  private func prefixed(_ path: FieldPath, _ prefix: String) -> Answer? {
    guard let place = place(path), isOrdered(place, .text), !missesEqual(place, .text),
      !prefix.utf8.contains(0)
    else { return nil }
    var test = SQLFragment("\(place.expression) >= ") + .parameter(.text(prefix))
    var isExact = isAlone(place, .text)
    if let upper = TextRange.upperBound(ofPrefix: prefix) {
      test = test + " AND \(place.expression) < " + .parameter(.text(upper))
    } else {
      isExact = isExact && prefix.isEmpty
    }
    return finish(place, test, isExact: isExact)
  }

  /// SQLite stops at 32,766 parameters; half of that leaves room for other conditions.
  private static let longestList = 16_383

  /// Whether ranges in stored order find everything: texts of URLs and of what is not finite stand
  /// elsewhere, and base64 has another order than its bytes.
  private func isOrdered(_ place: Place, _ literal: PathSummary.PlainClass?) -> Bool {
    guard let literal, let known = place.facts else { return false }
    guard literal != .text || facts.ordersText else { return false }
    return !known.types.contains(.irregular)
  }

  /// A text is also equal to a URL of that text, which is stored in another form; a date to one with
  /// its exact interval beside it, which is how -0.0 is kept.
  private func missesEqual(_ place: Place, _ literal: PathSummary.PlainClass?) -> Bool {
    switch literal {
    case .text: place.facts?.types.contains(.url) ?? true
    case .date: place.facts?.types.contains(.irregular) ?? true
    default: false
    }
  }

  private func isAlone(_ place: Place, _ literal: PathSummary.PlainClass?) -> Bool {
    literal != nil && place.facts?.plainClass == literal
  }
}

extension ConditionCompiler {
  static func column(_ attribute: Attribute) -> String {
    attribute == .rowID ? "id" : attribute.rawValue
  }

  private func attribute(
    _ attribute: Attribute, _ comparison: Comparison, _ value: DocumentValue
  ) -> Answer? {
    let column = Self.column(attribute)
    switch (attribute, value) {
    case (.rowID, .int(let id)):
      return Answer(
        sql: SQLFragment("\(column) \(comparison.sql) ") + .parameter(.int(id)), isExact: true)
    case (.type, .string(let name))
    where !name.utf8.contains(0) && (facts.ordersText || [.equal, .notEqual].contains(comparison)):
      return Answer(
        sql: SQLFragment("\(column) \(comparison.sql) ") + .parameter(.text(name)),
        isExact: true)
    case (.key, .string(let key)) where comparison == .equal:
      guard let binding = Self.keyBinding(key) else { return Answer(sql: "0", isExact: true) }
      return Answer(sql: SQLFragment("\(column) = ") + .parameter(binding), isExact: true)
    case (.added, .date(let date)) where comparison != .notEqual:
      return added(comparison, date)
    default: return nil
    }
  }

  private func attributeMembership(_ attribute: Attribute, _ list: [QueryExpression]) -> Answer? {
    var bindings: [SQLFragment] = []
    guard list.count <= Self.longestList else { return nil }
    for element in list {
      switch (attribute, element) {
      case (.rowID, .value(.int(let id))): bindings.append(.parameter(.int(id)))
      case (.type, .value(.string(let name))) where !name.utf8.contains(0):
        bindings.append(.parameter(.text(name)))
      case (.key, .value(.string(let key))):
        if let binding = Self.keyBinding(key) { bindings.append(.parameter(binding)) }
      default: return nil
      }
    }
    let sql =
      SQLFragment("\(Self.column(attribute)) IN (") + SQLFragment.joined(bindings, by: ", ") + ")"
    return Answer(sql: sql, isExact: true)
  }

  /// Nil for a text that no document can have as its key.
  static func keyBinding(_ key: String) -> SQLBinding? {
    switch try? DocumentKey(key) {
    case .uuid(let high, let low)?: .uuid(high, low)
    case .text(let text)?: .text(text)
    case nil: nil
    }
  }

  /// Moments are kept in whole microseconds and compared as dates, so the SQL looks a little wider.
  private func added(_ comparison: Comparison, _ date: Date) -> Answer? {
    let micros = date.timeIntervalSince1970 * 1e6
    guard micros.magnitude < 0x1p62 else { return nil }
    let (low, high) = (Int64(micros) - 2, Int64(micros) + 2)
    let sql: SQLFragment
    switch comparison {
    case .less, .lessOrEqual: sql = SQLFragment("added <= ") + .parameter(.int(high))
    case .greater, .greaterOrEqual: sql = SQLFragment("added >= ") + .parameter(.int(low))
    case .equal, .notEqual:
      sql =
        SQLFragment("added BETWEEN ") + .parameter(.int(low)) + " AND " + .parameter(.int(high))
    }
    return Answer(sql: sql, isExact: false)
  }
}

extension Condition {
  /// Whether a search in it finds all and nothing else in an index.
  fileprivate func hasExactSearch(_ facts: CollectionMetadata) -> Bool {
    switch self {
    case .search(let search): facts.answer(search)?.isExact == true
    case .all(let parts), .any(let parts): parts.contains { $0.hasExactSearch(facts) }
    case .not(let part): part.hasExactSearch(facts)
    default: false
    }
  }
}
