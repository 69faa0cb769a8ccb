// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A snapshot of the database on one connection.
class SQLiteReader: EngineReader {
  let connection: SQLiteConnection
  /// The time that the block sees, once it is determined; see ``time``.
  var blockTime: Int64?
  /// Whether the reader belongs to one block, which sees one time.
  let keepsTime: Bool

  init(_ connection: SQLiteConnection, keepsTime: Bool = true) {
    self.connection = connection
    self.keepsTime = keepsTime
  }

  /// Flushes pending index entries and paths that a query on this table relies on.
  func prepareForQuery(_ table: CollectionTable) throws {}

  /// Runs a block around a user-supplied statement.
  func aroundForeignStatement<Result>(_ work: () throws -> Result) throws -> Result { try work() }

  /// Called before a user-supplied statement writes.
  func noteForeignWrite() {}

  func collections() throws -> [CollectionDescription] {
    // Sorted in Swift: a UTF-16 database sorts text by its UTF-16 bytes.
    try connection.collectionNames().map { name, identity in
      CollectionDescription(
        storedName: name, identity: identity.flatMap(CollectionIdentity.init))
    }
  }

  func identity(of collection: String) throws -> CollectionIdentity {
    try connection.table(collection)?.description.identity ?? .key
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    // Tries the cached table first: the statement fails if the table was dropped.
    guard
      let table = try connection.lastTable(collection) ?? connection.tables[ExactName(collection)]
        ?? connection.table(collection)
    else { return false }
    connection.noteLast(collection, table)
    do {
      return try get(identity, table, visit)
    } catch let error as StoreError where error.code == .database {
      guard let current = try connection.table(collection) else { return false }
      guard (current.expiry == nil) != (table.expiry == nil) else { throw error }
      return try get(identity, current, visit)
    } catch is ChangedExpirations {
      guard let current = try connection.table(collection) else { return false }
      return try get(identity, current, visit)
    }
  }

  func get(
    rowIDs: [Int64], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    guard let first = rowIDs.first, let last = rowIDs.last,
      let table = try connection.table(collection)
    else { return }
    // Row IDs can be further apart than the largest integer.
    let isRange = last &- first == Int64(rowIDs.count - 1)
    try connection.with(table, isRange ? .getRange : .getList) { statement in
      if isRange {
        statement.bind(first, at: 1)
        statement.bind(last, at: 3)
      } else {
        try statement.bind("[\(rowIDs.map(String.init).joined(separator: ","))]", at: 1)
      }
      bindTime(statement, table)
      while try statement.step() {
        try visit(Self.document(statement, try incarnation(of: table, for: statement)))
      }
    }
  }

  /// The cached table does not know yet that documents may expire.
  private struct ChangedExpirations: Error {}

  private func get(
    _ identity: Identity, _ table: CollectionTable, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    switch identity {
    case .key(let key):
      func visitByKey() throws -> Bool {
        try connection.with(table, .getByKey) { statement in
          try statement.bind(key, at: 1)
          bindTime(statement, table)
          return try visitRow(statement, table, visit)
        }
      }
      if try visitByKey() { return true }
      let version = connection.dataVersion
      let isForeign = try connection.with(table, .getForeignByKey) { statement in
        try statement.bind(DocumentKey.text(key.description), at: 1)
        bindTime(statement, table)
        return try visitRow(statement, table, visit)
      }
      // Outside a transaction, the row may have been adopted between the two statements, with its key in another form.
      guard !isForeign, connection.dataVersion != version else { return isForeign }
      return try visitByKey()
    case .rowID(let id):
      return try connection.with(table, .getByRowID) { statement in
        statement.bind(id, at: 1)
        bindTime(statement, table)
        return try visitRow(statement, table, visit)
      }
    }
  }

  private func visitRow(
    _ statement: SQLiteStatement, _ table: CollectionTable,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard try statement.step() else { return false }
    try visit(Self.document(statement, try incarnation(of: table, for: statement)))
    return true
  }

  /// Returns the incarnation of the collection that the statement's current row belongs to. Another connection
  /// may have dropped and re-created the cached table; in that case SQLite has re-prepared the statement.
  @inline(__always)
  private func incarnation(
    of table: CollectionTable, for statement: SQLiteStatement
  ) throws -> Int64? {
    if statement.isUnchangedSinceNoted { return table.incarnation }
    // The statement is still active, so this reads the same snapshot.
    let current = try connection.table(table.description.name)
    guard (current?.expiry == nil) == (table.expiry == nil) else { throw ChangedExpirations() }
    guard current?.incarnation == table.incarnation else { return current?.incarnation }
    statement.notePreparation()
    return table.incarnation
  }

  /// Creates a document from the columns of ``AttributeUsage/columns(body:)``.
  @inline(__always)
  static func document(
    _ row: SQLiteStatement, _ incarnation: Int64?, _ layout: AttributeUsage.Layout = .all
  ) -> StoredDocument {
    switch layout {
    case .all:
      return row.optionalNumber(5) == nil ? foreign(row, incarnation) : whole(row, incarnation)
    case .keyed:
      return StoredDocument(
        rowID: row.int(0), key: row.borrowedKey(1), type: nil, version: nil,
        added: row.optionalNumber(2), revision: row.optionalNumber(3),
        incarnation: incarnation, body: row.storedBytes(4))
    case .bare:
      return StoredDocument(
        rowID: row.int(0), key: .none, type: nil, version: nil,
        added: row.optionalNumber(1), revision: row.optionalNumber(2),
        incarnation: incarnation, body: row.storedBytes(3))
    }
  }

