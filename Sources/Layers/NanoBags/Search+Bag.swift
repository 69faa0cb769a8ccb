// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery
public import NanoStoreCore

// The same operations as on a collection, on the saved documents of a bag.
extension Search {
  /// Returns the search as a query, without grouping by value.
  public func query(in bag: Bag) -> BagQuery {
    BagQuery(bag: bag, collection: nil, query: query)
  }

  /// Returns the matching documents of the bag, sorted and limited.
  public func documents(in bag: Bag) throws -> [Document] {
    guard groupsValues else { return try query(in: bag).fetch() }
    return try grouped { visit in
      for document in try query(in: bag).fetch() { try visit(document) }
    }
  }
  /// The asynchronous form of `documents(in:)`, which does not block the calling thread.
  public func documents(in bag: Bag) async throws -> [Document] {
    try await bag.onReader { try self.documents(in: bag) }
  }

  /// Returns the keys of the matching documents. Documents without a key are skipped.
  public func keys(in bag: Bag) throws -> [String] {
    guard groupsValues else { return try query(in: bag).keys() }
    return try documents(in: bag).compactMap(\.key)
  }
  /// The asynchronous form of `keys(in:)`, which does not block the calling thread.
  public func keys(in bag: Bag) async throws -> [String] {
    try await bag.onReader { try self.keys(in: bag) }
  }

  /// Returns the number of matching documents, within the limit.
  public func count(in bag: Bag) throws -> Int {
    guard groupsValues else { return try query(in: bag).count() }
    return try documents(in: bag).count
  }
  /// The asynchronous form of `count(in:)`, which does not block the calling thread.
  public func count(in bag: Bag) async throws -> Int {
    try await bag.onReader { try self.count(in: bag) }
  }

  /// Computes aggregates over field values of the matching saved documents of a bag.
  public func aggregate(_ aggregates: [Aggregate], in bag: Bag) throws -> [DocumentValue] {
    let query = query(in: bag)
    return try Self.readingNumbers(aggregates, query.aggregate, query.eachSubject)
  }
  /// The asynchronous form of `aggregate(_:in:)`, which does not block the calling thread.
  public func aggregate(
    _ aggregates: [Aggregate], in bag: Bag
  ) async throws -> [DocumentValue] {
    try await bag.onReader { try self.aggregate(aggregates, in: bag) }
  }
}
