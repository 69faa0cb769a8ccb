// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument
import NanoEngine
public import NanoQuery

/// A query over a collection, built step by step and executed by its terminal method.
///
/// ```swift
/// let page = try films.find(Field("year") > 2010)
///   .sorted(by: "year", "-title").limit(10, offset: 20).fetch()
/// let count = try films.find("[genres] = ?", "Action").count()
/// ```
///
/// A query is a value: each step returns a new one, and a query can be executed many times.
public struct DocumentQuery: Sendable {
  /// The collection that the query reads.
  public let collection: DocumentCollection
  /// The underlying query tree, as engines receive it.
  package var query: Query
  /// The field names that a model declares, which are exempt from the check for unknown fields; nil
  /// disables the check.
  package var declaredNames: Set<ExactName>? = []

  /// Creates a query over a collection from a query tree.
  package init(_ collection: DocumentCollection, _ query: Query) {
    self.collection = collection
    self.query = query
  }

  func changed(_ change: (inout Query) -> Void) -> DocumentQuery {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Adds a condition that documents must also satisfy.
  public func `where`(_ condition: Condition) -> DocumentQuery {
    changed {
      $0.condition = $0.condition == .constant(true) ? condition : $0.condition && condition
    }
  }

  /// Sorts by these fields, most significant first, replacing an earlier order. A leading `-` means
  /// descending.
  public func sorted(by paths: String...) -> DocumentQuery {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts by a field in the given order, replacing an earlier order.
  ///
  /// ```swift
  /// films.find().sorted(by: "year", order: .reverse)           // the latest first
  /// ```
  public func sorted(by path: String, order: SortOrder) -> DocumentQuery {
    sorted(by: [Ordering(FieldPath(path), order: order)])
  }
  /// Sorts by these orderings, most significant first, replacing an earlier order.
  public func sorted(by orderings: [Ordering]) -> DocumentQuery {
    changed { $0.orderings = orderings }
  }

  /// Sorts by a textual ordering, as in `ORDER BY`, replacing an earlier order. Aliases apply; an
  /// empty text removes the order.
  ///
  /// ```swift
  /// try people.find().sorted(byText: "[last] DESC, [first]")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there.
  public func sorted(byText text: String) throws(StoreError) -> DocumentQuery {
    sorted(
      by: try collection.parsed(text) { (text) throws(StoreError) in try QueryText.orderings(text) }
    )
  }

  /// Limits the number of results, counted after sorting and after the offset.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of results; nil for no limit.
  ///   - offset: The number of results to skip first; nil keeps the value set by ``offset(_:)``.
  public func limit(_ limit: Int?, offset: Int? = nil) -> DocumentQuery {
    changed {
      $0.limit = limit
      if let offset { $0.offset = offset }
    }
  }
  /// Skips this many results, counted after sorting.
  public func offset(_ offset: Int) -> DocumentQuery { changed { $0.offset = offset } }

  /// Returns only results after a position returned by ``page(_:)-(Int)``.
  public func after(_ position: PagePosition?) -> DocumentQuery { changed { $0.after = position } }

  /// Reads only these fields of each document. Such partial documents cannot replace the stored
  /// ones.
  public func select(_ paths: String...) -> DocumentQuery { select(paths.map { FieldPath($0) }) }
  /// Reads only these fields of each document; see ``select(_:)-(String...)``.
  public func select(_ paths: [FieldPath]) -> DocumentQuery { changed { $0.fields = paths } }
}

extension DocumentCollection {
  /// Returns a query for the documents that match the condition; without one, for all documents.
  public func find(_ condition: Condition = .constant(true)) -> DocumentQuery {
    DocumentQuery(self, Query(condition))
  }

  /// Returns a query from a query tree built elsewhere.
  package func find(_ query: Query) -> DocumentQuery { DocumentQuery(self, query) }

  /// Returns a query for the documents that match a textual condition.
  ///
  /// The arguments are the values of its parameters.
  ///
  /// ```swift
  /// try people.find("[LastName] = ? AND [Address.Country] = 'US' ORDER BY [FirstName]", "Doe")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many are given.
  public func find(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: arguments.map(\.documentValue))
  }

  /// Returns a query written as text, with arguments in an array and by name; see ``find(_:_:)``.
  public func find(
    _ text: String, arguments: [DocumentValue], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> DocumentQuery {
    let parsed = try parsed(text) { (text) throws(StoreError) in try QueryText(text) }
    return DocumentQuery(self, try parsed.query(arguments, named: named))
  }

  /// Returns a query written as text, with arguments by name; see ``find(_:_:)``.
  public func find(
    _ text: String, named: [String: DocumentValue]
  ) throws(StoreError) -> DocumentQuery {
    try find(text, arguments: [], named: named)
  }

  /// Returns all documents, ordered by row ID.
  public func fetch() throws -> [Document] { try find().fetch() }
  /// The asynchronous form of `fetch()`, which does not block the calling thread.
  public func fetch() async throws -> [Document] { try await find().fetch() }

  /// Returns the number of documents.
  public func count() throws -> Int { try find().count() }
  /// The asynchronous form of `count()`, which does not block the calling thread.
  public func count() async throws -> Int { try await find().count() }
}

extension DocumentQuery {
  /// The same query without the check for unknown fields, for queries that were not written by a
  /// user.
  package var withoutFieldCheck: DocumentQuery {
    var copy = self
    copy.declaredNames = nil
    return copy
  }
}
