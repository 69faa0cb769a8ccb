// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A transaction in progress on the writing connection.
final class SQLiteWriter: SQLiteReader, EngineWriter {
  /// The collections whose paths may have changed, by the name they were made with.
  private var touched: [String: CollectionTable] = [:]
  private var last: (name: String, table: CollectionTable)?
  private var savepoints = 0
  /// Whether indexes are being made while a progress closure of the caller runs.
  var isReorganizing = false

  override func identity(of collection: String) throws -> CollectionIdentity {
    try existing(collection)?.description.identity ?? .key
  }

  /// A statement of the caller's own finds our paths in the file, and what it changed is looked at
  /// anew.
  override func aroundForeignStatement<Result>(_ work: () throws -> Result) throws -> Result {
    try requireFree()
    try flush()
    defer { forgetTables() }
    return try work()
  }

  /// What the documents brought is written before a query looks for it.
  override func prepareForQuery(_ table: CollectionTable) throws {
    try requireFree()
    try table.leaves?.flush(connection)
  }

  /// The table of a collection, made if there is none.
  func tableForWriting(_ name: String) throws -> CollectionTable {
    try requireFree()
    if let last, last.name == name { return last.table }
    let table = try touchedTable(name) ?? existingOrNew(name)
    touched[table.description.name] = table
    last = (name, table)
    return table
  }

  private func existingOrNew(_ name: String) throws -> CollectionTable {
    // Nobody else has committed since this connection did, so it knows what is in the file.
    if connection.isUnchanged, let table = connection.tables[name], table.isPrepared {
      return table
    }
    if let table = try connection.table(name) {
      try prepareRowIDs(table)
      return table
    }
    try createCollection(CollectionDescription(name: name))
    guard let table = try connection.table(name) else {
      throw StoreError(.database, "A collection could not be made", [.collection: name])
    }
    return table
  }

  /// SQLite gives a new row the largest id and one more, which would use the id of a removed last
  /// row again; then we give the id.
  private func prepareRowIDs(_ table: CollectionTable) throws {
    let name = table.description.name
    let (next, hasForeignRows) = try connection.with(table, .rowIDState) { row in
      try row.bind(name, at: 1)
      guard try row.step() else { return (nil as Int64?, false) }
      let isReused = row.int(0) > row.int(1) && row.int(0) < Int64.max
      return (isReused ? row.int(0) + 1 : nil, row.int(2) != 0)
    }
    table.nextRowID = next
    table.isPrepared = true
    if hasForeignRows { try adoptForeignRows(table) }
  }

  /// Adds rows that another program wrote to the path catalogue. One that does not decode stays
  /// foreign, so that nothing is concluded from paths until it is mended or removed.
  private func adoptForeignRows(_ table: CollectionTable) throws {
    let name = SQLName.quoted(table.description.name)
    let ids = try connection.all(
      SQLFragment("SELECT id, body FROM \(name) WHERE revision IS NULL")
    ) { row in
      do {
        try table.paths.observe(row.bytes(1), table.leaves?.buffer)
        table.leaves?.buffer.commit(id: row.int(0))
        return row.int(0) as Int64?
      } catch {
        table.leaves?.buffer.discard()
        return nil
      }
    }
    // Rows that the other program replaced were removed without the triggers that remove entries.
    for index in table.indexes where index.kind == .elements {
      guard let side = table.sqlNames[index.name].map(SQLName.quoted) else { continue }
      try connection.execute("DELETE FROM \(side) WHERE id NOT IN (SELECT id FROM \(name))")
    }
    for id in ids.compactMap(\.self) {
      try connection.run(SQLFragment("UPDATE \(name) SET revision = 0 WHERE id = ?", [.int(id)]))
    }
  }

  func existing(_ name: String) throws -> CollectionTable? {
    try requireFree()
    if let table = try touchedTable(name) { return table }
    guard try connection.table(name) != nil else { return nil }
    return try tableForWriting(name)
  }

  private func touchedTable(_ name: String) throws -> CollectionTable? {
    if let table = touched[name] { return table }
    guard !touched.isEmpty, let table = try connection.table(name) else { return nil }
    return touched[table.description.name]
  }

