// SPDX-License-Identifier: MIT

package import NanoDocument

/// A parsed pipeline with parameters: stages separated by `|>`. docs/QUERY-TEXT.md has the grammar.
///
/// ```swift
/// let text = try PipelineText(
///   "UNWIND [genres] |> AGGREGATE count(*) AS films GROUP BY [genres] |> WHERE [films] > ?")
/// let pipeline = try text.pipeline([3])
/// ```
package struct PipelineText: Sendable, Hashable {
  private let stages: [Pipeline.Stage]
  private let positionCount: Int
  private let names: Set<ExactName>

  /// Parses a pipeline. Empty text has no stages.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` or ``StoreError/Code/invalidPath``, as
  ///   ``QueryText/init(_:)`` does.
  package init(_ text: String) throws(StoreError) {
    var parser = QueryParser(text)
    stages = try parser.wholePipeline()
    (positionCount, names) = parser.parameters
  }

  /// Returns the pipeline with its parameters replaced by arguments; see ``QueryText/query(_:named:)``.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``; `expected` names the parameter.
  package func pipeline(
    _ arguments: [DocumentValue] = [], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> Pipeline {
    let binder = try ParameterBinder(arguments, named, count: positionCount, names: names)
    guard positionCount > 0 || !names.isEmpty else { return Pipeline(stages) }
    var bound: [Pipeline.Stage] = []
    for stage in stages { bound.append(try binder.bound(stage)) }
    return Pipeline(bound)
  }
}

extension ParameterBinder {
  fileprivate func bound(_ stage: Pipeline.Stage) throws(StoreError) -> Pipeline.Stage {
    switch stage {
    case .filter(let condition): return .filter(try bound(condition))
    case .unwind: return stage
    case .extend(let fields): return .extend(try bound(fields))
    case .select(let fields): return .select(try bound(fields))
    case .group(let grouping): return .group(try bound(grouping))
    case .sort(let orderings): return .sort(try bound(orderings))
    case .limit(let limit, let offset, let expressions):
      var list: [QueryExpression] = []
      for expression in expressions { list.append(try bound(expression)) }
      return .limit(limit, offset: offset, per: list)
    case .union(var source):
      source.stages = try bound(source.stages)
      return .union(source)
    case .facets(var facets):
      for index in facets.indices { facets[index].stages = try bound(facets[index].stages) }
      return .facets(facets)
    }
  }

  private func bound(_ stages: [Pipeline.Stage]) throws(StoreError) -> [Pipeline.Stage] {
    var list: [Pipeline.Stage] = []
    for stage in stages { list.append(try bound(stage)) }
    return list
  }

  private func bound(
    _ fields: [Pipeline.NamedExpression]
  ) throws(StoreError) -> [Pipeline.NamedExpression] {
    var list = fields
    for index in list.indices { list[index].expression = try bound(list[index].expression) }
    return list
  }

  private func bound(_ grouping: Pipeline.Grouping) throws(StoreError) -> Pipeline.Grouping {
    var grouping = grouping
    switch grouping.keys {
    case .values(let keys): grouping.keys = .values(try bound(keys))
    case .buckets(var buckets):
      buckets.value.expression = try bound(buckets.value.expression)
      grouping.keys = .buckets(buckets)
    }
    for index in grouping.aggregates.indices {
      var aggregate = grouping.aggregates[index].aggregate
      if let operand = aggregate.operand { aggregate.operand = try bound(operand) }
      if let condition = aggregate.condition { aggregate.condition = try bound(condition) }
      grouping.aggregates[index].aggregate = aggregate
    }
    return grouping
  }
}

extension QueryText {
  /// The names of the parameters in a query text or pipeline; empty if it does not parse.
  package static func parameterNames(_ text: String) -> Set<ExactName> {
    Set(
      QueryParser(text).tokens.compactMap { token in
        if case .parameter(.name(let name)) = token.kind { ExactName(name) } else { nil }
      })
  }
}
