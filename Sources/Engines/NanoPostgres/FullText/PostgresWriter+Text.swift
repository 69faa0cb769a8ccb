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
    let column = "nano_text_" + PostgresNames.random()
    let new = PostgresTextIndex(
      definition: index,
      sqlName: PostgresNames.index(index.name, of: table.collection.folded.text), column: column,
      statistics: newStatisticsName(table))
    try savepoint {
      _ = try session.run(
        .once(
          "ALTER TABLE \(table.collection.table) ADD COLUMN \(column) tsvector, "
            + "ADD COLUMN \(column)_n bigint"))
      // The server fills an index faster than it extends one.
      try fill(new, table)
      _ = try session.run(
        .once(
          "CREATE INDEX \(SQLName.quoted(new.sqlName)) ON \(table.collection.table) USING gin (\(column))"
        ))
      try createStatistics(new, table)
      try record(index.name, new.sqlName, "text", new.object, table)
    }
  }

  /// Returns a name for the statistics of an index. A distributed table has no triggers that could keep them.
  private func newStatisticsName(_ table: WriterTable) -> String? {
    table.collection.layout == .distributed
      ? nil : "nano_counts_" + PostgresNames.random()
  }

  /// Counts the documents and tokens of an index.
  private func createStatistics(_ index: PostgresTextIndex, _ table: WriterTable) throws {
    guard let statistics = TextStatistics(index, table.collection, names) else { return }
    _ = try session.run(statistics.creation + statistics.counting)
  }

  /// Tokenizes all documents again and counts them, also those of an index without statistics.
  ///
  /// It drops nothing that exists, since that would wait for readers, which wait for the index that was rebuilt before.
  func rebuild(_ index: PostgresTextIndex, _ table: WriterTable) throws {
    if let statistics = TextStatistics(index, table.collection, names) {
      // Another program may have dropped some of them.
      _ = try session.run(statistics.creation)
      try fill(index, table)
      _ = try session.run(statistics.counting)
      return
    }
    var index = index
    try fill(index, table)
    index.statistics = newStatisticsName(table)
    try createStatistics(index, table)
    guard index.statistics != nil else { return }
    try record(index.definition.name, index.sqlName, "text", index.object, table)
  }

  /// The number of documents whose tokens are written together. Arbitrary.
  private static let fillBatchSize = 500

  /// Tokenizes the texts of all documents. They do not count as changed, so no change feed reports them.
  private func fill(_ index: PostgresTextIndex, _ table: WriterTable) throws {
    let alteration = "ALTER TABLE \(table.collection.table)"
    let isTracked = table.collection.feed != nil
    if isTracked {
      _ = try session.run(.once("\(alteration) DISABLE TRIGGER \(FeedDefinition.writeTrigger)"))
    }
    try fillRows(index, table)
    if isTracked {
      _ = try session.run(
        .once("\(alteration) ENABLE ALWAYS TRIGGER \(FeedDefinition.writeTrigger)"))
    }
  }

  private func fillRows(_ index: PostgresTextIndex, _ table: WriterTable) throws {
    var last: Int64?
    while true {
      let page: PostgresSQL =
        "SELECT id, \(PostgresQueryCompiler.body) FROM \(table.collection.table) "
        + .page(after: last) + " ORDER BY id LIMIT \(Self.fillBatchSize)"
      let rows = try session.run(page.statement)
      guard rows.count > 0 else { return }
      var ids: [Int64] = []
      var tokens: [TokenVector] = []
      for row in 0..<rows.count {
        try session.interruption?.check()
        let subject = DocumentSubject(try rows.body(row, 1))
        ids.append(rows.int(row, 0))
        tokens.append(try TokenVector(index.definition.scope) { subject.texts(at: $0) })
      }
      _ = try session.run(
        PostgresStatement(
          """
          UPDATE \(table.collection.table) AS t SET \(index.column) = v.tokens, \
          \(index.lengthColumn) = v.length FROM unnest($1::bigint[], $2::tsvector[], $3::bigint[]) \
          AS v (id, tokens, length) WHERE t.id = v.id
          """,
          [
            .ints(ids.map { $0 }), .vectors(tokens.map(\.bytes)),
            .ints(tokens.map { Int64($0.count) }),
          ]))
      last = rows.int(rows.count - 1, 0)
    }
  }
}
