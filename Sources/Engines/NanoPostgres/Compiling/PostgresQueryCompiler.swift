// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Compiles a query to a single statement, and the rest that the client executes.
struct PostgresQueryCompiler {
  let metadata: PostgresCollectionMetadata

  /// A statement, and what it leaves to the client.
  struct Compiled {
    var sql: PostgresSQL
    /// The condition to check on each document.
    var rest: Condition?
    /// Whether the rows are in the order of the query.
    var isSorted: Bool
    /// Whether all rows are after the position at which the query begins.
    var isBehind: Bool
    /// Whether limit and offset are applied too, so that the rows are the result.
    var isCut: Bool
  }

  /// The columns of a document. The body is the text that was written, or if that is not stored, the server's form of
  /// it.
  static let columns = "id, key, type, version, added, revision, " + body
  static let body = "source, CASE WHEN source IS NULL THEN body::text END"

  /// Like ``columns``, but without the body if no field is selected.
  static func columns(_ query: Query) -> String {
    query.fields?.isEmpty == true
      ? "id, key, type, version, added, revision, '{}'::text, NULL::text" : columns
  }

  /// Returns a statement that selects a query's results.
  ///
  /// - Parameters:
  ///   - columns: The columns to select.
  ///   - ordered: Whether the order matters.
  func select(_ query: Query, columns: PostgresSQL, ordered: Bool = true) -> Compiled {
    let split = PostgresConditionCompiler(metadata: metadata).split(query.condition)
    var conditions = split.sql.map { [$0] } ?? []
    if let visible = metadata.collection.isVisible(at: query.expiredAt) {
      conditions.append(visible)
    }
    var sql = "SELECT " + columns + " FROM \(metadata.collection.table)"
    let terms = order(query)
    let isSorted = !ordered || terms != nil
    var isBehind = query.after == nil
    if let after = query.after, let terms, let behind = behind(after, query, terms) {
      conditions.append(behind)
      isBehind = true
    }
    if let all = PostgresSQL.all(conditions) { sql += " WHERE " + all }
    if ordered {
      // Otherwise the client sorts, but the pages of one result must be consistent.
      let sorted = terms ?? [Term(expression: "id", descending: false)]
      sql += " ORDER BY " + PostgresSQL(sorted.map(\.sql).joined(separator: ", "))
    }
    let isCut = isSorted && split.rest == nil && isBehind
    if isCut {
      if let limit = query.limit { sql += " LIMIT " + Self.limit(limit) }
      if query.offset > 0 { sql += " OFFSET " + .value(.int(Int64(query.offset))) }
    }
    return Compiled(
      sql: sql, rest: split.rest, isSorted: isSorted, isBehind: isBehind, isCut: isCut)
  }

  /// Returns a small limit as a literal, because the server reuses the plan of a statement only if it can see that few
  /// rows are needed. Larger limits are parameters, so that there are not many distinct statements.
  private static func limit(_ limit: Int) -> PostgresSQL {
    limit <= 1_000 ? PostgresSQL("\(limit)") : .value(.int(Int64(limit)))
  }

  /// Returns a statement that counts a query's results; `nil` if each document must be checked in the client.
  func count(_ query: Query) -> PostgresSQL? {
    let isWhole = query.limit == nil && query.offset == 0 && query.after == nil
    let compiled = select(query, columns: "1", ordered: !isWhole)
    guard compiled.isCut, compiled.rest == nil else { return nil }
    if isWhole {
      let split = PostgresConditionCompiler(metadata: metadata).split(query.condition)
      let sql = PostgresSQL("SELECT count(*) FROM \(metadata.collection.table)")
      let visible = metadata.collection.isVisible(at: query.expiredAt)
      let conditions = [split.sql, visible].compactMap(\.self)
      return PostgresSQL.all(conditions).map { sql + " WHERE " + $0 } ?? sql
    }
    return "SELECT count(*) FROM (" + compiled.sql + ") AS found"
  }
}

extension PostgresQueryCompiler {
  /// An expression of `ORDER BY`.
  struct Term {
    var expression: String
    var descending: Bool
    var sql: String { expression + (descending ? " DESC" : "") }
  }

  /// Returns the expressions of a query's order, with the row ID last; `nil` if the server does not sort as NanoStore
  /// does.
  func order(_ query: Query) -> [Term]? {
    guard !query.isRanked else { return nil }
    var terms: [Term] = []
    for ordering in query.orderings {
      guard let expressions = expressions(ordering) else { return nil }
      terms += expressions.map { Term(expression: $0, descending: ordering.descending) }
    }
    return terms + [Term(expression: "id", descending: false)]
  }

  private func expressions(_ ordering: Ordering) -> [String]? {
    switch ordering.expression {
    case .field(let path):
      guard let single = metadata.sortable(path) else { return nil }
      let expressions = Self.expressions(single)
      // Numbers have no text, but an index has a column for it, and can only provide the order of all its columns.
      return metadata.isIndexed(path) && expressions.count == 1
        ? expressions + [single.place.text] : expressions
    case .attribute(.rowID): return ["id"]
    case .attribute(.version): return ["coalesce(version, -9223372036854775808)"]
    case .attribute(.type): return ["coalesce(type, '')"]
    default: return nil
    }
  }

  /// Returns the expressions that a field is sorted and grouped by. Numbers have no text and no tail.
  static func expressions(_ single: PostgresCollectionMetadata.Single) -> [String] {
    let place = single.place
    let values = single.types.subtracting(.null)
    if values.isSubset(of: [.int, .double]) { return [place.number] }
    return [place.number, place.text] + (values.contains(.string) ? [place.tail] : [])
  }

  /// Returns the condition for documents after a position: greater in the first term, or equal there and greater in the
  /// second, and so on. `nil` if the position cannot be that of one of these documents.
  private func behind(_ position: PagePosition, _ query: Query, _ terms: [Term]) -> PostgresSQL? {
    var values: [PostgresValue] = []
    for (ordering, value) in zip(query.orderings, position.values) {
      guard let expressions = expressions(ordering),
        let parts = Self.parts(value, ordering, count: expressions.count)
      else { return nil }
      values += parts
    }
    values.append(.int(position.rowID))
    var equal: [PostgresSQL] = []
    var choices: [PostgresSQL] = []
    for (term, value) in zip(terms, values) {
      let sign = term.descending ? "<" : ">"
      let beyond = PostgresSQL(term.expression + " \(sign) ") + .value(value)
      choices.append(PostgresSQL.all(equal + [beyond]) ?? beyond)
      equal.append(PostgresSQL(term.expression + " = ") + .value(value))
    }
    return PostgresSQL.any(choices)
  }

  private static func parts(
    _ value: DocumentValue, _ ordering: Ordering, count: Int
  ) -> [PostgresValue]? {
    switch (ordering.expression, value) {
    case (.attribute(.rowID), .int(let id)): return [.int(id)]
    case (.attribute(.version), .int(let version)): return [.int(version)]
    case (.attribute(.version), .null): return [.int(.min)]
    case (.attribute(.type), .string(let text)): return [.text(text)]
    case (.attribute(.type), .null): return [.text("")]
    case (.field, .null):
      return Array(
        [.number(ComparisonKey.none.number), .text(ComparisonKey.none.text), .text("")]
          .prefix(count))
    case (.field, _):
      guard let compared = ComparisonKey(value) else { return nil }
      // A field of numbers has a single expression, which only a number can be compared with.
      if count == 1, case .ordered(.number) = compared.kind {} else if count == 1 { return nil }
      return Array(
        [.number(compared.number), .text(compared.text), .text(compared.tail)].prefix(count))
    default: return nil
    }
  }
}
