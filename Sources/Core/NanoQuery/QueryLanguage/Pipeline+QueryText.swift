// SPDX-License-Identifier: MIT

import NanoDocument

extension Pipeline {
  /// The pipeline as text, which parses to an equal pipeline. May contain user data. The condition of a
  /// union's query is written as its first stage.
  package var queryText: String { Self.text(stages) }

  private static func text(_ stages: [Stage]) -> String {
    stages.map(text).joined(separator: " |> ")
  }

  private static func text(_ stage: Stage) -> String {
    switch stage {
    case .filter(let condition): return "WHERE " + condition.queryText
    case .unwind(let unwind):
      return "UNWIND " + unwind.path.queryText + (unwind.name.map { " AS " + name($0) } ?? "")
        + (unwind.index.map { " AT " + name($0) } ?? "") + (unwind.keepsEmpty ? " KEEP EMPTY" : "")
    case .extend(let fields): return "EXTEND " + text(fields)
    case .select(let fields): return "SELECT " + text(fields)
    case .group(let grouping): return text(grouping)
    case .sort(let orderings):
      return "ORDER BY " + orderings.map(\.queryText).joined(separator: ", ")
    case .limit(let limit, let offset, let expressions):
      return "LIMIT \(limit)" + (offset > 0 ? " OFFSET \(offset)" : "")
        + (expressions.isEmpty
          ? "" : " PER " + expressions.map(\.queryText).joined(separator: ", "))
    case .union(let source):
      let condition = source.query.condition
      let stages = (condition == .constant(true) ? [] : [.filter(condition)]) + source.stages
      return "UNION ALL \(name(source.collection))" + (stages.isEmpty ? "" : " (\(text(stages)))")
    case .facets(let facets):
      return "FACET "
        + facets.map { "\(name($0.name)) (\(text($0.stages)))" }.joined(separator: ", ")
    }
  }

  private static func text(_ grouping: Grouping) -> String {
    var keys = ""
    switch grouping.keys {
    case .values(let list): if !list.isEmpty { keys = "GROUP BY " + text(list) }
    case .buckets(let buckets):
      keys =
        "GROUP BY " + (buckets.equalWidths ? "width_buckets(" : "buckets(")
        + "\(buckets.value.expression.queryText), \(buckets.count)) AS \(name(buckets.value.name))"
    }
    guard !grouping.aggregates.isEmpty else { return keys }
    let aggregates = grouping.aggregates.map { "\($0.aggregate.queryText) AS \(name($0.name))" }
      .joined(separator: ", ")
    return "AGGREGATE " + aggregates + (keys.isEmpty ? "" : " " + keys)
  }

  private static func text(_ fields: [NamedExpression]) -> String {
    fields.map { "\($0.expression.queryText) AS \(name($0.name))" }.joined(separator: ", ")
  }

  private static func name(_ name: String) -> String { FieldPath(components: [name]).queryText }
}

extension AggregateExpression {
  /// The aggregate as query text; see ``Condition/queryText``.
  public var queryText: String {
    let operand = operand.map { (isDistinct ? "DISTINCT " : "") + $0.queryText } ?? "*"
    let filter = condition.map { " FILTER (WHERE \($0.queryText))" } ?? ""
    return "\(function.rawValue)(\(operand))\(filter)"
  }
}
