// SPDX-License-Identifier: MIT

public import NanoDocument
import NanoEngine
public import NanoQuery

/// Stages that transform the results of a query: unwinding arrays, computing fields, grouping, sorting.
///
/// ```swift
/// let rows = try films.find(Field("year") > 1990)
///   .unwind("genres")
///   .grouped(by: ["genre": "genres"], ["films": .count, "rating": .average("rating")])
///   .where(Field("films") > 3)
///   .sorted(by: "-rating")
///   .rows()                                  // [{"genre":"Drama","films":12,"rating":7.9}, …]
/// ```
///
/// Each stage receives the rows of the previous one. A row is an object, initially a document. The result is the same
/// on every engine. docs/AGGREGATION.md describes the stages.
///
/// A pipeline is a value: each step returns a new one, and a pipeline can be executed many times.
public struct DocumentPipeline: Sendable {
  /// The query whose results are the first rows.
  public let source: DocumentQuery
  /// The stages, as engines receive them.
  package var pipeline: Pipeline

  /// Creates a pipeline over a query's results.
  package init(_ source: DocumentQuery, _ pipeline: Pipeline = Pipeline()) {
    self.source = source
    self.pipeline = pipeline
  }

  func adding(_ stage: Pipeline.Stage) -> DocumentPipeline {
    var copy = self
    copy.pipeline.stages.append(stage)
    return copy
  }
}

extension DocumentPipeline {
  /// Keeps the rows that satisfy a condition. After groups, it is what SQL calls `HAVING`.
  public func `where`(_ condition: Condition) -> DocumentPipeline { adding(.filter(condition)) }

  /// Replaces each row by one row for each element of an array.
  ///
  /// ```swift
  /// films.find().unwind("cast", as: "actor", position: "billing")
  /// ```
  ///
  /// Arrays on the way to the array are unwound, too. A value that is not an array counts as its only
  /// element. A row whose array is missing, null or empty is dropped unless `keepingEmpty` is true.
  ///
  /// - Parameters:
  ///   - path: The path of the array.
  ///   - name: The field that receives the element; nil to replace the array.
  ///   - position: The field that receives the position of the element, counted from 0; null for a value
  ///     that is not an array.
  ///   - keepingEmpty: Whether rows without elements are kept.
  public func unwind(
    _ path: String, as name: String? = nil, position: String? = nil, keepingEmpty: Bool = false
  ) -> DocumentPipeline {
    adding(
      .unwind(
        Pipeline.Unwind(FieldPath(path), name: name, index: position, keepsEmpty: keepingEmpty)))
  }

  /// Adds computed fields to each row, replacing fields of the same name.
  ///
  /// ```swift
  /// films.find().adding(["decade": try .init(text: "[year] / 10 * 10")])
  /// ```
  ///
  /// An expression without a value removes the field; several values become an array.
  public func adding(
    _ fields: KeyValuePairs<String, any QueryExpressionConvertible>
  ) -> DocumentPipeline {
    adding(.extend(Self.named(fields)))
  }

  /// Replaces the fields of each row by computed ones; see ``adding(_:)``.
  public func select(
    _ fields: KeyValuePairs<String, any QueryExpressionConvertible>
  ) -> DocumentPipeline {
    adding(.select(Self.named(fields)))
  }

  /// Replaces the rows by one row for each group, in the sort order of the groups.
  ///
  /// ```swift
  /// films.find().grouped(by: ["decade": Field("released").start(of: .year)], ["films": .count])
  /// ```
  ///
  /// A row counts once in the group of each distinct value, as in ``DocumentQuery/grouped(by:aggregates:)``.
  ///
  /// - Parameters:
  ///   - keys: The expressions to group by, and the fields that receive their values. Without any, all
  ///     rows are one group.
  ///   - aggregates: What to compute for each group, and the fields that receive the results.
  public func grouped(
    by keys: KeyValuePairs<String, any QueryExpressionConvertible>,
    _ aggregates: KeyValuePairs<String, AggregateExpression>
  ) -> DocumentPipeline {
    adding(.group(Pipeline.Grouping(.values(Self.named(keys)), Self.named(aggregates))))
  }

