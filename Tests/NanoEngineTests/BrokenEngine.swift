// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoTesting

/// An engine with canned results that breaks one rule of the contract.
final class BrokenEngine: Engine {
  struct Failure: Error {}

  let rule: ContractViolation.Rule
  init(_ rule: ContractViolation.Rule) { self.rule = rule }

  var capabilities: Capabilities { [] }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    if rule == .blockNotRunOnce { _ = try work(BrokenWriter(rule)) }
    return try work(BrokenWriter(rule))
  }
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result { try work(BrokenWriter(rule)) }

  func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation { CommitObservation {} }
  func compact() throws {}
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws {}
  func verify() throws -> [VerificationProblem] { [] }
  func statistics() throws -> EngineStatistics {
    EngineStatistics(collections: [], size: 0, unused: 0, engine: "broken", settings: [:])
  }
  func close() throws {}
}

/// Every query finds the document 1 with the key "a"; every insert returns the row ID 1.
private final class BrokenWriter: EngineWriter {
  let rule: ContractViolation.Rule
  init(_ rule: ContractViolation.Rule) { self.rule = rule }

  private func withDocument<Result>(_ work: (StoredDocument) throws -> Result) throws -> Result {
    try DocumentKey.withBorrowed(.text("a")) { key in
      try Array("{}".utf8).withUnsafeBytes { body in
        try work(
          StoredDocument(
            rowID: 1, key: key, type: nil, version: nil, added: 0, revision: 1, body: body))
      }
    }
  }

  func get(
    _ identity: Identity, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    switch rule {
    case .wrongResult: break
    case .swallowedError: try? withDocument(visit)
    case .changedError:
      do { try withDocument(visit) } catch { throw StoreError(.database, "It failed") }
    default: try withDocument(visit)
    }
    return true
  }
  func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    try withDocument(visit)
    if rule == .repeatedDocument { try withDocument(visit) }
  }
  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    _ = try withDocument(visit)
    if rule == .calledAfterEnd || rule == .beyondLimit { _ = try withDocument(visit) }
  }
  func count(_ query: Query, in collection: String) throws -> Int {
    switch rule {
    case .undeclaredError: throw StoreError(.deleteDenied, "No")
    case .foreignError: throw BrokenEngine.Failure()
    default: return -1
    }
  }
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] { [] }
  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] { [] }
  func explain(_ query: Query, in collection: String) throws -> Explanation {
    throw StoreError(.unsupported, "No")
  }
  func committedState() throws -> CommittedState? { CommittedState(observer: 1, count: 1) }

  func collections() throws -> [CollectionDescription] {
    ["b", "a"].map { CollectionDescription(name: $0) }
  }
  func identity(of collection: String) throws -> CollectionIdentity { .key }
  func indexes(in collection: String) throws -> [IndexDefinition] { [] }
  func indexing(in collection: String) throws -> IndexingPolicy { .declared }
  func settings(of collection: String) throws -> CollectionSettings { CollectionSettings() }
  func observedPaths(in collection: String) throws -> [ObservedPath] { [] }
  func metadata(_ name: String) throws -> DocumentValue? { nil }
  func metadataNames() throws -> [String] { [] }
  func unfinishedIndexes() throws -> [PendingIndex] { [] }
  func indexCostRecords() throws -> [IndexCostRecord] { [] }

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    rule == .rowIDNotPositive ? 0 : 1
  }
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {}
  func save(_ document: NewDocument, into collection: String) throws -> Int64 { 1 }
  func nextRowID(in collection: String) throws -> Int64 { 1 }
  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool { true }
  func delete(_ identity: Identity, from collection: String) throws -> Bool { true }
  func delete(_ query: Query, from collection: String) throws -> Int { 0 }

  func createIndex(_ index: IndexDefinition, in collection: String) throws {}
  func dropIndex(_ name: String, in collection: String) throws -> Bool { true }
  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {}
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws { try progress?(2) }
  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {}
  func dropIndexes(in collection: String) throws -> Int { 0 }
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool { true }
  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool { true }
  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {}

  func createCollections(_ descriptions: [CollectionDescription]) throws {}
  func dropCollection(_ name: String) throws -> Bool { true }
  func setSettings(_ settings: CollectionSettings, of collection: String) throws {}
  func setMetadata(_ value: DocumentValue?, _ name: String) throws {}
  func savepoint<Result>(_ work: () throws -> Result) throws -> Result { try work() }
}
