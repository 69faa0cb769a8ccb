// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader {
  func keepsPreviousBodies(in collection: String) throws -> Bool {
    try connection.previousBodies(in: collection) { _ in true } ?? false
  }

  func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try connection.previousBodies(in: collection) { schema in
      try connection.with(schema.ofRow) { row in
        row.bind(rowID, at: 1)
        guard try row.step() else { return false }
        // Without the incarnation, so that it does not count as a version of the stored document.
        try visit(Self.document(row, nil))
        return true
      }
    } ?? false
  }

  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    _ = try connection.previousBodies(in: collection) { schema in
      try connection.with(SQLFragment(schema.all(after: rowID), [.int(Int64(limit))])) { row in
        while try row.step() { try visit(Self.document(row, nil)) }
      }
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
    let isKept = try connection.first(SQLFragment(schema.hasRow, [.int(rowID)])) { _ in true }
    try update()
    if isKept == nil { try connection.run(SQLFragment(schema.remove, [.int(rowID)])) }
  }
}

extension SQLiteConnection {
  /// Runs a block with the definitions of a collection's kept bodies; returns `nil` if it keeps none.
  fileprivate func previousBodies<Result>(
    in collection: String, _ work: (PreviousBodySchema) throws -> Result
  ) throws -> Result? {
    try consistently {
      guard let table = try table(collection), let schema = try previousBodies(of: table) else {
        return nil
      }
      return try work(schema)
    }
  }

  /// Returns the definitions of the kept bodies of a collection; `nil` if it keeps none.
  func previousBodies(of table: CollectionTable) throws -> PreviousBodySchema? {
    let schema = PreviousBodySchema(table.description.name)
    if table.keepsPreviousBodies == nil {
      table.keepsPreviousBodies = try hasTrigger(schema.triggerName)
    }
    return table.keepsPreviousBodies == true ? schema : nil
  }

  func hasTrigger(_ name: String) throws -> Bool {
    try first(
      SQLFragment("SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?", [.text(name)])
    ) { _ in true } ?? false
  }
}