  /// Replaces the rows by one row for each of several intervals of values, whose bounds are computed from
  /// all values.
  ///
  /// ```swift
  /// products.find().grouped(intoBuckets: 4, of: "price", as: "price", ["products": .count])
  /// // [{"price":{"min":1,"max":20},"products":25}, …]
  /// ```
  ///
  /// A bucket contains its `min` and, except for the last one, not its `max`. There are fewer buckets if
  /// values repeat. Rows without a value form a bucket that is null. For intervals with given bounds, group
  /// by ``ComputableExpression/bucket(_:)``.
  ///
  /// - Parameters:
  ///   - count: The number of buckets, at most 100,000.
  ///   - value: The expression whose values are divided.
  ///   - name: The field that receives the bounds.
  ///   - bounds: How the values are divided.
  ///   - aggregates: What to compute for each bucket, and the fields that receive the results.
  public func grouped(
    intoBuckets count: Int, of value: some QueryExpressionConvertible, as name: String,
    bounds: BucketBounds = .equalCounts,
    _ aggregates: KeyValuePairs<String, AggregateExpression>
  ) -> DocumentPipeline {
    let buckets = Pipeline.Buckets(
      Pipeline.NamedExpression(name, value.queryExpression), count: count,
      equalWidths: bounds == .equalWidths)
    return adding(.group(Pipeline.Grouping(.buckets(buckets), Self.named(aggregates))))
  }

  /// Sorts the rows by these fields, most significant first. A leading `-` means descending. Rows that
  /// compare equal keep their order.
  public func sorted(by paths: String...) -> DocumentPipeline {
    sorted(by: paths.map { Ordering(signed: $0) })
  }
  /// Sorts the rows by these orderings, most significant first.
  public func sorted(by orderings: [Ordering]) -> DocumentPipeline { adding(.sort(orderings)) }

  /// Limits the number of rows, counted after those that are skipped.
  public func limit(_ limit: Int, offset: Int = 0) -> DocumentPipeline {
    adding(.limit(limit, offset: offset, per: []))
  }

  /// Keeps the first rows of each group of rows with equal values, in their order.
  ///
  /// ```swift
  /// films.find().sorted(by: "-rating").pipe().limit(3, per: "director")     // the best three of each
  /// ```
  public func limit(
    _ limit: Int, offset: Int = 0, per expressions: any QueryExpressionConvertible...
  ) -> DocumentPipeline {
    adding(.limit(limit, offset: offset, per: expressions.map(\.queryExpression)))
  }

  /// Appends the rows of another query, of the same or another collection. Duplicates are kept.
  ///
  /// ```swift
  /// films.find().union(series.find(), origin: "kind").grouped(by: ["kind": "kind"], ["count": .count])
  /// ```
  ///
  /// Executing the pipeline throws ``StoreError/Code/invalidArgument`` if the other query reads another store.
  ///
  /// - Parameter origin: A field that receives the name of the collection that a row comes from; nil for
  ///   none.
  public func union(_ other: DocumentQuery, origin: String? = nil) -> DocumentPipeline {
    union(DocumentPipeline(other), origin: origin)
  }
  /// Appends the rows of another pipeline; see ``union(_:origin:)-(DocumentQuery,_)``.
  public func union(_ other: DocumentPipeline, origin: String? = nil) -> DocumentPipeline {
    if let failure = failure(reading: other) { return failing(with: failure) }
    func label(_ pipeline: DocumentPipeline) -> DocumentPipeline {
      guard let origin else { return pipeline }
      let name = QueryExpression.value(.string(pipeline.source.collection.name))
      return pipeline.adding(.extend([Pipeline.NamedExpression(origin, name)]))
    }
    let other = label(other)
    return label(self).adding(
      .union(
        Pipeline.Source(
          other.source.collection.name, other.source.query, other.pipeline.stages)))
  }

