// SPDX-License-Identifier: MIT

import NanoDocument

/// An aggregate over the rows of a group, such as the sum of an expression.
///
/// ```swift
/// films.find().grouped(by: ["year": "year"], [
///   "films": .count, "best": .max("rating"), "genres": .set("genres"),
///   "long": .count.where(Field("minutes") > 150),
/// ])
/// ```
///
/// An aggregate covers every value of its expression: the elements of an array, without the array.
/// docs/QUERY-SEMANTICS.md defines the results.
public struct AggregateExpression: Sendable, Hashable {
  /// What an aggregate computes.
  public enum Function: String, Sendable, Hashable, CaseIterable {
    /// The number of rows, or of values, including nulls.
    case count
    /// The sum of the numbers.
    case sum
    /// The mean of the numbers, or null if there are none.
    case average = "avg"
    /// The smallest value in sort order, ignoring nulls.
    case min
    /// The largest value in sort order, ignoring nulls.
    case max
    /// The first value, in the order of the rows.
    case first
    /// The last value, in the order of the rows.
    case last
    /// An array of the values, in the order of the rows.
    case push
    /// The sample standard deviation of the numbers, or null for fewer than two.
    case sampleDeviation = "stddev_samp"
    /// The population standard deviation of the numbers, or null if there are none.
    case populationDeviation = "stddev_pop"
    /// The sample variance of the numbers, or null for fewer than two.
    case sampleVariance = "var_samp"
    /// The population variance of the numbers, or null if there are none.
    case populationVariance = "var_pop"
  }

  /// What the aggregate computes.
  public var function: Function
  /// The expression whose values are aggregated; `nil` for the number of rows.
  public var operand: QueryExpression?
  /// Whether equal values count once. They are aggregated in sort order.
  public var isDistinct: Bool
  /// The condition of the rows that the aggregate covers; `nil` for all rows of the group.
  public var condition: Condition?

  package init(
    _ function: Function, _ operand: QueryExpression?, isDistinct: Bool = false,
    condition: Condition? = nil
  ) {
    self.function = function
    self.operand = operand
    self.isDistinct = isDistinct
    self.condition = condition
  }
}

extension AggregateExpression {
  /// The number of rows.
  public static let count = AggregateExpression(.count, nil)
  /// Returns the number of values, including nulls.
  public static func count(of operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.count, operand.queryExpression)
  }
  /// Returns the number of distinct values, including null.
  public static func distinctCount(
    of operand: some QueryExpressionConvertible
  ) -> AggregateExpression {
    AggregateExpression(.count, operand.queryExpression, isDistinct: true)
  }
  /// Returns the sum of the numbers: an integer if all are integers and the sum fits in 64 bits.
  public static func sum(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.sum, operand.queryExpression)
  }
  /// Returns the mean of the numbers, or null if there are none.
  public static func average(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.average, operand.queryExpression)
  }
  /// Returns the smallest value in sort order, or null if there is none.
  public static func min(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.min, operand.queryExpression)
  }
  /// Returns the largest value in sort order, or null if there is none.
  public static func max(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.max, operand.queryExpression)
  }
  /// Returns the first value in the order of the rows, or null if there is none.
  public static func first(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.first, operand.queryExpression)
  }
  /// Returns the last value in the order of the rows, or null if there is none.
  public static func last(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.last, operand.queryExpression)
  }
  /// Returns an array of the values in the order of the rows.
  public static func push(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.push, operand.queryExpression)
  }
  /// Returns an array of the distinct values in sort order.
  public static func set(_ operand: some QueryExpressionConvertible) -> AggregateExpression {
    AggregateExpression(.push, operand.queryExpression, isDistinct: true)
  }
  /// Returns the standard deviation of the numbers: of a sample, or of the whole population.
  public static func standardDeviation(
    _ operand: some QueryExpressionConvertible, ofPopulation: Bool = false
  ) -> AggregateExpression {
    AggregateExpression(
      ofPopulation ? .populationDeviation : .sampleDeviation, operand.queryExpression)
  }
  /// Returns the variance of the numbers: of a sample, or of the whole population.
  public static func variance(
    _ operand: some QueryExpressionConvertible, ofPopulation: Bool = false
  ) -> AggregateExpression {
    AggregateExpression(
      ofPopulation ? .populationVariance : .sampleVariance, operand.queryExpression)
  }

  /// Returns the aggregate over the rows that also satisfy a condition.
  public func `where`(_ condition: Condition) -> AggregateExpression {
    var copy = self
    copy.condition = self.condition.map { $0 && condition } ?? condition
    return copy
  }

  /// The aggregate in which equal values count once.
  public var distinct: AggregateExpression {
    var copy = self
    copy.isDistinct = true
    return copy
  }
}

extension AggregateExpression {
  /// The same aggregate as engines compute it, or `nil` if only a pipeline can.
  package var engineAggregate: Aggregate? {
    guard !isDistinct, condition == nil else { return nil }
    switch (function, operand) {
    case (.count, nil): return .count
    case (.count, .field(let path)): return .countOf(path)
    case (.sum, .field(let path)): return .sum(path)
    case (.average, .field(let path)): return .average(path)
    case (.min, .field(let path)): return .min(path)
    case (.max, .field(let path)): return .max(path)
    default: return nil
    }
  }
}
