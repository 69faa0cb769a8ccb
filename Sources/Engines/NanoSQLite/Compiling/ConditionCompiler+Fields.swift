// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Comparisons of fields that an index executes.
extension ConditionCompiler {
  /// The expression under which an index stores the values of a field.
  struct IndexedField {
    var expression: String
    /// The side table of an element index; `nil` for a field index.
    var elements: String?
    var summary: PathSummary?
    var hasDecimals: Bool { summary?.types.contains(.decimal) == true }
  }

  func indexedField(_ path: FieldPath) -> IndexedField? {
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

  func field(_ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue)
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

  func between(_ path: FieldPath, _ low: DocumentValue, _ high: DocumentValue)
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

  func membership(_ path: FieldPath, _ list: [QueryExpression]) -> Translation? {
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

  func prefixed(_ path: FieldPath, _ prefix: String) -> Translation? {
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
  static let longestList = 16_383

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
