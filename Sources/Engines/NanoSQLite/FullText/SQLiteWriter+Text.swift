// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Creation of full-text indexes.
extension SQLiteWriter {
  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    try index.validate()
    try StoredNames.validate(.index, name: index.name)
    if !connection.isUTF8 { try TextEncoding.requireUTF16(name: index.name) }
    let table = try tableForWriting(collection)
    let name = table.description.name
    if let existing = table.text?.schemas.first(where: {
      $0.index.name.hasSameBytes(as: index.name)
    }) {
      guard existing.index == index else { throw StoreError.indexExists(index.name, in: name) }
      return
    }
    guard !table.allSchemas.contains(where: { $0.index.name.hasSameBytes(as: index.name) }) else {
      throw StoreError.indexExists(index.name, in: name)
    }
    try flush()
    let schema = FullTextIndexSchema(
      collection: name, index: index,
      sqlName: try freeName(
        FullTextIndexSchema.sqlNames(name, index), suffixes: FullTextIndexSchema.suffixes))
    // Runs in a savepoint, because a failure could otherwise leave the first of several statements applied.
    try savepoint { try connection.recordingLoss { try connection.execute(try schema.create()) } }
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_indexes(collection, name, kind, is_unique, columns, sql_name, origin) "
          + "VALUES (?, ?, ?, 0, ?, ?, 'declared')",
        [
          .text(name), .text(index.name), .text(index.tokens.rawValue),
          .text(IndexColumns.text(index.fields.map { IndexDefinition.Column($0) })),
          .text(schema.sqlName),
        ]))
    try nextGeneration(name)
  }

}
