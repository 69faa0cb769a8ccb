// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A write transaction. Each collection that it reads or writes is locked until it ends.
final class PostgresWriter: SQLPostgresReader, EngineWriter {
  private(set) var lockedTables: [ExactName: WriterTable] = [:]
  /// Collections whose definitions the transaction changed, even if the change was rolled back since.
  private var redefined: Set<ExactName> = []
  /// The names of collections dropped in this transaction.
  private(set) var dropped: [ExactName: String] = [:]
  private var savepoints = 0
  private var hasWritten = false
  private var holdsMetadata = false
  /// Whether a user-supplied statement may have changed anything.
  private var ranUserWrite = false
  /// The commit to report to observers; `nil` if there is nothing to report.
  private(set) var observedCommit: Commit?
  /// The change counter of each collection as of the commit.
  private(set) var committedChanges: [ExactName: Int64] = [:]

  /// `nil`, since what the transaction reads may be rolled back.
  func committedState() throws -> CommittedState? { nil }

  override func collectionMetadata(_ collection: PostgresCollection) -> PostgresCollectionMetadata {
    guard let table = lockedTables[collection.folded] else {
      return super.collectionMetadata(collection)
    }
    return PostgresCollectionMetadata(collection, names) { table.paths.summary(at: $0) }
  }

  override func collection(_ name: String) throws -> PostgresCollection? {
    try table(name)?.collection
  }

  override func execute<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (metadata: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    guard let table = try table(name) else { return nil }
    let metadata = collectionMetadata(table.collection)
    let (plan, statements) = try make(metadata)
    return (metadata, plan, statements.isEmpty ? [] : try session.run(statements))
  }

  /// Locks a collection unless it is already locked. Returns `nil` if it does not exist.
  func table(_ name: String) throws -> WriterTable? {
    let folded = name.folded
    if let table = lockedTables[folded] { return table }
    // No collection has such a name, and the server rejects it in a text.
    guard !name.utf8.contains(0) else { return nil }
    var row = try session.run(core.loader.row(folded, locks: true))
    // There is no row to lock, and the collection must stay missing until the transaction ends. While other
    // connections drop and recreate the collection, a row that was waited for is gone each time, though there
    // always is one. A collection that this transaction has dropped is still locked by that.
    while row.count == 0, dropped[folded] == nil {
      let results = try session.run([
        lock(ofMissing: folded), core.loader.row(folded, locks: false),
        core.loader.row(folded, locks: true),
      ])
      row = results[2]
      if results[1].count == 0 { break }
    }
    guard let state = CollectionLoader.state(row) else {
      core.cache.invalidate(folded)
      return nil
    }
    let cached = core.cache[folded]
    let collection: PostgresCollection
    if let cached, cached.generation == state.generation, cached.incarnation == state.incarnation {
      collection = cached
    } else {
      let definitions = try session.run(core.loader.definitions(folded))
      guard let loaded = try core.loader.collection(row, definitions[...]) else { return nil }
      // Uncommitted definitions must not become visible to other transactions.
      if !redefined.contains(folded) { core.cache.store(loaded) }
      collection = loaded
    }
    let table = WriterTable(collection, state, core.cache.checkOutPaths(of: collection))
    lockedTables[folded] = table
    return table
  }

