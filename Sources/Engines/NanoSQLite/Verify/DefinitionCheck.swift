// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares the schema definitions in the file literally with those that the store would write, which are
/// generated in an empty in-memory database.
struct DefinitionCheck {
  private let connection: SQLiteConnection
  private let collections: [String]

  init(_ connection: SQLiteConnection, collections: [String]) {
    self.connection = connection
    self.collections = collections
  }

  private struct Definition: Equatable {
    let type: String
    let name: String
    let table: String
    let sql: String

    static func == (a: Definition, b: Definition) -> Bool {
      [a.type, a.name, a.table, a.sql].hasSameBytes(as: [b.type, b.name, b.table, b.sql])
    }

    var folded: ExactName { name.folded }
  }

  func problems() throws -> [VerificationProblem] {
    let (expected, isComplete) = try expectedDefinitions()
    let found = try Self.definitions(connection)
    let byName = Dictionary(grouping: found, by: \.folded)
    var problems: [VerificationProblem] = []
    for (owner, definition) in expected {
      let same = byName[definition.folded]?.first { $0.type == definition.type }
      if same == definition || (same == nil && isReportedElsewhere(definition, owner, byName)) {
        continue
      }
      let message =
        same == nil
        ? "the \(definition.type) \(definition.name) is missing"
        : "the \(definition.type) \(definition.name) differs from the store's definition"
      problems.append(VerificationProblem(subject: owner, message: message))
    }
    guard isComplete else { return problems }
    let names = Set(expected.map { ExactName($0.1.type + $0.1.name.foldingASCII) })
    for definition in found
    where isStoreDefinition(definition)
      && !names.contains(ExactName(definition.type + definition.name.foldingASCII))
    {
      problems.append(
        VerificationProblem(
          subject: "file",
          message: "the \(definition.type) \(definition.name) is not part of the store's schema"))
    }
    return problems + stray(found)
  }

  /// Replaces triggers that differ, for example because an earlier version of the library wrote them. Does not add
  /// missing ones, without which something may have been left undone.
  func renewTriggers() throws {
    let found = Dictionary(grouping: try Self.definitions(connection), by: \.folded)
    for (_, definition) in try expectedDefinitions().0 where definition.type == "trigger" {
      let former = found[definition.folded]?.first { $0.type == definition.type }
      guard let former, former != definition else { continue }
      try connection.execute(
        "DROP TRIGGER main.\(SQLName.quoted(former.name)); \(definition.sql)")
    }
  }

  /// Whether the collection check reports the missing definition too, or it was dropped with its table.
  private func isReportedElsewhere(
    _ definition: Definition, _ owner: String, _ found: [ExactName: [Definition]]
  ) -> Bool {
    let isFound = found[owner.folded] != nil
    guard definition.type != "trigger" || !isFound else { return false }
    guard isFound, let table = try? connection.table(owner) else {
      return owner != "file"
    }
    let checked =
      table.allSchemas.map(\.sqlName) + (table.text?.schemas ?? []).map(\.sqlName)
      + [table.wildcardIndex?.name].compactMap(\.self)
    return checked.contains { $0.folded == definition.folded }
  }

  private func isStoreDefinition(_ definition: Definition) -> Bool {
    definition.name.foldingASCII.utf8.starts(with: "nano_".utf8)
  }

  /// Returns problems for tables of collections without a row in `nano_collections`.
  private func stray(_ found: [Definition]) -> [VerificationProblem] {
    let existing = Set(collections.map { $0.folded })
    return found.compactMap { definition in
      guard definition.type == "table", !existing.contains(definition.folded),
        definition.sql.hasExactSuffix(Self.collectionColumns)
          || definition.sql.hasExactSuffix(Self.trackedColumns)
      else { return nil }
      return VerificationProblem(
        subject: definition.name, message: "the table has no row in nano_collections")
    }
  }

  private static let collectionColumns: String = {
    let sql = Schema.collection("c")
    let end = sql.firstIndex(of: ";") ?? sql.endIndex
    return String(sql[..<end].drop { $0 != "(" })
  }()

  /// The same after the column of a change feed was added.
  private static let trackedColumns =
    String(collectionColumns.dropLast()) + ", \(FeedSchema.column) INTEGER)"

  /// Returns the expected definitions with their owners, and whether they include all collections.
  private func expectedDefinitions() throws -> ([(String, Definition)], Bool) {
    let scratch = try Scratch()
    var expected: [(String, Definition)] = []
    var isComplete = true
    try scratch.connection.execute(Schema.internalTables)
    if try connection.hasTable(FeedSchema.internalTable) {
      try scratch.connection.execute(FeedSchema.createInternalTable)
    }
    if try connection.hasTable(BlobSchema.chunks) || connection.hasTable(BlobSchema.table) {
      try scratch.connection.execute(BlobSchema.create)
    }
    expected += try scratch.takeDefinitions().map { ("file", $0) }
    for name in collections {
      do {
        guard let table = try connection.table(name) else { continue }
        let feed = FeedSchema(name)
        var sql = Schema.collection(name)
        if try connection.hasColumn(FeedSchema.column, name) { sql += feed.addColumn }
        if table.feed != nil { sql += feed.create }
        let previous = PreviousBodySchema(name)
        // Without its trigger, the collection does not keep bodies, although it is supposed to.
        if try connection.hasTable(previous.name) || connection.hasTrigger(previous.triggerName) {
          sql += previous.create
        }
        if let expiry = table.expiry {
          sql += expiry.create + (table.settings.expiration.map(expiry.createTriggers) ?? "")
        }
        if table.wildcardIndex != nil { sql += WildcardIndex.create(name) }
        for schema in table.allSchemas { sql += try schema.create() }
        for schema in table.text?.schemas ?? [] { sql += try schema.create() }
        try scratch.connection.execute(sql)
      } catch is StoreError {
        // The damage to its rows is reported by the check of the catalog.
        isComplete = false
      }
      expected += try scratch.takeDefinitions().map { (name, $0) }
    }
    return (expected, isComplete)
  }

  private static func definitions(_ connection: SQLiteConnection) throws -> [Definition] {
    try connection.all(
      SQLFragment(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema "
          + "WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
    ) { row in
      Definition(
        type: row.text(0) ?? "", name: row.text(1) ?? "", table: row.text(2) ?? "",
        sql: row.text(3) ?? "")
    }
  }

  /// An empty database, which is emptied again after each use.
  private final class Scratch {
    let connection: SQLiteConnection

    init() throws(StoreError) {
      var handle: OpaquePointer?
      guard sqlite3_open(":memory:", &handle) == SQLITE_OK, let handle else {
        sqlite3_close(handle)
        throw StoreError(.database, "An in-memory database cannot be created")
      }
      connection = SQLiteConnection(handle, isReadOnly: false)
      try connection.execute("BEGIN")
    }

    deinit {
      connection.removeAll()
      sqlite3_close(connection.handle)
    }

    func takeDefinitions() throws -> [Definition] {
      let found = try DefinitionCheck.definitions(connection)
      try connection.execute("ROLLBACK; BEGIN")
      return found
    }
  }
}
