// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
public import NanoQuery

extension ModelPath {
  /// Returns the condition that the property equals one of the values.
  ///
  /// ```swift
  /// people.find { $0.lastName.isIn(["Hopper", "Lovelace"]) }
  /// ```
  public func isIn(_ values: some Sequence<Value>) -> ModelCondition<Root> {
    let values = Array(values)
    return condition { (expression, location) throws(StoreError) in
      var list: [QueryExpression] = []
      var only: [QueryExpression] = []
      var hasNull = false
      for value in values {
        let stored = try StoredValues.comparable(value, isKey: location.isKey)
        guard let stored else { continue }
        if stored.isNull { hasNull = true } else { list.append(.value(stored)) }
        if let array = stored.array, array.count == 1, !array[0].isNull {
          only.append(.value(array[0]))
        }
      }
      var membership = Condition.membership(expression, list)
      if !only.isEmpty, location.isList {
        // Stored as its only element if the property was not a list before.
        membership =
          membership || .all([.not(.isArray(expression)), .membership(expression, only)])
      }
      return hasNull ? membership || .isNull(expression) : membership
    }
  }
}

extension ModelPath where Value: OrderedQueryValue {
  /// Returns the condition that the property is between two values, inclusive.
  public func isBetween(_ low: Value, and high: Value) -> ModelCondition<Root> {
    self >= low && self <= high
  }
}

/// A string or an optional string; nil matches no pattern.
public protocol TextQueryValue: QueryValue {}
extension String: TextQueryValue {}
extension Optional: TextQueryValue where Wrapped == String {}

extension ModelPath where Value: TextQueryValue {
  private func text(_ match: TextMatch, _ pattern: String) -> ModelCondition<Root> {
    condition { (expression, _) throws(StoreError) in
      .text(expression, match, .value(.string(pattern)))
    }
  }

  /// Returns the condition that the string starts with a prefix, compared literally.
  public func hasPrefix(_ text: String) -> ModelCondition<Root> { self.text(.beginsWith, text) }
  /// Returns the condition that the string contains a substring, compared literally.
  public func contains(_ text: String) -> ModelCondition<Root> { self.text(.contains, text) }
  /// Returns the condition that the string ends with a suffix, compared literally.
  public func hasSuffix(_ text: String) -> ModelCondition<Root> { self.text(.endsWith, text) }
  /// Returns the condition that the string matches by the given method, which can be
  /// case-insensitive.
  public func matches(_ match: TextMatch, _ text: String) -> ModelCondition<Root> {
    self.text(match, text)
  }
  /// Returns the condition that the string matches a pattern with `%` and `_`; see
  /// ``TextMatch/like``.
  public func like(_ pattern: String) -> ModelCondition<Root> { text(.like, pattern) }
  /// Returns the condition that the string matches a pattern with `*`, `?` and `[…]`; see
  /// ``TextMatch/glob``.
  public func glob(_ pattern: String) -> ModelCondition<Root> { text(.glob, pattern) }
  /// Returns the condition that a regular expression matches a part of the string.
  public func regexp(_ pattern: String) -> ModelCondition<Root> { text(.regexp, pattern) }
}

extension ModelPath where Value: Collection {
  /// The condition that a list, set, dictionary, string or data is empty.
  public var isEmpty: ModelCondition<Root> {
    let empty: [DocumentValue] =
      switch Value.self {
      case is any ListQueryValue.Type: [.array([])]
      case is String.Type: [.string("")]
      case is Data.Type: [.data(Data())]
      // `Codable` encodes a dictionary as an array unless its keys are strings or integers.
      default: [.object([:]), .array([])]
      }
    return condition { (expression, location) throws(StoreError) in
      var parts = empty.map { Condition.comparison(expression, .equal, .value($0)) }
      if location.isToMany, case .field(let path) = expression { parts.append(.hasNoList(path)) }
      let isEmpty = parts.count == 1 ? parts[0] : .any(parts)
      return try location.hasNoElements(isEmpty, expression, Value.self)
    }
  }
}

// Counterparts of the standard library's `contains`, for a property instead of a value.

extension ClosedRange where Bound: OrderedQueryValue {
  /// Returns the condition that the property is in the range, like `isBetween(_:and:)`.
  public func contains<Root>(_ path: ModelPath<Root, Bound>) -> ModelCondition<Root> {
    path >= lowerBound && path <= upperBound
  }
  /// Returns the condition that the property exists and is in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound?>) -> ModelCondition<Root> {
    path >= lowerBound && path <= upperBound
  }
}

extension Range where Bound: OrderedQueryValue {
  /// Returns the condition that the property is in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound>) -> ModelCondition<Root> {
    path >= lowerBound && path < upperBound
  }
  /// Returns the condition that the property exists and is in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound?>) -> ModelCondition<Root> {
    path >= lowerBound && path < upperBound
  }
}

extension Sequence {
  /// Returns the condition that the property is one of the values, like `isIn(_:)`.
  public func contains<Root>(_ path: ModelPath<Root, Element>) -> ModelCondition<Root> {
    path.isIn(self)
  }
}