  /// Rows were removed, perhaps the last ones.
  private func removed(_ count: Int, from table: CollectionTable) throws {
    if count > 0 { try prepareRowIDs(table) }
  }
}

extension SQLiteWriter {
  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    let table = try tableForWriting(collection)
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    guard let leaves = table.leaves else {
      try table.paths.observe(document.body)
      return try insert(document, table)
    }
    return try indexing(leaves) {
      try table.paths.observe(document.body, leaves.buffer)
      return try insert(document, table)
    }
  }

  private func insert(_ document: NewDocument, _ table: CollectionTable) throws -> Int64 {
    let isPlain = table.nextRowID == nil && document.type == nil && document.version == nil
    return try connection.with(table, isPlain ? .insertPlain : .insert) { statement in
      if isPlain {
        try statement.bind(document.key, at: 1)
        statement.bind(document.added, at: 2)
        try statement.bind(borrowedText: document.body, at: 3)
      } else {
        try bind(document, table, statement)
      }
      do {
        _ = try statement.step()
      } catch {
        throw try violation(error, document, nil, table)
      }
      table.nextRowID = nil
      return sqlite3_last_insert_rowid(connection.handle)
    }
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard let key = document.key else { return try insert(document, into: collection) }
    let table = try tableForWriting(collection)
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    try table.paths.observe(document.body)
    guard let leaves = table.leaves else { return try save(document, key, table) }
    return try indexing(leaves, replacing: .key(key), with: document.body, in: table) { _ in
      try save(document, key, table)
    } ?? 0
  }

  private func save(
    _ document: NewDocument, _ key: DocumentKey, _ table: CollectionTable
  ) throws -> Int64 {
    sqlite3_set_last_insert_rowid(connection.handle, 0)
    try connection.with(table, .save) { statement in
      try bind(document, table, statement)
      do {
        _ = try statement.step()
      } catch {
        throw try violation(error, document, .key(key), table)
      }
    }
    let inserted = sqlite3_last_insert_rowid(connection.handle)
    if inserted != 0 {
      table.nextRowID = nil
      return inserted
    }
    return try connection.with(table, .rowIDOfKey) { statement in
      try statement.bind(key, at: 1)
      return try statement.step() ? statement.int(0) : 0
    }
  }

  @inline(__always)
  private func bind(
    _ document: NewDocument, _ table: CollectionTable, _ statement: SQLiteStatement
  ) throws {
    statement.bind(table.nextRowID, at: 1)
    try statement.bind(document.key, at: 2)
    if let type = document.type {
      try statement.bind(type, at: 3)
    } else {
      statement.bindNull(at: 3)
    }
    statement.bind(document.version, at: 4)
    statement.bind(document.added, at: 5)
    try statement.bind(borrowedText: document.body, at: 6)
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    guard let table = try existing(collection) else { return false }
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    try table.paths.observe(document.body)
    guard let leaves = table.leaves else { return try replace(identity, document, table) }
    return try indexing(leaves, replacing: identity, with: document.body, in: table) { known in
      try replace(identity, document, table) ? known : nil
    } != nil
  }

  private func replace(
    _ identity: Identity, _ document: NewDocument, _ table: CollectionTable
  ) throws -> Bool {
    let kind: CollectionTable.Statement
    switch identity {
    case .key: kind = .replaceByKey
    case .rowID: kind = .replaceByRowID
    }
    return try connection.with(table, kind) { statement in
      try bind(identity, statement)
      if let type = document.type {
        try statement.bind(type, at: 2)
      } else {
        statement.bindNull(at: 2)
      }
      statement.bind(document.version, at: 3)
      try statement.bind(borrowedText: document.body, at: 4)
      do {
        _ = try statement.step()
      } catch {
        throw try violation(error, document, identity, table)
      }
      return connection.changes > 0
    }
  }

  func bind(_ identity: Identity, _ statement: SQLiteStatement) throws {
    switch identity {
    case .key(let key): try statement.bind(key, at: 1)
    case .rowID(let id): statement.bind(id, at: 1)
    }
  }

  func remove(_ identity: Identity, from collection: String) throws -> Bool {
    guard let table = try existing(collection) else { return false }
    let isFound = try remove(identity, table)
    try removed(isFound ? 1 : 0, from: table)
    return isFound
  }

  private func remove(_ identity: Identity, _ table: CollectionTable) throws -> Bool {
    guard let leaves = table.leaves else { return try removeRow(identity, table) }
    return try indexing(leaves, replacing: identity, with: nil, in: table) { known in
      try removeRow(identity, table) ? known : nil
    } != nil
  }

  private func removeRow(_ identity: Identity, _ table: CollectionTable) throws -> Bool {
    let kind: CollectionTable.Statement
    switch identity {
    case .key: kind = .removeByKey
    case .rowID: kind = .removeByRowID
    }
    return try connection.with(table, kind) { statement in
      try bind(identity, statement)
      try statement.finish()
      return connection.changes > 0
    }
  }

  func remove(_ query: Query, from collection: String) throws -> Int {
    guard let table = try existing(collection) else { return 0 }
    table.hasForeignRows = try connection.hasForeignRows(table.description.name)
    let count = try table.leaves == nil ? removeRows(query, table) : removeEach(query, table)
    try removed(count, from: table)
    return count
  }

  private func removeRows(_ query: Query, _ table: CollectionTable) throws -> Int {
    try connection.with(QueryCompiler(table.facts).remove(query).sql) { statement in
      try statement.finish()
      return connection.changes
    }
  }

  /// One by one, since the leaves of each are to be removed as well.
  private func removeEach(_ query: Query, _ table: CollectionTable) throws -> Int {
    try prepareForQuery(table)
    let ids = try connection.all(QueryCompiler(table.facts).select(query, columns: "id").sql) {
      $0.int(0)
    }
    // Undone as a whole if one fails, as a single statement would be.
    try savepoint { for id in ids { _ = try remove(.rowID(id), table) } }
    return ids.count
  }
}

