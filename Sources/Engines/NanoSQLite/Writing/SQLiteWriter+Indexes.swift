// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Creating and dropping indexes.
extension SQLiteWriter {
  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    guard let collectionName = try collectionForNewIndex(index, in: collection) else { return }
    if index.isUnique { try sweepAll(try tableForWriting(collectionName)) }
    let schema = IndexSchema(
      collection: collectionName, index: index, sqlName: try freeName(index, in: collectionName),
      decimals: try decimals(of: index, in: collectionName))
    try requireReadable(schema)
    // An index on elements is created by several statements; without a savepoint, a failure would leave the
    // first ones applied.
    try savepoint { try create(schema) }
    try note(schema, filled: nil)
  }

  /// Creates the side table and the triggers of an index on elements immediately, so that later writes maintain
  /// it, and fills it in steps. SQLite creates an index on fields in a single statement.
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    guard index.kind == .elements, !index.isUnique else {
      try createIndex(index, in: collection)
      return true
    }
    // Another process may have begun the index.
    let begun = try existing(collection)?.unfinished ?? []
    if begun.contains(where: {
      $0.index.name.hasSameBytes(as: index.name) && $0.index.hasSameEntries(as: index)
    }) {
      return false
    }
    guard let collectionName = try collectionForNewIndex(index, in: collection) else { return true }
    let schema = IndexSchema(
      collection: collectionName, index: index, sqlName: try freeName(index, in: collectionName),
      decimals: try decimals(of: index, in: collectionName))
    try requireReadable(schema)
    try savepoint { try connection.execute(try schema.begin()) }
    try note(schema, filled: Int64.min)
    return false
  }

  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool {
    guard let table = try existing(collection),
      let schema = table.unfinished.first(where: { $0.index.name.hasSameBytes(as: name) })
    else { return true }
    let collectionName = table.description.name
    let filled =
      try connection.first(
        SQLFragment(
          "SELECT filled FROM nano_indexes WHERE collection = ? AND name = ?",
          [.text(collectionName), .text(name)])
      ) { $0.int(0) } ?? Int64.min
    let end = try connection.first(
      SQLFragment(
        "SELECT id FROM \(SQLName.quoted(collectionName)) WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
        [.int(filled), .int(Int64(max(1, documents) - 1))])
    ) { $0.int(0) }
    // No integer is below the lowest row ID.
    let start = filled == .min ? SQLBinding.double(-.infinity) : .int(filled)
    do {
      try connection.run(SQLFragment(try schema.fillRange(), [start, .int(end ?? Int64.max)]))
    } catch {
      if let failure = try unreadable(schema) { throw failure }
      throw error
    }
    try connection.run(
      SQLFragment(
        "UPDATE nano_indexes SET filled = ? WHERE collection = ? AND name = ?",
        [end.map { .int($0) } ?? .null, .text(collectionName), .text(name)]))
    guard end == nil else { return false }
    try nextGeneration(collectionName)
    return true
  }

  /// Returns the collection's name as created; `nil` if the index does not need to be created.
  private func collectionForNewIndex(
    _ index: IndexDefinition, in collection: String
  ) throws -> String? {
    try index.validate()
    try StoredNames.validate(.index, name: index.name)
    if !connection.isUTF8 { try TextEncoding.requireUTF16(name: index.name) }
    let table = try tableForWriting(collection)
    let name = table.description.name
    let isDeclared = index.origin == .declared
    if table.text?.schemas.contains(where: { $0.index.name.hasSameBytes(as: index.name) }) == true {
      guard isDeclared else { return nil }
      throw StoreError.fullTextIndexExists(index.name, in: name)
    }
    if let current = table.indexes.first(where: { $0.name.hasSameBytes(as: index.name) }) {
      let replacesAdaptive = isDeclared && current.origin == .adaptive
      guard current.hasSameEntries(as: index) || replacesAdaptive else {
        throw StoreError.indexExists(index.name, in: name)
      }
      if current.hasSameEntries(as: index) {
        if replacesAdaptive { try adopt(current, as: index, in: name) }
        return nil
      }
      _ = try dropIndex(current.name, in: name)
    }
    if let same = table.indexes.first(where: { $0.hasSameEntries(as: index) }) {
      if !isDeclared { return nil }
      if same.origin == .adaptive {
        try adopt(same, as: index, in: name)
        return nil
      }
    }
    for begun in table.unfinished
    where begun.index.hasSameEntries(as: index) || begun.index.name.hasSameBytes(as: index.name) {
      guard isDeclared else { return nil }
      _ = try dropIndex(begun.index.name, in: name)
    }
    return name
  }

  /// Turns an adaptive index into a declared one.
  private func adopt(
    _ current: IndexDefinition, as index: IndexDefinition, in collection: String
  ) throws {
    try connection.run(
      SQLFragment(
        "UPDATE nano_indexes SET name = ?, origin = 'declared', reason = NULL "
          + "WHERE collection = ? AND name = ?",
        [.text(index.name), .text(collection), .text(current.name)]))
    try nextGeneration(collection)
  }

  private func note(_ schema: IndexSchema, filled: Int64?) throws {
    let index = schema.index
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_indexes"
          + "(collection, name, kind, is_unique, columns, sql_name, origin, reason, filled) "
          + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          .text(schema.collection), .text(index.name), .text(index.kind.rawValue),
          .int(index.isUnique ? 1 : 0), .text(IndexColumns.text(index.columns)),
          .text(schema.sqlName), .text(index.origin.rawValue),
          index.reason.map { .text($0) } ?? .null, filled.map { .int($0) } ?? .null,
        ]))
    guard filled == nil else { return try nextGeneration(schema.collection) }
    let table = try tableForWriting(schema.collection)
    try increaseGeneration(table)
    table.add(schema)
    connection.forgetPlans()
  }

  private func decimals(of index: IndexDefinition, in collection: String) throws -> Set<FieldPath> {
    let paths = try tableForWriting(collection).paths
    return Set(index.columns.map(\.path).filter { paths.hasDecimals(at: $0) })
  }

  func create(_ schema: IndexSchema) throws {
    do {
      try connection.execute(try schema.create())
    } catch {
      guard error.isConstraint else { throw try unreadable(schema) ?? error }
      throw StoreError(
        .uniqueViolation, "Documents have equal values, so the index cannot be unique",
        [.collection: schema.collection, .index: schema.index.name])
    }
  }

  private func requireReadable(_ schema: IndexSchema) throws {
    // SQLite compares every index with each query on the table, so the query is worth avoiding.
    if try tableForWriting(schema.collection).hasStuckRows, let failure = try unreadable(schema) {
      throw failure
    }
  }

  /// Returns the error for a document that SQLite cannot parse, which would prevent the index from being built.
  private func unreadable(_ schema: IndexSchema) throws -> StoreError? {
    guard connection.isInTransaction else { return nil }
    let name = SQLName.quoted(schema.collection)
    return try connection.first(
      SQLFragment("SELECT id FROM \(name) WHERE revision IS NULL AND NOT json_valid(body) LIMIT 1")
    ) { row in
      StoreError(
        .corruptDocument, "A document that another program wrote does not decode",
        [
          .collection: schema.collection, .index: schema.index.name, .rowID: "\(row.int(0))",
          .hint: "repair or delete it; verify lists all such documents",
        ])
    }
  }

  /// Returns an unused name for the definitions of an index.
  private func freeName(_ index: IndexDefinition, in collection: String) throws -> String {
    let candidates = IndexSchema.sqlNames(collection, index)
    if index.kind.hasSideTable {
      return try freeName(candidates, suffixes: IndexSchema.suffixes)
    }
    for name in candidates where try !connection.hasTableOrIndex(name) { return name }
    preconditionFailure("There are more names than indexes.")
  }

  /// Returns the first name that, with any suffix, is not the name of a table, index or trigger.
  func freeName(_ candidates: some Sequence<String>, suffixes: [String]) throws -> String {
    for name in candidates {
      let names = suffixes.map { SQLFragment("?", [.text(name + $0)]) }
      let query =
        SQLFragment("SELECT 1 FROM sqlite_schema WHERE name COLLATE NOCASE IN (")
        + SQLFragment.joined(names, by: ", ") + ")"
      if try connection.first(query, { _ in true }) == nil { return name }
    }
    preconditionFailure("There are more names than indexes.")
  }

  func dropIndex(_ indexName: String, in collection: String) throws -> Bool {
    guard let table = try existing(collection) else { return false }
    let textSchema = table.text?.schemas.first { $0.index.name.hasSameBytes(as: indexName) }
    let schema = table.allSchemas.first { $0.index.name.hasSameBytes(as: indexName) }
    guard let definitions = schema?.drop() ?? textSchema?.drop() else { return false }
    let name = table.description.name
    try flush()
    try connection.execute(definitions)
    try connection.run(
      SQLFragment(
        "DELETE FROM nano_indexes WHERE collection = ? AND name = ?",
        [.text(name), .text(indexName)]))
    try nextGeneration(name)
    return true
  }

  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {
    try requireFree()
    guard let name = try connection.table(collection)?.description.name else { return }
    try connection.run(
      SQLFragment("DELETE FROM nano_index_ledger WHERE collection = ?", [.text(name)]))
    for row in rows {
      try connection.run(
        SQLFragment(
          "INSERT INTO nano_index_ledger(collection, subject, state) VALUES (?, ?, ?)",
          [.text(name), .text(row.subject), .text(row.state)]))
    }
  }
}
