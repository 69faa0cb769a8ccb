// SPDX-License-Identifier: MIT

package import NanoDocument

/// How an engine executes a pipeline: the part that its query or its aggregates compute, and the rest.
///
/// Conditions and orders at the start of the pipeline become part of the query, so that indexes are used.
package struct PipelinePlan {
  package private(set) var query: Query
  /// The stages that remain.
  package private(set) var rest: Pipeline
  /// The groups at the start of the remaining stages, if engines can compute them.
  package private(set) var aggregates: Aggregates?

  package struct Aggregates {
    package var query: AggregateQuery
    fileprivate var names: [String]

    /// Returns the row of a group.
    package func object(_ row: AggregateRow) -> DocumentObject {
      DocumentObject(zip(names, row.group + row.values))
    }
  }

  package init(_ pipeline: Pipeline, _ query: Query) {
    self.query = query
    var stages = pipeline.stages[...]
    while let stage = stages.first, Self.merge(stage, into: &self.query) { stages.removeFirst() }
    if case .group(let grouping)? = stages.first,
      let aggregates = Self.aggregates(grouping, self.query)
    {
      self.aggregates = aggregates
      stages.removeFirst()
    }
    rest = Pipeline(Array(stages))
  }

  /// Adds a stage to the query, unless the result would not be the same.
  private static func merge(_ stage: Pipeline.Stage, into query: inout Query) -> Bool {
    let hasPage = query.limit != nil || query.offset > 0 || query.after != nil
    guard !hasPage, !query.isRanked else { return false }
    switch stage {
    case .filter(let condition):
      query.condition = .all([query.condition, condition].filter { $0 != .constant(true) })
    case .sort(let orderings): query.orderings = orderings + query.orderings
    case .limit(let limit, let offset, let expressions) where expressions.isEmpty:
      query.limit = limit
      query.offset = offset
    default: return false
    }
    return true
  }

  private static func aggregates(
    _ grouping: Pipeline.Grouping, _ query: Query
  ) -> Aggregates? {
    guard case .values(let keys) = grouping.keys else { return nil }
    var groups: [FieldPath] = []
    for key in keys {
      guard case .field(let path) = key.expression else { return nil }
      groups.append(path)
    }
    var aggregates: [Aggregate] = []
    for named in grouping.aggregates {
      guard let aggregate = named.aggregate.engineAggregate else { return nil }
      aggregates.append(aggregate)
    }
    return Aggregates(
      query: AggregateQuery(query, groups: groups, aggregates: aggregates),
      names: keys.map(\.name) + grouping.aggregates.map(\.name))
  }
}
