// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// A snapshot on one connection.
class PostgresReader: EngineReader {
  let core: PostgresCore
  let session: PostgresSession
  /// Collections whose facts are those of this snapshot.
  private var verified: [ExactName: PostgresCollection] = [:]
  /// Collections whose table belongs to this snapshot and is locked, so that it stays.
  private var held: Set<ExactName> = []
  /// Incarnations are told with rows only where the collection is there.
  private var missing: Set<ExactName> = []

  init(_ core: PostgresCore, _ session: PostgresSession) {
    self.core = core
    self.session = session
  }

  var names: PostgresNames { core.names }

  /// What is known of the documents of a collection; a writer knows more than stands on the server.
  func facts(_ collection: PostgresCollection) -> PostgresCollectionMetadata {
    PostgresCollectionMetadata(collection, names)
  }

  /// A collection as this snapshot has it; nil if there is none.
  func collection(_ name: String) throws -> PostgresCollection? {
    let folded = name.folded
    if let known = verified[folded] { return known }
    if missing.contains(folded) || name.utf8.contains(0) { return nil }
    let results = try session.run(
      [core.loader.row(folded, locks: false)] + core.loader.definitions(folded))
    return try note(folded, results)
  }

  private func note(
    _ folded: ExactName, _ results: [PostgresResult]
  ) throws -> PostgresCollection? {
    guard let found = try core.loader.collection(results[0], results[1...]) else {
      missing.insert(folded)
      core.cache.forget(folded)
      return nil
    }
    core.cache.keep(found)
    verified[folded] = found
    return found
  }

  /// Asks a collection, in one round trip where what is known of it is still so; nil if there is none.
  ///
  /// - Parameter make: Makes statements and what is needed to read their results.
  func asking<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (facts: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    let mayRestart = !session.hasBegun
    for _ in 0..<Self.maximumAttempts {
      do {
        return try askOnce(name, make)
      } catch is ChangedCollection where mayRestart {
        // A new snapshot has it, or knows that it is gone.
        session.end()
        verified.removeAll()
        missing.removeAll()
        held.removeAll()
      } catch is ChangedCollection {
        break
      }
    }
    throw StoreError(
      .locked, "A collection was dropped or made anew before the block came to read it",
      [.collection: name, .hint: "read again"])
  }

  /// Arbitrary: each one fails only if the collection is dropped once more meanwhile.
  private static let maximumAttempts = 20

  /// The snapshot and the table of a collection do not belong together.
  private struct ChangedCollection: Error {}

  private func askOnce<Plan>(
    _ name: String, _ make: (PostgresCollectionMetadata) throws -> (Plan, [PostgresStatement])
  ) throws -> (facts: PostgresCollectionMetadata, plan: Plan, results: [PostgresResult])? {
    let folded = name.folded
    if verified[folded] == nil, !missing.contains(folded), let cached = core.cache[folded] {
      // Made before it is known whether the facts still hold; what they got wrong is not looked at.
      let facts = facts(cached)
      if let (plan, statements) = try? make(facts) {
        let results = try run(statements, folded)
        if let last = results.last, last.count > 0, last.int(0, 0) == cached.generation,
          last.int(0, 1) == cached.incarnation
        {
          verified[folded] = cached
          return (facts, plan, results.dropLast())
        }
        core.cache.forget(folded)
      }
    }
    guard let collection = try collection(name) else { return nil }
    let facts = facts(collection)
    let (plan, statements) = try make(facts)
    if statements.isEmpty { return (facts, plan, []) }
    if held.contains(folded) { return (facts, plan, try session.run(statements)) }
    return (facts, plan, try run(statements, folded).dropLast())
  }

  /// The results of statements that name the table of a collection, and behind them what the catalogue says.
  private func run(_ statements: [PostgresStatement], _ folded: ExactName) throws
    -> [PostgresResult]
  {
    let hadFailed = session.failure != nil
    do {
      let results = try session.run(statements + [core.loader.checkedRow(folded)])
      if let last = results.last, last.count > 0 {
        guard last.bool(0, 2) else { throw ChangedCollection() }
        if !statements.isEmpty { held.insert(folded) }
      }
      return results
    } catch  where !hadFailed && session.failure?.isMissingObject == true {
      core.cache.forget(folded)
      throw ChangedCollection()
    }
  }

