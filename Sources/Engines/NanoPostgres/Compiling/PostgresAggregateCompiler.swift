// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// Turns grouped aggregates into one statement of the server, where it computes what ``Aggregation`` does:
/// over fields with one value at most in each document.
struct PostgresAggregateCompiler {
  let facts: PostgresCollectionMetadata

  struct Compiled {
    var sql: PostgresSQL
    fileprivate var columns: [Column]
  }

  /// What a part of a row is made from; each takes as many columns of text as it says.
  fileprivate enum Column {
    case group
    case count
    /// A number, text or date, as ``group``.
    case value
    /// The sum, how many numbers, and whether all are integers.
    case total
    case average

    var width: Int {
      switch self {
      case .group, .value, .total, .average: 3
      case .count: 1
      }
    }
  }

  /// Nil if the documents must be looked at here.
  func compile(_ query: AggregateQuery) -> Compiled? {
    guard query.query.limit == nil, query.query.offset == 0, query.query.after == nil else {
      return nil
    }
    let split = PostgresConditionCompiler(facts: facts).split(query.query.condition)
    guard split.rest == nil else { return nil }
    var values = ProjectedValues()
    var selected: [String] = []
    var order: [String] = []
    var columns: [Column] = []
    for (number, path) in query.groups.enumerated() {
      guard let single = facts.sortable(path) else { return nil }
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
    var documents = PostgresSQL(
      "SELECT \(values.taken.joined(separator: ", ")) FROM \(facts.collection.table)")
    if let condition = split.sql { documents += " WHERE " + condition }
    // Groups are kept apart by OFFSET, so that each value is taken out of a body once, and the server expects
    // few of them rather than one for each body.
    let groups = query.groups.indices.map { "g\($0)" }
    let apart = PostgresSQL(groups.isEmpty ? "" : " OFFSET 0")
    let found =
      PostgresSQL("SELECT \(values.made.joined(separator: ", ")) FROM (") + documents + apart
      + ") AS documents" + apart
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

  /// What is selected of a group, and what groups are sorted by. What is missing is in the group of null.
  private func group(
    _ name: String, _ single: PostgresCollectionMetadata.Single, _ values: inout ProjectedValues
  ) -> (selected: [String], order: [String]) {
    let types = single.types.subtracting(.null)
    if types == .string {
      values.make(values.take(single.place.string), as: name)
      let text = "coalesce('t' || \(name), '') COLLATE \"C\""
      return (
        ["CASE WHEN \(name) IS NULL THEN '-Infinity' ELSE 'Infinity' END", text, "''"], [text]
      )
    }
    values.make("coalesce(\(values.take(single.place.value)), 'null')", as: name)
    let place = PostgresFieldExpression(value: name, facts.names)
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

  /// The distinct values of a field.
  func distinct(_ field: FieldPath, _ query: Query) -> Compiled? {
    // A document without the field adds nothing; one that has null does.
    var asked = query
    asked.condition = .all([query.condition, .exists(field)])
    return compile(AggregateQuery(asked, groups: [field], aggregates: []))
  }

  private func aggregate(
    _ aggregate: Aggregate, _ values: inout ProjectedValues
  ) -> (Column, [String])? {
    guard let path = aggregate.field else { return (.count, ["count(*)::text"]) }
    if let defaults = facts.collection.defaults, defaults.reaches(path) { return nil }
    guard let single = facts.single(path), !single.types.contains(.open) else { return nil }
    let place = single.place
    func number() -> String {
      let value = values.take(place.value)
      return values.name("CASE jsonb_typeof(\(value)) WHEN 'number' THEN \(value)::numeric END")
    }
    switch aggregate {
    case .count: return (.count, ["count(*)::text"])
    case .countOf: return (.count, ["count(\(values.name(values.take(place.value))))::text"])
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
      guard let found = facts.sortable(path) else { return nil }
      let types = found.types.subtracting(.null)
      let function = aggregate == .min(path) ? "min" : "max"
      if types.isSubset(of: [.int, .double]) {
        return (
          .value, ["coalesce(\(function)(\(number())), '-Infinity')::text", "''", "''"]
        )
      }
      // Of several types the server has no one order for an aggregate.
      guard types == .string else { return nil }
      let text = values.name(values.take(place.string))
      return (
        .value, ["'Infinity'", "coalesce('t' || \(function)(\(text) COLLATE \"C\"), '')", "''"]
      )
    }
  }
}

extension PostgresAggregateCompiler.Compiled {
  /// The groups that the statement gave.
  func rows(_ result: PostgresResult, groups: Int) throws -> [AggregateRow] {
    try (0..<result.count).map { row in
      var values: [DocumentValue] = []
      var place = 0
      for column in columns {
        let texts = (place..<place + column.width).map { result.text(row, $0) }
        values.append(try Self.value(column, texts))
        place += column.width
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
  /// The value that a number, a text and a tail stand for.
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

  /// A number of the server, which keeps the point of a double.
  private static func decoded(_ number: String) -> DocumentValue {
    if !number.utf8.contains(UInt8(ascii: ".")), let integer = Int64(number) {
      return .int(integer)
    }
    return .double(Double(number) ?? .nan)
  }
}
