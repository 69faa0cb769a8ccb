// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Compiles a query to a single SQLite statement.
///
/// What SQL cannot express with NanoStore's semantics is a call of a custom function. These functions exist only on
/// NanoStore's connections and never appear in the schema: `nano_match` checks the rest of a condition on the bytes
/// of a document, and `nano_sort` returns bytes that sort as ``SortKey`` does.
struct QueryCompiler {
  let metadata: CollectionMetadata
  init(_ metadata: CollectionMetadata) { self.metadata = metadata }

  /// A statement, and the condition that it leaves to a custom function.
  struct Compiled: Sendable, Hashable {
    var sql: SQLFragment
    /// The condition that `nano_match` checks, if any.
    var rest: Condition?
  }

  /// Returns a statement that selects a query's results.
  ///
  /// - Parameters:
  ///   - columns: The columns to select. `nil` selects those of a document with the attributes that the collection
  ///     uses, without its body if no field is selected.
  ///   - ordered: Whether the order matters.
  func select(_ query: Query, columns: String? = nil, ordered: Bool = true) -> Compiled {
    let (tail, rest) = source(query, ordered: ordered)
    let columns = columns ?? metadata.parts.columns(body: query.bodyColumn)
    return Compiled(sql: SQLFragment("SELECT \(columns) ") + tail, rest: rest)
  }

  /// Returns a statement that passes the columns of each result to a ``RowVisitor``; `nil` for a query for which SQLite
  /// would have to sort, or to count.
  ///
  /// - Parameter ordered: Whether the order matters.
  func visit(_ query: Query, columns: String, ordered: Bool) -> SQLFragment? {
    guard query.isWholeByRowID, query.condition == .constant(true) || !ordered else { return nil }
    // Rows of the table are in order, where an index that another program created need not be.
    let (tail, _) = source(query, ordered: false, scansTable: ordered)
    return RowVisitor.call + SQLFragment(", \(columns)) ") + tail
  }

  /// Returns a statement that selects the document of one row if it satisfies the condition. The row ID is the last
  /// parameter.
  func candidate(_ query: Query) -> Compiled {
    let columns = metadata.parts.columns(body: query.bodyColumn)
    let split = ConditionCompiler(metadata: metadata).split(query.condition)
    // With foreign rows, the rest is the whole condition, and the list of rows would be computed for each row.
    let sqlCondition = metadata.hasForeignRows ? nil : split.sql
    let parts =
      (sqlCondition.map { [$0] } ?? []) + (split.rest.map { [check($0)] } ?? [])
      + (query.expiredAt.map { [isVisible(at: $0)] } ?? [])
    var sql = SQLFragment("SELECT \(columns) FROM \(SQLName.quoted(metadata.table)) WHERE ")
    if let condition = SQLFragment.all(parts) { sql.append("(" + condition + ") AND ") }
    return Compiled(sql: sql + "id = ?", rest: split.rest)
  }

  /// Returns a statement that counts a query's results.
  func count(_ query: Query) -> Compiled {
    var query = query
    query.orderings = query.after == nil ? [] : query.orderings
    let (tail, rest) = source(query, ordered: query.after != nil)
    let isCut = query.limit != nil || query.offset > 0
    let sql =
      isCut
      ? "SELECT count(*) FROM (SELECT 1 " + tail + ")" : SQLFragment("SELECT count(*) ") + tail
    return Compiled(sql: sql, rest: rest)
  }

  /// Returns a statement that passes each body to an aggregation.
  func aggregate(_ aggregate: AggregateQuery) -> Compiled {
    over(aggregate.query, function: "nano_aggregate", .aggregates(aggregate, metadata.defaults))
  }

  /// Returns a statement that passes each body to a collector of distinct values.
  func distinct(_ field: FieldPath, _ query: Query) -> Compiled {
    over(query, function: "nano_distinct", .distinct(field, metadata.defaults))
  }

  private func over(_ query: Query, function: String, _ binding: SQLBinding) -> Compiled {
    let isCut = query.limit != nil || query.offset > 0 || query.after != nil
    let head = SQLFragment("SELECT \(function)(", []) + .parameter(binding) + ", body) "
    if isCut {
      let (tail, rest) = source(query)
      return Compiled(sql: head + "FROM (SELECT body " + tail + ")", rest: rest)
    }
    let (tail, rest) = source(query, ordered: false)
    return Compiled(sql: head + tail, rest: rest)
  }

