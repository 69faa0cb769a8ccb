// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Reads the metadata of collections from the catalog tables.
struct CollectionLoader {
  let names: PostgresNames

  /// Selects the row of a collection in the catalog.
  func row(_ folded: ExactName) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT name, table_name, identity, incarnation, generation, settings, indexing, keeps_source, layout, \
      feed FROM \(names.qualified("nano_collections")) WHERE folded = $1
      """, [.exact(folded)])
  }

  /// Selects the generation and the incarnation, and whether the table name resolves to a table of this
  /// snapshot. The server resolves table names against the current catalog, not the snapshot, and a table
  /// created since the snapshot has no rows that the snapshot sees.
  ///
  /// The result applies to the preceding statements, which have locked the table.
  func checkedRow(_ folded: ExactName) -> PostgresStatement {
    let schema = SQLName.literal(names.schema, .postgres)
    return PostgresStatement(
      """
      SELECT generation, incarnation, EXISTS (SELECT FROM pg_catalog.pg_class AS t \
      WHERE t.oid = to_regclass(format('%I.%I', \(schema)::text, table_name))) \
      FROM \(names.qualified("nano_collections")) WHERE folded = $1
      """, [.exact(folded)])
  }

  func definitions(_ folded: ExactName) -> [PostgresStatement] {
    [
      PostgresStatement(
        """
        SELECT name, sql_name, kind, definition FROM \(names.qualified("nano_indexes")) \
        WHERE collection = $1 ORDER BY name
        """, [.exact(folded)]),
      PostgresStatement(
        "SELECT path, types FROM \(names.qualified("nano_paths")) WHERE collection = $1",
        [.exact(folded)]),
    ]
  }

  /// - Parameter results: The results of ``row(_:)`` and ``definitions(_:)``.
  func collection(
    _ row: PostgresResult, _ results: ArraySlice<PostgresResult>
  ) throws -> PostgresCollection? {
    guard row.count > 0, let indexes = results.first, let paths = results.dropFirst().first else {
      return nil
    }
    let name = row.text(0, 0)
    let settings = try row.optionalText(0, 5).map { try Self.object($0) } ?? [:]
    var collection = PostgresCollection(
      description: CollectionDescription(
        storedName: name, identity: CollectionIdentity(rawValue: row.text(0, 2))),
      table: names.qualified(row.text(0, 1)), tableName: row.text(0, 1),
      sequence: names.qualified(PostgresNames.sequence(of: name.folded)),
      incarnation: row.int(0, 3), generation: row.int(0, 4),
      settings: CollectionSettings(settings),
      indexing: IndexingPolicy(rawValue: row.text(0, 6)) ?? .declared, keepsSource: row.bool(0, 7),
      layout: PostgresLayout(rawValue: row.text(0, 8)) ?? .plain, indexes: [], fullTextIndexes: [],
      paths: PathSnapshot(
        (0..<paths.count).map { .init(path: Array(paths.bytes($0, 0)), types: paths.int($0, 1)) }),
      feed: try row.optionalText(0, 9).map { PostgresFeed(try Self.object($0)) },
      hasExpirations: settings[PostgresCollection.expirationsField] != nil, names: names)
    for number in 0..<indexes.count {
      let definition = try definition(indexes, number, of: name)
      if indexes.text(number, 2) == "text" {
        let text = FullTextIndexDefinition(definition, name: indexes.text(number, 0))
        try checkingDefinition(name) { () throws(StoreError) in try text.validate() }
        collection.fullTextIndexes.append(
          PostgresTextIndex(
            definition: text, sqlName: indexes.text(number, 1),
            column: definition["column"]?.string ?? "",
            statistics: definition["statistics"]?.string))
      } else {
        let index = IndexDefinition(definition, name: indexes.text(number, 0))
        try checkingDefinition(name) { () throws(StoreError) in try index.validate() }
        collection.indexes.append(
          PostgresIndex(definition: index, sqlName: indexes.text(number, 1)))
      }
    }
    return collection
  }

  private func definition(
    _ indexes: PostgresResult, _ number: Int, of collection: String
  ) throws(StoreError) -> DocumentObject {
    var definition = DocumentObject()
    try checkingDefinition(collection) { () throws(StoreError) in
      definition = try Self.object(indexes.text(number, 3))
    }
    return definition
  }

  /// Rejects a definition that the store would not have written, such as an index without a field.
  private func checkingDefinition(
    _ collection: String, _ check: () throws(StoreError) -> Void
  ) throws(StoreError) {
    do throws(StoreError) { try check() } catch {
      throw StoreError(
        .corruptFile, "A row of the store's internal tables is damaged",
        [
          .table: "nano_indexes", .column: "definition", .collection: collection,
          .expected: "an index definition",
        ])
    }
  }

  static func object(_ text: String) throws(StoreError) -> DocumentObject {
    var text = text
    let read = text.withUTF8 { bytes in
      Result { () throws(StoreError) in
        var reader = JSONReader(UnsafeRawBufferPointer(bytes))
        return try reader.object()
      }
    }
    return try read.get()
  }
}

extension DocumentObject {
  var storedText: String {
    var writer = JSONWriter()
    writer.object(self)
    return writer.text
  }
}

extension IndexDefinition {
  /// The stored form of the definition.
  var object: DocumentObject {
    var object: DocumentObject = [
      "columns": .array(
        columns.map { column in
          var stored: DocumentObject = ["path": .string(column.path.description)]
          if column.descending { stored["descending"] = true }
          return .object(stored)
        })
    ]
    if isUnique { object["unique"] = true }
    if kind != .fields { object["kind"] = .string(kind.rawValue) }
    if origin != .declared { object["origin"] = .string(origin.rawValue) }
    if let reason { object["reason"] = .string(reason) }
    return object
  }

  init(_ object: DocumentObject, name: String) {
    self.init(
      name: name,
      columns: (object["columns"]?.array ?? []).map { column in
        Column(
          FieldPath(column.object?["path"]?.string ?? ""),
          descending: column.object?["descending"]?.bool ?? false)
      },
      isUnique: object["unique"]?.bool ?? false,
      kind: object["kind"]?.string.flatMap(Kind.init) ?? .fields,
      origin: object["origin"]?.string.flatMap(Origin.init) ?? .declared,
      reason: object["reason"]?.string)
  }
}

extension PostgresTextIndex {
  /// The stored form of the definition.
  var object: DocumentObject {
    var object: DocumentObject = [
      "fields": .array(definition.fields.map { .string($0.description) }),
      "tokens": .string(definition.tokens.rawValue), "column": .string(column),
    ]
    if let statistics { object["statistics"] = .string(statistics) }
    return object
  }
}

extension FullTextIndexDefinition {
  init(_ object: DocumentObject, name: String) {
    self.init(
      name: name,
      fields: (object["fields"]?.array ?? []).compactMap(\.string).map { FieldPath($0) },
      tokens: object["tokens"]?.string.flatMap(Tokenizer.init) ?? .words)
  }
}
