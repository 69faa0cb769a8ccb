// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoServer
import NanoStoreCore

/// Aggregates of groups, for charts.
extension Inspector {
  /// Returns an aggregate for each group: by the values of a field, or by calendar period of its dates.
  ///
  /// If there are more groups than ``maximumGroups``, they are the largest ones, or the latest periods; `count` is the
  /// number of all. Documents without a date belong to no period; `undated` is their number.
  func groups(of collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection).sorted(by: [])
    let by = FieldPath(try request.required("by"))
    let value = request["value"].map { FieldPath($0) }
    let kind = request["aggregate"] ?? "count"
    if let period = request["bucket"] {
      guard let unit = CalendarUnit(rawValue: period), Self.periods.contains(unit) else {
        throw RouteError.invalid("bucket", "year, quarter, month, week, day or hour")
      }
      return try await Self.periods(of: query, by, unit, Self.expression(kind, value))
    }
    let aggregate = try Self.aggregate(kind, value)
    let groups = try await query.grouped(by: by.description, aggregates: [aggregate]).map {
      Group(key: $0.group.first ?? .null, value: $0.values.first ?? .null)
    }
    let ordered = groups.sorted {
      $0.size == $1.size ? ValueOrder.compare($0.key, $1.key) < 0 : $0.size > $1.size
    }
    let field = QueryExpression.field(by)
    return [
      "count": .int(groups.count), "undated": 0,
      "condition": .string(Self.text(of: query.query.condition)),
      "groups": .array(
        ordered.prefix(Self.maximumGroups).map { group in
          let condition =
            group.key == .null
            ? Condition.isNull(field) : .comparison(field, .equal, .value(group.key))
          return group.wire(condition.queryText)
        }),
    ]
  }

  /// The number of groups that a chart shows.
  static let maximumGroups = 500
  private static let periods: Set<CalendarUnit> = [.year, .quarter, .month, .week, .day, .hour]

  private struct Group: Sendable {
    var key: DocumentValue
    var value: DocumentValue

    /// The length of the bar; the smallest for what has none, which includes the sum of infinity and its opposite.
    var size: Double { value.double.flatMap { $0.isNaN ? nil : $0 } ?? -.infinity }

    func wire(_ condition: String?) -> Wire {
      [
        "key": .value(key, .row), "value": value.double.map { .double($0) } ?? .null,
        // With every digit.
        "number": .value(value, .row), "condition": .optional(condition),
      ]
    }
  }

  /// Returns the periods in UTC, in order. A document counts once in each period that contains one of its dates.
  private static func periods(
    of query: DocumentQuery, _ by: FieldPath, _ unit: CalendarUnit, _ value: AggregateExpression
  ) async throws -> Wire {
    let start = QueryExpression.field(by).start(of: unit)
    let rows = try await query.grouped(
      by: ["period": start], ["value": value, "documents": .count]
    ).rows()
    let undated = rows.first { $0["period"] == .null }?["documents"]?.int ?? 0
    let dated = rows.filter { $0["period"] != .null }
    return [
      "count": .int(dated.count), "undated": .int(undated),
      "condition": .string(text(of: query.query.condition)),
      "groups": .array(
        dated.suffix(maximumGroups).map {
          Group(key: $0["period"] ?? .null, value: $0["value"] ?? .null).wire(nil)
        }),
    ]
  }

  private static func aggregate(_ kind: String, _ value: FieldPath?) throws -> Aggregate {
    if kind == "count" { return .count }
    guard let value else { throw RouteError.invalid("value", "a field") }
    switch kind {
    case "sum": return .sum(value)
    case "average": return .average(value)
    case "min": return .min(value)
    case "max": return .max(value)
    default: throw RouteError.invalid("aggregate", "count, sum, average, min or max")
    }
  }

  private static func expression(
    _ kind: String, _ value: FieldPath?
  ) throws -> AggregateExpression {
    // Checks the parameters.
    _ = try aggregate(kind, value)
    guard let value else { return .count }
    let field = QueryExpression.field(value)
    switch kind {
    case "sum": return .sum(field)
    case "average": return .average(field)
    case "min": return .min(field)
    case "max": return .max(field)
    default: return .count
    }
  }
}