  /// Returns a `DELETE` statement for a query's results, after its limit, offset and page position are applied.
  func delete(_ query: Query) -> Compiled {
    let table = SQLName.quoted(metadata.table)
    if query.limit == nil, query.offset == 0, query.after == nil {
      let (condition, rest) = condition(query)
      return Compiled(sql: SQLFragment("DELETE FROM \(table)") + condition, rest: rest)
    }
    let found = select(query, columns: "id")
    return Compiled(
      sql: SQLFragment("DELETE FROM \(table) WHERE id IN (") + found.sql + ")", rest: found.rest)
  }
}

extension Query {
  /// The column of the body, or an empty body if no field is selected.
  var bodyColumn: String { fields?.isEmpty == true ? "'{}'" : "body" }
}

extension QueryCompiler {
  /// Returns the statement from `FROM` to its end, and the rest of the condition.
  private func source(
    _ query: Query, ordered: Bool = true, scansTable: Bool = false
  ) -> (SQLFragment, Condition?) {
    var sql = SQLFragment("FROM \(SQLName.quoted(metadata.table))")
    if scansTable { sql.append(" NOT INDEXED") }
    let ranks = ordered && query.isRanked ? ranks(query) : nil
    // Foreign rows that are not in the index come last.
    let join = metadata.hasForeignRows ? " LEFT JOIN (" : " JOIN ("
    if let ranks { sql.append(SQLFragment(join) + ranks + ") ON id = nano_row") }
    let (condition, rest) = condition(query)
    sql.append(condition)
    if ordered {
      let best =
        ranks == nil
        ? []
        : [
          Term(
            sql: metadata.hasForeignRows ? "coalesce(nano_rank, 0)" : "nano_rank", isPlain: true,
            descending: false)
        ]
      let terms =
        best + query.orderings.flatMap(terms) + [Term(sql: "id", isPlain: true, descending: false)]
      let parts = terms.map { $0.sql + ($0.descending ? " DESC" : "") }
      sql.append(" ORDER BY " + SQLFragment.joined(parts, by: ", "))
    }
    if query.limit != nil || query.offset > 0 {
      // SQLite has no OFFSET without LIMIT; a negative LIMIT means no limit.
      sql.append(" LIMIT " + .parameter(.int(Int64(query.limit ?? -1))))
      if query.offset > 0 { sql.append(" OFFSET " + .parameter(.int(Int64(query.offset)))) }
    }
    return (sql, rest)
  }

  private func condition(_ query: Query) -> (SQLFragment, Condition?) {
    let split = ConditionCompiler(metadata: metadata).split(query.condition)
    var parts = split.sql.map { [$0] } ?? []
    if let after = query.after { parts.append(self.after(after, query.orderings)) }
    if let rest = split.rest { parts.append(check(rest)) }
    if let time = query.expiredAt { parts.append(isNotExpired(at: time)) }
    guard let sql = SQLFragment.all(parts) else { return ("", nil) }
    return (" WHERE " + sql, split.rest)
  }

  /// Returns a call that checks a condition on the body. Attributes are passed only if the condition uses them, or
  /// if its errors name the row.
  func check(_ condition: Condition) -> SQLFragment {
    let passesAttributes = condition.usesAttributes || condition.mayExceedBudget
    let attributes = passesAttributes ? ", id, key, type, version, added" : ""
    return SQLFragment("nano_match(") + .parameter(.condition(condition, metadata.defaults))
      + ", body\(attributes))"
  }

  private struct Term {
    var sql: SQLFragment
    /// Whether it is the stored value rather than a computed sort key.
    var isPlain: Bool
    var descending: Bool
  }

  /// Returns the expressions of an ordering: one, or two for a field with decimals.
  private func terms(_ ordering: Ordering) -> [Term] {
    let descending = ordering.descending
    if case .field(let path) = ordering.expression, metadata.sortableClass(path) == .decimal,
      let decimals = DecimalExpression(path)
    {
      return [decimals.number, decimals.side].map {
        Term(sql: SQLFragment($0), isPlain: true, descending: descending)
      }
    }
    return [term(ordering)]
  }