  @inline(__always)
  private static func whole(_ row: SQLiteStatement, _ incarnation: Int64?) -> StoredDocument {
    StoredDocument(
      rowID: row.int(0), key: row.borrowedKey(1), type: row.optionalBytes(2),
      version: row.optionalInt(3),
      added: row.optionalNumber(4), revision: row.optionalNumber(5),
      incarnation: incarnation, body: row.storedBytes(6))
  }

  /// Creates a document from a row of another program, whose columns may hold values of any type.
  @inline(never)
  private static func foreign(_ row: SQLiteStatement, _ incarnation: Int64?) -> StoredDocument {
    // Checked first: reading a value as text may change its type.
    let hasVersion = row.isInt(3)
    let hasAdded = row.isInt(4)
    let isAltered =
      !row.isKey(1, isForeign: true) || !row.isNull(2) && row.validText(2) == nil
      || !row.isNull(3) && !hasVersion || !row.isNull(4) && !hasAdded
    var document = whole(row, incarnation)
    if !hasVersion { document.version = nil }
    if !hasAdded { document.added = nil }
    document.isAltered = isAltered
    return document
  }

  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    try querying(query, collection) { table, query in
      var ids: [Int64] = []
      // An index returns them in order within each of its values. Sorting them in Swift takes a fraction of
      // SQLite's time.
      let sorts = query.isWholeByRowID
      let compiler = QueryCompiler(table.metadata)
      // Selects no other column, so that SQLite need not read the row if an index contains the row ID.
      try connection.with(compiler.select(query, columns: "id", ordered: !sorts).sql) { row in
        let scanTimer = connection.scanTimer(row, table, query)
        while try row.step() { ids.append(row.int(0)) }
        scanTimer?.end(found: ids.count)
      }
      if sorts { ids.sort() }
      return RowIDResult(ids, incarnation: table.incarnation, state: try committedState())
    } ?? RowIDResult([], incarnation: nil, state: nil)
  }

  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    try connection.consistently {
      guard let table = try connection.table(collection) else { return nil }
      return try connection.with(table, .revision) { row in
        row.bind(rowID, at: 1)
        bindTime(row, table)
        guard try row.step() else { return nil }
        return row.optionalNumber(0).map {
          ContentVersion(incarnation: table.incarnation, revision: $0)
        }
      }
    }
  }

  func committedState() throws -> CommittedState? { connection.committedState }

  /// Runs a block with a collection's table; returns `nil` if there is no such collection.
  ///
  /// The transaction ensures that the table's metadata and the query's results belong to one state. It also
  /// saves two lock operations.
  func querying<Result>(
    _ query: Query, _ collection: String, _ work: (CollectionTable, Query) throws -> Result
  ) throws -> Result? {
    if let observer = connection.observer, observer.isBuilding.load(ordering: .relaxed) {
      try connection.waitForIndex(query, collection, observer)
    }
    return try connection.consistently {
      guard let table = try connection.tableForQuery(collection) else { return nil }
      try prepareForQuery(table)
      return try work(
        table, try joining(try hidingExpired(try table.resolved(query), table), table))
    }
  }

  func count(_ query: Query, in collection: String) throws -> Int {
    try querying(query, collection) { table, query in
      try connection.with(QueryCompiler(table.metadata).count(query).sql) { statement in
        let scanTimer = connection.scanTimer(statement, table, query)
        let count = try statement.step() ? Int(statement.int(0)) : 0
        scanTimer?.end(found: count)
        return count
      }
    } ?? 0
  }

  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    var rows: [AggregateRow] = []
    try aggregate(query, in: collection) { row in
      rows.append(row)
      return true
    }
    return rows
  }

  func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws {
    let found: Void? = try querying(query.query, collection) { table, resolved in
      var query = query
      query.query = resolved
      try connection.with(QueryCompiler(table.metadata).aggregate(query).sql) { statement in
        let scanTimer = connection.scanTimer(statement, table, query.query)
        try statement.finish()
        scanTimer?.end(found: nil)
        let program = statement.boundObjects.lazy.compactMap { $0 as? AggregateProgram }.first
        try program?.aggregation.eachRow {
          try connection.interruption?.check()
          return try visit($0)
        }
      }
    }
    if found == nil { try GroupedAggregation(query).eachRow(visit) }
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    try querying(query, collection) { table, query in
      try connection.with(QueryCompiler(table.metadata).distinct(field, query).sql) { statement in
        let scanTimer = connection.scanTimer(statement, table, query)
        try statement.finish()
        scanTimer?.end(found: nil)
        let program = statement.boundObjects.lazy.compactMap { $0 as? DistinctProgram }.first
        return try program?.values.all() ?? []
      }
    } ?? []
  }

  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    // One transaction, so that all collections belong to one state.
    try connection.consistently {
      try run(
        pipeline, query, in: collection,
        makeSpill: TemporarySorter.maker(TemporarySorter.isPermitted(on: connection.handle)),
        interruption: connection.interruption
      ) { row in
        try connection.interruption?.check()
        return try visit(row)
      }
    }
  }

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    // A row that is adopted in between would be in neither.
    try connection.consistently { try allPaths(in: collection) }
  }
}

extension SQLiteStatement {
  /// Runs the statement to the end and keeps its parameters.
  func finish() throws(StoreError) { while try step() {} }
}
