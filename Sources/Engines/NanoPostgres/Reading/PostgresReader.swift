// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A reader of one snapshot, on one connection.
class PostgresReader: EngineReader {
  let core: PostgresCore
  let session: PostgresSession
  /// The time that the block sees, once it is determined; see ``time``.
  var blockTime: Int64?
  /// Collections whose metadata is verified to match this snapshot.
  private var verified: [ExactName: PostgresCollection] = [:]
  /// Collections whose table belongs to this snapshot and is locked, so that it cannot be dropped.
  private var held: Set<ExactName> = []
  /// Collections that do not exist in this snapshot.
  private var missing: Set<ExactName> = []
  /// The collections that the current query joins.
  var related: [ExactName: PostgresCollectionMetadata] = [:]

  init(_ core: PostgresCore, _ session: PostgresSession) {
    self.core = core
    self.session = session
  }

  var names: PostgresNames { core.names }
  /// Whether all statements on a collection see the same documents.
  var seesOneState: Bool { true }

  /// The metadata that queries on a collection compile against; a writer has more than the server stores.
  func collectionMetadata(_ collection: PostgresCollection) -> PostgresCollectionMetadata {
    PostgresCollectionMetadata(collection, names)
  }

  /// Locks the collections that a query reads, for a writer.
  func hold(_ collections: [String]) throws {}

  /// Returns a collection as of this snapshot, or `nil` if it does not exist.
  func collection(_ name: String) throws -> PostgresCollection? {
    let folded = name.folded
    if let collection = verified[folded] { return collection }
    if missing.contains(folded) || name.utf8.contains(0) { return nil }
    let results = try session.run(
      [core.loader.row(folded)] + core.loader.definitions(folded))
    return try note(folded, results)
  }

  private func note(
    _ folded: ExactName, _ results: [PostgresResult]
  ) throws -> PostgresCollection? {
    guard let found = try core.loader.collection(results[0], results[1...]) else {
      missing.insert(folded)
      core.cache.invalidate(folded)
      return nil
    }
    core.cache.store(found)
    verified[folded] = found
    return found
  }

  /// Runs statements on a collection, in one round trip if its cached metadata is valid. Returns `nil` if the
  /// collection does not exist.
  ///
  /// - Parameter make: Returns the statements, and a plan for reading their results.
  func execute<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (metadata: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    let mayRestart = !session.hasBegun
    for _ in 0..<Self.maximumAttempts {
      do {
        return try executeOnce(name, make)
      } catch is ChangedCollection where mayRestart {
        // A new snapshot has the new table, or no collection.
        session.end()
        verified.removeAll()
        missing.removeAll()
        held.removeAll()
      } catch is ChangedCollection {
        break
      }
    }
    throw StoreError(
      .locked, "A collection was dropped or recreated before the closure read it",
      [.collection: name, .hint: "read it in a new transaction"])
  }

  /// Runs statements on the table of a collection, whose documents they do not read.
  func executeOnTable(
    of name: String, _ make: (PostgresCollection) -> [PostgresStatement]
  ) throws -> (collection: PostgresCollection, results: [PostgresResult])? {
    try execute(name) { ((), make($0.collection)) }.map {
      (collection: $0.metadata.collection, results: $0.results)
    }
  }

  /// Arbitrary: an attempt fails only if the collection is dropped again in the meantime.
  private static let maximumAttempts = 20

  /// The snapshot and the table of a collection do not match.
  private struct ChangedCollection: Error {}

  private func executeOnce<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (metadata: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    let folded = name.folded
    if verified[folded] == nil, !missing.contains(folded), let cached = core.cache[folded] {
      // Compiled before the metadata is verified; the results are discarded if it is out of date.
      var metadata = collectionMetadata(cached)
      metadata.related = related
      if let (plan, statements) = try? make(metadata) {
        let results = try run(statements, folded)
        if let last = results.last, last.count > 0, last.int(0, 0) == cached.generation,
          last.int(0, 1) == cached.incarnation
        {
          verified[folded] = cached
          return (metadata, plan, results.dropLast())
        }
        core.cache.invalidate(folded)
      }
    }
    guard let collection = try collection(name) else { return nil }
    var metadata = collectionMetadata(collection)
    metadata.related = related
    let (plan, statements) = try make(metadata)
    if statements.isEmpty { return (metadata, plan, []) }
    if held.contains(folded), related.isEmpty {
      return (metadata, plan, try session.run(statements))
    }
    return (metadata, plan, try run(statements, folded).dropLast())
  }

  /// Runs statements that name the table of a collection. The last result is that of
  /// ``CollectionLoader/checkedRow(_:)``.
  private func run(_ statements: [PostgresStatement], _ folded: ExactName) throws
    -> [PostgresResult]
  {
    let hadFailed = session.failure != nil
    do {
      var results = try session.run(
        statements + relatedChecks + [core.loader.checkedRow(folded)])
      for check in results[statements.count..<results.count - 1]
      where check.count == 0 || !check.bool(0, 2) {
        throw ChangedCollection()
      }
      results.removeSubrange(statements.count..<results.count - 1)
      if let last = results.last, last.count > 0 {
        guard last.bool(0, 2) else { throw ChangedCollection() }
        if !statements.isEmpty { held.insert(folded) }
      }
      return results
    } catch  where !hadFailed && session.failure?.isMissingObject == true {
      core.cache.invalidate(folded)
      throw ChangedCollection()
    }
  }

  func collections() throws -> [CollectionDescription] {
    let rows = try session.run(
      PostgresStatement("SELECT name, identity FROM \(names.qualified("nano_collections"))"))
    return (0..<rows.count).map { row in
      CollectionDescription(
        storedName: rows.text(row, 0), identity: CollectionIdentity(rawValue: rows.text(row, 1)))
    }.sorted { $0.name.foldingASCII.isBefore($1.name.foldingASCII) }
  }