  private func term(_ ordering: Ordering) -> Term {
    let descending = ordering.descending
    switch ordering.expression {
    case .attribute(.type) where metadata.hasForeignRows,
      .attribute(.version) where metadata.hasForeignRows:
      break
    case .field(let path):
      if metadata.sortableClass(path) != nil, let sql = FieldExpression.extract(path) {
        return Term(sql: SQLFragment(sql), isPlain: true, descending: descending)
      }
    case .attribute(.rowID): return Term(sql: "id", isPlain: true, descending: descending)
    case .attribute(.version): return Term(sql: "version", isPlain: true, descending: descending)
    case .attribute(.type) where metadata.ordersText:
      return Term(sql: "type", isPlain: true, descending: descending)
    default: break
    }
    return sortKey(ordering)
  }

  private func sortKey(_ ordering: Ordering) -> Term {
    let condition = Condition.truth(ordering.expression)
    let passesAttributes = condition.usesAttributes || condition.mayExceedBudget
    let attributes = passesAttributes ? ", id, key, type, version, added" : ""
    let sql =
      SQLFragment("nano_sort(") + .parameter(.ordering(ordering, metadata.defaults))
      + ", body\(attributes))"
    return Term(sql: sql, isPlain: false, descending: ordering.descending)
  }

  /// Returns whether SQLite orders a value of a page position among stored values as NanoStore does. A position that
  /// was not created from a document of this collection can hold any value.
  private func isComparable(_ value: DocumentValue, _ ordering: Ordering) -> Bool {
    if value.isNull { return true }
    switch (ordering.expression, value) {
    case (.field(let path), _):
      guard let (_, literal) = ExtractedValue.parameter(value) else { return false }
      let stored = metadata.sortableClass(path)
      return literal != nil && (stored == literal || stored == .decimal && literal == .number)
    case (.attribute(.type), .string(let text)): return !text.utf8.contains(0)
    case (.attribute(.rowID), .int), (.attribute(.version), .int): return true
    default: return false
    }
  }

  /// Returns the condition for documents after a position: greater in the first ordering, or equal there and greater
  /// in the second, and so on to the row ID. Nulls come first.
  private func after(_ position: PagePosition, _ orderings: [Ordering]) -> SQLFragment {
    let parts = zip(orderings, position.values).flatMap { ordering, value in
      let stored = terms(ordering)
      let isComputed = stored[0].isPlain && !isComparable(value, ordering)
      let used = isComputed ? [sortKey(ordering)] : stored
      return Array(zip(used, Self.bindings(value, used)))
    }
    var equal: [SQLFragment] = []
    var choices: [SQLFragment] = []
    for (term, binding) in parts {
      if let beyond = Self.beyond(term, binding) {
        choices.append(SQLFragment.all(equal + [beyond]) ?? beyond)
      }
      equal.append(term.sql + " IS " + .parameter(binding))
    }
    let last = SQLFragment("id > ") + .parameter(.int(position.rowID))
    choices.append(SQLFragment.all(equal + [last]) ?? last)
    return SQLFragment.any(choices) ?? last
  }

  private static func beyond(_ term: Term, _ binding: SQLBinding) -> SQLFragment? {
    switch (term.descending, binding) {
    case (false, .null): return term.sql + " IS NOT NULL"
    case (true, .null): return nil
    case (false, _): return term.sql + " > " + .parameter(binding)
    case (true, _):
      return "(" + term.sql + " < " + .parameter(binding) + " OR " + term.sql + " IS NULL)"
    }
  }

  private static func bindings(_ value: DocumentValue, _ terms: [Term]) -> [SQLBinding] {
    guard terms.count == 1 else {
      let place = DecimalPlace.bindings(value) ?? (.null, .text(DecimalPlace.equal))
      return [place.number, place.side]
    }
    return [binding(value, plain: terms[0].isPlain)]
  }

  private static func binding(_ value: DocumentValue, plain: Bool) -> SQLBinding {
    guard plain else { return .data(.init(SortKey.bytes(value))) }
    return ExtractedValue.parameter(value)?.0 ?? .null
  }
}
