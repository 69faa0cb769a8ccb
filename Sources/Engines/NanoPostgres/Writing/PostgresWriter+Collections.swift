// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension PostgresWriter {
  func createCollections(_ descriptions: [CollectionDescription]) throws {
    for description in descriptions {
      do { try create(description) } catch let error as StoreError {
        throw error.adding(.collection, description.name)
      }
    }
  }

  private func create(_ description: CollectionDescription) throws {
    try StoredNames.validate(description)
    noteWrite()
    if let existing = try table(description.name) ?? missing(description.name) {
      guard existing.collection.description.identity == description.identity else {
        throw StoreError.collectionExists(existing.collection.description)
      }
      return
    }
    let definition = CollectionDefinition(description, core)
    let results = try session.run([definition.record, definition.existing])
    // Another transaction has created it in the meantime.
    guard results[0].changes == 1 else { return try create(description) }
    guard results[1].count == 0 else {
      _ = try session.run(definition.deletion)
      throw definition.conflict(with: results[1].text(0, 0))
    }
    let replacesDropped = dropped[description.name.folded] != nil
    noteCreated(description.name.folded)
    _ = try session.run(definition.statements)
    let created = try table(description.name, isWhole: true)
    created?.hasNewDefinitions = true
    // The documents of the dropped collection are gone.
    if replacesDropped { created?.noteAll() }
  }

  /// Keeps other transactions from creating a collection that does not exist. Returns it if another one has created it.
  private func missing(_ name: String) throws -> WriterTable? {
    _ = try session.run(acquire([core.locks.collection(name.folded)]))
    return try table(name, isWhole: true)
  }

  func dropCollection(_ name: String) throws -> Bool {
    guard let table = try table(name, isWhole: true) else { return false }
    noteWrite()
    let folded = table.collection.folded
    let internals = ["nano_indexes", "nano_paths", "nano_index_ledger"].map {
      PostgresStatement(
        "DELETE FROM \(names.qualified($0)) WHERE collection = $1", [.exact(folded)])
    }
    let row = PostgresStatement(
      "DELETE FROM \(names.qualified("nano_collections")) WHERE folded = $1", [.exact(folded)])
    let feed = table.collection.feed.map { _ in table.collection.feedObjects(names).cleanup } ?? []
    let texts = table.collection.fullTextIndexes.flatMap {
      TextStatistics($0, table.collection, names)?.cleanup ?? []
    }
    let expiry = table.collection.expiry?.cleanup ?? []
    let previous = table.collection.previousBodies.cleanup
    _ = try session.run(
      [.once("DROP TABLE \(table.collection.table)")] + feed + previous + texts + expiry + internals
        + [row])
    noteDropped(table.collection.description.name)
    return true
  }

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    try settings.validate()
    let table = try tableForWriting(collection, isWhole: true)
    guard table.collection.settings != settings else { return }
    if table.collection.settings.expiration != settings.expiration {
      try setExpirationRule(settings.expiration, table)
    }
    _ = try session.run(
      PostgresStatement(
        "UPDATE \(names.qualified("nano_collections")) SET settings = $2 WHERE folded = $1",
        [
          .exact(table.collection.folded),
          .text(settings.storedText(hasExpirations: table.collection.hasExpirations)),
        ]))
    try redefine(table)
    // Defaults affect query results.
    table.noteAll()
  }

  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {
    noteWrite()
    let name = names.qualified("nano_index_ledger")
    let folded = collection.folded
    var statements = [
      PostgresStatement("DELETE FROM \(name) WHERE collection = $1", [.exact(folded)])
    ]
    statements += rows.map {
      PostgresStatement(
        "INSERT INTO \(name) (collection, subject, state) VALUES ($1, $2, $3)",
        [.exact(folded), .text($0.subject), .text($0.state)])
    }
    _ = try session.run(statements)
  }
}

