// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// Compiles grouped aggregates to a single statement, if the server computes the same as ``Aggregation``: over fields
/// with at most one value per document.
struct PostgresAggregateCompiler {
  let metadata: PostgresCollectionMetadata

  struct Compiled {
    var sql: PostgresSQL
    fileprivate var columns: [Column]
  }

  /// A value of a result row, decoded from one or more text columns.
  fileprivate enum Column {
    case group
    case count
    /// A number, text or date, encoded like ``group``.
    case value
    /// The sum, the number of numbers, and whether all are integers.
    case total
    case average

    /// The number of text columns.
    var width: Int {
      switch self {
      case .group, .value, .total, .average: 3
      case .count: 1
      }
    }
  }

  /// Returns `nil` if the documents must be aggregated in the client.
  func compile(_ query: AggregateQuery) -> Compiled? {
    guard query.query.limit == nil, query.query.offset == 0, query.query.after == nil else {
      return nil
    }
    let split = PostgresConditionCompiler(metadata: metadata).split(query.query.condition)
    guard split.rest == nil else { return nil }
    var values = ProjectedValues()
    var selected: [String] = []
    var order: [String] = []
    var columns: [Column] = []
    for (number, path) in query.groups.enumerated() {
      guard let single = metadata.sortable(path), !single.types.contains(.decimal) else {
        return nil
      }
      let group = group("g\(number)", single, &values)
      selected += group.selected
      order += group.order
      columns.append(.group)
    }
    var computed: [String] = []
    for aggregate in query.aggregates {
      guard let (column, sql) = self.aggregate(aggregate, &values) else { return nil }
      computed += sql
      columns.append(column)
    }
    // The server sorts by further columns.
    guard columns.reduce(order.count, { $0 + $1.width }) <= Self.maximumColumns,
      max(values.extracted.count, values.computed.count) <= Self.maximumColumns
    else { return nil }
    var documents = PostgresSQL(
      "SELECT \(values.extracted.joined(separator: ", ")) FROM \(metadata.collection.table)")
    let visible = metadata.collection.isVisible(at: query.query.expiredAt)
    if let condition = PostgresSQL.all([split.sql, visible].compactMap(\.self)) {
      documents += " WHERE " + condition
    }
    // With groups, OFFSET 0 keeps the server from merging the subqueries, so that each value is extracted from a body
    // only once, and the server expects few groups rather than one per body.
    let groups = query.groups.indices.map { "g\($0)" }
    let barrier = PostgresSQL(groups.isEmpty ? "" : " OFFSET 0")
    let found =
      PostgresSQL("SELECT \(values.computed.joined(separator: ", ")) FROM (") + documents + barrier
      + ") AS documents" + barrier
    guard !groups.isEmpty else {
      let sql =
        PostgresSQL("SELECT \(computed.joined(separator: ", ")) FROM (") + found + ") AS found"
      return Compiled(sql: sql, columns: columns)
    }
    let named = computed.enumerated().map { "\($1) AS c\($0)" }
    selected += computed.indices.map { "c\($0)" }
    let sql =
      PostgresSQL(
        "SELECT \(selected.joined(separator: ", ")) FROM (SELECT "
          + (groups + named).joined(separator: ", ") + " FROM (") + found
      + PostgresSQL(
        ") AS found GROUP BY \(groups.joined(separator: ", "))) AS groups "
          + "ORDER BY \(order.joined(separator: ", "))")
    return Compiled(sql: sql, columns: columns)
  }

  /// The maximum number of columns of a subquery. The server's limit is 1,664.
  private static let maximumColumns = 1_600

  /// Returns the selected expressions of a group, and the expressions that groups are sorted by. Missing values belong
  /// to the group of null.
  private func group(
    _ name: String, _ single: PostgresCollectionMetadata.Single, _ values: inout ProjectedValues
  ) -> (selected: [String], order: [String]) {
    let types = single.types.subtracting(.null)
    if types == .string {
      values.compute(values.extract(single.place.string), as: name)
      let text = "coalesce('t' || \(name), '') COLLATE \"C\""
      return (
        ["CASE WHEN \(name) IS NULL THEN '-Infinity' ELSE 'Infinity' END", text, "''"], [text]
      )
    }
    values.compute("coalesce(\(values.extract(single.place.value)), 'null')", as: name)
    let place = PostgresFieldExpression(value: name, metadata.names)
    let isNumber = types.isSubset(of: [.int, .double])
    return (
      [
        "\(place.number)::text", isNumber ? "''" : place.text,
        types.contains(.string) ? place.tail : "''",
      ],
      PostgresQueryCompiler.expressions(
        PostgresCollectionMetadata.Single(place: place, types: single.types))
    )
  }

