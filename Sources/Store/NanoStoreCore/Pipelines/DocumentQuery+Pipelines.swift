// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery

extension DocumentQuery {
  /// Returns a pipeline over the results, without stages.
  public func pipe() -> DocumentPipeline { DocumentPipeline(self) }

  /// Returns a pipeline with stages written as text; see ``DocumentPipeline/pipe(_:_:)``.
  public func pipe(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> DocumentPipeline {
    try pipe().pipe(text, arguments: arguments.map(\.documentValue))
  }
  /// Returns a pipeline with stages written as text, with arguments in an array and by name.
  public func pipe(
    _ text: String, arguments: [DocumentValue], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> DocumentPipeline {
    try pipe().pipe(text, arguments: arguments, named: named)
  }

  /// Replaces each document by one row for each element of an array; see
  /// ``DocumentPipeline/unwind(_:as:position:keepingEmpty:)``.
  public func unwind(
    _ path: String, as name: String? = nil, position: String? = nil, keepingEmpty: Bool = false
  ) -> DocumentPipeline {
    pipe().unwind(path, as: name, position: position, keepingEmpty: keepingEmpty)
  }

  /// Adds computed fields to each document; see ``DocumentPipeline/adding(_:)``.
  public func adding(
    _ fields: KeyValuePairs<String, any QueryExpressionConvertible>
  ) -> DocumentPipeline { pipe().adding(fields) }

  /// Replaces each document by a row of computed fields; see ``DocumentPipeline/select(_:)``.
  ///
  /// ```swift
  /// try films.find().select(["title": "title", "age": try .init(text: "2026 - [year]")]).rows()
  /// ```
  public func select(
    _ fields: KeyValuePairs<String, any QueryExpressionConvertible>
  ) -> DocumentPipeline { pipe().select(fields) }

  /// Replaces the documents by one row for each group; see ``DocumentPipeline/grouped(by:_:)``.
  public func grouped(
    by keys: KeyValuePairs<String, any QueryExpressionConvertible>,
    _ aggregates: KeyValuePairs<String, AggregateExpression>
  ) -> DocumentPipeline { pipe().grouped(by: keys, aggregates) }

  /// Replaces the documents by one row for each of several intervals of values; see
  /// ``DocumentPipeline/grouped(intoBuckets:of:as:bounds:_:)``.
  public func grouped(
    intoBuckets count: Int, of value: some QueryExpressionConvertible, as name: String,
    bounds: BucketBounds = .equalCounts,
    _ aggregates: KeyValuePairs<String, AggregateExpression>
  ) -> DocumentPipeline {
    pipe().grouped(intoBuckets: count, of: value, as: name, bounds: bounds, aggregates)
  }

  /// Appends the results of another query; see ``DocumentPipeline/union(_:origin:)-(DocumentQuery,_)``.
  public func union(_ other: DocumentQuery, origin: String? = nil) -> DocumentPipeline {
    pipe().union(other, origin: origin)
  }
  /// Appends the rows of a pipeline; see ``DocumentPipeline/union(_:origin:)-(DocumentQuery,_)``.
  public func union(_ other: DocumentPipeline, origin: String? = nil) -> DocumentPipeline {
    pipe().union(other, origin: origin)
  }

  /// Replaces the documents by one row, with an array of rows for each of several pipelines; see
  /// ``DocumentPipeline/facets(_:)``.
  public func facets(
    _ facets: KeyValuePairs<String, (DocumentPipeline) throws -> DocumentPipeline>
  ) throws -> DocumentPipeline { try pipe().facets(facets) }
}
