// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import NanoServer
import NanoStoreCore

/// Aggregates of groups, for charts.
extension Inspector {
  /// Returns an aggregate for each group: by the values of a field, or by calendar period of a date.
  func groups(of collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection).sorted(by: [])
    let by = FieldPath(try request.required("by"))
    let value = request["value"].map { FieldPath($0) }
    let kind = request["aggregate"] ?? "count"
    let rows: [Group]
    if let bucket = request["bucket"] {
      guard let bucket = CalendarBucket(rawValue: bucket) else {
        throw RouteError.invalid("bucket", "year, month, week, day or hour")
      }
      rows = try await groups(query, by, bucket, value, kind)
    } else {
      let aggregate = try Self.aggregate(kind, value)
      rows = try await query.grouped(by: by.description, aggregates: [aggregate]).map {
        Group(key: $0.group.first ?? .null, value: $0.values.first?.double)
      }
    }
    let isByDate = request["bucket"] != nil
    let ordered = rows.sorted {
      isByDate || ($0.value ?? -.infinity) == ($1.value ?? -.infinity)
        ? ValueOrder.compare($0.key, $1.key) < 0
        : ($0.value ?? -.infinity) > ($1.value ?? -.infinity)
    }
    let field = QueryExpression.field(by)
    return [
      "count": .int(rows.count),
      "groups": .array(
        ordered.prefix(Self.maximumGroups).map { group in
          [
            "key": .value(group.key, .row), "value": group.value.map { .double($0) } ?? .null,
            "condition": .string(
              group.key == .null
                ? Condition.isNull(field).queryText
                : Condition.comparison(field, .equal, .value(group.key)).queryText),
          ]
        }),
    ]
  }

  /// The number of groups that a chart shows.
  private static let maximumGroups = 500

  private struct Group: Sendable {
    var key: DocumentValue
    var value: Double?
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

  private func groups(
    _ query: DocumentQuery, _ by: FieldPath, _ bucket: CalendarBucket, _ value: FieldPath?,
    _ kind: String
  ) async throws -> [Group] {
    // Checks the parameters before the documents are read.
    _ = try Self.aggregate(kind, value)
    return try await store.read {
      var groups: [Date: Tally] = [:]
      try query.select([by] + (value.map { [$0] } ?? [])).each { document in
        guard let date = document[by]?.date else { return }
        groups[bucket.start(of: date), default: Tally()].add(value.flatMap { document[$0]?.double })
      }
      return groups.map { Group(key: .date($0.key), value: $0.value.result(kind)) }
    }
  }
}

/// A period of the Gregorian calendar in UTC.
enum CalendarBucket: String {
  case year, month, week, day, hour

  private static let calendar: Calendar = {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    return calendar
  }()

  /// Returns the start of the period that contains a date.
  func start(of date: Date) -> Date {
    let fields: Set<Calendar.Component> =
      switch self {
      case .year: [.year]
      case .month: [.year, .month]
      case .week: [.yearForWeekOfYear, .weekOfYear]
      case .day: [.year, .month, .day]
      case .hour: [.year, .month, .day, .hour]
      }
    return Self.calendar.date(from: Self.calendar.dateComponents(fields, from: date)) ?? date
  }
}

/// The running aggregates of a group.
private struct Tally {
  private var documents = 0
  private var numbers = 0
  private var sum = 0.0
  private var smallest = Double.infinity
  private var largest = -Double.infinity

  mutating func add(_ number: Double?) {
    documents += 1
    guard let number, !number.isNaN else { return }
    numbers += 1
    sum += number
    smallest = min(smallest, number)
    largest = max(largest, number)
  }

  func result(_ kind: String) -> Double? {
    switch kind {
    case "count": Double(documents)
    case _ where numbers == 0: nil
    case "sum": sum
    case "average": sum / Double(numbers)
    case "min": smallest
    default: largest
    }
  }
}