  /// Replaces the rows by one row, with an array of rows for each of several pipelines over the same rows.
  ///
  /// ```swift
  /// let row = try films.find().facets([
  ///   "decades": { $0.grouped(by: ["decade": Field("released").start(of: .year)], ["films": .count]) },
  ///   "best": { $0.sorted(by: "-rating").limit(3) },
  /// ]).first()                                 // {"decades":[…],"best":[…]}
  /// ```
  ///
  /// The documents are read once.
  public func facets(
    _ facets: KeyValuePairs<String, (DocumentPipeline) throws -> DocumentPipeline>
  ) throws -> DocumentPipeline {
    let empty = DocumentPipeline(source)
    let branches = try facets.map { (name: $0.key, pipeline: try $0.value(empty)) }
    for branch in branches {
      if let failure = failure(reading: branch.pipeline) { return failing(with: failure) }
      guard branch.pipeline.hasSource(of: empty) else {
        return failing(
          with: StoreError(
            .invalidArgument, "A facet reads documents of its own",
            [
              .field: branch.name,
              .hint: "add stages to the pipeline that is passed to the closure",
            ]))
      }
    }
    return adding(.facets(branches.map { Pipeline.Facet($0.name, $0.pipeline.pipeline.stages) }))
  }

  /// Adds stages written as text, with arguments for its parameters.
  ///
  /// ```swift
  /// try films.find().pipe("UNWIND [genres] |> AGGREGATE count(*) AS films GROUP BY [genres] HAVING [films] > ?", 3)
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with the position and what was expected there,
  ///   ``StoreError/Code/invalidArgument`` if arguments are missing or too many are given.
  public func pipe(
    _ text: String, _ arguments: any DocumentValueConvertible...
  ) throws(StoreError) -> DocumentPipeline {
    try pipe(text, arguments: arguments.map(\.documentValue))
  }
  /// Adds stages written as text, with arguments in an array and by name; see ``pipe(_:_:)``.
  public func pipe(
    _ text: String, arguments: [DocumentValue], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> DocumentPipeline {
    let parsed = try source.collection.parsed(text) { (text) throws(StoreError) in
      try PipelineText(text)
    }
    var copy = self
    copy.pipeline.stages += try parsed.pipeline(arguments, named: named).stages
    return copy
  }
}

extension DocumentPipeline {
  /// Returns why this pipeline cannot use the stages of another one; nil if it can.
  private func failure(reading other: DocumentPipeline) -> StoreError? {
    let collection = other.source.collection
    if let failure = collection.failure { return failure }
    guard collection.store !== source.collection.store else { return nil }
    return StoreError(
      .invalidArgument, "A pipeline cannot read another store",
      [.collection: collection.name, .hint: "read all collections from the same store"])
  }

  private func hasSource(of other: DocumentPipeline) -> Bool {
    let (query, otherQuery) = (source.query, other.source.query)
    guard source.collection.name.hasSameBytes(as: other.source.collection.name) else {
      return false
    }
    if query == otherQuery { return true }
    // A query with NaN does not equal itself; its description does.
    return query != query && otherQuery != otherQuery
      && String(describing: query).hasSameBytes(as: String(describing: otherQuery))
  }

  /// Returns the pipeline with every call that executes it throwing this error.
  private func failing(with error: StoreError) -> DocumentPipeline {
    var query = DocumentQuery(source.collection.failing(with: error), source.query)
    query.declaredNames = source.declaredNames
    return DocumentPipeline(query, pipeline)
  }

  private static func named(
    _ fields: KeyValuePairs<String, any QueryExpressionConvertible>
  ) -> [Pipeline.NamedExpression] {
    fields.map { Pipeline.NamedExpression($0.key, $0.value.queryExpression) }
  }

  private static func named(
    _ aggregates: KeyValuePairs<String, AggregateExpression>
  ) -> [Pipeline.NamedAggregate] {
    aggregates.map { Pipeline.NamedAggregate($0.key, $0.value) }
  }
}