extension SQLiteWriter {
  func createCollection(_ description: CollectionDescription) throws {
    let name = description.name
    try connection.requireTransaction()
    try Schema.validate(description)
    if let known = try connection.table(name) {
      guard known.description.identity == description.identity else {
        throw StoreError(
          .alreadyExists, "A collection of this name has another identity",
          [.collection: name, .actual: known.description.identity.rawValue])
      }
      return
    }
    let taken = try connection.first(
      SQLFragment(
        "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
        [.text(name)])
    ) { _ in true }
    guard taken == nil else {
      throw StoreError(
        .invalidName, "A table of this name exists and is not a collection", [.collection: name])
    }
    try connection.execute(Schema.collection(name))
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_collections(name, identity, generation) VALUES (?, ?, ?)",
        [
          .text(name), .text(description.identity.rawValue), .int(Self.firstGeneration()),
        ]))
  }

  /// Anywhere in 52 bits, so that a collection that is dropped and made again is not taken by other
  /// connections for the one they knew.
  private static func firstGeneration() -> Int64 { .random(in: 1...(1 << 52)) }

  func dropCollection(_ name: String) throws -> Bool {
    try requireFree()
    guard let table = try connection.table(name) else { return false }
    let name = table.description.name
    // What is known of other collections is forgotten below.
    try flush()
    try connection.execute(LeafIndex.drop(name))
    for schema in table.schemas { try connection.execute(schema.drop()) }
    try connection.execute("DROP TABLE \(SQLName.quoted(name))")
    for internalTable in ["nano_indexes", "nano_paths"] {
      try connection.run(
        SQLFragment("DELETE FROM \(internalTable) WHERE collection = ?", [.text(name)]))
    }
    try connection.run(
      SQLFragment("DELETE FROM nano_collections WHERE name = ?", [.text(name)]))
    forgetTables()
    return true
  }

  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    try index.validate()
    try Schema.validate(.index, name: index.name)
    let table = try tableForWriting(collection)
    let name = table.description.name
    if let known = table.indexes.first(where: { $0.name == index.name }) {
      guard known == index else {
        throw StoreError(
          .alreadyExists, "An index of this name has another definition",
          [.collection: name, .index: index.name])
      }
      return
    }
    let schema = IndexSchema(
      collection: name, index: index, sqlName: try freeName(for: index, in: name))
    // An index on elements is made by several statements, of which the first would remain.
    try savepoint { try create(schema) }
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_indexes(collection, name, kind, is_unique, columns, sql_name, origin) "
          + "VALUES (?, ?, ?, ?, ?, ?, 'declared')",
        [
          .text(name), .text(index.name), .text(index.kind.rawValue),
          .int(index.isUnique ? 1 : 0), .text(IndexColumns.text(index.columns)),
          .text(schema.sqlName),
        ]))
    try nextGeneration(name)
  }

  func create(_ schema: IndexSchema) throws {
    do {
      try connection.execute(try schema.create())
    } catch {
      guard error.isConstraint else { throw error }
      throw StoreError(
        .uniqueViolation, "Documents have equal values, so the index cannot be unique",
        [.collection: schema.collection, .index: schema.index.name])
    }
  }

  private func freeName(for index: IndexDefinition, in collection: String) throws -> String {
    for name in IndexSchema.sqlNames(collection, index) {
      let names = IndexSchema.suffixes.map { SQLFragment("?", [.text(name + $0)]) }
      let query =
        SQLFragment("SELECT 1 FROM sqlite_schema WHERE name COLLATE NOCASE IN (")
        + SQLFragment.joined(names, by: ", ") + ")"
      if try connection.first(query, { _ in true }) == nil { return name }
    }
    preconditionFailure("There are more names than indexes.")
  }

  func dropIndex(_ indexName: String, in collection: String) throws -> Bool {
    guard let table = try existing(collection),
      let schema = table.schemas.first(where: { $0.index.name == indexName })
    else { return false }
    let name = table.description.name
    try connection.execute(schema.drop())
    try connection.run(
      SQLFragment(
        "DELETE FROM nano_indexes WHERE collection = ? AND name = ?",
        [.text(name), .text(indexName)]))
    try nextGeneration(name)
    return true
  }

  /// Other connections load the collection anew when they see this; so does this one.
  func nextGeneration(_ name: String) throws {
    try flush()
    try connection.run(
      SQLFragment(
        "UPDATE nano_collections SET generation = generation + 1 WHERE name = ?", [.text(name)]))
    forgetTables()
  }

  func forgetTables() {
    connection.tables.removeAll()
    touched.removeAll()
    last = nil
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try connection.requireTransaction()
    try Schema.validate(nil, name: name)
    guard let value else {
      return try connection.run(
        SQLFragment("DELETE FROM nano_metadata WHERE name = ?", [.text(name)]))
    }
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    try connection.run(
      SQLFragment(
        "INSERT INTO nano_metadata(name, value) VALUES (?, ?) "
          + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [.text(name), .text(writer.text)]))
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try connection.requireTransaction()
    // What came before the savepoint stays when it is undone, and so must its paths and leaves.
    try flush()
    savepoints += 1
    defer { savepoints -= 1 }
    let name = "nano_\(savepoints)"
    try connection.execute("SAVEPOINT \(name)")
    do {
      let result = try work()
      try connection.execute("RELEASE \(name)")
      return result
    } catch {
      // After a full disk SQLite may have rolled back everything already.
      if connection.isInTransaction {
        try connection.execute("ROLLBACK TO \(name); RELEASE \(name)")
      }
      // Collections and paths that the block brought are gone.
      forgetTables()
      throw error
    }
  }

  /// Writes what the documents brought beside themselves into the file, before the commit.
  func flush() throws {
    try flushPaths()
    for table in touched.values { try table.leaves?.flush(connection) }
  }

  /// The paths and types that are new.
  private func flushPaths() throws {
    for table in touched.values where !table.paths.changed.isEmpty {
      let name = table.description.name
      for node in table.paths.takeChanged() {
        try connection.run(
          SQLFragment(
            "INSERT INTO nano_paths(collection, path, types, attribute) VALUES (?, ?, ?, ?) "
              + "ON CONFLICT (collection, path) DO UPDATE SET types = types | excluded.types",
            [
              .text(name), .text(table.paths.path(of: node).text),
              .int(Int64(table.paths.nodes[Int(node)].types)),
              .int(Int64(table.paths.nodes[Int(node)].attribute)),
            ]))
      }
      try connection.run(
        SQLFragment(
          "UPDATE nano_collections SET generation = generation + 1 WHERE name = ?", [.text(name)]))
      table.generation += 1
    }
  }
}

