// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A transaction in progress. Each collection that it reads or writes is locked until it ends.
final class PostgresWriter: SQLPostgresReader, EngineWriter {
  private(set) var touched: [ExactName: WriterTable] = [:]
  /// Collections whose definitions the transaction has changed, perhaps undone since.
  private var redefined: Set<ExactName> = []
  /// Dropped in this transaction.
  private(set) var dropped: [ExactName: String] = [:]
  private var savepoints = 0
  private var hasWritten = false
  private var holdsMetadata = false
  /// Whether a statement of the caller's own may have changed anything.
  private var wroteForeign = false
  /// What the commit tells observers; nil if nothing.
  private(set) var told: Commit?
  /// The number of writes of each collection as of the commit.
  private(set) var committedChanges: [ExactName: Int64] = [:]

  /// What it sees may be undone.
  func committedState() throws -> CommittedState? { nil }

  override func facts(_ collection: PostgresCollection) -> PostgresCollectionMetadata {
    guard let table = touched[collection.folded] else { return super.facts(collection) }
    return PostgresCollectionMetadata(collection, names) { table.paths.facts(at: $0) }
  }

  override func collection(_ name: String) throws -> PostgresCollection? {
    try table(name)?.collection
  }

  override func asking<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (facts: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    guard let table = try table(name) else { return nil }
    let facts = facts(table.collection)
    let (plan, statements) = try make(facts)
    return (facts, plan, statements.isEmpty ? [] : try session.run(statements))
  }

  /// Locks a collection, unless it is locked already; nil if there is none.
  func table(_ name: String) throws -> WriterTable? {
    let folded = name.folded
    if let table = touched[folded] { return table }
    // No collection has such a name, and no text of the server.
    guard !name.utf8.contains(0) else { return nil }
    var row = try session.run(core.loader.row(folded, locks: true))
    // There is no row to be locked, and that there is none must stay so until we end. While others drop the
    // collection and make it anew, a row that is waited for is gone each time, though there always is one.
    // What we have dropped ourselves is still locked by that.
    while row.count == 0, dropped[folded] == nil {
      let results = try session.run([
        lock(ofMissing: folded), core.loader.row(folded, locks: false),
        core.loader.row(folded, locks: true),
      ])
      row = results[2]
      if results[1].count == 0 { break }
    }
    guard let state = CollectionLoader.state(row) else {
      core.cache.forget(folded)
      return nil
    }
    let known = core.cache[folded]
    let collection: PostgresCollection
    if let known, known.generation == state.generation, known.incarnation == state.incarnation {
      collection = known
    } else {
      let definitions = try session.run(core.loader.definitions(folded))
      guard let loaded = try core.loader.collection(row, definitions[...]) else { return nil }
      // What is not committed is nobody else's.
      if !redefined.contains(folded) { core.cache.keep(loaded) }
      collection = loaded
    }
    let table = WriterTable(collection, state, core.cache.takePaths(of: collection))
    touched[folded] = table
    return table
  }

  /// Keeps a collection that is not there from being made by others.
  private func lock(ofMissing folded: ExactName) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_advisory_xact_lock(hashtextextended($1, 2))",
      [.text("nanostore." + names.schema + "." + folded.text)])
  }

  /// As ``table(_:)``, made if there is none.
  func tableForWriting(_ name: String) throws -> WriterTable {
    hasWritten = true
    if let table = try table(name) { return table }
    try createCollection(CollectionDescription(name: name))
    guard let table = try table(name) else {
      throw StoreError(.database, "A collection could not be made", [.collection: name])
    }
    return table
  }

  /// Definitions were changed: read anew what the server has.
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

  // Two transactions that read the metadata and write what follows must come one after the other.
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

  override func noteForeignWrite() {
    hasWritten = true
    wroteForeign = true
  }

  /// Those of its own documents among them.
  override func observedPaths(in collection: String) throws -> [ObservedPath] {
    try table(collection)?.paths.observed ?? []
  }

  override func highestRowID(in collection: String) throws -> Int64? {
    (try table(collection)?.state.nextRowID ?? 1) &- 1
  }

  func noteWrite() { hasWritten = true }
  func noteDropped(_ name: String) {
    touched[name.folded] = nil
    dropped[name.folded] = name
    redefined.insert(name.folded)
    core.cache.forget(name.folded)
  }
  func noteMade(_ folded: ExactName) {
    dropped[folded] = nil
    redefined.insert(folded)
  }
}

extension PostgresWriter {
  /// What the documents brought beside themselves.
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

  /// Commits what was done; does nothing if nothing was.
  func commit() throws {
    guard session.hasBegun || session.failure != nil else { return }
    if let failure = session.failure { throw failure.error() }
    var statements: [PostgresStatement] = []
    for table in touched.values.sorted(by: {
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
        throw StoreError(.database, "The transaction was undone by the server")
      }
    } catch {
      guard let failure = session.failure, failure.isConnectionLoss else { throw error }
      session.noteEnded()
      session.release()
      try token.settle(failure, core)
    }
    noteCommitted()
    core.tokens.noteCommit(core)
  }

  private func noteCommitted() {
    var changes: [Change] = dropped.values.map { Change($0, nil) }
    for table in touched.values {
      let folded = table.collection.folded
      if let change = table.change { changes.append(change) }
      committedChanges[folded] = table.state.changes + (table.hasNewDocuments ? 1 : 0)
      let generation = table.state.generation + (table.hasNewDefinitions ? 1 : 0)
      if table.hasNewDefinitions { core.cache.forget(folded) }
      core.cache.givePaths(table.paths, of: table.collection, generation: generation)
    }
    told = wroteForeign ? .everything : changes.isEmpty ? nil : Commit(changes)
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    savepoints += 1
    defer { savepoints -= 1 }
    let name = "nano_\(savepoints)"
    // Paths from before stay when it is undone.
    var statements = touched.values.flatMap(pending)
    statements.append(PostgresStatement("SAVEPOINT \(name)"))
    _ = try session.run(statements)
    let marks = touched.mapValues(\.mark)
    let (wasDropped, held) = (dropped, holdsMetadata)
    do {
      let result = try work()
      if let failure = session.failure { throw failure.error() }
      _ = try session.run(PostgresStatement("RELEASE SAVEPOINT \(name)"))
      return result
    } catch {
      try session.undo(to: name)
      try restore(marks)
      (dropped, holdsMetadata) = (wasDropped, held)
      throw error
    }
  }

  /// Brings back what was known when the savepoint was made. Locks from behind it are gone.
  private func restore(_ marks: [ExactName: WriterTable.Mark]) throws {
    for folded in touched.keys {
      touched[folded] = nil
      guard let mark = marks[folded] else {
        core.cache.forget(folded)
        continue
      }
      // Paths and definitions may be among what was undone.
      core.cache.forget(folded)
      try table(folded.text)?.restore(mark)
    }
    // Dropped since.
    for (folded, mark) in marks where touched[folded] == nil {
      try table(folded.text)?.restore(mark)
    }
  }
}
