// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoQuery

/// The same questions as to a collection, to the saved documents of a bag.
extension Search {
  /// The search as a query, without grouping by value.
  public func query(in bag: Bag) -> BagQuery {
    BagQuery(bag: bag, collection: nil, query: query)
  }

  /// What is found in the bag, sorted, then cut.
  public func documents(in bag: Bag) throws -> [Document] {
    guard groupsValues else { return try query(in: bag).fetch() }
    return try grouped { show in
      for document in try query(in: bag).fetch() { try show(document) }
    }
  }
  public func documents(in bag: Bag) async throws -> [Document] {
    try await bag.onReader { try self.documents(in: bag) }
  }

  /// The keys of what is found; documents without one are left out.
  public func keys(in bag: Bag) throws -> [String] {
    guard groupsValues else { return try query(in: bag).keys() }
    return try documents(in: bag).compactMap(\.key)
  }
  public func keys(in bag: Bag) async throws -> [String] {
    try await bag.onReader { try self.keys(in: bag) }
  }

  public func count(in bag: Bag) throws -> Int {
    guard groupsValues else { return try query(in: bag).count() }
    return try documents(in: bag).count
  }
  public func count(in bag: Bag) async throws -> Int {
    try await bag.onReader { try self.count(in: bag) }
  }
}