  /// Keeps other transactions from creating a collection that does not exist.
  private func lock(ofMissing folded: ExactName) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_advisory_xact_lock(hashtextextended($1, 2))",
      [.text("nanostore." + names.schema + "." + folded.text)])
  }

  /// Locks a collection as ``table(_:)`` does, and creates it if it does not exist.
  func tableForWriting(_ name: String) throws -> WriterTable {
    hasWritten = true
    if let table = try table(name) { return table }
    try createCollection(CollectionDescription(name: name))
    guard let table = try table(name) else {
      throw StoreError(.database, "A collection could not be created", [.collection: name])
    }
    return table
  }

  /// Reloads definitions after a change.
  func reload(_ table: WriterTable) throws {
    let folded = table.collection.folded
    table.hasNewDefinitions = true
    redefined.insert(folded)
    let results = try session.run(
      [core.loader.row(folded, locks: false)] + core.loader.definitions(folded))
    if let loaded = try core.loader.collection(results[0], results[1...]) {
      table.collection = loaded
    }
  }

  // Transactions that read the metadata, and write what depends on it, must be serialized.
  private func lockMetadata() throws {
    guard !holdsMetadata else { return }
    _ = try session.run(
      PostgresStatement(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))",
        [.text("nanostore." + names.schema)]))
    holdsMetadata = true
  }

  override func metadata(_ name: String) throws -> DocumentValue? {
    try lockMetadata()
    return try super.metadata(name)
  }

  override func metadataNames() throws -> [String] {
    try lockMetadata()
    return try super.metadataNames()
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try StoredNames.validate(nil, name: name)
    try lockMetadata()
    hasWritten = true
    let table = names.qualified("nano_metadata")
    guard let value else {
      _ = try session.run(PostgresStatement("DELETE FROM \(table) WHERE name = $1", [.text(name)]))
      return
    }
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    _ = try session.run(
      PostgresStatement(
        "INSERT INTO \(table) (name, value) VALUES ($1, $2) "
          + "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [.text(name), .utf8(Array(writer.bytes))]))
  }

  override var mayWrite: Bool { true }

  override func noteUserWrite() {
    hasWritten = true
    ranUserWrite = true
  }

  /// Includes the paths of the transaction's own documents.
  override func observedPaths(in collection: String) throws -> [ObservedPath] {
    try table(collection)?.paths.observed ?? []
  }

  override func highestRowID(in collection: String) throws -> Int64? {
    (try table(collection)?.state.nextRowID ?? 1) &- 1
  }

  func noteWrite() { hasWritten = true }
  func noteDropped(_ name: String) {
    lockedTables[name.folded] = nil
    dropped[name.folded] = name
    redefined.insert(name.folded)
    core.cache.invalidate(name.folded)
  }
  func noteCreated(_ folded: ExactName) {
    dropped[folded] = nil
    redefined.insert(folded)
  }
}

extension PostgresWriter {
  /// Returns the statements that write the new paths of a collection.
  private func pending(_ table: WriterTable) -> [PostgresStatement] {
    guard !table.paths.changed.isEmpty else { return [] }
    let nodes = table.paths.takeChanged()
    table.hasNewDefinitions = true
    let paths = nodes.map { Array(table.paths.path(of: $0).text.utf8) as [UInt8]? }
    let types = nodes.map { Int64(table.paths.nodes[Int($0)].types) as Int64? }
    return [
      PostgresStatement(
        """
        INSERT INTO \(names.qualified("nano_paths")) AS p (collection, path, types) \
        SELECT $1, u.path, u.types FROM unnest($2::text[], $3::bigint[]) AS u(path, types) \
        ON CONFLICT (collection, md5(path)) DO UPDATE SET types = p.types | excluded.types
        """, [.exact(table.collection.folded), .utf8s(paths), .ints(types)])
    ]
  }

  private func row(_ table: WriterTable) -> PostgresStatement? {
    guard table.isChanged else { return nil }
    return PostgresStatement(
      """
      UPDATE \(names.qualified("nano_collections")) SET next_row_id = $2, \
      changes = changes + $3, generation = generation + $4 WHERE folded = $1
      """,
      [
        .exact(table.collection.folded), .int(table.state.nextRowID),
        .int(table.hasNewDocuments ? 1 : 0), .int(table.hasNewDefinitions ? 1 : 0),
      ])
  }

  /// Commits the transaction. Does nothing if nothing was written.
  func commit() throws {
    guard session.hasBegun || session.failure != nil else { return }
    if let failure = session.failure { throw failure.error() }
    var statements: [PostgresStatement] = []
    for table in lockedTables.values.sorted(by: {
      $0.collection.folded.text.isBefore($1.collection.folded.text)
    }) {
      statements += pending(table)
      if let row = row(table) {
        hasWritten = true
        statements.append(row)
      }
    }
    guard hasWritten else { return }
    let token = TransactionToken(session)
    do {
      let results = try session.run(
        statements + [token.statement(names), PostgresStatement("COMMIT")])
      session.noteEnded()
      guard results.last?.command == "COMMIT" else {
        throw StoreError(.database, "The server rolled back the transaction")
      }
    } catch {
      guard let failure = session.failure, failure.isConnectionLoss else { throw error }
      session.noteEnded()
      session.release()
      try token.resolve(failure, core)
    }
    noteCommitted()
    core.tokens.noteCommit(core)
  }

  private func noteCommitted() {
    var changes: [Change] = dropped.values.map { Change($0, nil) }
    for table in lockedTables.values {
      let folded = table.collection.folded
      if let change = table.change { changes.append(change) }
      committedChanges[folded] = table.state.changes + (table.hasNewDocuments ? 1 : 0)
      let generation = table.state.generation + (table.hasNewDefinitions ? 1 : 0)
      if table.hasNewDefinitions { core.cache.invalidate(folded) }
      core.cache.checkInPaths(table.paths, of: table.collection, generation: generation)
    }
    observedCommit = ranUserWrite ? .everything : changes.isEmpty ? nil : Commit(changes)
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    savepoints += 1
    defer { savepoints -= 1 }
    let name = "nano_\(savepoints)"
    // Paths recorded before the savepoint survive its rollback.
    var statements = lockedTables.values.flatMap(pending)
    statements.append(PostgresStatement("SAVEPOINT \(name)"))
    _ = try session.run(statements)
    let states = lockedTables.mapValues(\.savepointState)
    let (wasDropped, held) = (dropped, holdsMetadata)
    do {
      let result = try work()
      if let failure = session.failure { throw failure.error() }
      _ = try session.run(PostgresStatement("RELEASE SAVEPOINT \(name)"))
      return result
    } catch {
      try session.rollBack(to: name)
      try restore(states)
      (dropped, holdsMetadata) = (wasDropped, held)
      throw error
    }
  }

  /// Restores the state as of the savepoint. Locks acquired since are released.
  private func restore(_ states: [ExactName: WriterTable.SavepointState]) throws {
    for folded in lockedTables.keys {
      lockedTables[folded] = nil
      guard let state = states[folded] else {
        core.cache.invalidate(folded)
        continue
      }
      // The rollback may include paths and definitions.
      core.cache.invalidate(folded)
      try table(folded.text)?.restore(state)
    }
    // Collections dropped since the savepoint.
    for (folded, state) in states where lockedTables[folded] == nil {
      try table(folded.text)?.restore(state)
    }
  }
}
