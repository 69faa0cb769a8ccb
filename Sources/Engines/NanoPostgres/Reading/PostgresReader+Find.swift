// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  /// A query with its compiled statement, and the work that the statement leaves to the reader.
  struct FindPlan {
    var query: Query
    var compiled: PostgresQueryCompiler.Compiled
    /// The maximum number of rows of the first statement; `nil` if it returns all rows.
    var firstPage: Int?
    /// The number of rows of each fetch.
    var page = PostgresReader.page
    /// The cursor that the first statement declares; `nil` if it selects the first page.
    var cursor: String?
  }

  /// The number of rows that the first statement and each fetch return. Arbitrary: large enough that further
  /// round trips do not matter, small enough to take little memory.
  static let page = 1_000

  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    if query.isRanked {
      return try findRanked(query, in: collection) { row, _ in try visit(row) }
    }
    let query = try joining(query, in: collection)
    defer { related = [:] }
    let executed = try execute(collection) { metadata in try plan(query, metadata) }
    related = [:]
    guard let (metadata, plan, results) = executed else { return }
    let defaults = metadata.collection.defaults
    let matcher = try plan.compiled.rest.map { try ConditionMatcher($0, defaults: defaults) }
    guard plan.compiled.isSorted, plan.query.after == nil || plan.compiled.isBehind else {
      return try findSorted(plan, metadata, matcher, results, visit)
    }
    var skipped = plan.compiled.isCut ? 0 : plan.query.offset
    var left = plan.compiled.isCut ? Int.max : plan.query.limit ?? .max
    if left == 0 { return }
    try stream(plan, metadata, results) { document in
      guard try matches(document, matcher) else { return true }
      if skipped > 0 {
        skipped -= 1
        return true
      }
      guard try visit(document) else { return false }
      left -= 1
      return left > 0
    }
  }

  @inline(__always)
  func matches(_ document: StoredDocument, _ matcher: ConditionMatcher?) throws -> Bool {
    guard let matcher else { return true }
    return try matcher.holds(for: document.body) { document.value(of: $0) }
  }

  private func plan(
    _ query: Query, _ metadata: PostgresCollectionMetadata
  ) throws -> (FindPlan, [PostgresStatement]) {
    let query = try resolved(query, metadata)
    let compiler = PostgresQueryCompiler(metadata: metadata)
    // A condition that is checked here requires the body.
    var compiled = compiler.select(
      query, columns: PostgresSQL(PostgresQueryCompiler.columns(query)))
    if compiled.rest != nil || !compiled.isSorted || !compiled.isBehind {
      compiled = compiler.select(query, columns: PostgresSQL(PostgresQueryCompiler.columns))
    }
    var plan = FindPlan(query: query, compiled: compiled, firstPage: nil)
    var sql = compiled.sql
    if compiled.isCut, let limit = query.limit, limit <= Self.page {
      if seesOneState, query.isInIndexOrder { session.prefersGenericPlans() }
      return (plan, [sql.statement])
    }
    plan.firstPage = Self.page
    guard seesOneState else {
      // Pages of several statements would miss or repeat documents.
      let cursor = session.nextCursor()
      plan.cursor = cursor
      return (plan, [Self.declare(cursor, sql), Self.fetch(cursor, Self.page)])
    }
    if !compiled.isCut || query.limit == nil {
      sql += " LIMIT \(Self.page + 1)"
      return (plan, [sql.statement])
    }
    return (plan, [("SELECT * FROM (" + sql + ") AS found LIMIT \(Self.page + 1)").statement])
  }

  /// Passes the rows of a query to a closure in the server's order, page by page.
  func stream(
    _ plan: FindPlan, _ metadata: PostgresCollectionMetadata, _ results: [PostgresResult],
    _ visit: (StoredDocument) throws -> Bool
  ) throws {
    let incarnation = metadata.collection.incarnation
    try streamRows(plan, results) { try $0.withDocument($1, incarnation, visit) }
  }

  /// Passes the rows of a query to a closure in the server's order, with their numbers in a result.
  ///
  /// - Parameter visit: Returns whether it requests more rows.
  func streamRows(
    _ plan: FindPlan, _ results: [PostgresResult],
    _ visit: (PostgresResult, Int) throws -> Bool
  ) throws {
    if let cursor = plan.cursor {
      return try self.visit(results[1], plan.page, thenRestOf: cursor, visit)
    }
    let first = results[0]
    guard let page = plan.firstPage, first.count > page else {
      _ = try self.visit(first, first.count, visit)
      return
    }
    // Declared before the first row is passed on, since the closure may write.
    let cursor = session.nextCursor()
    _ = try session.run([
      Self.declare(cursor, plan.compiled.sql), .once("MOVE \(page) IN \(cursor)"),
    ])
    try self.visit(first, page, thenRestOf: cursor, visit)
  }

  private static func declare(_ cursor: String, _ sql: PostgresSQL) -> PostgresStatement {
    ("DECLARE \(cursor) NO SCROLL CURSOR FOR " + sql).statement.once
  }
  private static func fetch(_ cursor: String, _ page: Int) -> PostgresStatement {
    .once("FETCH \(page) FROM \(cursor)")
  }

  /// Passes a page of rows to a closure, and then those that a cursor returns.
  private func visit(
    _ first: PostgresResult, _ page: Int, thenRestOf cursor: String,
    _ visit: (PostgresResult, Int) throws -> Bool
  ) throws {
    defer { _ = try? session.run([.once("CLOSE \(cursor)")]) }
    var rows = first
    // The first page may have one row more, with which the cursor continues.
    while try self.visit(rows, min(rows.count, page), visit), rows.count >= page {
      rows = try session.run([Self.fetch(cursor, page)])[0]
    }
  }

  /// Passes rows to a closure.
  ///
  /// - Returns: Whether the closure requests more rows.
  private func visit(
    _ rows: PostgresResult, _ count: Int, _ visit: (PostgresResult, Int) throws -> Bool
  ) throws -> Bool {
    for row in 0..<count {
      try session.interruption?.check()
      guard try visit(rows, row) else { return false }
    }
    return true
  }

  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    guard !query.isRanked else { return try rowIDsOfFound(query, in: collection) }
    let query = try joining(query, in: collection)
    defer { related = [:] }
    let executed = try execute(collection) { metadata -> (Bool, [PostgresStatement]) in
      let compiled = PostgresQueryCompiler(metadata: metadata)
        .select(try resolved(query, metadata), columns: "id")
      return (compiled.isCut, compiled.isCut ? [compiled.sql.statement] : [])
    }
    guard let (metadata, isExact, results) = executed else {
      return RowIDResult([], incarnation: nil, state: nil)
    }
    guard isExact else { return try rowIDsOfFound(query, in: collection) }
    let rows = results[0]
    return RowIDResult(
      (0..<rows.count).map { rows.int($0, 0) }, incarnation: metadata.collection.incarnation,
      state: nil)
  }

  func count(_ query: Query, in collection: String) throws -> Int {
    var query = try joining(query, in: collection)
    defer { related = [:] }
    let executed = try execute(collection) { metadata -> (Bool, [PostgresStatement]) in
      let sql =
        query.isRanked
        ? nil : PostgresQueryCompiler(metadata: metadata).count(try resolved(query, metadata))
      return (sql != nil, sql.map { [$0.statement] } ?? [])
    }
    guard let (_, isExact, results) = executed else { return 0 }
    if isExact { return Int(results[0].int(0, 0)) }
    query.fields = []
    var count = 0
    try find(query, in: collection) { _ in
      count += 1
      return true
    }
    return count
  }

  func explain(_ query: Query, in collection: String) throws -> Explanation {
    guard let found = try self.collection(collection) else {
      return Explanation(
        statement: "", plan: ["the collection does not exist"], indexes: [],
        checkedPerDocument: nil)
    }
    let query = try joining(query, in: collection)
    defer { related = [:] }
    var metadata = collectionMetadata(found)
    metadata.related = related
    let compiled = PostgresQueryCompiler(metadata: metadata)
      .select(
        try resolved(query, metadata), columns: PostgresSQL(PostgresQueryCompiler.columns(query)))
    let rows = try session.run(("EXPLAIN " + compiled.sql).statement.once)
    let plan = (0..<rows.count).map { rows.text($0, 0) }
    let joined = related.values.flatMap { joined in
      joined.collection.indexes.map {
        ("\(joined.collection.description.name).\($0.definition.name)", $0.sqlName)
      }
    }.sorted { $0.0.isBefore($1.0) }
    let all =
      found.indexes.map { ($0.definition.name, $0.sqlName) }
      + found.fullTextIndexes.map { ($0.definition.name, $0.sqlName) } + joined
    var explanation = Explanation(
      statement: compiled.sql.statement.text, plan: plan,
      indexes: all.filter { index in plan.contains { $0.contains(exactly: index.1) } }.map(\.0),
      checkedPerDocument: compiled.rest.map(\.queryText))
    try explanation.addRelated(query, self)
    return explanation
  }
}

extension PostgresStatement {
  /// The same statement, not kept prepared.
  var once: PostgresStatement { PostgresStatement(text, values, isPrepared: false) }
}

extension PostgresCollectionMetadata {
  /// Returns the query with the fields of the text indexes that it names.
  func resolved(_ query: Query) throws(StoreError) -> Query {
    try query.resolvingSearches(in: collection.fullTextIndexes.map(\.definition))
  }
}

extension Query {
  /// Whether it selects a range of the field by which it is sorted, so that one plan is the best one for all ranges: to
  /// follow an index of the field.
  fileprivate var isInIndexOrder: Bool {
    guard orderings.count == 1 else { return false }
    let field = orderings[0].expression
    func isRange(_ condition: Condition) -> Bool {
      switch condition {
      case .all(let parts): !parts.isEmpty && parts.allSatisfy(isRange)
      case .comparison(field, let comparison, .value): comparison != .notEqual
      case .between(field, .value, .value): true
      default: false
      }
    }
    return isRange(condition)
  }
}
