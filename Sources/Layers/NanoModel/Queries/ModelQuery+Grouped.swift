// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Computes aggregates over groups of results with the same value of a property, ordered by the
  /// stored values.
  ///
  /// ```swift
  /// for (city, (count, salary)) in try people.find()
  ///   .grouped(by: \.city, .count, .average(\.salary)) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document lacks the property and it is not
  ///   optional.
  public func grouped<Group, each Result: Sendable>(
    by keyPath: any KeyPath<M, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [(group: Group, values: (repeat each Result))] {
    try rows(groups: [M.elementLocation(of: keyPath)], repeat each aggregates).map { row in
      (group: try StoredValues.value(row.group[0]), values: try row.values(repeat each aggregates))
    }
  }

  /// Computes aggregates over groups by the elements of a list. Each result counts once in the
  /// group of each distinct element, or in the group of nil if its list is empty or missing.
  ///
  /// ```swift
  /// for (tag, count) in try notes.find().grouped(by: \.tags, .count) { … }     // (nil, 2), ("sql", 7)
  /// ```
  ///
  /// - Throws: ``StoreError/Code/unsupported`` for a list of lists.
  public func grouped<List: ListQueryValue, each Result: Sendable>(
    by keyPath: any KeyPath<M, List> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [(group: List.ListElement?, values: (repeat each Result))] {
    try rows(groups: [M.elementLocation(of: keyPath)], repeat each aggregates).map { row in
      (group: try StoredValues.value(row.group[0]), values: try row.values(repeat each aggregates))
    }
  }

  /// Computes aggregates over groups of results with the same values of two properties.
  ///
  /// ```swift
  /// for ((city, year), count) in try people.find().grouped(by: \.city, \.year, .count) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/unsupported`` if a property is a list, which has a group per
  ///   element. Group by the list alone, or by names with
  ///   `documentQuery().grouped(by:aggregates:)`.
  public func grouped<First, Second, each Result: Sendable>(
    by first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [(group: (First, Second), values: (repeat each Result))] {
    let locations = try [M.singleValueLocation(of: first), M.singleValueLocation(of: second)]
    return try rows(groups: locations, repeat each aggregates).map { row in
      (
        group: (try StoredValues.value(row.group[0]), try StoredValues.value(row.group[1])),
        values: try row.values(repeat each aggregates)
      )
    }
  }

  /// Computes aggregates over groups of results with the same values of three properties; see the
  /// form for two properties.
  public func grouped<First, Second, Third, each Result: Sendable>(
    by first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ third: any KeyPath<M, Third> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [(group: (First, Second, Third), values: (repeat each Result))] {
    let locations = try [
      M.singleValueLocation(of: first), M.singleValueLocation(of: second),
      M.singleValueLocation(of: third),
    ]
    return try rows(groups: locations, repeat each aggregates).map { row in
      (
        group: (
          try StoredValues.value(row.group[0]), try StoredValues.value(row.group[1]),
          try StoredValues.value(row.group[2])
        ), values: try row.values(repeat each aggregates)
      )
    }
  }
}

extension ModelQuery {
  /// The asynchronous form of `grouped(by:_:)`, which does not block the calling thread.
  public func grouped<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<M, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> [(group: Group, values: (repeat each Result))] {
    try await onReader { try $0.grouped(by: keyPath, repeat each aggregates) }
  }
  /// The asynchronous form of `grouped(by:_:)` for a list, which does not block the calling thread.
  public func grouped<List: ListQueryValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<M, List> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> [(group: List.ListElement?, values: (repeat each Result))]
  where List.ListElement: Sendable {
    try await onReader { try $0.grouped(by: keyPath, repeat each aggregates) }
  }
  /// The asynchronous form of `grouped(by:_:_:)` for two properties, which does not block the
  /// calling thread.
  public func grouped<First: Sendable, Second: Sendable, each Result: Sendable>(
    by first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> [(group: (First, Second), values: (repeat each Result))] {
    try await onReader { try $0.grouped(by: first, second, repeat each aggregates) }
  }
  /// The asynchronous form of `grouped(by:_:_:_:)` for three properties, which does not block the
  /// calling thread.
  public func grouped<First: Sendable, Second: Sendable, Third: Sendable, each Result: Sendable>(
    by first: any KeyPath<M, First> & Sendable, _ second: any KeyPath<M, Second> & Sendable,
    _ third: any KeyPath<M, Third> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> [(group: (First, Second, Third), values: (repeat each Result))] {
    try await onReader { try $0.grouped(by: first, second, third, repeat each aggregates) }
  }
}

extension AggregateRow {
  func values<M: Model, each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> (repeat each Result) {
    var values = values[...]
    return (repeat try (each aggregates).result(values.popFirst() ?? .null))
  }
}

extension Model {
  /// Returns the location of a property that is a value, or a list of values.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` for a list of lists, and the errors of `aggregatedLocation(of:)`.
  fileprivate static func elementLocation(
    of keyPath: any AnyKeyPath & Sendable
  ) throws(StoreError) -> PropertyLocation {
    let location = try aggregatedLocation(of: keyPath)
    try location.checkElements(of: type(of: keyPath as AnyKeyPath).valueType)
    return location
  }

  /// Returns the location of a property that has a single value per document.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` for a list.
  static func singleValueLocation(
    of keyPath: any AnyKeyPath & Sendable
  ) throws(StoreError) -> PropertyLocation {
    let location = try aggregatedLocation(of: keyPath)
    guard !location.isList else {
      throw StoreError(
        .unsupported, "A list cannot be one of several properties to group by",
        [
          .collection: collectionName, .field: "\(location.path)",
          .hint:
            "group by the list alone, or by names with documentQuery().grouped(by:aggregates:)",
        ])
    }
    return location
  }
}

extension ModelQuery {
  /// Returns the distinct values of a property, ordered by their stored form. Nil is omitted.
  public func distinct<Value>(_ keyPath: any KeyPath<M, Value> & Sendable) throws -> [Value] {
    try distinct(M.elementLocation(of: keyPath)).compactMap { value in
      value.isNull ? nil : try StoredValues.value(value)
    }
  }
  /// Returns the distinct elements of a list or set, ordered by their stored form.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` for a list of lists.
  public func distinct<List: ListQueryValue>(
    _ keyPath: any KeyPath<M, List> & Sendable
  ) throws -> [List.ListElement] {
    try distinct(M.elementLocation(of: keyPath)).compactMap { value in
      if case .array = value { return nil }
      return value.isNull ? nil : try StoredValues.value(value)
    }
  }

  private func distinct(_ location: PropertyLocation) throws -> [DocumentValue] {
    guard try hasVariants(of: [location]) else {
      return try documentQuery().distinct("\(location.path)")
    }
    let found = DistinctValues(location.path)
    try eachFields { (fields) throws(StoreError) in try found.add(try fields.normalizedBytes()) }
    return found.values
  }

  /// The asynchronous form of `distinct(_:)`, which does not block the calling thread.
  public func distinct<Value: Sendable>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> [Value] { try await onReader { try $0.distinct(keyPath) } }
  /// The asynchronous form of `distinct(_:)` for a list, which does not block the calling thread.
  public func distinct<List: ListQueryValue & Sendable>(
    _ keyPath: any KeyPath<M, List> & Sendable
  ) async throws -> [List.ListElement] where List.ListElement: Sendable {
    try await onReader { try $0.distinct(keyPath) }
  }
}
