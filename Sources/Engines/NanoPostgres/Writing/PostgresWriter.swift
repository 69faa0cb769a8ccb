// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A write transaction. ``PostgresLocks`` describes what it locks.
final class PostgresWriter: SQLPostgresReader, EngineWriter {
  /// Whether what the transaction reads is locked.
  let isSerializable: Bool
  /// The collections that the transaction uses.
  var tables: [ExactName: WriterTable] = [:]
  /// Collections whose definitions the transaction changed, even if the change was rolled back since.
  private(set) var redefined: Set<ExactName> = []
  /// Collections that do not exist, and that no other transaction creates.
  var absent: Set<ExactName> = []
  /// The names of collections dropped in this transaction.
  var dropped: [ExactName: String] = [:]
  var expiry = ExpiryLog()
  var savepoints = SavepointLog()
  private(set) var hasWritten = false
  var holdsMetadata = false
  /// Whether the tables of attachments exist, as far as the transaction knows.
  var knowsBlobTables = false
  /// Whether a user-supplied statement may have changed anything.
  private(set) var ranUserWrite = false
  /// The commit to report to observers; `nil` if there is nothing to report.
  var observedCommit: Commit?
  /// The stamp of the commit; see ``CommitOrder``.
  var stamp: Int64 = 0

  init(_ core: PostgresCore, _ session: PostgresSession, _ isolation: Isolation) {
    isSerializable = isolation == .serializable
    super.init(core, session)
  }

  /// `nil`, since what the transaction reads may be rolled back.
  func committedState() throws -> CommittedState? { nil }

  override func collectionMetadata(_ collection: PostgresCollection) -> PostgresCollectionMetadata {
    guard let table = tables[collection.folded] else {
      return super.collectionMetadata(collection)
    }
    return PostgresCollectionMetadata(collection, names) { table.paths.summary(at: $0) }
  }

  /// Locks them in the order in which all transactions do.
  override func hold(_ collections: [String]) throws {
    if isSerializable { try prepare(collections.map { TransactionUse($0, keys: nil) }) }
  }

  override func collection(_ name: String) throws -> PostgresCollection? {
    try table(name)?.collection
  }

  /// A transaction locks a collection that it queries, or sees a different state with each statement.
  override var seesOneState: Bool { isSerializable }

  override func execute<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (metadata: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    guard let table = try table(name, isWhole: isSerializable) else { return nil }
    while true {
      var metadata = collectionMetadata(table.collection)
      metadata.related = related
      let (plan, statements) = try make(metadata)
      if statements.isEmpty { return (metadata, plan, []) }
      if table.isWhole { return (metadata, plan, try session.run(statements)) }
      let results = try session.run(statements + [core.loader.row(table.collection.folded)])
      if table.collection.isCurrent(results[statements.count]) {
        return (metadata, plan, results.dropLast())
      }
      // Others have added paths, for which the statements may have another meaning.
      try reloadPaths(table)
    }
  }

  /// Shares the lock of the collection, so that it is not dropped meanwhile.
  override func executeOnTable(
    of name: String, _ make: (PostgresCollection) -> [PostgresStatement]
  ) throws -> (collection: PostgresCollection, results: [PostgresResult])? {
    guard let collection = try table(name)?.collection else { return nil }
    let statements = make(collection)
    return (collection, statements.isEmpty ? [] : try session.run(statements))
  }

  @discardableResult
  override func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard let (document, incarnation) = try document(identity, in: collection) else { return false }
    try document.show(incarnation, show)
    return true
  }

  override func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    let distinct = Array(Set(keys))
    if isSerializable { try prepare([TransactionUse(collection, keys: distinct)]) }
    for key in distinct { try get(.key(key), in: collection, show) }
  }

  override func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    try document(.rowID(rowID), in: collection).map {
      ContentVersion(incarnation: $1, revision: $0.revision)
    }
  }

  override func types(in collection: String) throws -> [String] {
    _ = try table(collection, isWhole: isSerializable)
    return try super.types(in: collection)
  }

  // Transactions that read the metadata, and write what depends on it, must be serialized.
  private func lockMetadata() throws {
    guard !holdsMetadata else { return }
    lockFirst([core.locks.metadata])
    _ = try session.run(acquire([core.locks.metadata]))
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

  override func noteUserWrite(changesCollections: Bool) {
    hasWritten = true
    savepoints.mayHaveChanged = true
    if changesCollections { ranUserWrite = true }
  }

  /// Includes the paths of the transaction's own documents.
  override func observedPaths(in collection: String) throws -> [ObservedPath] {
    try table(collection)?.paths.observed ?? []
  }

  override func highestRowID(in collection: String) throws -> Int64? {
    guard let table = try table(collection) else { return 0 }
    if table.isWhole { return try nextRowID(table) - 1 }
    return try session.run(table.collection.nextRowID).int(0, 0) - 1
  }

  func noteWrite() { hasWritten = true }
  func noteDropped(_ name: String) {
    tables[name.folded] = nil
    dropped[name.folded] = name
    redefined.insert(name.folded)
    core.cache.invalidate(name.folded)
  }
  func noteCreated(_ folded: ExactName) {
    dropped[folded] = nil
    absent.remove(folded)
    redefined.insert(folded)
  }
  func noteRedefined(_ folded: ExactName) { redefined.insert(folded) }
}
