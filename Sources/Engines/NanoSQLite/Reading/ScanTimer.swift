// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The relevant parts of a statement's query plan, determined once and valid until the indexes change.
struct StatementPlan {
  /// The use counters of the indexes in the plan.
  var uses: [UseCount]
  /// Whether the statement may read more documents than it returns.
  var scans: Bool
  /// Whether the statement sorts.
  var sorts: Bool
  /// Whether the statement may read more documents of a joined collection than it needs.
  var scansRelated = false
}

/// Measures the time that a statement takes, without its caller's processing.
struct ScanTimer {
  fileprivate let observer: QueryObserver
  fileprivate let statement: SQLiteStatement
  fileprivate let table: CollectionTable
  fileprivate let query: Query
  /// `nil` if the last scan read few documents: reading the clock takes as long as reading some of them.
  private let start: Double?
  private var visited = 0
  private var sampled = 0.0

  fileprivate init(
    _ observer: QueryObserver, _ statement: SQLiteStatement, _ table: CollectionTable,
    _ query: Query
  ) {
    self.observer = observer
    self.statement = statement
    self.table = table
    self.query = query
    start = table.isLarge ? ThreadCPUClock.seconds : nil
  }

  /// Passes one document to the caller, and measures the time for the first ones as a sample of all.
  mutating func timing(_ visit: () throws -> Bool) rethrows -> Bool {
    visited += 1
    guard visited <= Self.samples, start != nil else { return try visit() }
    let begin = ThreadCPUClock.seconds
    defer { sampled += ThreadCPUClock.seconds - begin }
    return try visit()
  }

  /// The number of sampled documents. Arbitrary: enough for a mean, at half a microsecond each.
  private static let samples = 64

  func end() { end(found: visited) }

  /// - Parameter found: The number of documents returned or counted; `nil` for all that match.
  func end(found: Int?, isRemoval: Bool = false) {
    let rows = Int(sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
    let sorts =
      !query.orderings.isEmpty
      && sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_SORT, 0) > 0
    guard rows >= observer.minimumRows || sorts else { return }
    guard let start else {
      // The next scan is timed.
      table.isLarge = true
      return
    }
    var seconds = ThreadCPUClock.seconds - start
    if query.hasRelated, statement.plan?.scansRelated == true {
      reportRelated(rows: rows, seconds: &seconds)
    }
    let metadata = table.metadata
    var candidates = IndexCandidates(
      query, ordersText: metadata.ordersText, defaults: metadata.defaults,
      observed: metadata.hasForeignRows ? { _ in nil } : metadata.observed)
    candidates.remove(servedBy: table.indexes)
    if rows < observer.minimumRows { candidates.condition = [] }
    if !sorts { candidates.order = nil }
    guard !candidates.isEmpty else { return }
    // With a join, the first program may be that of a related document.
    let program =
      query.hasRelated
      ? nil : statement.boundObjects.lazy.compactMap { $0 as? MatchProgram }.first
    let matched = max(program?.matches ?? found ?? 0, found ?? 0)
    let outside =
      visited == 0 ? 0 : sampled / Double(min(visited, Self.samples)) * Double(visited)
    observer.scanned(
      ScanReport(
        collection: table.description.name, candidates: candidates,
        seconds: max(0, seconds - outside), rows: rows,
        matched: matched, found: found ?? matched, isRemoval: isRemoval))
  }
}

extension SQLiteConnection {
  /// Lets a query that would scan wait for an index that is nearly complete. A query whose snapshot has been
  /// taken does not wait: it would not see the index.
  func waitForIndex(_ query: Query, _ collection: String, _ observer: QueryObserver) throws {
    guard sqlite3_txn_state(handle, "main") == SQLITE_TXN_NONE,
      let table = tables[ExactName(collection)]
    else { return }
    let metadata = table.metadata
    var candidates = IndexCandidates(
      query, ordersText: metadata.ordersText, defaults: metadata.defaults,
      observed: metadata.hasForeignRows ? { _ in nil } : metadata.observed)
    candidates.remove(servedBy: table.indexes)
    guard !candidates.isEmpty else { return }
    try observer.willScan(table.description.name, candidates) { try interruption?.check() }
  }

