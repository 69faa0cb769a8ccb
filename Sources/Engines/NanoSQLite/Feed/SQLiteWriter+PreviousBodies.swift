// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader {
  func keepsPreviousBodies(in collection: String) throws -> Bool {
    try connection.previousBodies(in: collection) { _, _ in true } ?? false
  }

  func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try connection.previousBodies(in: collection) { table, schema in
      let events = try loggedBodies(table, schema, ofRow: rowID)[rowID] ?? []
      guard let kept = try keptBody(ofRow: rowID, events, schema) else { return false }
      if kept.isDeleted,
        try connection.first(SQLFragment(schema.hasDocument, [.int(rowID)]), { _ in true }) == true
      {
        return false
      }
      try self.visit(kept, schema, visit)
      return true
    } ?? false
  }

  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    _ = try connection.previousBodies(in: collection) { table, schema in
      let events = try loggedBodies(table, schema)
      let page = SQLFragment(schema.rowIDs, [.int(rowID ?? .min), .int(Int64(limit))])
      for id in try connection.all(page, { $0.int(0) }) {
        guard let kept = try keptBody(ofRow: id, events[id] ?? [], schema) else { continue }
        try self.visit(kept, schema, visit)
      }
    }
  }

  /// What the log has of a row.
  private struct LoggedBody {
    let number: Int64
    let isDeletion: Bool
  }

  /// The place of a kept body.
  private struct KeptBody {
    let rowID: Int64
    /// The number in the log; `nil` if it is in the table.
    var number: Int64?
    var isDeleted: Bool
  }

  /// Returns what the log has, in order, by row ID. In a transaction that writes, that is nothing, because the log is
  /// moved to the table first.
  private func loggedBodies(
    _ table: CollectionTable, _ schema: PreviousBodySchema, ofRow rowID: Int64? = nil
  ) throws -> [Int64: [LoggedBody]] {
    if let writer = self as? SQLiteWriter {
      try writer.foldLog(of: table, schema)
      return [:]
    }
    var found: [Int64: [LoggedBody]] = [:]
    let sql = SQLFragment(schema.events(ofOneRow: rowID != nil), rowID.map { [.int($0)] } ?? [])
    try connection.with(sql) { row in
      while try row.step() {
        found[row.int(1), default: []].append(
          LoggedBody(number: row.int(0), isDeletion: row.int(2) != 0))
      }
    }
    return found
  }

  /// Returns where the kept body of a row is: what the table would have once the log is moved there.
  private func keptBody(
    ofRow rowID: Int64, _ events: [LoggedBody], _ schema: PreviousBodySchema
  ) throws -> KeptBody? {
    var kept = try connection.first(SQLFragment(schema.isDeleted, [.int(rowID)])) {
      KeptBody(rowID: rowID, isDeleted: $0.int(0) != 0)
    }
    for event in events {
      if event.isDeletion {
        kept?.isDeleted = true
      } else if kept?.isDeleted ?? true {
        kept = KeptBody(rowID: rowID, number: event.number, isDeleted: false)
      }
    }
    return kept
  }

  /// Passes a kept body to a closure.
  private func visit(
    _ kept: KeptBody, _ schema: PreviousBodySchema, _ visit: (StoredDocument) throws -> Void
  ) throws {
    let sql = kept.number.map { SQLFragment(schema.logged, [.int($0)]) }
    try connection.with(sql ?? SQLFragment(schema.ofRow, [.int(kept.rowID)])) { row in
      // Without the incarnation, so that it does not count as a version of the stored document.
      if try row.step() { try visit(Self.document(row, nil)) }
    }
  }
}

