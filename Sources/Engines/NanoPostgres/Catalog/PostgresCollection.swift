// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// What is known of a collection: read once, and again when its generation is another one.
struct PostgresCollection: Sendable {
  var description: CollectionDescription
  /// Its table, with the schema and quoted.
  var table: String
  var tableName: String
  var incarnation: Int64
  /// Goes up with each change of definitions, settings and paths.
  var generation: Int64
  var settings: CollectionSettings
  var indexing: IndexingPolicy
  /// Whether bodies stand there as they were written too.
  var keepsSource: Bool
  var layout: PostgresLayout
  var indexes: [PostgresIndex]
  var textIndexes: [PostgresTextIndex]
  var paths: PathSnapshot

  var folded: ExactName { description.name.folded }
  var defaults: FieldDefaults? { FieldDefaults(settings.defaults) }
  /// Whether a second document with values of the first may be refused for more than its key.
  var hasUniqueIndexes: Bool { indexes.contains { $0.definition.isUnique } }
}

/// How the documents of a collection are laid out.
enum PostgresLayout: String, Sendable {
  case plain, partitions, distributed

  /// Whether more than one table holds them, so that only what holds the key can be unique.
  var isSplit: Bool { self != .plain }
}

/// An index by fields.
struct PostgresIndex: Sendable {
  var definition: IndexDefinition
  var sqlName: String
}

/// An index of the words or parts of texts: a column with them, and one with their number.
struct PostgresTextIndex: Sendable {
  var definition: FullTextIndexDefinition
  var sqlName: String
  /// The column of type tsvector; that with the number of tokens has `_n` behind.
  var column: String
  var lengthColumn: String { column + "_n" }
}

/// What the row of a collection holds that changes with every write.
struct CollectionState {
  var generation: Int64
  var incarnation: Int64
  var nextRowID: Int64
  var changes: Int64
}
