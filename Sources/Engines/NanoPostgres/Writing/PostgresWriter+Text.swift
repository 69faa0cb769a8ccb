// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresWriter {
  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    try index.validate()
    try StoredNames.validate(.index, name: index.name)
    let table = try tableForWriting(collection, isWhole: true)
    if table.collection.fullTextIndexes.contains(where: { $0.definition == index }) { return }
    let names =
      table.collection.fullTextIndexes.map(\.definition.name)
      + table.collection.indexes.map(\.definition.name)
    guard !names.containsExactly(index.name) else {
      throw StoreError.indexExists(index.name, in: table.collection.description.name)
    }
    let sqlName = PostgresNames.index(index.name, of: table.collection.folded.text)
    let column = "nano_text_" + PostgresNames.hash(index.name)
    _ = try session.run([
      .once(
        "ALTER TABLE \(table.collection.table) ADD COLUMN \(column) tsvector, "
          + "ADD COLUMN \(column)_n bigint"),
      .once(
        "CREATE INDEX \(SQLName.quoted(sqlName)) ON \(table.collection.table) USING gin (\(column))"
      ),
    ])
    try record(index.name, sqlName, "text", index.object(column: column), table)
    if let made = table.collection.fullTextIndexes.first(where: { $0.definition == index }) {
      try fill(made, table)
    }
  }

  /// The number of documents whose tokens are written together. Arbitrary.
  private static let fillBatchSize = 500

  /// Tokenizes the texts of all documents.
  func fill(_ index: PostgresTextIndex, _ table: WriterTable) throws {
    var last = Int64.min
    while true {
      let rows = try session.run(
        PostgresStatement(
          """
          SELECT id, \(PostgresQueryCompiler.body) FROM \(table.collection.table) WHERE id > $1 \
          ORDER BY id LIMIT \(Self.fillBatchSize)
          """, [.int(last)]))
      guard rows.count > 0 else { return }
      var updates: [PostgresStatement] = []
      for row in 0..<rows.count {
        try session.interruption?.check()
        let subject = DocumentSubject(try rows.body(row, 1))
        let tokens = TextTokenList.tokens(index.definition.scope) { subject.texts(at: $0) }
        updates.append(
          PostgresStatement(
            """
            UPDATE \(table.collection.table) SET \(index.column) = array_to_tsvector($2), \
            \(index.lengthColumn) = $3 WHERE id = $1
            """,
            [
              .int(rows.int(row, 0)), .texts(tokens.distinct.map { $0 }),
              .int(Int64(tokens.count)),
            ]))
      }
      _ = try session.run(updates)
      last = rows.int(rows.count - 1, 0)
    }
  }
}
