// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentQuery {
  /// Computes aggregates over the matching documents.
  ///
  /// ```swift
  /// try films.find().aggregate([.count, .min("year")])    // [1234, 1960]
  /// ```
  ///
  /// - Returns: One value for each aggregate, in order.
  public func aggregate(_ aggregates: [Aggregate]) throws -> [DocumentValue] {
    try rows(AggregateQuery(query, aggregates: aggregates)).first?.values ?? []
  }
  /// The asynchronous form of `aggregate(_:)`, which does not block the calling thread.
  public func aggregate(_ aggregates: [Aggregate]) async throws -> [DocumentValue] {
    try await onReader { try $0.aggregate(aggregates) }
  }

  /// Computes aggregates over groups of the matching documents.
  ///
  /// ```swift
  /// for row in try films.find().grouped(by: "genres", aggregates: [.count, .min("year")]) {
  ///   print(row.group[0], row.values[0], row.values[1])
  /// }
  /// ```
  ///
  /// A document whose field holds an array counts once in the group of each element; a document
  /// without the field counts under null.
  ///
  /// - Returns: One row for each group, in the sort order of the groups.
  public func grouped(by paths: String..., aggregates: [Aggregate]) throws -> [AggregateRow] {
    try rows(AggregateQuery(query, groups: paths.map { FieldPath($0) }, aggregates: aggregates))
  }
  /// The asynchronous form of `grouped(by:aggregates:)`, which does not block the calling thread.
  public func grouped(by paths: String..., aggregates: [Aggregate]) async throws -> [AggregateRow] {
    let aggregateQuery = AggregateQuery(
      query, groups: paths.map { FieldPath($0) }, aggregates: aggregates)
    return try await onReader { try $0.rows(aggregateQuery) }
  }

  /// The asynchronous form of `rows(_:)`, which does not block the calling thread.
  package func rows(_ aggregateQuery: AggregateQuery) async throws -> [AggregateRow] {
    try await onReader { try $0.rows(aggregateQuery) }
  }
  /// Executes an aggregate query and returns its rows. Only its own query counts, not this one.
  package func rows(_ aggregateQuery: AggregateQuery) throws -> [AggregateRow] {
    try validate(aggregateQuery)
    return try collection.reading(.call) { try $0.aggregate(aggregateQuery, in: collection.name) }
  }

  /// Passes the rows of ``rows(_:)-(AggregateQuery)`` to the closure one by one, in constant memory, until it
  /// returns false.
  package func eachRow(
    _ aggregateQuery: AggregateQuery, _ body: (AggregateRow) throws -> Bool
  ) throws {
    try validate(aggregateQuery)
    try collection.reading(.call) { try $0.aggregate(aggregateQuery, in: collection.name, body) }
  }

  /// Returns the number of values of a field in the matching documents.
  ///
  /// Nulls and array elements count.
  public func count(of path: String) throws -> Int {
    try Int(aggregate([.countOf(FieldPath(path))])[0].int ?? 0)
  }
  /// The asynchronous form of `count(of:)`, which does not block the calling thread.
  public func count(of path: String) async throws -> Int {
    try await onReader { try $0.count(of: path) }
  }

  /// Returns the smallest value in sort order, or nil if there is none.
  public func min(_ path: String) throws -> DocumentValue? {
    try value(.min(FieldPath(path)))
  }
  /// The asynchronous form of `min(_:)`, which does not block the calling thread.
  public func min(_ path: String) async throws -> DocumentValue? {
    try await onReader { try $0.min(path) }
  }

  /// Returns the largest value in sort order, or nil if there is none.
  public func max(_ path: String) throws -> DocumentValue? {
    try value(.max(FieldPath(path)))
  }
  /// The asynchronous form of `max(_:)`, which does not block the calling thread.
  public func max(_ path: String) async throws -> DocumentValue? {
    try await onReader { try $0.max(path) }
  }

  /// Returns the mean of the numbers, or nil if there are none. Other values are ignored.
  public func average(_ path: String) throws -> Double? {
    try value(.average(FieldPath(path)))?.double
  }
  /// The asynchronous form of `average(_:)`, which does not block the calling thread.
  public func average(_ path: String) async throws -> Double? {
    try await onReader { try $0.average(path) }
  }

  /// Returns the sum of the numbers, or 0 if there are none.
  ///
  /// The result is an integer if all numbers are integers and the sum fits into 64 bits, otherwise
  /// a double.
  public func sum(_ path: String) throws -> DocumentValue {
    try value(.sum(FieldPath(path))) ?? .int(0)
  }
  /// The asynchronous form of `sum(_:)`, which does not block the calling thread.
  public func sum(_ path: String) async throws -> DocumentValue {
    try await onReader { try $0.sum(path) }
  }

  private func value(_ aggregate: Aggregate) throws -> DocumentValue? {
    let value = try self.aggregate([aggregate])[0]
    // Not `value.isNull ? nil : value`, in which `nil` is the literal of a null value.
    if value.isNull { return nil }
    return value
  }

  /// Returns the distinct values of a field in the matching documents, in sort order. Array
  /// elements count individually.
  public func distinct(_ path: String) throws -> [DocumentValue] {
    let field = FieldPath(path)
    try validate(AggregateQuery(query, groups: [field], aggregates: []))
    return try collection.reading(.call) {
      try $0.distinct(field, query, in: collection.name)
    }
  }
  /// The asynchronous form of `distinct(_:)`, which does not block the calling thread.
  public func distinct(_ path: String) async throws -> [DocumentValue] {
    try await onReader { try $0.distinct(path) }
  }
}
