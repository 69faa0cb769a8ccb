// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery

/// A question to the documents of a bag, from all their collections, put together step by step and
/// asked by its last one.
///
/// ```swift
/// let wanted = try favourites.find(Field("year") > 2010)
///   .sorted(by: "-rating").limit(10).fetch()
/// ```
///
/// It asks for what is saved: unsaved members are not found, and removed ones are found until the
/// bag is saved. Bags within the bag are not looked into. Without an order, and between equal
/// values, documents come in the order of the bag.
public struct BagQuery: Sendable {
  public let bag: Bag
  /// The only collection that is searched; nil for all.
  public let collection: String?
  var query: Query

  private func changed(_ change: (inout Query) -> Void) -> BagQuery {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Only what fulfils this condition too.
  public func `where`(_ condition: Condition) -> BagQuery {
    changed {
      $0.condition = $0.condition == .constant(true) ? condition : $0.condition && condition
    }
  }

  /// Sorts by these fields, most important first; `-` before one means descending. Replaces an
  /// earlier order.
  public func sorted(by paths: String...) -> BagQuery {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts by a field, in an order. Replaces an earlier order.
  public func sorted(by path: String, order: SortOrder) -> BagQuery {
    sorted(by: [Ordering(FieldPath(path), order: order)])
  }
  public func sorted(by orderings: [Ordering]) -> BagQuery { changed { $0.orderings = orderings } }

  /// At most this many, counted after sorting and after the offset.
  ///
  /// - Parameter offset: How many to skip first; nil keeps the one set before.
  public func limit(_ limit: Int?, offset: Int? = nil) -> BagQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }

  /// Only these fields of each document. Such documents cannot be saved over the whole ones.
  public func select(_ paths: String...) -> BagQuery {
    changed { $0.fields = paths.map { FieldPath($0) } }
  }
}

extension Bag {
  /// The saved documents of the bag that fulfil a condition; all of them without one.
  ///
  /// - Parameter collection: The only collection to search; nil for all.
  public func find(
    _ condition: Condition = .constant(true), in collection: String? = nil
  ) -> BagQuery {
    BagQuery(bag: self, collection: collection, query: Query(condition))
  }

  /// The saved documents that fulfil a condition written as text, with values for its parameters.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many.
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> BagQuery {
    let query = try QueryText(text).query(arguments.map(\.documentValue), named: [:])
    return BagQuery(bag: self, collection: nil, query: query)
  }
}

extension BagQuery {
  /// What is found, in order.
  public func fetch() throws -> [Document] {
    try searching { try $0.documents($0.found()) }
  }
  public func fetch() async throws -> [Document] {
    try await bag.onReader { try self.fetch() }
  }

  /// The first one; nil if there is none.
  public func first() throws -> Document? { try limit(min(1, query.limit ?? 1)).fetch().first }
  public func first() async throws -> Document? { try await bag.onReader { try self.first() } }

  /// How many documents are found, within the limit if there is one.
  public func count() throws -> Int { try searching { try $0.found().count } }
  public func count() async throws -> Int { try await bag.onReader { try self.count() } }

  /// Whether anything is found.
  public func exists() throws -> Bool { try limit(min(1, query.limit ?? 1)).count() > 0 }
  public func exists() async throws -> Bool { try await bag.onReader { try self.exists() } }

  /// Which documents are found, in order, without their fields.
  public func members() throws -> [BagMember] {
    try searching { search in try search.found().map { try search.bag.named($0.member) } }
  }
  public func members() async throws -> [BagMember] {
    try await bag.onReader { try self.members() }
  }

  /// The keys of what is found, in order; documents without one are left out.
  public func keys() throws -> [String] { try members().compactMap(\.key) }
  public func keys() async throws -> [String] { try await bag.onReader { try self.keys() } }

  /// Computes aggregates over what is found.
  ///
  /// - Returns: One value for each aggregate, in order.
  public func aggregate(_ aggregates: [Aggregate]) throws -> [DocumentValue] {
    let question = AggregateQuery(aggregates: aggregates)
    try question.validate()
    return try searching { search in
      var groups = GroupedAggregation(question)
      for document in try search.documents(search.found()) {
        let subject = DocumentSubject(try document.object())
        try groups.add { (path) throws(StoreError) in subject.values(at: path) }
      }
      return groups.rows.first?.values ?? []
    }
  }
  public func aggregate(_ aggregates: [Aggregate]) async throws -> [DocumentValue] {
    try await bag.onReader { try self.aggregate(aggregates) }
  }

  private func searching<Result>(_ work: (BagSearch) throws -> Result) throws -> Result {
    try query.validate()
    return try bag.reading { reader, state in
      // A copy that is not saved has nothing that is.
      let saved = state.base.isStored ? reader : try BagReader(nil, bag.documentKey, .none)
      return try work(try BagSearch(saved, query, collection))
    }
  }
}
