// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// What is computed over the values of a model, and the type of the result.
///
/// ```swift
/// let (count, oldest) = try people.find().aggregate(.count, .max(\.age))
/// ```
public struct ModelAggregate<M: Model, Result: Sendable>: Sendable {
  let aggregate: Swift.Result<Aggregate, StoreError>
  /// The property that it is computed of.
  let place: PropertyLocation?
  let result: @Sendable (DocumentValue) throws(StoreError) -> Result

  private init(
    _ keyPath: any AnyKeyPath & Sendable, _ make: @Sendable (FieldPath) -> Aggregate,
    _ result: @escaping @Sendable (DocumentValue) throws(StoreError) -> Result
  ) {
    let place = Swift.Result { () throws(StoreError) in try M.aggregatedPlace(of: keyPath) }
    aggregate = place.map { make($0.path) }
    self.place = try? place.get()
    self.result = result
  }

  private init(
    _ aggregate: Aggregate,
    _ result: @escaping @Sendable (DocumentValue) throws(StoreError) -> Result
  ) {
    self.aggregate = .success(aggregate)
    place = nil
    self.result = result
  }
}

extension ModelAggregate where Result == Int {
  /// How many values there are.
  public static var count: ModelAggregate { ModelAggregate(.count) { Int($0.int ?? 0) } }
  /// How many documents hold the property; for a list, how many elements.
  public static func count(of keyPath: any PartialKeyPath<M> & Sendable) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.countOf) { Int($0.int ?? 0) }
  }
}

extension ModelAggregate where Result == Double? {
  /// The mean of a number; nil if there is none. Of lists, the mean of all their elements.
  public static func average(
    _ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable
  ) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.average) { $0.double }
  }
}

extension ModelAggregate {
  /// The sum of a number; 0 if there is none. Of lists, the sum of all their elements.
  ///
  /// One that does not fit into the property's type is an error, ``StoreError/Code/typeMismatch``. A `Decimal` cannot
  /// be added up: it is stored as text.
  public static func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Number {
    ModelAggregate(keyPath, Aggregate.sum) { (value) throws(StoreError) in
      try Result(stored: value)
    }
  }

  /// The smallest value; nil if there is none.
  public static func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Unwrapped? {
    ModelAggregate(keyPath, Aggregate.min) { (value) throws(StoreError) in
      value.isNull ? nil : try Value.Unwrapped(stored: value)
    }
  }

  /// The largest value; nil if there is none.
  public static func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value.Unwrapped? {
    ModelAggregate(keyPath, Aggregate.max) { (value) throws(StoreError) in
      value.isNull ? nil : try Value.Unwrapped(stored: value)
    }
  }
}
