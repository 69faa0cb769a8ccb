// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

extension DocumentQuery {
  /// Computes aggregates over what is found.
  ///
  /// ```swift
  /// try films.find().aggregate([.count, .min("year")])    // [1234, 1960]
  /// ```
  ///
  /// - Returns: One value for each aggregate, in order.
  public func aggregate(_ aggregates: [Aggregate]) throws -> [DocumentValue] {
    try rows(AggregateQuery(query, aggregates: aggregates)).first?.values ?? []
  }
  public func aggregate(_ aggregates: [Aggregate]) async throws -> [DocumentValue] {
    try await onReader { try $0.aggregate(aggregates) }
  }

  /// Computes aggregates over groups of what is found, in the sort order of the groups.
  ///
  /// ```swift
  /// for row in try films.find().grouped(by: "genres", aggregates: [.count, .min("year")]) {
  ///   print(row.group[0], row.values[0], row.values[1])
  /// }
  /// ```
  ///
  /// A document whose field holds a list counts once in the group of each element; one without the
  /// field counts under null.
  public func grouped(by paths: String..., aggregates: [Aggregate]) throws -> [AggregateRow] {
    try rows(AggregateQuery(query, groups: paths.map { FieldPath($0) }, aggregates: aggregates))
  }
  public func grouped(by paths: String..., aggregates: [Aggregate]) async throws -> [AggregateRow] {
    let question = AggregateQuery(
      query, groups: paths.map { FieldPath($0) }, aggregates: aggregates)
    return try await onReader { try $0.rows(question) }
  }

  /// Aggregates in groups, asked as one value.
  /// What a question of your own gives, with its own query instead of this one's.
  package func rows(_ question: AggregateQuery) async throws -> [AggregateRow] {
    try await onReader { try $0.rows(question) }
  }
  package func rows(_ question: AggregateQuery) throws -> [AggregateRow] {
    try validate(question)
    return try collection.reading(.call) { try $0.aggregate(question, in: collection.name) }
  }

  /// Shows what ``rows(_:)-(AggregateQuery)`` gives, one row after the other until the closure says false, however
  /// many there are.
  package func eachRow(
    _ question: AggregateQuery, _ show: (AggregateRow) throws -> Bool
  ) throws {
    try validate(question)
    try collection.reading(.call) { try $0.aggregate(question, in: collection.name, show) }
  }

  /// The number of values that a field has in what is found, nulls and list elements included.
  public func count(of path: String) throws -> Int {
    try Int(aggregate([.countOf(FieldPath(path))])[0].int ?? 0)
  }
  public func count(of path: String) async throws -> Int {
    try await onReader { try $0.count(of: path) }
  }

  /// The smallest value in sort order; nil if there is none.
  public func min(_ path: String) throws -> DocumentValue? {
    try value(.min(FieldPath(path)))
  }
  public func min(_ path: String) async throws -> DocumentValue? {
    try await onReader { try $0.min(path) }
  }

  /// The largest value in sort order; nil if there is none.
  public func max(_ path: String) throws -> DocumentValue? {
    try value(.max(FieldPath(path)))
  }
  public func max(_ path: String) async throws -> DocumentValue? {
    try await onReader { try $0.max(path) }
  }

  /// The mean of the numbers; nil if there is none. Other values are passed over.
  public func average(_ path: String) throws -> Double? {
    try value(.average(FieldPath(path)))?.double
  }
  public func average(_ path: String) async throws -> Double? {
    try await onReader { try $0.average(path) }
  }

  /// The sum of the numbers: an integer if all are integers and it fits into 64 bits, else a
  /// double; 0 if there are none.
  public func sum(_ path: String) throws -> DocumentValue {
    try value(.sum(FieldPath(path))) ?? .int(0)
  }
  public func sum(_ path: String) async throws -> DocumentValue {
    try await onReader { try $0.sum(path) }
  }

  private func value(_ aggregate: Aggregate) throws -> DocumentValue? {
    let value = try self.aggregate([aggregate])[0]
    return value.isNull ? nil : value
  }

  /// The distinct values of a field in what is found, list elements each, in sort order.
  public func distinct(_ path: String) throws -> [DocumentValue] {
    let field = FieldPath(path)
    try validate(AggregateQuery(query, groups: [field], aggregates: []))
    return try collection.reading(.call) {
      try $0.distinct(field, query, in: collection.name)
    }
  }
  public func distinct(_ path: String) async throws -> [DocumentValue] {
    try await onReader { try $0.distinct(path) }
  }
}
