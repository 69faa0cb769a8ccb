// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Upgrades the tables of an older format, in one transaction.
///
/// Version 1 allocated row IDs and counted changes in the catalog row of each collection, which every transaction
/// updated and locked. Version 2 has a sequence per collection, and reports changes in the transactions table. A
/// program with the older version that is still connected fails when it writes, since the columns are gone.
struct SchemaUpgrade {
  let names: PostgresNames

  func run(_ connection: PostgresConnection, from version: Int64) throws {
    guard version == 1 else { return }
    let catalog = names.qualified("nano_collections")
    let rows = try connection.run(
      .once("SELECT folded, table_name, next_row_id FROM \(catalog) FOR UPDATE"))
    var statements: [PostgresStatement] = []
    for row in 0..<rows.count {
      let table = names.qualified(rows.text(row, 1))
      let sequence = names.qualified(
        PostgresNames.sequence(of: ExactName(rows.text(row, 0))))
      statements += RowIDSequence(table: table, name: sequence).definitions
      guard rows.int(row, 2) > 1 else { continue }
      statements.append(
        .once(
          "SELECT setval(\(SQLName.literal(sequence, .postgres)), $1)", [.int(rows.int(row, 2) - 1)]
        ))
    }
    let transactions = names.qualified("nano_transactions")
    let stamps = names.qualified("nano_stamps")
    statements += [
      .once(
        "ALTER TABLE \(catalog) DROP COLUMN next_row_id, DROP COLUMN changes, ADD COLUMN feed text"),
      .once("CREATE SEQUENCE IF NOT EXISTS \(stamps)"),
      .once(
        """
        ALTER TABLE \(transactions) ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id(), \
        ADD COLUMN stamp bigint NOT NULL DEFAULT nextval(\(SQLName.literal(stamps, .postgres))), \
        ADD COLUMN writer bigint, ADD COLUMN changed text[]
        """),
      .once("DROP INDEX IF EXISTS \(names.qualified("nano_transactions_applied"))"),
      .once("CREATE INDEX IF NOT EXISTS nano_transactions_xid ON \(transactions) (xid)"),
      .once("UPDATE \(names.qualified("nano_format")) SET version = 2"),
    ]
    try connection.run(statements)
  }
}

/// The sequence of a collection's row IDs. It belongs to the table, and is dropped with it.
struct RowIDSequence {
  /// The qualified and quoted names.
  let table: String
  let name: String

  var definitions: [PostgresStatement] {
    [
      // A row ID leaves one for the next document.
      .once(
        "CREATE SEQUENCE \(name) AS bigint MAXVALUE \(Int64.max - 1) OWNED BY \(table).id"),
      .once(
        "ALTER TABLE \(table) ALTER COLUMN id SET DEFAULT nextval(\(SQLName.literal(name, .postgres)))"
      ),
    ]
  }
}