/// The table of a new collection, and its row in the catalog.
struct CollectionDefinition {
  private let description: CollectionDescription
  private let core: PostgresCore
  private let layout: PostgresConfiguration.Layout
  private let tableName: String

  init(_ description: CollectionDescription, _ core: PostgresCore) {
    self.description = description
    self.core = core
    tableName = PostgresNames.table(of: description.name)
    // Documents with row IDs only have no key to distribute them by.
    layout = description.identity == .key ? core.configuration.layout : .plain
  }

  private var table: String { core.names.qualified(tableName) }

  private var kind: PostgresLayout {
    switch layout {
    case .plain: .plain
    case .partitions: .partitions
    case .distributed: .distributed
    }
  }

  var record: PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO \(core.names.qualified("nano_collections")) (folded, name, table_name, identity, \
      incarnation, generation, indexing, keeps_source, layout) \
      VALUES ($1, $2, $3, $4, $5, 1, 'declared', $6, $7) ON CONFLICT DO NOTHING
      """,
      [
        .exact(description.name.folded), .text(description.name), .text(tableName),
        .text(description.identity.rawValue), .int(.random(in: 1..<(1 << 62))),
        .bool(core.configuration.fieldOrder == .asWritten),
        .text(kind.rawValue),
      ])
  }

  private var partitions: [String] {
    guard case .partitions(let count) = layout else { return [] }
    return (0..<count).map { "\(tableName)_p\($0)" }
  }

  private var tables: [String] { [tableName] + partitions }

  func conflict(with existing: String) -> StoreError {
    guard existing.folded != tableName.folded else {
      return StoreError.tableExists(description.name)
    }
    return StoreError(
      .invalidName, "A table with the name of a partition exists",
      [.collection: description.name, .table: existing])
  }

  /// Selects what has the name of one of the tables.
  var existing: PostgresStatement {
    PostgresStatement(
      """
      SELECT c.relname::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n \
      ON n.oid = c.relnamespace WHERE n.nspname = $1 AND lower(c.relname COLLATE "C") IN \
      (SELECT lower(u.name COLLATE "C") FROM unnest($2::text[]) AS u(name))
      """, [.text(core.names.schema), .texts(tables)])
  }

  var deletion: PostgresStatement {
    PostgresStatement(
      "DELETE FROM \(core.names.qualified("nano_collections")) WHERE folded = $1",
      [.exact(description.name.folded)])
  }

  var statements: [PostgresStatement] {
    let columns = """
      key text COLLATE "C", type text COLLATE "C", version bigint, added bigint NOT NULL, \
      revision bigint NOT NULL, body jsonb NOT NULL, source text
      """
    let keys = "CREATE UNIQUE INDEX ON \(table) (key) WHERE key IS NOT NULL"
    let ids = "CREATE INDEX ON \(table) (id)"
    let sequence = RowIDSequence(
      table: table,
      name: core.names.qualified(PostgresNames.sequence(of: description.name.folded))
    ).definitions
    switch layout {
    case .plain:
      return [
        .once("CREATE TABLE \(table) (id bigint PRIMARY KEY, \(columns))"), .once(keys),
      ] + sequence
    case .partitions(let count):
      let parts = partitions.enumerated().map { number, name in
        PostgresStatement.once(
          "CREATE TABLE \(core.names.qualified(name)) PARTITION OF \(table) "
            + "FOR VALUES WITH (MODULUS \(count), REMAINDER \(number))")
      }
      let parent = "CREATE TABLE \(table) (id bigint NOT NULL, \(columns)) PARTITION BY HASH (key)"
      return [.once(parent)] + parts + [.once(keys), .once(ids)] + sequence
    case .distributed(shards: let count):
      return [
        .once("CREATE TABLE \(table) (id bigint NOT NULL, \(columns))"), .once(keys), .once(ids),
        .once(
          "SELECT create_distributed_table(\(SQLName.literal(table, .postgres)), 'key', shard_count => \(count))"
        ),
      ] + sequence
    }
  }
}
