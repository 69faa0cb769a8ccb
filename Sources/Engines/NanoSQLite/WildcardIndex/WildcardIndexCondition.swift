// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoSQL

/// A test on the value column of the wildcard index. It matches a superset of the scalar values that satisfy a
/// condition on a single value.
struct WildcardIndexCondition: Hashable {
  var sql: SQLFragment
  /// Whether the test compares with single values rather than a range.
  var isEquality: Bool

  static func equal(_ bindings: [SQLBinding]) -> WildcardIndexCondition {
    let marks = SQLFragment.joined(bindings.map { .parameter($0) }, by: ", ")
    return WildcardIndexCondition(
      sql: bindings.count == 1 ? "value = " + marks : "value IN (" + marks + ")", isEquality: true)
  }

  /// Returns a range test with inclusive bounds. Values sort by type: numbers, texts, blobs.
  private static func range(_ low: SQLBinding?, _ high: SQLBinding?, _ end: SQLBinding? = nil)
    -> WildcardIndexCondition
  {
    var parts: [SQLFragment] = []
    if let low { parts.append("value >= " + .parameter(low)) }
    if let high { parts.append("value <= " + .parameter(high)) }
    if let end { parts.append("value < " + .parameter(end)) }
    return WildcardIndexCondition(sql: SQLFragment.joined(parts, by: " AND "), isEquality: false)
  }

  static let null = equal([.data(Data())])
}

extension WildcardIndexCondition {
  /// Returns `nil` if the index cannot decide, as for inequality, containers, and ranges of data.
  init?(_ comparison: Comparison, _ value: DocumentValue, ordersText: Bool) {
    guard let interval = comparison.interval, !value.isNull,
      let binding = WildcardIndexValue(value).map(SQLBinding.init)
    else {
      return nil
    }
    if interval == .equal {
      self = .equal([binding])
      return
    }
    let isUpper = interval == .upTo
    switch ValueOrder.rank(value) {
    case .boolean: self = .equal([.int(0), .int(1)])
    case .number:
      self = isUpper ? .range(nil, binding) : .range(binding, nil, Self.afterNumbers)
    case .date:
      guard value.date?.timeIntervalSinceReferenceDate.isNaN == false else { return nil }
      self = isUpper ? .range(nil, binding) : .range(binding, nil, Self.afterNumbers)
    case .text:
      guard ordersText else { return nil }
      self = Self.textRange(ValueOrder.text(value), isUpper: isUpper)
    case .none, .data, .array, .object: return nil
    }
  }

  private static let afterNumbers = SQLBinding.text("")
  private static let afterTexts = SQLBinding.data(Data())

  private static func textRange(_ text: String, isUpper: Bool) -> WildcardIndexCondition {
    let certain = WildcardIndexValue.certainPrefix(of: text)
    guard isUpper else { return .range(.text(certain), nil, afterTexts) }
    if certain.hasSameBytes(as: text) { return .range(.text(""), .text(text)) }
    return .range(
      .text(""), nil, TextRange.upperBound(ofPrefix: certain).map { .text($0) } ?? afterTexts)
  }

  /// Tests for a value between two values of the same rank.
  init?(between low: DocumentValue, _ high: DocumentValue, ordersText: Bool) {
    guard ValueOrder.rank(low) == ValueOrder.rank(high),
      let lower = WildcardIndexCondition(.greaterOrEqual, low, ordersText: ordersText),
      let upper = WildcardIndexCondition(.lessOrEqual, high, ordersText: ordersText)
    else { return nil }
    self = lower.and(upper)
  }

  /// Tests for one of several values; null equals nothing.
  init?(in list: [QueryExpression]) {
    var bindings: [SQLBinding] = []
    for element in list {
      guard case .value(let value) = element else { return nil }
      if value.isNull { continue }
      guard let binding = WildcardIndexValue(value).map(SQLBinding.init) else { return nil }
      bindings.append(binding)
    }
    self = .equal(bindings)
  }

  init?(prefix: String, ordersText: Bool) {
    guard ordersText else { return nil }
    let certain = WildcardIndexValue.certainPrefix(of: prefix)
    self = .range(
      .text(certain), nil,
      TextRange.upperBound(ofPrefix: certain).map { .text($0) } ?? Self.afterTexts)
  }

  /// Returns the conjunction of two tests.
  func and(_ other: WildcardIndexCondition) -> WildcardIndexCondition {
    WildcardIndexCondition(
      sql: sql + " AND " + other.sql, isEquality: isEquality || other.isEquality)
  }
}

extension WildcardIndexCondition {
  /// Returns the test for a condition that compares one operand with constants; `nil` if there is none.
  init?(_ condition: Condition, of operand: QueryExpression, ordersText: Bool) {
    switch condition {
    case .comparison(operand, let comparison, .value(let value)):
      self.init(comparison, value, ordersText: ordersText)
    case .comparison(.value(let value), let comparison, operand):
      self.init(comparison.mirrored, value, ordersText: ordersText)
    case .between(operand, .value(let low), .value(let high)):
      self.init(between: low, high, ordersText: ordersText)
    case .membership(operand, let list): self.init(in: list)
    case .text(operand, .beginsWith, .value(.string(let prefix))):
      self.init(prefix: prefix, ordersText: ordersText)
    default: return nil
    }
  }
}
