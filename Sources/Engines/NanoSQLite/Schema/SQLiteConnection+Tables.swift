// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension SQLiteConnection {
  /// Runs a block with one of a table's statements.
  @inline(__always)
  func with<Result>(
    _ table: CollectionTable, _ kind: CollectionTable.Statement,
    _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try use(
      try table.prepared(kind, on: self), needsTriggers: needsTriggers(table, kind), work)
  }

  private func needsTriggers(_ table: CollectionTable, _ kind: CollectionTable.Statement) -> Bool {
    if kind.readsOne { return false }
    guard let known = table.isAlone, known.transaction == transactions else { return true }
    return !known.isAlone || kind.deletes
  }

  /// Returns the table of a collection in the current snapshot; `nil` if there is no such collection.
  func table(_ name: String) throws -> CollectionTable? {
    currentCollection = name
    // SQLite would look for a different name.
    guard isUTF8 || TextEncoding.preserves(name) else { return nil }
    let state = try first(
      SQLFragment(
        "SELECT name, identity, generation, indexing, parts FROM nano_collections WHERE name = ?",
        [.text(name)]),
      // A get calls this for its first document after triggers were switched.
      needsTriggers: false
    ) { row in
      guard let identity = CollectionIdentity(rawValue: row.text(1) ?? ""),
        let indexing = IndexingPolicy(rawValue: row.text(3) ?? ""),
        row.isInt(2), CollectionRow.generations.contains(row.int(2)),
        row.isInt(4), CollectionRow.allParts.contains(row.int(4))
      else { throw try damage(toCollection: name) }
      return (
        CollectionDescription(name: row.text(0) ?? name, identity: identity), row.int(2),
        indexing, AttributeUsage(rawValue: row.int(4))
      )
    }
    guard let (description, generation, indexing, parts) = state else {
      tables[ExactName(name)] = nil
      return nil
    }
    // Cached under the name with which the collection was created: other spellings share the metadata.
    if let cached = tables[ExactName(description.name)], cached.generation == generation,
      cached.description == description
    {
      if !name.hasSameBytes(as: description.name) { tables[ExactName(name)] = cached }
      return cached
    }
    let table = try load(description, generation, indexing, parts)
    tables[ExactName(name)] = table
    tables[ExactName(description.name)] = table
    return table
  }

  /// Like ``table(_:)``, and determines whether there are foreign rows, which the path catalog does not cover.
  func tableForQuery(_ name: String) throws -> CollectionTable? {
    guard let table = try table(name) else { return nil }
    table.hasForeignRows = try hasForeignRows(table.description.name)
    return table
  }

  func hasForeignRows(_ table: String) throws -> Bool {
    try first(
      SQLFragment("SELECT 1 FROM \(SQLName.quoted(table)) WHERE revision IS NULL LIMIT 1")
    ) { _ in true } ?? false
  }

  private func load(
    _ description: CollectionDescription, _ generation: Int64, _ indexing: IndexingPolicy,
    _ parts: AttributeUsage
  ) throws -> CollectionTable {
    var indexes: [IndexDefinition] = []
    var sqlNames: [ExactName: String] = [:]
    var unfinished: [IndexSchema] = []
    var textSchemas: [FullTextIndexSchema] = []
    for row in try indexRows(of: description.name) {
      switch row.definition {
      case .text(let index):
        textSchemas.append(
          FullTextIndexSchema(collection: description.name, index: index, sqlName: row.sqlName))
      case .index(let index) where row.isUnfinished:
        unfinished.append(
          IndexSchema(collection: description.name, index: index, sqlName: row.sqlName))
      case .index(let index):
        indexes.append(index)
        sqlNames[ExactName(index.name)] = row.sqlName
      }
    }
    if parts.contains(.expiration) { hasExpirations.set() }
    try noteCollection(description.name)
    // The plans of cached statements may have changed.
    forgetPlans()
    let paths = PathTrie()
    try addStoredPaths(of: description.name, to: paths)
    return CollectionTable(
      description, generation: generation, indexes: indexes, sqlNames: sqlNames,
      unfinished: unfinished, paths: paths, indexing: indexing, parts: parts,
      settings: try storedSettings(of: description.name), ordersText: try encoding() == "UTF-8",
      text: FullTextIndexes(textSchemas), feed: try storedFeed(of: description.name))
  }

  /// Adds a collection to those that user-defined triggers must not damage, with all others at first: a trigger may
  /// write to a different collection than the one that fires it.
  private func noteCollection(_ name: String) throws {
    guard let statementGuard, !isReadOnly else { return }
    statementGuard.note(name)
    guard !statementGuard.knowsCollections else { return }
    do {
      let sql = SQLFragment("SELECT name FROM nano_collections")
      statementGuard.note(all: try all(sql) { $0.text(0) ?? "" })
    } catch let error as StoreError where error.code == .corruptFile {
      // A damaged page must not make the collections on the others unusable.
    }
  }

  /// Returns the rows of `nano_indexes`, sorted by name.
  private func indexRows(of collection: String) throws -> [IndexRow] {
    let columns = IndexRow.columns.joined(separator: ", ")
    let rows = try all(
      SQLFragment(
        "SELECT \(columns) FROM nano_indexes WHERE collection = ?",
        [.text(collection)])
    ) { try IndexRow($0.values(IndexRow.columns.count)) }.sorted { $0.name.isBefore($1.name) }
    // A name can occur twice only if the order of the table is damaged.
    for (row, next) in zip(rows, rows.dropFirst()) where row.name.hasSameBytes(as: next.name) {
      throw RowDamage.error(
        IndexRow.table, column: "name", collection: collection, index: row.name,
        expected: "a unique index name", actual: .string(row.name))
    }
    return rows
  }

  private func storedSettings(of collection: String) throws -> CollectionSettings {
    try first(
      SQLFragment("SELECT settings FROM nano_collections WHERE name = ?", [.text(collection)])
    ) { row in
      // Most collections have no settings.
      if row.bytes(0).elementsEqual("{}".utf8) { return CollectionSettings() }
      return try CollectionRow.settings(
        InternalRow(
          table: CollectionRow.table, columns: ["settings"], values: [row.value(0)],
          collection: collection))
    } ?? CollectionSettings()
  }

  /// Returns the names and identities of all collections, sorted by name.
  ///
  /// - Throws: ``StoreError/Code/corruptFile`` for an invalid name, and for a name that occurs in several rows,
  ///   as in a table with damaged pages.
  func collectionNames() throws -> [(name: String, identity: String?)] {
    let rows = try RowDamage.naming(CollectionRow.table) {
      try all("SELECT name, identity FROM nano_collections") { row in
        guard case .string(let name) = row.value(0) else {
          throw RowDamage.error(
            CollectionRow.table, column: "name", collection: nil, expected: "text",
            actual: row.value(0))
        }
        return (name: name, folded: name.folded, identity: row.text(1))
      }
    }
    // Sorted in Swift: a UTF-16 database sorts text by its UTF-16 bytes.
    let sorted = rows.sorted { $0.folded < $1.folded }
    for (row, next) in zip(sorted, sorted.dropFirst()) where row.folded == next.folded {
      throw RowDamage.error(
        CollectionRow.table, column: "name", collection: row.name,
        expected: "a unique collection name", actual: .string(row.name))
    }
    return sorted.map { ($0.name, $0.identity) }
  }

  /// Returns the error that describes the damage to the row of a collection.
  func damage(toCollection name: String) throws -> any Error {
    let columns = CollectionRow.columns.joined(separator: ", ")
    let values = try first(
      SQLFragment("SELECT \(columns) FROM nano_collections WHERE name = ?", [.text(name)])
    ) { $0.values(CollectionRow.columns.count) }
    do { _ = try CollectionRow(values ?? []) } catch { return error.adding(.collection, name) }
    return StoreError(
      .corruptFile, "A row of the store's internal tables is damaged",
      [.table: CollectionRow.table, .collection: name])
  }
}

extension SQLiteConnection {
  /// Adds the paths of a collection from the file's path catalog.
  func addStoredPaths(of collection: String, to paths: PathTrie) throws {
    try with(
      SQLFragment(
        "SELECT path, types, attribute FROM nano_paths WHERE collection = ?", [.text(collection)])
    ) { row in
      while try row.step() {
        let path = CatalogPath(row.text(0) ?? "")
        guard path.isSound, row.isInt(1), PathRow.allTypes.contains(row.int(1)),
          row.isInt(2), PathRow.attributes.contains(row.int(2))
        else {
          _ = try PathRow([.string(collection)] + row.values(3))
          continue
        }
        paths.add(path, Int32(row.int(1)), attribute: Int32(row.int(2)))
      }
    }
    paths.settle()
  }
}
