// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A sort key of a query: an expression, usually a field, and a direction.
///
/// Missing and null values sort first, followed by Booleans, numbers, dates, strings, data, arrays and
/// objects. A field with several values sorts by the smallest one, or by the largest one in descending
/// order.
public struct Ordering: Sendable, Hashable {
  /// The expression to sort by.
  public var expression: QueryExpression
  /// The sort direction.
  public var order: SortOrder

  /// Creates an ordering by an expression.
  public init(_ expression: QueryExpression, order: SortOrder = .forward) {
    self.expression = expression
    self.order = order
  }
  /// Creates an ordering by a field.
  public init(_ path: FieldPath, order: SortOrder = .forward) {
    self.init(.field(path), order: order)
  }
  package init(_ expression: QueryExpression, descending: Bool) {
    self.init(expression, order: descending ? .reverse : .forward)
  }
  package init(_ path: FieldPath, descending: Bool) {
    self.init(.field(path), descending: descending)
  }

  /// Whether the order is descending.
  package var descending: Bool { order == .reverse }

  /// Creates an ordering from a path, descending if it is preceded by a hyphen.
  package init(signed path: String) {
    let descending = path.utf8.first == UInt8(ascii: "-")
    self.init(
      FieldPath(descending ? String(path.unicodeScalars.dropFirst()) : path),
      order: descending ? .reverse : .forward)
  }

  /// Returns an ascending ordering by a field.
  public static func forward(_ path: FieldPath) -> Ordering { Ordering(path) }
  /// Returns a descending ordering by a field.
  public static func reverse(_ path: FieldPath) -> Ordering { Ordering(path, order: .reverse) }
}

/// A query: the documents of a collection that satisfy a condition, their order, and a page of them.
///
/// The page is taken after sorting. Ties are broken by row ID, so that every order is total.
package struct Query: Sendable, Hashable {
  /// The condition that documents must satisfy.
  package var condition: Condition
  /// The sort keys, most significant first, followed by the row ID.
  package var orderings: [Ordering]
  /// The maximum number of results, or `nil` for all.
  package var limit: Int?
  /// The number of results to skip, after sorting.
  package var offset: Int
  /// The position after which results start, or `nil` to start at the first result.
  package var after: PagePosition?
  /// The fields to read from each document, or `nil` for the whole document.
  package var fields: [FieldPath]?
  /// The relevance ranking of the condition's full-text search. It applies if there are no orderings.
  package var ranking: FullTextRanking?
  /// The time, in microseconds since 1970, by which expired documents are excluded; `nil` if that need not be checked.
  /// Engines set it.
  package var expiredAt: Int64?

  /// Creates a query. By default, it returns all documents by row ID.
  package init(
    _ condition: Condition = .constant(true), orderings: [Ordering] = [], limit: Int? = nil,
    offset: Int = 0, after: PagePosition? = nil, fields: [FieldPath]? = nil,
    ranking: FullTextRanking? = nil
  ) {
    self.ranking = ranking
    self.condition = condition
    self.orderings = orderings
    self.limit = limit
    self.offset = offset
    self.after = after
    self.fields = fields
  }

  /// Checks the condition, paths and page.
  ///
  /// - Throws: ``StoreError/Code/invalidPath``; ``StoreError/Code/invalidArgument`` if a parameter is
  ///   unbound, the limit or offset is negative, a full-text search or ranking is not valid, or the
  ///   page position belongs to a query with different orderings.
  package func validate() throws(StoreError) {
    try condition.validate()
    for ordering in orderings { try Condition.truth(ordering.expression).validate() }
    for path in fields ?? [] { try path.validate() }
    if let limit, limit < 0 {
      throw StoreError(.invalidArgument, "A limit is negative", [.actual: "\(limit)"])
    }
    if offset < 0 {
      throw StoreError(.invalidArgument, "An offset is negative", [.actual: "\(offset)"])
    }
    if let ranking { try validate(ranking) }
    if let after, after.values.count != orderings.count {
      throw StoreError(
        .invalidArgument, "A page position belongs to a query with different orderings",
        [.expected: "\(orderings.count) orderings", .actual: "\(after.values.count)"])
    }
  }
}

