// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

extension PostgresWriter {
  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    guard let new = try newIndex(index, in: collection) else { return }
    try dropUnfinished(new, index.name)
    try build(try definition(index, new.sqlName, new.table.collection), index, new.table)
    try record(index, new.sqlName, "fields", index.object, new.table)
  }

  /// Returns where an index must be built, after locking the collection; `nil` if it exists, or was made a declared
  /// one.
  ///
  /// - Parameter isWhole: Whether no other transaction may write to the collection.
  func newIndex(
    _ index: IndexDefinition, in collection: String, isWhole: Bool = true
  ) throws -> (table: WriterTable, sqlName: String)? {
    try index.validate()
    try StoredNames.validate(.index, name: index.name)
    let table = try tableForWriting(collection, isWhole: isWhole)
    // A concurrent build takes the values of expired documents for duplicates.
    if index.isUnique, isWhole { try sweepAll(table) }
    let name = table.collection.description.name
    if let existing = table.collection.indexes.first(where: {
      $0.definition.name.hasSameBytes(as: index.name)
    }) {
      if existing.definition.hasSameEntries(as: index) {
        guard existing.definition.origin == .adaptive, index.origin == .declared else { return nil }
        try record(index, existing.sqlName, "fields", index.object, table)
        return nil
      }
      guard existing.definition.origin == .adaptive, index.origin == .declared else {
        throw StoreError.indexExists(index.name, in: name)
      }
      _ = try dropIndex(index.name, in: collection)
    }
    guard
      !table.collection.fullTextIndexes.contains(where: {
        $0.definition.name.hasSameBytes(as: index.name)
      })
    else {
      throw StoreError.fullTextIndexExists(index.name, in: name)
    }
    if let same = table.collection.indexes.first(where: {
      $0.definition.hasSameEntries(as: index) && $0.definition.origin == .adaptive
    }), index.origin == .declared {
      _ = try dropIndex(same.definition.name, in: collection)
    }
    return (table, PostgresNames.index(index.name, of: table.collection.folded.text))
  }

  /// Drops what is left of an index whose concurrent build was interrupted.
  ///
  /// - Returns: Whether there was something.
  @discardableResult
  private func dropUnfinished(
    _ new: (table: WriterTable, sqlName: String), _ name: String
  ) throws -> Bool {
    let qualified = names.qualified(new.sqlName)
    let left = try session.run(
      PostgresStatement(
        "SELECT to_regclass($1) IS NOT NULL, pg_try_advisory_xact_lock($2)",
        [.text(qualified), .int(core.locks.build(new.sqlName))]))
    guard left.bool(0, 1) else {
      // Its last step waits for the lock of the collection, so this transaction must not wait for it.
      throw StoreError(
        .locked, "The index is being created concurrently",
        [.collection: new.table.collection.description.name, .index: name])
    }
    if left.bool(0, 0) { _ = try session.run(.once("DROP INDEX \(qualified)")) }
    return left.bool(0, 0)
  }

  /// Builds an index. Duplicate values fail the build of a unique index and leave the transaction open.
  private func build(
    _ statement: String, _ index: IndexDefinition, _ table: WriterTable
  ) throws {
    guard index.isUnique else {
      _ = try session.run(.once(statement))
      return
    }
    do {
      _ = try session.run([
        PostgresStatement("SAVEPOINT nano_index"), .once(statement),
        PostgresStatement("RELEASE SAVEPOINT nano_index"),
      ])
    } catch  where session.failure?.state == PostgresFailure.uniqueViolation {
      try session.rollBack(to: "nano_index")
      throw StoreError(
        .uniqueViolation, "Documents have duplicate values, so the index cannot be unique",
        [.collection: table.collection.description.name, .index: index.name])
    }
  }

  func record(
    _ index: IndexDefinition, _ sqlName: String, _ kind: String, _ object: DocumentObject,
    _ table: WriterTable
  ) throws {
    try record(index.name, sqlName, kind, object, table)
  }

  func record(
    _ name: String, _ sqlName: String, _ kind: String, _ object: DocumentObject,
    _ table: WriterTable
  ) throws {
    _ = try session.run(
      PostgresStatement(
        """
        INSERT INTO \(names.qualified("nano_indexes")) (collection, name, sql_name, kind, definition) \
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (collection, name) DO UPDATE SET \
        definition = excluded.definition
        """,
        [
          .exact(table.collection.folded), .text(name), .text(sqlName), .text(kind),
          .text(object.storedText),
        ]))
    try redefine(table)
  }

  /// Returns the statement that creates an index.
  func definition(
    _ index: IndexDefinition, _ sqlName: String, _ collection: PostgresCollection,
    isConcurrent: Bool = false
  ) throws -> String {
    let name = (isConcurrent ? "CONCURRENTLY " : "") + SQLName.quoted(sqlName)
    return switch index.kind {
    case .fields: try fieldDefinition(index, name, collection)
    case .elements: try elementDefinition(index, name, collection)
    }
  }

  private func unsupported(
    _ path: FieldPath, _ index: IndexDefinition, _ collection: PostgresCollection, _ message: String
  ) -> StoreError {
    StoreError(
      .unsupported, message,
      [.collection: collection.description.name, .index: index.name, .field: path.description])
  }

  private func elementDefinition(
    _ index: IndexDefinition, _ name: String, _ collection: PostgresCollection
  ) throws -> String {
    let path = index.columns[0].path
    guard !index.isUnique else {
      throw StoreError(
        .unsupported, "The engine does not support unique indexes on elements",
        [.capability: "uniqueElementIndexes", .index: index.name])
    }
    guard !path.addressesElement else {
      throw StoreError.elementByPosition(path, index: index.name)
        .adding(.collection, collection.description.name)
    }
    guard let expression = ElementIndexExpression(path, names) else {
      throw unsupported(path, index, collection, "A field with this name cannot be indexed")
    }
    return "CREATE INDEX \(name) ON \(collection.table) USING gin ((\(expression.column)))"
  }

  private func fieldDefinition(
    _ index: IndexDefinition, _ name: String, _ collection: PostgresCollection
  ) throws -> String {
    guard !index.isUnique || !collection.layout.isSplit else {
      throw StoreError(
        .unsupported, "A partitioned collection does not support unique indexes on fields",
        [.capability: "uniqueIndexes", .index: index.name])
    }
    var columns: [String] = []
    var tails: [String] = []
    var conditions: [String] = []
    for column in index.columns {
      guard let place = PostgresFieldExpression(column.path, names) else {
        throw unsupported(
          column.path, index, collection, "A field with this name cannot be indexed")
      }
      let direction = column.descending ? " DESC" : ""
      columns += ["\(place.number)\(direction)", "\(place.text)\(direction)"]
      tails.append(place.unique)
      conditions.append("NOT (\(place.number) = '-Infinity' AND \(place.text) = '')")
    }
    // The server accepts at most 32 columns.
    guard columns.count + (index.isUnique ? tails.count : 1) <= 32 else {
      throw StoreError(
        .unsupported, "An index has too many fields",
        [.index: index.name, .limit: index.isUnique ? "10 fields" : "15 fields"])
    }
    if index.isUnique {
      return "CREATE UNIQUE INDEX \(name) ON \(collection.table) "
        + "(\((columns + tails).joined(separator: ", "))) "
        + "WHERE \(conditions.joined(separator: " AND "))"
    }
    return "CREATE INDEX \(name) ON \(collection.table) (\(columns.joined(separator: ", ")), id)"
  }

  /// Builds the index in one step: the server fills an index much faster than documents arrive.
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try createIndex(index, in: collection)
    return true
  }

  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool { true }

  func dropIndex(_ name: String, in collection: String) throws -> Bool {
    guard let table = try table(collection, isWhole: true) else { return false }
    noteWrite()
    let deletion = PostgresStatement(
      "DELETE FROM \(names.qualified("nano_indexes")) WHERE collection = $1 AND name = $2",
      [.exact(table.collection.folded), .text(name)])
    if let index = table.collection.indexes.first(where: {
      $0.definition.name.hasSameBytes(as: name)
    }) {
      _ = try session.run([
        .once("DROP INDEX IF EXISTS \(names.qualified(index.sqlName))"), deletion,
      ])
    } else if let index = table.collection.fullTextIndexes.first(where: {
      $0.definition.name.hasSameBytes(as: name)
    }) {
      let columns = [index.column, index.lengthColumn].map { "DROP COLUMN \($0)" }
      let statistics = TextStatistics(index, table.collection, names)?.removal ?? []
      _ = try session.run(
        statistics + [
          .once("ALTER TABLE \(table.collection.table) \(columns.joined(separator: ", "))"),
          deletion,
        ])
    } else {
      let sqlName = PostgresNames.index(name, of: table.collection.folded.text)
      return try dropUnfinished((table, sqlName), name)
    }
    try redefine(table)
    return true
  }

  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    let table = try tableForWriting(collection, isWhole: true)
    try savepoint {
      if table.collection.indexing != policy {
        let name = PostgresNames.wholeIndex(of: table.collection.folded.text)
        let quoted = SQLName.quoted(name)
        let change =
          policy == .everything
          ? "CREATE INDEX \(quoted) ON \(table.collection.table) USING gin (body)"
          : "DROP INDEX IF EXISTS \(names.qualified(name))"
        _ = try session.run([
          .once(change),
          PostgresStatement(
            "UPDATE \(names.qualified("nano_collections")) SET indexing = $2 WHERE folded = $1",
            [.exact(table.collection.folded), .text(policy.rawValue)]),
        ])
        try redefine(table)
      }
      try progress?(1)
    }
  }

  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {
    guard let table = try table(collection, isWhole: true) else { return try progress?(1) ?? () }
    noteWrite()
    try savepoint {
      try progress?(0)
      if !table.collection.layout.isSplit {
        _ = try session.run(.once("REINDEX TABLE \(table.collection.table)"))
      } else {
        for index in table.collection.indexes {
          _ = try dropIndex(index.definition.name, in: collection)
          try createIndex(index.definition, in: collection)
        }
      }
      for index in table.collection.fullTextIndexes { try rebuild(index, table) }
      try progress?(1)
    }
  }
}
