// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// What is computed over the values of a model, and the type of the result.
///
/// ```swift
/// let (count, oldest) = try people.find().aggregate(.count, .max(\.age))
/// ```
///
public struct ModelAggregate<M: Model, Result: Sendable>: Sendable {
  let aggregate: Swift.Result<Aggregate, StoreError>
  /// The property that it is computed of.
  let place: FieldPlace?
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
  /// The mean of a number; nil if there is none.
  public static func average(_ keyPath: any PartialKeyPath<M> & Sendable) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.average) { $0.double }
  }
}

extension ModelAggregate where Result: Numeric & FieldValue {
  /// The sum of a number; one that does not fit into the property's type is an error.
  public static func sum(
    _ keyPath: any KeyPath<M, Result> & Sendable
  ) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.sum) { (value) throws(StoreError) in
      try Result(stored: value)
    }
  }
  /// The sum of a number that may be absent.
  public static func sum(
    _ keyPath: any KeyPath<M, Result?> & Sendable
  ) -> ModelAggregate {
    ModelAggregate(keyPath, Aggregate.sum) { (value) throws(StoreError) in
      try Result(stored: value)
    }
  }
}

extension ModelAggregate {
  /// The smallest value; nil if there is none.
  public static func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value? {
    ModelAggregate(keyPath, Aggregate.min) { (value) throws(StoreError) in
      value.isNull ? nil : try Value(stored: value)
    }
  }
  /// The smallest value of a property that may be absent; nil if there is none.
  public static func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value?> & Sendable
  ) -> ModelAggregate where Result == Value? {
    ModelAggregate(keyPath, Aggregate.min) { (value) throws(StoreError) in
      try Value?(stored: value)
    }
  }

  /// The largest value; nil if there is none.
  public static func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) -> ModelAggregate where Result == Value? {
    ModelAggregate(keyPath, Aggregate.max) { (value) throws(StoreError) in
      value.isNull ? nil : try Value(stored: value)
    }
  }
  /// The largest value of a property that may be absent; nil if there is none.
  public static func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value?> & Sendable
  ) -> ModelAggregate where Result == Value? {
    ModelAggregate(keyPath, Aggregate.max) { (value) throws(StoreError) in
      try Value?(stored: value)
    }
  }
}

extension ModelQuery {
  /// Computes aggregates over what is found, each with the type of its result.
  ///
  /// ```swift
  /// let (count, average, oldest) = try people.find(\.lastName == "Doe")
  ///   .aggregate(.count, .average(\.salary), .max(\.age))
  /// ```
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> (repeat each Result) {
    let rows = try rows(groups: [], repeat each aggregates)
    var values = (rows.first?.values ?? [])[...]
    return (repeat try (each aggregates).result(values.popFirst() ?? .null))
  }
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> (repeat each Result) {
    try await onReader { try $0.aggregate(repeat each aggregates) }
  }

  /// Computes aggregates over groups of what is found that have the same value of a property, in the order
  /// of these values.
  ///
  /// ```swift
  /// for (city, (count, salary)) in try people.find()
  ///   .grouped(by: \.city, .count, .average(\.salary)) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document lacks the property, and it is no optional.
  public func grouped<Group: FieldValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<M, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [(group: Group, values: (repeat each Result))] {
    let place = try M.aggregatedPlace(of: keyPath)
    return try rows(groups: [place], repeat each aggregates).map { row in
      var values = row.values[...]
      return (
        group: try Group(stored: row.group[0]),
        values: (repeat try (each aggregates).result(values.popFirst() ?? .null))
      )
    }
  }
  public func grouped<Group: FieldValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<M, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> [(group: Group, values: (repeat each Result))] {
    try await onReader { try $0.grouped(by: keyPath, repeat each aggregates) }
  }

  private func only<Result: Sendable>(
    _ aggregate: ModelAggregate<M, Result>
  ) throws -> Result {
    try aggregate.result(rows(groups: [], aggregate).first?.values.first ?? .null)
  }