  /// Counts the indexes that a statement uses, and starts timing it if it may scan; `nil` if it cannot, or if
  /// there is no observer.
  @inline(__always)
  func scanTimer(
    _ statement: SQLiteStatement, _ table: CollectionTable, _ query: Query
  ) -> ScanTimer? {
    guard let observer, table.isObserved else { return nil }
    return scanTimer(statement, table, query, observer)
  }

  private func scanTimer(
    _ statement: SQLiteStatement, _ table: CollectionTable, _ query: Query,
    _ observer: QueryObserver
  ) -> ScanTimer? {
    let plan = statement.plan ?? plan(of: statement, table, observer)
    for use in plan.uses { use.add() }
    // An index by which rows are found but which returns them by row ID would not be improved by another index.
    let sorts = plan.sorts && !query.orderings.isEmpty
    guard sorts || plan.scans && query.condition != .constant(true) else { return nil }
    for counter in [SQLITE_STMTSTATUS_FULLSCAN_STEP, SQLITE_STMTSTATUS_SORT] {
      _ = sqlite3_stmt_status(statement.handle, counter, 1)
    }
    return ScanTimer(observer, statement, table, query)
  }

  private func plan(
    of statement: SQLiteStatement, _ table: CollectionTable, _ observer: QueryObserver
  ) -> StatementPlan {
    let text = sqlite3_sql(statement.handle).map { String(cString: $0) } ?? ""
    // A statement that cannot be explained is not observed, and reports its own error when it runs. The
    // explanation is not cached, because it runs once.
    var plan: [String] = []
    if let explanation = try? SQLiteStatement(
      "EXPLAIN QUERY PLAN " + text, on: self, persistent: false)
    {
      while (try? explanation.step()) == true { plan.append(explanation.text(3) ?? "") }
    }
    let used = table.indexes.filter { index in
      table.sqlNames[ExactName(index.name)].map { name in
        plan.contains { SQLiteReader.mentions($0, name) }
      } ?? false
    }
    let newPlan = StatementPlan(
      uses: used.map { observer.uses(of: $0.name, in: table.description.name) }
        + relatedUses(plan, table, observer),
      scans: plan.contains { $0.hasPrefix("SCAN") },
      sorts: plan.contains { $0.contains("ORDER BY") },
      scansRelated: plan.contains { $0.hasPrefix("SCAN nano_related_1") })
    statement.plan = newPlan
    if newPlan.scans || newPlan.sorts, !table.isLarge {
      // So that even the first scan is timed if the collection is large. Row IDs are assigned consecutively.
      let name = SQLName.quoted(table.description.name)
      let last = try? first(SQLFragment("SELECT max(id) FROM \(name)")) { $0.int(0) }
      table.isLarge = last ?? 0 >= Int64(observer.minimumRows)
    }
    return newPlan
  }
}

extension ScanTimer {
  /// Reports the scan of a joined collection. What the statement read there cannot be distinguished from the rest, so
  /// that half of it is attributed to each.
  private func reportRelated(rows: Int, seconds: inout Double) {
    seconds /= 2
    let programs = statement.boundObjects.lazy.compactMap { $0 as? MatchProgram }
    for case .related(let related) in query.condition.conjuncts.map(\.withoutNegation)
    where related.matches == nil {
      guard let joined = table.related[ExactName(related.collection)] else { continue }
      var candidates = IndexCandidates(
        related.relatedQuery, ordersText: joined.ordersText, defaults: joined.defaults,
        observed: joined.observed)
      candidates.remove(servedBy: joined.indexes)
      guard !candidates.isEmpty else { continue }
      let matched = programs.first?.matches ?? 0
      observer.scanned(
        ScanReport(
          collection: joined.table, candidates: candidates, seconds: max(0, seconds),
          rows: rows / 2, matched: matched, found: matched))
    }
  }
}

extension Condition {
  fileprivate var withoutNegation: Condition {
    if case .not(let part) = self { part } else { self }
  }
}

extension SQLiteConnection {
  /// Returns the use counters of the indexes of joined collections in a plan.
  private func relatedUses(
    _ plan: [String], _ table: CollectionTable, _ observer: QueryObserver
  ) -> [UseCount] {
    table.related.values.flatMap { joined in
      joined.indexes.filter { index in
        joined.sqlNames[ExactName(index.name)].map { name in
          plan.contains { SQLiteReader.mentions($0, name) }
        } ?? false
      }.map { observer.uses(of: $0.name, in: joined.table) }
    }
  }
}