extension SQLiteWriter {
  /// Which unique index refused a document, and which other document has the value.
  private func violation(
    _ error: any Error, _ document: NewDocument, _ identity: Identity?, _ table: CollectionTable
  ) throws -> any Error {
    guard let error = error as? StoreError, error.isConstraint else { return error }
    let name = table.description.name
    let message = error[.engineMessage] ?? ""
    if message.hasSuffix(": \(name).key") {
      return StoreError(
        .duplicateKey, "A document with this key exists already",
        [.collection: name, .key: document.key?.description ?? ""])
    }
    let index = table.indexes.first { index in
      guard index.isUnique, let sqlName = table.sqlNames[index.name] else { return false }
      return message.hasSuffix(": index " + SQLName.literal(sqlName))
        || message.hasSuffix(": \(sqlName).value")
    }
    guard let index else { return error }
    let holder = try holder(of: index, document, identity, table)
    var found = StoreError(
      .uniqueViolation, "A unique index has this value already",
      [.collection: name, .index: index.name])
    if let holder {
      found = found.adding(.rowID, "\(holder.rowID)")
      if let key = holder.key { found = found.adding(.key, key.description) }
    }
    return found
  }

  /// The other document that has the value; the stored form of the same one may share some of its
  /// elements.
  private func holder(
    of index: IndexDefinition, _ document: NewDocument, _ identity: Identity?,
    _ table: CollectionTable
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    let body = String(decoding: document.body, as: UTF8.self)
    let name = SQLName.quoted(table.description.name)
    var sql = SQLFragment("SELECT id, key FROM \(name) WHERE ")
    switch index.kind {
    case .fields:
      let terms = index.columns.compactMap { column -> SQLFragment? in
        guard let stored = FieldExpression.extract(column.path),
          let given = FieldExpression.extract(column.path, from: "?")
        else { return nil }
        return SQLFragment("\(stored) = \(given)", [.text(body)])
      }
      sql.append(SQLFragment.joined(terms, by: " AND "))
    case .elements:
      guard let side = table.sqlNames[index.name] else { return nil }
      let values = PathValues.values(in: try Self.value(document.body), at: index.columns[0].path)
      let parameters = values.compactMap { PlainBinding.binding($0) }
      guard !parameters.isEmpty else { return nil }
      let marks = parameters.map { SQLFragment("?", [$0]) }
      sql.append("id IN (SELECT id FROM \(SQLName.quoted(side)) WHERE value IN (")
      sql.append(SQLFragment.joined(marks, by: ", ") + "))")
    }
    switch identity {
    case .key(.uuid(let high, let low)):
      sql.append(SQLFragment(" AND key IS NOT ?", [.uuid(high, low)]))
    case .key(.text(let key)): sql.append(SQLFragment(" AND key IS NOT ?", [.text(key)]))
    case .rowID(let id): sql.append(SQLFragment(" AND id <> ?", [.int(id)]))
    case nil: break
    }
    return try connection.first(sql) { ($0.int(0), $0.key(1)) }
  }

  private static func value(_ body: UnsafeRawBufferPointer) throws(StoreError) -> DocumentValue {
    var reader = JSONReader(body)
    return try reader.value()
  }
}

extension StoreError {
  var isConstraint: Bool {
    self[.engineCode].flatMap { Int32($0) }.map { $0 & 0xFF == SQLITE_CONSTRAINT } ?? false
  }
}
