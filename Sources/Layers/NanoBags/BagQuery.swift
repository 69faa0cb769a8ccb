// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery

/// A query over the saved documents of a bag.
///
/// It is built step by step and executed by its terminal method.
///
/// ```swift
/// let wanted = try favorites.find(Field("year") > 2010)
///   .sorted(by: "-rating").limit(10).fetch()
/// ```
///
/// The query reads saved members: unsaved ones are not found, and removed ones are found until the
/// bag is saved. It does not descend into bags in the bag. Without an order, and among equal
/// values, documents are in the order of the bag.
public struct BagQuery: Sendable {
  /// The bag that the query reads.
  public let bag: Bag
  /// The only collection to search; nil for all.
  public let collection: String?
  var query: Query

  private func changed(_ change: (inout Query) -> Void) -> BagQuery {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Adds a condition that documents must also satisfy.
  public func `where`(_ condition: Condition) -> BagQuery {
    changed {
      $0.condition = $0.condition == .constant(true) ? condition : $0.condition && condition
    }
  }

  /// Sorts by these fields, most significant first, replacing an earlier order. A leading `-` means
  /// descending.
  public func sorted(by paths: String...) -> BagQuery {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts by a field in the given order, replacing an earlier order.
  public func sorted(by path: String, order: SortOrder) -> BagQuery {
    sorted(by: [Ordering(FieldPath(path), order: order)])
  }
  /// Sorts by these orderings, most significant first, replacing an earlier order.
  public func sorted(by orderings: [Ordering]) -> BagQuery { changed { $0.orderings = orderings } }

  /// Limits the number of results, counted after sorting and after the offset.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of results; nil for no limit.
  ///   - offset: The number of results to skip first; nil keeps the previous value.
  public func limit(_ limit: Int?, offset: Int? = nil) -> BagQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }

  /// Reads only these fields of each document. Such partial documents cannot replace the stored
  /// ones.
  public func select(_ paths: String...) -> BagQuery {
    changed { $0.fields = paths.map { FieldPath($0) } }
  }
}

extension Bag {
  /// Returns a query for the saved documents that match the condition; without one, for all of
  /// them.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - collection: The only collection to search; nil for all. With that of bags, `nano_bags`, the
  ///     query throws ``StoreError/Code/invalidName``: use ``bags()-()`` instead.
  public func find(
    _ condition: Condition = .constant(true), in collection: String? = nil
  ) -> BagQuery {
    BagQuery(bag: self, collection: collection, query: Query(condition))
  }

  /// Returns a query for the saved documents that match a textual condition.
  ///
  /// The arguments are the values of its parameters.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many are given.
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> BagQuery {
    let query = try QueryText(text).query(arguments.map(\.documentValue), named: [:])
    return BagQuery(bag: self, collection: nil, query: query)
  }
}

extension BagQuery {
  /// Returns the matching documents, in order.
  public func fetch() throws -> [Document] {
    try searching { try $0.documents($0.found()) }
  }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> [Document] {
    try await bag.onReader { try self.fetch() }
  }

  /// Returns the first matching document, or nil if there is none.
  public func first() throws -> Document? { try limit(min(1, query.limit ?? 1)).fetch().first }
  /// The asynchronous form of `first()`, which does not block the calling thread.
  public func first() async throws -> Document? { try await bag.onReader { try self.first() } }

  /// Returns the number of matching documents, within the limit if there is one.
  public func count() throws -> Int { try searching { try $0.found().count } }
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await bag.onReader { try self.count() } }

  /// Returns whether any document matches.
  public func exists() throws -> Bool { try limit(min(1, query.limit ?? 1)).count() > 0 }
  /// The asynchronous form of `exists()`, which does not block the calling thread.
  public func exists() async throws -> Bool { try await bag.onReader { try self.exists() } }

  /// Returns the members whose documents match, in order, without reading their fields.
  public func members() throws -> [BagMember] {
    try searching { search in try search.found().map { try search.bag.named($0.member) } }
  }
  /// The asynchronous form of `members()`, which does not block the calling thread.
  public func members() async throws -> [BagMember] {
    try await bag.onReader { try self.members() }
  }

  /// Returns the keys of the matching documents, in order. Documents without a key are skipped.
  public func keys() throws -> [String] { try members().compactMap(\.key) }
  /// The asynchronous form of `keys()`, which does not block the calling thread.
  public func keys() async throws -> [String] { try await bag.onReader { try self.keys() } }

  /// Computes aggregates over the matching documents, with the defaults of their collections.
  ///
  /// Fields that are not selected count, too.
  ///
  /// - Returns: One value for each aggregate, in order.
  public func aggregate(_ aggregates: [Aggregate]) throws -> [DocumentValue] {
    let aggregateQuery = AggregateQuery(aggregates: aggregates)
    try aggregateQuery.validate()
    var groups = GroupedAggregation(aggregateQuery)
    try eachSubject { subject in
      try groups.add { (path) throws(StoreError) in subject.values(at: path) }
    }
    return groups.rows.first?.values ?? []
  }
  /// The asynchronous form of `aggregate(_:)`, which does not block the calling thread.
  public func aggregate(_ aggregates: [Aggregate]) async throws -> [DocumentValue] {
    try await bag.onReader { try self.aggregate(aggregates) }
  }

  /// Passes the matching documents to a closure, as aggregates see them.
  func eachSubject(_ visit: (DocumentSubject) throws -> Void) throws {
    try searching { search in
      for match in try search.found() {
        if let subject = try search.subject(match) { try visit(subject) }
      }
    }
  }

  private func searching<Result>(_ work: (BagSearch) throws -> Result) throws -> Result {
    try query.validate()
    if let collection { try InternalCollection.refuse(collection) }
    return try bag.reading { reader, state in
      // An unsaved copy has no saved members.
      let saved = state.base.isStored ? reader : try BagReader(nil, bag.documentKey, .none)
      return try work(try BagSearch(saved, query, collection))
    }
  }
}