/// The end of a page: the sort values and the row ID of its last document.
///
/// Unlike an offset, it remains valid when documents are added or removed between pages.
public struct PagePosition: Sendable, Hashable {
  /// The sort value for each ordering; null if the document had no value.
  public let values: [DocumentValue]
  /// The row ID of the last document.
  public let rowID: Int64

  /// Creates a position from sort values and a row ID.
  package init(values: [DocumentValue], rowID: Int64) {
    self.values = values
    self.rowID = rowID
  }
}

/// An aggregate function.
public enum Aggregate: Sendable, Hashable {
  /// The number of documents.
  case count
  /// The number of values of a field, including nulls.
  case countOf(FieldPath)
  /// The smallest value in sort order, or null if there is none.
  case min(FieldPath)
  /// The largest value in sort order, or null if there is none.
  case max(FieldPath)
  /// The mean of the numeric values, or null if there is none.
  case average(FieldPath)
  /// The sum of the numeric values: an integer if all are integers and the sum fits in 64 bits,
  /// otherwise a double.
  case sum(FieldPath)

  /// The aggregated field, or `nil` for the number of documents.
  public var field: FieldPath? {
    switch self {
    case .count: nil
    case .countOf(let path), .min(let path), .max(let path), .average(let path),
      .sum(let path):
      path
    }
  }
}

/// Aggregates over the documents of a query, per group or over all documents.
///
/// A document whose grouping field has several values counts once in the group of each value.
package struct AggregateQuery: Sendable, Hashable {
  /// The documents to aggregate. The query's limit and offset apply before aggregation.
  package var query: Query
  /// The fields to group by. Empty: one group of all documents.
  package var groups: [FieldPath]
  /// The aggregates to compute for each group.
  package var aggregates: [Aggregate]

  /// Creates an aggregate query.
  package init(_ query: Query = Query(), groups: [FieldPath] = [], aggregates: [Aggregate]) {
    self.query = query
    self.groups = groups
    self.aggregates = aggregates
  }

  /// Checks the query and the paths.
  ///
  /// - Throws: The errors of ``Query/validate()``.
  package func validate() throws(StoreError) {
    try query.validate()
    for path in groups + aggregates.compactMap(\.field) { try path.validate() }
  }
}

/// The results of one group. Values are in the order of the query's groups and aggregates.
public struct AggregateRow: Sendable, Hashable {
  /// The values of the grouping fields.
  public let group: [DocumentValue]
  /// The results of the aggregates.
  public let values: [DocumentValue]
  /// Creates a row from its group values and results.
  package init(group: [DocumentValue], values: [DocumentValue]) {
    self.group = group
    self.values = values
  }
}

extension Query {
  /// Whether results are sorted by relevance.
  package var isRanked: Bool { ranking != nil && orderings.isEmpty }

  private func validate(_ ranking: FullTextRanking) throws(StoreError) {
    for (path, weight) in ranking.weights where !weight.isFinite {
      throw StoreError(
        .invalidArgument, "A weight is not a finite number",
        [.field: path.description, .actual: "\(weight)"])
    }
    guard orderings.isEmpty else { return }
    guard condition.rankingSearch != nil else {
      throw StoreError(.invalidArgument, "Ranking requires a full-text search")
    }
    guard after == nil else {
      throw StoreError(
        .invalidArgument, "Ranked results do not support page positions",
        [.hint: "use limit and offset, or sort by a field"])
    }
  }

  /// Whether the query returns all documents that satisfy its condition, by row ID.
  package var isWholeByRowID: Bool {
    orderings.isEmpty && limit == nil && offset == 0 && after == nil && ranking == nil
  }
}