  func identity(of collection: String) throws -> CollectionIdentity {
    try self.collection(collection)?.description.identity ?? .key
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    let executed = try execute(collection) { metadata in
      ((), [core.get(identity, metadata.collection, at: time(metadata.collection))])
    }
    guard let executed, executed.results[0].count > 0 else { return false }
    try executed.results[0].withDocument(0, executed.metadata.collection.incarnation, show)
    return true
  }

  func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    let executed = try execute(collection) { metadata in
      ((), [core.get(keys, metadata.collection, at: time(metadata.collection))])
    }
    guard let (metadata, _, results) = executed else { return }
    for row in 0..<results[0].count {
      try results[0].withDocument(row, metadata.collection.incarnation, show)
    }
  }

  func highestRowID(in collection: String) throws -> Int64? {
    let executed = try execute(collection) {
      ((), [PostgresStatement("SELECT \($0.collection.highestRowID)")])
    }
    guard let result = executed?.results.first else { return 0 }
    return result.optionalInt(0, 0)
  }

  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    let executed = try execute(collection) { metadata in
      let found = metadata.collection
      var sql = "SELECT revision FROM \(found.table) WHERE id = " + PostgresSQL.value(.int(rowID))
      if let visible = found.isVisible(at: time(found)) { sql += " AND " + visible }
      return ((), [sql.statement])
    }
    guard let executed, executed.results[0].count > 0 else { return nil }
    return ContentVersion(
      incarnation: executed.metadata.collection.incarnation, revision: executed.results[0].int(0, 0)
    )
  }

  func indexes(in collection: String) throws -> [IndexDefinition] {
    (try self.collection(collection)?.indexes ?? []).map(\.definition)
      .sorted { $0.name.isBefore($1.name) }
  }

  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    (try self.collection(collection)?.fullTextIndexes ?? []).map(\.definition)
      .sorted { $0.name.isBefore($1.name) }
  }

  func indexing(in collection: String) throws -> IndexingPolicy {
    try self.collection(collection)?.indexing ?? .declared
  }

  func settings(of collection: String) throws -> CollectionSettings {
    try self.collection(collection)?.settings ?? CollectionSettings()
  }

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    try self.collection(collection)?.paths.observed ?? []
  }

  func types(in collection: String) throws -> [String] {
    let executed = try execute(collection) { metadata in
      let found = metadata.collection
      var sql = PostgresSQL("SELECT DISTINCT type FROM \(found.table) WHERE type IS NOT NULL")
      if let visible = found.isVisible(at: time(found)) { sql += " AND " + visible }
      return ((), [sql.statement])
    }
    guard let rows = executed?.results.first else { return [] }
    return (0..<rows.count).map { rows.text($0, 0) }.sorted { $0.isBefore($1) }
  }

  /// Index builds are never partial in this engine.
  func unfinishedIndexes() throws -> [PendingIndex] { [] }

  func indexCostRecords() throws -> [IndexCostRecord] {
    let rows = try session.run(
      PostgresStatement(
        """
        SELECT collection, subject, state FROM \(names.qualified("nano_index_ledger")) \
        ORDER BY collection, subject
        """))
    return (0..<rows.count).map {
      IndexCostRecord(
        collection: rows.text($0, 0), subject: rows.text($0, 1), state: rows.text($0, 2))
    }
  }

  func metadata(_ name: String) throws -> DocumentValue? {
    guard !name.utf8.contains(0) else { return nil }
    let rows = try session.run(
      PostgresStatement(
        "SELECT value FROM \(names.qualified("nano_metadata")) WHERE name = $1", [.text(name)]))
    guard rows.count > 0 else { return nil }
    var reader = JSONReader(rows.bytes(0, 0))
    return try reader.value()
  }

  func metadataNames() throws -> [String] {
    let rows = try session.run(
      PostgresStatement("SELECT name FROM \(names.qualified("nano_metadata"))"))
    return (0..<rows.count).map { rows.text($0, 0) }.sorted { $0.isBefore($1) }
  }
}

extension PostgresResult {
  /// Passes a row of ``PostgresQueryCompiler/columns`` to a closure.
  @inline(__always)
  func withDocument<Result>(
    _ row: Int, _ incarnation: Int64?, _ show: (StoredDocument) throws -> Result
  ) rethrows -> Result {
    let key: BorrowedKey
    if isNull(row, 1) {
      key = .none
    } else {
      let text = bytes(row, 1)
      key = DocumentKey.uuid(text).map { .uuid($0.0, $0.1) } ?? .text(text)
    }
    func pass(_ body: UnsafeRawBufferPointer) throws -> Result {
      try show(
        StoredDocument(
          rowID: int(row, 0), key: key, type: isNull(row, 2) ? nil : bytes(row, 2),
          version: optionalInt(row, 3), added: optionalInt(row, 4), revision: optionalInt(row, 5),
          incarnation: incarnation, body: body))
    }
    guard isNull(row, 6) else { return try pass(bytes(row, 6)) }
    return try QueryableBody.compact(bytes(row, 7)).withUnsafeBytes(pass)
  }

  /// Returns the fields of a row whose body, as selected by ``PostgresQueryCompiler/body``, starts at a
  /// column.
  func body(_ row: Int, _ column: Int) throws -> DocumentObject {
    func object(_ body: UnsafeRawBufferPointer) throws -> DocumentObject {
      var reader = JSONReader(body)
      return try reader.object()
    }
    guard isNull(row, column) else { return try object(bytes(row, column)) }
    return try QueryableBody.compact(bytes(row, column + 1)).withUnsafeBytes(object)
  }
}
