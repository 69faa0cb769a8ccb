// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// An aggregate over the values of a model, with the type of its result.
///
/// ```swift
/// let (count, oldest) = try people.find().aggregate(.count, .max(\.age))
/// ```
public struct ModelAggregate<M: Model, Result: Sendable>: Sendable {
  let aggregate: Swift.Result<Aggregate, StoreError>
  /// The aggregated property.
  let location: PropertyLocation?
  let result: @Sendable (DocumentValue) throws(StoreError) -> Result

  private init(
    _ keyPath: any AnyKeyPath & Sendable, _ make: @Sendable (FieldPath) -> Aggregate,
    _ result: @escaping @Sendable (DocumentValue) throws(StoreError) -> Result
  ) {
    let location = Swift.Result { () throws(StoreError) in try M.aggregatedLocation(of: keyPath) }
    aggregate = location.map { make($0.path) }
    self.location = try? location.get()
    self.result = result
  }

  private init(
    _ aggregate: Aggregate,
    _ result: @escaping @Sendable (DocumentValue) throws(StoreError) -> Result
  ) {
    self.aggregate = .success(aggregate)
    location = nil
    self.result = result
  }
}

extension ModelAggregate where Result == Int {
  /// The number of values.
  public static var count: ModelAggregate { ModelAggregate(.count) { Int($0.int ?? 0) } }
  /// Returns the number of documents in which the property exists; for a list, the number of
  /// elements.
  public static func count(of keyPath: any PartialKeyPath<M> & Sendable) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.countOf) { Int($0.int ?? 0) }
  }
}

extension ModelAggregate where Result == Double? {
  /// Returns the average of a numeric property, or nil if there are no values. Lists contribute all
  /// their elements.
  public static func average(
    _ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable
  ) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.average) { $0.double }
  }
}

extension ModelAggregate where Result == Decimal? {
  /// Returns the average of a `Decimal` property, rounded to 34 digits, or nil if there are no values.
  public static func average(
    _ keyPath: any KeyPath<M, Decimal> & Sendable
  ) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.average) { (value) throws(StoreError) in
      value.isNull ? nil : try Decimal(stored: value)
    }
  }
}

extension ModelAggregate {
  /// Returns the sum of a numeric property, or 0 if there are no values. Lists contribute all their
  /// elements.
  ///
  /// A sum that overflows the property's type throws ``StoreError/Code/typeMismatch``. The sum of
  /// `Decimal` values is exact.
  public static func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Number {
    ModelAggregate(keyPath, Aggregate.sum) { (value) throws(StoreError) in
      try Result(stored: value)
    }
  }

  /// Returns the smallest value, or nil if there is none.
  public static func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Unwrapped? {
    ModelAggregate(keyPath, Aggregate.min) { (value) throws(StoreError) in
      value.isNull ? nil : try Value.Unwrapped(stored: value)
    }
  }

  /// Returns the largest value, or nil if there is none.
  public static func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Unwrapped? {
    ModelAggregate(keyPath, Aggregate.max) { (value) throws(StoreError) in
      value.isNull ? nil : try Value.Unwrapped(stored: value)
    }
  }
}
