// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoSQL

extension PostgresEngine {
  /// Lets the server reuse the space of removed documents, and updates its planner statistics.
  package func compact() throws {
    try core.pool.requireWritable()
    try core.convertingErrors {
      let tables = try read(.call, nil) { reader in
        guard let reader = reader as? PostgresReader else { return [] as [String] }
        return try reader.tableNames() + reader.blobTableNames()
      }
      try core.pool.withConnection { connection in
        let statistics = try connection.run(TextStatistics.tables(core.names))
        let statements =
          (0..<statistics.count).map {
            TextStatistics.merging(core.names.qualified(statistics.text($0, 0)))
          } + tables.map { .once("VACUUM (ANALYZE) \($0)") }
        for statement in statements {
          do {
            _ = try connection.run(statement)
          } catch let failure as PostgresFailure where failure.isMissingObject {
            // Another store has dropped it meanwhile.
          }
        }
      }
    }
  }

  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    try core.pool.requireOpen()
    throw StoreError(
      .unsupported, "A server database cannot be backed up through the store",
      [
        .capability: "backup",
        .hint: "use pg_dump or pg_basebackup, or copy the store to a file",
      ])
  }

  /// Compares each document with its queryable form, and the path catalog with the documents.
  package func verify() throws -> [VerificationProblem] {
    try core.convertingErrors {
      try read(.snapshot, nil) { reader in
        guard let reader = reader as? PostgresReader else { return [] }
        return try PostgresVerification(reader).problems()
      }
    }
  }

  package func statistics() throws -> EngineStatistics {
    try core.convertingErrors {
      try read(.snapshot, nil) { reader in
        guard let reader = reader as? PostgresReader else {
          throw StoreError(.database, "The reader belongs to a different engine")
        }
        return try statistics(reader)
      }
    }
  }

  private func statistics(_ reader: PostgresReader) throws -> EngineStatistics {
    var collections: [EngineStatistics.Collection] = []
    var size: Int64 = 0
    for description in try reader.collections() {
      guard let found = try reader.collection(description.name) else { continue }
      let table = PostgresSQL.value(.text(found.table))
      var sql: PostgresSQL =
        "SELECT count(*), (SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM pg_partition_tree("
      sql += table + "::text::regclass)), pg_total_relation_size(" + table + "::text::regclass) "
      sql += PostgresSQL("FROM \(found.table)")
      if let visible = found.isVisible(at: core.time(found)) { sql += " WHERE " + visible }
      let rows = try reader.session.run(sql.statement)
      collections.append(
        EngineStatistics.Collection(
          name: description.name, documents: Int(rows.int(0, 0)),
          indexes: found.indexes.count + found.fullTextIndexes.count))
      size += max(rows.int(0, 1), rows.int(0, 2))
    }
    let server = try reader.session.run(
      .once(
        "SELECT current_setting('server_version'), current_setting('server_encoding'), "
          + "current_setting('synchronous_commit')"))
    return EngineStatistics(
      collections: collections, size: Int(size), unused: 0,
      engine: "PostgreSQL \(server.text(0, 0))",
      settings: [
        "schema": core.names.schema, "server_encoding": server.text(0, 1),
        "synchronous_commit": server.text(0, 2),
        "layout": "\(core.configuration.layout)",
      ])
  }
}

extension PostgresReader {
  /// The quoted names of all collection tables.
  func tableNames() throws -> [String] {
    try collections().compactMap { try collection($0.name)?.table }
  }
}
