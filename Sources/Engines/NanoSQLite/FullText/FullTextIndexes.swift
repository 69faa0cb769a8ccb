// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The full-text indexes of one collection on a connection, with the new rows that are not indexed yet.
///
/// Confined to its connection.
final class FullTextIndexes {
  let schemas: [FullTextIndexSchema]
  /// The row IDs that the writer added since the indexes were last flushed. Row IDs increase, so all rows
  /// between the bounds are new.
  private var added: ClosedRange<Int64>?

  /// Returns `nil` if there are no schemas.
  init?(_ schemas: [FullTextIndexSchema]) {
    guard !schemas.isEmpty else { return nil }
    self.schemas = schemas
  }

  /// The metadata that queries use to find the indexes.
  var metadata: [FullTextIndexMetadata] {
    schemas.map { FullTextIndexMetadata(table: $0.sqlName, scope: $0.index.scope) }
  }

  func note(_ id: Int64) {
    guard let range = added else {
      added = id...id
      return
    }
    added = min(range.lowerBound, id)...max(range.upperBound, id)
  }

  /// Adds the new rows to the indexes.
  func flush(_ connection: SQLiteConnection) throws {
    guard let range = added else { return }
    added = nil
    try connection.completely {
      for schema in schemas {
        try connection.run(
          SQLFragment(schema.addRange, [.int(range.lowerBound), .int(range.upperBound)]))
      }
    }
  }

  /// Rebuilds the indexes that contain text of rows that OR REPLACE deleted without a trigger.
  func removeOrphans(_ connection: SQLiteConnection) throws {
    for schema in schemas where try schema.hasOrphans(connection) {
      try connection.execute(schema.rebuild())
    }
  }
}

extension CollectionTable {
  /// Resolves the searches of a query to the fields of the text indexes that they name.
  func resolved(_ query: Query) throws(StoreError) -> Query {
    guard query.condition.searches else { return query }
    return try query.resolvingSearches(in: text?.schemas.map(\.index) ?? [])
  }
}
