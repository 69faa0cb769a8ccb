// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoServer
import NanoStoreCore

/// Indexes and index advice.
extension Inspector {
  func indexes(of collection: DocumentCollection) async throws -> Wire {
    let indexes = try await collection.indexes()
    let text = try await collection.fullTextIndexes()
    let uses = try store.exactIndexUses(in: collection.name)
    let advice = try await store.indexAdvice().filter {
      $0.collection.folded == collection.name.folded
    }
    let fields: [Wire] = indexes.map { index in
      [
        "name": .string(index.name), "keys": .string(index.keys),
        "isUnique": .bool(index.isUnique), "kind": .string(index.kind.rawValue),
        "origin": .string(index.origin.rawValue), "reason": .optional(index.reason),
        "uses": .optional(uses[ExactName(index.name)]),
      ]
    }
    return [
      "indexes": .array(fields),
      "fullTextIndexes": .array(
        text.map { index in
          [
            "name": .string(index.name), "keys": .string(index.keys),
            "fields": .strings(index.fields.map(\.description)),
            "tokens": .string(index.tokens.rawValue),
          ]
        }),
      "policy": .string(try await collection.indexing().rawValue),
      "tracking": .string(try await collection.changeTracking().rawValue),
      "advice": .array(advice.map(Self.wire)),
    ]
  }

  /// Returns the sizes of the indexes in bytes, where the engine knows them.
  ///
  /// SQLite counts the pages of each index, which takes time in large files, so this is a call of its own.
  func indexSizes(of collection: DocumentCollection) async throws -> Wire {
    let isServer = try await store.statistics().engine.hasPrefix("PostgreSQL")
    let rows: SQLResult
    do {
      // The catalogs contain folded names.
      let name = String(
        decoding: collection.name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 },
        as: UTF8.self)
      rows = try await store.sql(isServer ? Self.serverSizes : Self.fileSizes, name)
    } catch let error as StoreError where error.code == .database || error.code == .unsupported {
      // SQLite without the virtual table, or an engine without SQL.
      return ["sizes": .array([])]
    }
    return [
      "sizes": .array(
        rows.compactMap { row in
          guard let name = row["name"]?.string, let bytes = row["bytes"]?.int else { return nil }
          return ["name": .string(name), "bytes": .int(bytes)]
        })
    ]
  }

  /// The pages of an index, or of the tables of an index on elements or a full-text index.
  private static let fileSizes = """
    SELECT i.name AS name, (
      SELECT sum(d.pgsize) FROM dbstat AS d WHERE d.aggregate = TRUE AND d.name IN (
        SELECT s.name FROM sqlite_schema AS s WHERE s.rootpage > 0 AND (s.name = i.sql_name
          OR s.tbl_name IN (i.sql_name, i.sql_name || '_data', i.sql_name || '_idx',
            i.sql_name || '_docsize', i.sql_name || '_config', i.sql_name || '_content')))
    ) AS bytes FROM nano_indexes AS i WHERE i.collection = ?
    """
  /// An index of a partitioned table consists of those of the partitions.
  private static let serverSizes = """
    SELECT i.name AS name, (
      SELECT coalesce(sum(pg_relation_size(t.relid)), 0)::bigint
        + pg_relation_size(to_regclass(quote_ident(i.sql_name)))
      FROM pg_partition_tree(to_regclass(quote_ident(i.sql_name))) AS t
      WHERE t.relid <> to_regclass(quote_ident(i.sql_name))
    ) AS bytes FROM nano_indexes AS i WHERE i.collection = ?
    """

  static func wire(_ advice: IndexAdvice) -> Wire {
    [
      "action": .string(advice.action.rawValue), "name": .string(advice.index.name),
      "keys": .string(advice.index.keys), "kind": .string(advice.index.kind.rawValue),
      "isDue": .bool(advice.isDue), "reason": .string(advice.reason),
      "spentMilliseconds": .double(advice.spent / .milliseconds(1)),
      "costMilliseconds": .double(advice.cost / .milliseconds(1)),
    ]
  }
}
