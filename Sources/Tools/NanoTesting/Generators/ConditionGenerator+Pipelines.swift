// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery

extension ConditionGenerator {
  /// Returns a pipeline of a few stages, converted to text and parsed again half of the time.
  ///
  /// Stages after a group use only values that engines compute exactly: its keys and counts.
  package mutating func pipeline() throws -> Pipeline {
    // Stages contain no conditions on related documents.
    let related = relatedCollections
    relatedCollections = []
    defer { relatedCollections = related }
    var stages = (0..<values.random.number(0...3)).map { _ in rowStage() }
    if values.random.oneIn(3) { stages.insert(unwind(), at: stages.count) }
    switch values.random.number(0...5) {
    case 0: break
    case 1: stages.append(.facets(facets()))
    default: stages += groupStages()
    }
    let pipeline = Pipeline(stages)
    guard values.random.oneIn(2), !stages.isEmpty else { return pipeline }
    return try PipelineText(pipeline.queryText).pipeline()
  }

  private static let names = ["a", "b", "list", "n", "x.y", "é"]

  private mutating func named(_ count: Int) -> [Pipeline.NamedExpression] {
    Self.names.prefix(count).map { name in
      Pipeline.NamedExpression(name, values.random.oneIn(2) ? .field(path()) : expression(2))
    }
  }

  private mutating func unwind() -> Pipeline.Stage {
    .unwind(
      Pipeline.Unwind(
        values.random.pick(["list", "a", "b", "list.a", "list.0", "a.b"]),
        name: values.random.oneIn(3) ? "element" : nil,
        index: values.random.oneIn(3) ? "at" : nil, keepsEmpty: values.random.oneIn(3)))
  }

  private mutating func rowStage() -> Pipeline.Stage {
    switch values.random.number(0...8) {
    case 0, 1: return .filter(condition(2))
    case 2, 3: return unwind()
    case 4: return .extend(named(values.random.number(1...2)))
    case 5: return .select(named(values.random.number(1...4)))
    case 6: return .sort((0..<values.random.number(1...2)).map { _ in ordering() })
    case 7:
      let expressions = values.random.oneIn(2) ? [] : [QueryExpression.field(path())]
      return .limit(
        values.random.number(0...4), offset: values.random.pick([0, 0, 1, 2]), per: expressions)
    default: return .union(unionSource(nests: true))
    }
  }

  /// - Parameter nests: Whether the source may contain another union.
  private mutating func unionSource(nests: Bool) -> Pipeline.Source {
    var stages: [Pipeline.Stage] =
      values.random.oneIn(2) ? [] : [.filter(simpleCondition()), unwind()]
    if nests, values.random.oneIn(4) { stages.append(.union(unionSource(nests: false))) }
    return Pipeline.Source(Script.collection, Query(), stages)
  }

  private mutating func facets() -> [Pipeline.Facet] {
    (0..<values.random.number(1...3)).map { number in
      Pipeline.Facet(
        "f\(number)", values.random.oneIn(3) ? [rowStage()] : [group()])
    }
  }

  private mutating func groupStages() -> [Pipeline.Stage] {
    var stages = [group()]
    if values.random.oneIn(3) { stages.append(.filter(Field("count") > 1)) }
    if values.random.oneIn(3) { stages.append(.sort([Ordering("count", order: .reverse)])) }
    if values.random.oneIn(3) { stages.append(.limit(3, offset: 0, per: [])) }
    return stages
  }

  private mutating func group() -> Pipeline.Stage {
    var aggregates = [Pipeline.NamedAggregate("count", .count)]
    for number in 0..<values.random.number(0...3) {
      aggregates.append(Pipeline.NamedAggregate("x\(number)", aggregate()))
    }
    let keys: Pipeline.Grouping.Keys =
      values.random.oneIn(4)
      ? .buckets(
        Pipeline.Buckets(
          Pipeline.NamedExpression("a", .field(path())), count: values.random.number(1...5),
          equalWidths: values.random.oneIn(2)))
      : .values(named(values.random.number(0...2)))
    return .group(Pipeline.Grouping(keys, aggregates))
  }

  private mutating func aggregate() -> AggregateExpression {
    let function = values.random.pick(AggregateExpression.Function.allCases)
    let operand = values.random.oneIn(3) ? expression(1) : QueryExpression.field(path())
    return AggregateExpression(
      function, operand, isDistinct: values.random.oneIn(4),
      condition: values.random.oneIn(5) ? simpleCondition() : nil)
  }
}