extension SQLiteWriter {
  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    guard let table = keeps ? try tableForWriting(collection) : try existing(collection) else {
      return
    }
    let name = table.description.name
    let schema = PreviousBodySchema(name)
    let isKept = try connection.previousBodies(of: table) != nil
    if keeps, isKept { return }
    // Definitions that another program left behind would make the creation fail.
    try connection.execute(schema.drop)
    if keeps {
      // Earlier versions of the library would leave kept bodies that are encrypted with a former key.
      try connection.raiseFormat(to: Schema.newestFormatVersion)
      try connection.execute(schema.create)
    }
    if keeps || isKept { try nextGeneration(name) }
  }

  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {
    guard let table = try existing(collection),
      let schema = try connection.previousBodies(of: table)
    else { return }
    try foldLog(of: table, schema)
    try connection.with(schema.remove) { statement in
      for id in rowIDs {
        statement.bind(id, at: 1)
        try statement.run()
      }
    }
  }

  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {
    guard let table = try existing(collection),
      let schema = try connection.previousBodies(of: table)
    else { return }
    try foldLog(of: table, schema)
    try connection.with(schema.replace) { statement in
      statement.bind(rowID, at: 1)
      try statement.bind(borrowedText: body, at: 2)
      defer { sqlite3_clear_bindings(statement.handle) }
      try statement.finish()
    }
  }

  /// Runs an adoption that may rewrite a row, without keeping the form that the other program wrote.
  func withoutKeepingBody(
    ofRow rowID: Int64, _ table: CollectionTable, _ update: () throws -> Void
  ) throws {
    guard let schema = try connection.previousBodies(of: table) else { return try update() }
    try foldLog(of: table, schema)
    try update()
    try connection.run(SQLFragment(schema.removeLogged, [.int(rowID)]))
  }

  /// Moves the log to the table, in the order of row IDs.
  func foldLog(of table: CollectionTable, _ schema: PreviousBodySchema) throws {
    table.loggedBytes = 0
    var last: (id: Int64, isDeletion: Bool)?
    try connection.with(schema.events(ofOneRow: false)) { row in
      while try row.step() {
        let (number, id, isDeletion) = (row.int(0), row.int(1), row.int(2) != 0)
        defer { last = (id, isDeletion) }
        // Only the first body counts.
        if let last, last == (id, isDeletion) { continue }
        try connection.with(isDeletion ? schema.markDeleted : schema.move) { statement in
          statement.bind(isDeletion ? id : number, at: 1)
          try statement.run()
        }
      }
    }
    if last != nil { try connection.run(SQLFragment(schema.clearLog)) }
  }

  /// Moves the log to the table if it is long.
  func foldLongLog(of table: CollectionTable) throws {
    guard table.feed != nil, let schema = try connection.previousBodies(of: table) else { return }
    let last = try connection.first(SQLFragment(schema.lastNumber)) { $0.int(0) } ?? 0
    guard last >= Self.longestLog || table.loggedBytes > Self.largestLog else { return }
    try foldLog(of: table, schema)
  }

  /// The number of rows, and of bytes as far as this connection has written them, at which the log is moved. Arbitrary:
  /// large enough to make moving a row cheap, and small enough that a pause of a writer is not noticed.
  private static let longestLog: Int64 = 1_000
  private static let largestLog = 1 << 20
}

extension SQLiteConnection {
  /// Runs a block with the definitions of a collection's kept bodies; returns `nil` if it keeps none.
  fileprivate func previousBodies<Result>(
    in collection: String, _ work: (CollectionTable, PreviousBodySchema) throws -> Result
  ) throws -> Result? {
    try consistently {
      guard let table = try table(collection), let schema = try previousBodies(of: table) else {
        return nil
      }
      return try work(table, schema)
    }
  }

  /// Returns the definitions of the kept bodies of a collection; `nil` if it keeps none.
  func previousBodies(of table: CollectionTable) throws -> PreviousBodySchema? {
    let schema = PreviousBodySchema(table.description.name)
    if table.keepsPreviousBodies == nil {
      table.keepsPreviousBodies =
        try hasTrigger(schema.triggerName) && hasTable(schema.logName)
    }
    return table.keepsPreviousBodies == true ? schema : nil
  }

  func hasTrigger(_ name: String) throws -> Bool {
    try first(
      SQLFragment("SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?", [.text(name)])
    ) { _ in true } ?? false
  }
}
