// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The metadata of a collection. Read once, and again when the generation changes.
struct PostgresCollection: Sendable {
  var description: CollectionDescription
  /// The qualified and quoted name of the table.
  var table: String
  var tableName: String
  /// The qualified and quoted name of the sequence of row IDs.
  var sequence: String
  var incarnation: Int64
  /// Increases with each change of definitions, settings or paths.
  var generation: Int64
  var settings: CollectionSettings
  var indexing: IndexingPolicy
  /// Whether bodies are also stored as written.
  var keepsSource: Bool
  var layout: PostgresLayout
  var indexes: [PostgresIndex]
  var fullTextIndexes: [PostgresTextIndex]
  var paths: PathSnapshot
  /// `nil` if changes are not tracked.
  var feed: PostgresFeed?
  /// Whether documents may expire.
  var hasExpirations: Bool
  let names: PostgresNames

  var folded: ExactName { description.name.folded }
  /// The expression for the row ID of a new document.
  var newRowID: PostgresSQL { "nextval(\(SQLName.literal(sequence, .postgres)))" }
  /// The expression for the highest row ID that was ever used; NULL for a role without rights on the sequence.
  var highestRowID: String {
    let name = SQLName.literal(sequence, .postgres)
    return
      "CASE WHEN has_sequence_privilege(\(name), 'SELECT') "
      + "THEN coalesce(pg_sequence_last_value(\(name)::regclass), 0) END"
  }
  /// Selects the row ID that the sequence returns next; the largest if there is none, which no document may have.
  var nextRowID: PostgresStatement {
    PostgresStatement(
      "SELECT CASE WHEN is_called AND last_value < \(Int64.max) THEN last_value + 1 "
        + "ELSE last_value END FROM \(sequence)")
  }
  var defaults: FieldDefaults? { FieldDefaults(settings.defaults) }
  /// Whether inserting a document can violate more than the uniqueness of its key.
  var hasUniqueIndexes: Bool { indexes.contains { $0.definition.isUnique } }
}

/// How the documents of a collection are laid out.
enum PostgresLayout: String, Sendable {
  case plain, partitions, distributed

  /// Whether the collection spans several tables, where a unique index must include the key.
  var isSplit: Bool { self != .plain }
}

/// An index on fields.
struct PostgresIndex: Sendable {
  var definition: IndexDefinition
  var sqlName: String
}

/// A full-text index: a column with the tokens (words or substrings), and one with their count.
struct PostgresTextIndex: Sendable {
  var definition: FullTextIndexDefinition
  var sqlName: String
  /// The column of type `tsvector`. The token count is in a column with the suffix `_n`.
  var column: String
  /// The name of the table with the numbers of documents and tokens; `nil` for an index of an earlier version.
  var statistics: String?
  var lengthColumn: String { column + "_n" }
}
