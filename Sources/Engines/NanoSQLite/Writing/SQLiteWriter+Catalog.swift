// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Creating, changing and dropping collections, and metadata.
extension SQLiteWriter {
  func createCollections(_ descriptions: [CollectionDescription]) throws {
    try connection.requireTransaction()
    var new: [CollectionDescription] = []
    var newByName: [ExactName: CollectionDescription] = [:]
    for description in descriptions {
      try StoredNames.validate(description)
      if !connection.isUTF8 { try TextEncoding.requireUTF16(name: description.name) }
      let folded = description.name.folded
      let known = try newByName[folded] ?? connection.table(description.name)?.description
      if let known {
        guard known.identity == description.identity else {
          throw StoreError.collectionExists(known)
        }
        continue
      }
      guard try !connection.hasTableOrView(description.name), try !isShadowed(description.name)
      else {
        throw StoreError.tableExists(description.name)
      }
      newByName[folded] = description
      new.append(description)
    }
    // A table without a row would be that of another program, with a name that no collection can have.
    try savepoint {
      try createTables(new.map(\.name))
      for description in new {
        try connection.run(
          SQLFragment(
            "INSERT INTO nano_collections(name, identity, generation) VALUES (?, ?, ?)",
            [
              .text(description.name), .text(description.identity.rawValue),
              .int(Self.firstGeneration()),
            ]))
      }
    }
  }

  /// Whether the connection has a temporary table or view with this name, in which documents would be lost.
  private func isShadowed(_ name: String) throws -> Bool {
    try connection.first(
      SQLFragment(
        "SELECT 1 FROM sqlite_temp_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
        [.text(name)])
    ) { _ in true } ?? false
  }

  private func createTables(_ names: [String]) throws {
    let many = ManyDefinitions(connection: connection)
    if names.count >= ManyDefinitions.groupSize, try many.arePossible(names) {
      return try many.create(names)
    }
    for name in names { try connection.execute(Schema.collection(name)) }
  }

  /// Returns a random start value, so that other connections do not mistake a re-created collection for the
  /// dropped one. The lower 20 bits count changes within one collection.
  static func firstGeneration() -> Int64 { .random(in: 1..<(1 << 42)) << 20 }

  func dropCollection(_ name: String) throws -> Bool {
    try requireFree()
    guard let table = try connection.table(name) else { return false }
    let name = table.description.name
    // Flushed first, because cached metadata of other collections is discarded below.
    try flush()
    // With the schema: SQLite would otherwise drop what an attached file has under a name that this one does not have.
    try connection.execute(WildcardIndex.drop(name))
    try connection.execute(FeedSchema(name).drop)
    try connection.execute(PreviousBodySchema(name).drop)
    if let expiry = table.expiry { try connection.execute(expiry.drop) }
    for schema in table.allSchemas { try connection.execute(schema.drop()) }
    for schema in table.text?.schemas ?? [] { try connection.execute(schema.drop()) }
    try connection.execute("DROP TABLE main.\(SQLName.quoted(name))")
    var internalTables = ["nano_indexes", "nano_index_ledger", "nano_paths"]
    if table.feed != nil { internalTables.append(FeedSchema.internalTable) }
    for internalTable in internalTables {
      try connection.run(
        SQLFragment("DELETE FROM \(internalTable) WHERE collection = ?", [.text(name)]))
    }
    try connection.run(
      SQLFragment("DELETE FROM nano_collections WHERE name = ?", [.text(name)]))
    forgetTables()
    freeRowIDs.removeAll()
    connection.recorder?.noteWhole(name)
    return true
  }

  /// Reports the number of written documents to the observer, once there are enough.
  func reportWrites(to observer: QueryObserver) {
    observer.commits.wrappingAdd(1, ordering: .relaxed)
    for table in touched.values where table.isObserved && table.writes > 0 {
      table.writingCommits += 1
      guard table.writes >= Self.writesPerReport else { continue }
      observer.written(table.description.name, table.writes, table.writingCommits)
      table.writes = 0
      table.writingCommits = 0
    }
  }

  /// Arbitrary: small enough for timely reports, and large enough to make their cost negligible.
  private static let writesPerReport = 256

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    try settings.validate()
    let table = try tableForWriting(collection)
    guard table.settings != settings else { return }
    var writer = JSONWriter()
    writer.object(settings.object)
    if let failure = writer.failure { throw failure }
    let text = writer.text
    if !connection.isUTF8 { try TextEncoding.requireUTF16(text) }
    if table.settings.expiration != settings.expiration {
      try setExpirationRule(settings.expiration, of: collection)
    }
    let name = table.description.name
    try connection.run(
      SQLFragment(
        "UPDATE nano_collections SET settings = ? WHERE name = ?", [.text(text), .text(name)]))
    try nextGeneration(name)
    // Defaults affect query results.
    connection.recorder?.noteWhole(name)
  }

  /// Increments the generation, which makes all other connections reload the collection.
  func increaseGeneration(_ table: CollectionTable) throws {
    try flush()
    try writeNextGeneration(table.description.name)
    table.generation += 1
  }

  /// Increments the generation, which makes all connections, including this one, reload the collection.
  func nextGeneration(_ name: String) throws {
    try flush()
    try writeNextGeneration(name)
    forgetTables()
  }

  func writeNextGeneration(_ name: String) throws {
    try connection.run(
      SQLFragment(
        "UPDATE nano_collections SET generation = generation + 1 WHERE name = ?", [.text(name)]))
  }

  func forgetTables() {
    connection.tables.removeAll()
    touched.removeAll()
    last = nil
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try connection.requireTransaction()
    try StoredNames.validate(nil, name: name)
    if !connection.isUTF8 { try TextEncoding.requireUTF16(name: name) }
    try RowDamage.naming(MetadataRow.table) {
      guard let value else {
        return try connection.run(
          SQLFragment("DELETE FROM nano_metadata WHERE name = ?", [.text(name)]))
      }
      var writer = JSONWriter()
      writer.value(value)
      if let failure = writer.failure { throw failure }
      let text = writer.text
      if !connection.isUTF8 { try TextEncoding.requireUTF16(text) }
      try connection.run(
        SQLFragment(
          "INSERT INTO nano_metadata(name, value) VALUES (?, ?) "
            + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          [.text(name), .text(text)]))
    }
  }
}
