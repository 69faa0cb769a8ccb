// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// By what results are sorted: an expression (usually a field) and a direction.
///
/// Missing and null come first, then booleans, numbers, dates, texts, data, arrays and objects.
/// A field that reaches several values counts with its smallest one, descending with its largest.
public struct Ordering: Sendable, Hashable {
  /// What documents are sorted by.
  public var expression: QueryExpression
  /// Whether the smallest or the largest comes first.
  public var order: SortOrder

  public init(_ expression: QueryExpression, order: SortOrder = .forward) {
    self.expression = expression
    self.order = order
  }
  public init(_ path: FieldPath, order: SortOrder = .forward) {
    self.init(.field(path), order: order)
  }
  package init(_ expression: QueryExpression, descending: Bool) {
    self.init(expression, order: descending ? .reverse : .forward)
  }
  package init(_ path: FieldPath, descending: Bool) {
    self.init(.field(path), descending: descending)
  }

  /// Whether the largest comes first.
  package var descending: Bool { order == .reverse }

  /// A path, descending if a hyphen stands before it.
  package init(signed path: String) {
    let descending = path.utf8.first == UInt8(ascii: "-")
    self.init(
      FieldPath(descending ? String(path.unicodeScalars.dropFirst()) : path),
      order: descending ? .reverse : .forward)
  }

  /// By a field, the smallest first.
  public static func forward(_ path: FieldPath) -> Ordering { Ordering(path) }
  /// By a field, the largest first.
  public static func reverse(_ path: FieldPath) -> Ordering { Ordering(path, order: .reverse) }
}

/// Which documents of a collection, in which order, from where to where.
///
/// The page is cut after sorting. Ties are broken by row id, so that every order is total.
package struct Query: Sendable, Hashable {
  /// What documents must fulfil.
  package var condition: Condition
  /// By what they are sorted, most important first; then by row id.
  package var orderings: [Ordering]
  /// How many at most; nil for all.
  package var limit: Int?
  /// How many are left out at the beginning, counted after sorting.
  package var offset: Int
  /// Only what comes after this document in the order.
  package var after: PagePosition?
  /// Only these fields of each document; nil for the whole of it.
  package var fields: [FieldPath]?
  /// Where there are no orderings: the best fits of the condition's search by text come first.
  package var ranking: FullTextRanking?

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

  /// Throws if a path is not a path, a parameter is open, or the page is impossible.
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
        .invalidArgument, "A page position belongs to a query with other orderings",
        [.expected: "\(orderings.count) orderings", .actual: "\(after.values.count)"])
    }
  }
}

/// Where a page ended: the values by which its last document was sorted, and its row id.
///
/// It stays right when documents are added or removed meanwhile, unlike an offset.
public struct PagePosition: Sendable, Hashable {
  /// One for each ordering; null where the document had no value.
  public let values: [DocumentValue]
  /// The row id of the last document.
  public let rowID: Int64

  package init(values: [DocumentValue], rowID: Int64) {
    self.values = values
    self.rowID = rowID
  }
}

/// What is computed over documents.
public enum Aggregate: Sendable, Hashable {
  /// The number of documents.
  case count
  /// The number of values that a field reaches, nulls included.
  case countOf(FieldPath)
  /// The smallest value in sort order; null if there is none.
  case min(FieldPath)
  case max(FieldPath)
  /// The mean of the numbers among the values; null if there is none.
  case average(FieldPath)
  /// The sum of the numbers: an integer if all are and it fits into 64 bits, else a double.
  case sum(FieldPath)

  /// The field whose values are taken; nil for the number of documents.
  public var field: FieldPath? {
    switch self {
    case .count: nil
    case .countOf(let path), .min(let path), .max(let path), .average(let path),
      .sum(let path):
      path
    }
  }
}

/// Aggregates over the documents of a query, in groups or over all of them.
///
/// A document whose grouping field reaches several values counts in each of their groups, once.
package struct AggregateQuery: Sendable, Hashable {
  /// Which documents; its limit and offset cut before the aggregates are taken.
  package var query: Query
  /// The fields by whose values documents are grouped; none for one group of all.
  package var groups: [FieldPath]
  /// What is computed for each group.
  package var aggregates: [Aggregate]

  package init(_ query: Query = Query(), groups: [FieldPath] = [], aggregates: [Aggregate]) {
    self.query = query
    self.groups = groups
    self.aggregates = aggregates
  }

  /// Throws if the query is not valid or a path is none.
  package func validate() throws(StoreError) {
    try query.validate()
    for path in groups + aggregates.compactMap(\.field) { try path.validate() }
  }
}

/// One group: the values it is grouped by and the results, in the order in which both were asked.
public struct AggregateRow: Sendable, Hashable {
  /// The values that the documents of this group have in common.
  public let group: [DocumentValue]
  /// The results.
  public let values: [DocumentValue]
  package init(group: [DocumentValue], values: [DocumentValue]) {
    self.group = group
    self.values = values
  }
}

extension Query {
  /// Whether the best fits come first.
  package var isRanked: Bool { ranking != nil && orderings.isEmpty }

  private func validate(_ ranking: FullTextRanking) throws(StoreError) {
    for (path, weight) in ranking.weights where !weight.isFinite {
      throw StoreError(
        .invalidArgument, "A weight is no number",
        [.field: path.description, .actual: "\(weight)"])
    }
    guard orderings.isEmpty else { return }
    guard condition.rankingSearch != nil else {
      throw StoreError(.invalidArgument, "There is nothing to rank without a search by text")
    }
    guard after == nil else {
      throw StoreError(
        .invalidArgument, "What is ranked has no page positions",
        [.hint: "use limit and offset, or sort by a field"])
    }
  }

  /// Whether everything is found, by row id: nothing depends on an order but the order itself.
  package var isWholeByRowID: Bool {
    orderings.isEmpty && limit == nil && offset == 0 && after == nil && ranking == nil
  }
}