  func collections() throws -> [CollectionDescription] {
    let rows = try session.run(
      PostgresStatement("SELECT name, identity FROM \(names.qualified("nano_collections"))"))
    return (0..<rows.count).map { row in
      let name = rows.text(row, 0)
      return CollectionDescription(
        name: name, identity: CollectionIdentity(rawValue: rows.text(row, 1)) ?? .key,
        isInternal: InternalCollection(named: name) != nil)
    }.sorted { $0.name.foldingASCII.isBefore($1.name.foldingASCII) }
  }

  func identity(of collection: String) throws -> CollectionIdentity {
    try self.collection(collection)?.description.identity ?? .key
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    let answer = try asking(collection) { facts in
      ((), [core.get(identity, facts.collection)])
    }
    guard let answer, answer.results[0].count > 0 else { return false }
    try answer.results[0].withDocument(0, answer.facts.collection.incarnation, show)
    return true
  }

  func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    let asked = try asking(collection) { facts in
      ((), [core.get(keys, facts.collection)])
    }
    guard let (facts, _, results) = asked else { return }
    for row in 0..<results[0].count {
      try results[0].withDocument(row, facts.collection.incarnation, show)
    }
  }

  func highestRowID(in collection: String) throws -> Int64? {
    let rows = try session.run(core.loader.row(collection.folded, locks: false))
    return (CollectionLoader.state(rows)?.nextRowID ?? 1) &- 1
  }

  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    let answer = try asking(collection) { facts in
      (
        (),
        [
          PostgresStatement(
            "SELECT revision FROM \(facts.collection.table) WHERE id = $1", [.int(rowID)])
        ]
      )
    }
    guard let answer, answer.results[0].count > 0 else { return nil }
    return ContentVersion(
      incarnation: answer.facts.collection.incarnation, revision: answer.results[0].int(0, 0))
  }

  func indexes(in collection: String) throws -> [IndexDefinition] {
    (try self.collection(collection)?.indexes ?? []).map(\.definition)
      .sorted { $0.name.isBefore($1.name) }
  }

  func textIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    (try self.collection(collection)?.textIndexes ?? []).map(\.definition)
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
    guard let found = try self.collection(collection) else { return [] }
    let rows = try session.run(
      PostgresStatement("SELECT DISTINCT type FROM \(found.table) WHERE type IS NOT NULL"))
    return (0..<rows.count).map { rows.text($0, 0) }.sorted { $0.isBefore($1) }
  }

  /// Indexes are made in one step here.
  func unfinishedIndexes() throws -> [PendingIndex] { [] }

  func indexLedger() throws -> [IndexCostRecord] {
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
  /// Shows a row of ``PostgresQueryCompiler/columns``.
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
    func shown(_ body: UnsafeRawBufferPointer) throws -> Result {
      try show(
        StoredDocument(
          rowID: int(row, 0), key: key, type: isNull(row, 2) ? nil : bytes(row, 2),
          version: optionalInt(row, 3), added: optionalInt(row, 4), revision: optionalInt(row, 5),
          incarnation: incarnation, body: body))
    }
    guard isNull(row, 6) else { return try shown(bytes(row, 6)) }
    return try QueryableBody.compact(bytes(row, 7)).withUnsafeBytes(shown)
  }

  /// The fields of a row's body, of which ``PostgresQueryCompiler/body`` stands from a column on.
  func body(_ row: Int, _ column: Int) throws -> DocumentObject {
    func object(_ body: UnsafeRawBufferPointer) throws -> DocumentObject {
      var reader = JSONReader(body)
      return try reader.object()
    }
    guard isNull(row, column) else { return try object(bytes(row, column)) }
    return try QueryableBody.compact(bytes(row, column + 1)).withUnsafeBytes(object)
  }
}