  /// Compiles the distinct values of a field.
  func distinct(_ field: FieldPath, _ query: Query) -> Compiled? {
    // A document without the field contributes no value; one with null contributes null.
    var existing = query
    existing.condition = .all([query.condition, .exists(field)])
    return compile(AggregateQuery(existing, groups: [field], aggregates: []))
  }

  private func aggregate(
    _ aggregate: Aggregate, _ values: inout ProjectedValues
  ) -> (Column, [String])? {
    guard let path = aggregate.field else { return (.count, ["count(*)::text"]) }
    if let defaults = metadata.collection.defaults, defaults.reaches(path) { return nil }
    guard let single = metadata.single(path), single.types.isDisjoint(with: [.open, .decimal])
    else { return nil }
    let place = single.place
    func number() -> String {
      let value = values.extract(place.value)
      return values.compute("CASE jsonb_typeof(\(value)) WHEN 'number' THEN \(value)::numeric END")
    }
    switch aggregate {
    case .count: return (.count, ["count(*)::text"])
    case .countOf:
      // An empty array, which is no value, leaves no trace of elements in the catalog of paths.
      guard !single.types.contains(.array) else { return nil }
      return (.count, ["count(\(values.compute(values.extract(place.value))))::text"])
    case .sum, .average:
      let value = number()
      let isWhole =
        aggregate == .sum(path) && single.types.contains(.double)
        ? "coalesce(bool_and(scale(\(value)) = 0), true)::text" : "'true'"
      return (
        aggregate == .sum(path) ? .total : .average,
        ["coalesce(sum(\(value)), 0)::text", "count(\(value))::text", isWhole]
      )
    case .min, .max:
      guard let found = metadata.sortable(path) else { return nil }
      let types = found.types.subtracting(.null)
      let function = aggregate == .min(path) ? "min" : "max"
      if types.isSubset(of: [.int, .double]) {
        return (
          .value, ["coalesce(\(function)(\(number())), '-Infinity')::text", "''", "''"]
        )
      }
      // An aggregate needs a single order, which the server does not have for values of several types.
      guard types == .string else { return nil }
      let text = values.compute(values.extract(place.string))
      return (
        .value, ["'Infinity'", "coalesce('t' || \(function)(\(text) COLLATE \"C\"), '')", "''"]
      )
    }
  }
}

extension PostgresAggregateCompiler.Compiled {
  /// Decodes the groups in the statement's result.
  func rows(_ result: PostgresResult, groups: Int) throws -> [AggregateRow] {
    try (0..<result.count).map { row in
      var values: [DocumentValue] = []
      var index = 0
      for column in columns {
        let texts = (index..<index + column.width).map { result.text(row, $0) }
        values.append(try Self.value(column, texts))
        index += column.width
      }
      return AggregateRow(group: Array(values[..<groups]), values: Array(values[groups...]))
    }
  }

  private static func value(
    _ column: PostgresAggregateCompiler.Column, _ texts: [String]
  ) throws -> DocumentValue {
    switch column {
    case .count: return .int(Int64(texts[0]) ?? 0)
    case .group, .value: return try ComparisonKey.value(texts[0], texts[1], texts[2])
    case .average:
      guard let count = Double(texts[1]), count > 0, let sum = Double(texts[0]) else {
        return .null
      }
      return .double(sum / count)
    case .total:
      if texts[2] == "true", let sum = Int64(texts[0]) { return .int(sum) }
      return .double(Double(texts[0]) ?? 0)
    }
  }
}

extension ComparisonKey {
  /// Returns the value that a number, a text and a tail represent.
  static func value(
    _ number: String, _ text: String, _ tail: String
  ) throws -> DocumentValue {
    guard number == "Infinity" || number == "-Infinity" else { return decoded(number) }
    guard let letter = text.utf8.first else { return .null }
    let rest = String(text.unicodeScalars.dropFirst())
    switch letter {
    case UInt8(ascii: "b"): return .bool(rest == "1")
    case UInt8(ascii: "t"): return .string(tail.isEmpty ? rest : tail)
    case UInt8(ascii: "d"):
      var stored = "{\"$date\":\"\(rest)\"}"
      return try stored.withUTF8 { bytes in
        var reader = JSONReader(UnsafeRawBufferPointer(bytes))
        return try reader.value()
      }
    default: return .null
    }
  }

  /// Decodes a number. The server preserves the decimal point of a double.
  private static func decoded(_ number: String) -> DocumentValue {
    if !number.utf8.contains(UInt8(ascii: ".")), let integer = Int64(number) {
      return .int(integer)
    }
    return .double(Double(number) ?? .nan)
  }
}