  private func rows<each Result: Sendable>(
    groups: [FieldPlace], _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [AggregateRow] {
    var asked: [Aggregate] = []
    var places = groups
    for aggregate in repeat each aggregates {
      asked.append(try aggregate.aggregate.get())
      if let place = aggregate.place { places.append(place) }
    }
    let query = try documentQuery()
    let question = AggregateQuery(
      query.query, groups: groups.map(\.path), aggregates: asked)
    guard try hasVariants(of: places) else { return try query.rows(question) }
    let program = AggregationProgram(question)
    try eachFields { (fields) throws(StoreError) in try program.add(try fields.asRead()) }
    return program.rows
  }

  /// Whether some document has one of the fields in another way than today's. Then what is computed is
  /// computed of what is read, which takes longer.
  private func hasVariants(of places: [FieldPlace]) throws -> Bool {
    let conditions = places.filter { $0.hasVariants || $0.hasComputedDefault }.map { place in
      place.isList ? Condition.not(.exists(place.path)) : .isNull(.field(place.path))
    }
    guard !conditions.isEmpty else { return false }
    return try collection.documents.find(.any(conditions)).exists()
  }

  /// The mean of a number; nil if there is none.
  public func average(_ keyPath: any PartialKeyPath<M> & Sendable) throws -> Double? {
    try only(ModelAggregate<M, Double?>.average(keyPath))
  }
  public func average(_ keyPath: any PartialKeyPath<M> & Sendable) async throws -> Double? {
    try await onReader { try $0.average(keyPath) }
  }

  /// The sum of a number.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if it does not fit into the property's type.
  public func sum<Value: Numeric & FieldValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value {
    try only(ModelAggregate<M, Value>.sum(keyPath))
  }
  public func sum<Value: Numeric & FieldValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value { try await onReader { try $0.sum(keyPath) } }

  /// The smallest value of a property; nil if there is none.
  public func min<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value? {
    try only(ModelAggregate<M, Value?>.min(keyPath))
  }
  public func min<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value? { try await onReader { try $0.min(keyPath) } }

  /// The largest value of a property; nil if there is none.
  public func max<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value? {
    try only(ModelAggregate<M, Value?>.max(keyPath))
  }
  public func max<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value? { try await onReader { try $0.max(keyPath) } }

  /// The distinct values of a property in what is found, in their order; nil is none.
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> [Value] {
    try distinct(M.aggregatedPlace(of: keyPath)).compactMap { value in
      value.isNull ? nil : try Value(stored: value)
    }
  }
  /// The distinct elements of a list in what is found, in their order.
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<M, [Value]> & Sendable
  ) throws -> [Value] {
    try distinct(M.aggregatedPlace(of: keyPath)).compactMap { value in
      if case .array = value { return nil }
      return try Value(stored: value)
    }
  }

  private func distinct(_ place: FieldPlace) throws -> [DocumentValue] {
    guard try hasVariants(of: [place]) else { return try documentQuery().distinct("\(place.path)") }
    let found = DistinctValues(place.path)
    try eachFields { (fields) throws(StoreError) in try found.add(try fields.asRead()) }
    return found.values
  }
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> sending [Value] { try await fromReader { try $0.distinct(keyPath) } }
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<M, [Value]> & Sendable
  ) async throws -> sending [Value] { try await fromReader { try $0.distinct(keyPath) } }
}

extension Model {
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored,
  ///   ``StoreError/Code/unsupported`` for the key, which is no field.
  fileprivate static func aggregatedPlace(
    of keyPath: any AnyKeyPath & Sendable
  ) throws(StoreError) -> FieldPlace {
    let place = try place(of: keyPath)
    guard !place.isKey else {
      throw StoreError(
        .unsupported, "The key of documents has no part in aggregates and groups",
        [.collection: collectionName, .hint: "keys() gives the keys of what is found"])
    }
    return place
  }
}
