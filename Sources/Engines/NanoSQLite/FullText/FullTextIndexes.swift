// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The text indexes of one collection on a connection, and the new rows that they do not have yet.
///
/// Confined to its connection.
final class FullTextIndexes {
  let schemas: [FullTextIndexSchema]
  /// The ids of rows that our writer added since the indexes were written. All rows between the two are
  /// among them, as ids go up.
  private var added: ClosedRange<Int64>?

  /// Nil for none.
  init?(_ schemas: [FullTextIndexSchema]) {
    guard !schemas.isEmpty else { return nil }
    self.schemas = schemas
  }

  /// As queries find them.
  var facts: [FullTextIndexMetadata] {
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
    for schema in schemas {
      try connection.run(
        SQLFragment(schema.addRange, [.int(range.lowerBound), .int(range.upperBound)]))
    }
  }

  /// Makes those anew that have texts of rows which OR REPLACE removed without a trigger.
  func removeOrphans(_ connection: SQLiteConnection) throws {
    for schema in schemas where try schema.hasOrphans(connection) {
      try connection.execute(schema.rebuild())
    }
  }
}

extension CollectionTable {
  /// A query with the fields of the text indexes that it names.
  func resolved(_ query: Query) throws(StoreError) -> Query {
    guard query.condition.searches else { return query }
    return try query.resolvingSearches(in: text?.schemas.map(\.index) ?? [])
  }
}
