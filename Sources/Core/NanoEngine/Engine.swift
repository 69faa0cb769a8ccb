// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery

/// A database that stores documents: everything the store layer requires of it and knows about it.
///
/// Calls block until they finish; the store runs them on threads where blocking is harmless. A reader sees one
/// snapshot for the duration of its block. An error thrown from a write block, whether by the block itself or by
/// the engine, leaves the database as it was before the block.
///
/// Every engine passes the conformance suite in NanoTesting.
package protocol Engine: AnyObject, Sendable {
  /// The optional features that the engine supports.
  var capabilities: Capabilities { get }

  /// Runs a block on a snapshot. Several blocks may run concurrently with each other and with one writer.
  ///
  /// - Parameters:
  ///   - scope: Whether the block makes several calls that must see the same state.
  ///   - interruption: Makes the running statement fail with ``StoreError/Code/interrupted`` when it is
  ///     triggered from another thread.
  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result

  /// Passes a document to the closure and returns whether it exists. The fastest way to read a single document.
  func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool

  /// Passes the documents with the given keys to the closure, each once, in any order, all from one state.
  func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws

  /// Runs a block in a transaction, commits it when the block returns, and rolls it back when the block throws.
  ///
  /// Only one transaction runs at a time. Others wait; if the running one belongs to another process, they wait
  /// at most for the busy timeout.
  func write<Result>(
    _ interruption: Interruption?, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result

  /// Stores one document in its own transaction. The fastest way to write a single document.
  ///
  /// - Parameters:
  ///   - newKey: The key for a document without one, in collections whose documents have keys.
  ///   - replacing: Whether an existing document with the same key is replaced.
  /// - Returns: The row ID and the key; `nil` if the caller must use a transaction instead, either because the
  ///   engine has no faster method or because the document was rejected. In that case nothing was stored.
  func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)?

  /// Calls a handler after every commit that changed documents, until the observation is canceled or
  /// deallocated.
  ///
  /// The handler is called in commit order, soon after each commit, on a thread that writes or watches the file,
  /// and outside the engine's locks. It must be quick: the writer waits for it. The reported changes cover what
  /// changed and may cover more. Commits of other connections and processes are reported as
  /// ``Commit/everything``, after a delay that the engine defines. A caller that registers first and then reads
  /// misses nothing. Once the observation ends, and while there are no observers, writing costs nothing extra.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` without ``Capabilities/changes``, ``StoreError/Code/closed``.
  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation

  /// Returns unused space to the file system.
  func compact() throws
  /// Copies the current state of the database while it remains in use.
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws
  /// Returns everything that is damaged or inconsistent; empty if the database is intact.
  func verify() throws -> [VerificationProblem]
  /// Returns the database's sizes, counts, and settings.
  func statistics() throws -> EngineStatistics

  /// Closes the database.
  ///
  /// Waits for running calls; later calls fail with ``StoreError/Code/closed``. Closing more than once has no
  /// effect.
  func close() throws
}

extension Engine {
  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    try read(.snapshot, interruption) { try $0.get(keys: keys, in: collection, visit) }
  }

  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? { nil }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try read(.call, interruption) { try $0.get(identity, in: collection, visit) }
  }
}

extension EngineReader {
  package func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    for key in Set(keys) { try get(.key(key), in: collection, visit) }
  }

  package func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try find(query, in: collection, visit)
  }

  package func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    try find(query, in: collection) { try visit($0, 0) }
  }

  package func textIndexes(in collection: String) throws -> [FullTextIndexDefinition] { [] }

  package func highestRowID(in collection: String) throws -> Int64? { nil }

  package func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws {
    for row in try aggregate(query, in: collection) where try !visit(row) { return }
  }

  package func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws {
    try find(query, in: collection) { stored in
      try visit(
        StoredContent(
          key: withKeys ? stored.borrowedKey : .none, version: stored.version, body: stored.body))
    }
  }

  package func types(in collection: String) throws -> [String] {
    var names: Set<ExactName> = []
    var query = Query(!Condition.isNull(.attribute(.type)))
    query.fields = []
    try find(query, in: collection) { document in
      if let type = document.type { names.insert(ExactName(type)) }
      return true
    }
    return names.sorted().map(\.text)
  }
}

/// How the calls of a read block relate to one state of the database.
public enum ReadScope: Sendable, Hashable {
  /// Each call sees a consistent state, but different calls may see different states.
  case call
  /// All calls see the same state.
  case snapshot
  /// All calls see the same state, which may be out of date: an engine with replicas reads from them.
  case stale
}

/// A snapshot of the database, valid only inside the block that received it and on that block's thread.
package protocol EngineReader: AnyObject {
  /// Returns the existing collections, sorted by name.
  func collections() throws -> [CollectionDescription]
  /// Returns what identifies the documents of a collection; a key if the collection does not exist yet.
  func identity(of collection: String) throws -> CollectionIdentity
  /// Passes one document to the closure and returns whether it exists.
  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool
  /// Passes the documents with the given keys to the closure, each once, in any order.
  func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws
  /// Passes each document that matches the query to the closure, in order, until the closure returns `false`. A
  /// collection that does not exist is treated as empty.
  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws
  /// Like ``find(_:in:_:)``, except that results found by row ID may arrive in any order, for a caller that
  /// keeps them all and sorts them faster than the database would.
  func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws
  /// Like ``find(_:in:_:)``, with each document's rank in the query's full-text search; a higher rank is a
  /// better match. The rank is 0 if no token index found the document.
  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws
  /// Like ``find(_:in:_:)``, but passes only the parts needed to decode values, which is faster. Without
  /// `withKeys`, every ``StoredContent/key`` is `.none`.
  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws
  /// Returns the largest row ID that any document of the collection has ever had, including deleted ones; 0 if
  /// there never was a document, `nil` if the engine does not track it.
  func highestRowID(in collection: String) throws -> Int64?
  /// Returns the row IDs of a query's results, in order. An engine that finds them in an index does not read the
  /// documents.
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult
  /// Returns the version of a row's current content; `nil` if the row does not exist, was written by another
  /// program, or the engine does not track versions.
  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion?
  /// Returns the state that this reader sees, once it has read something; `nil` inside a transaction that may be
  /// rolled back, and if the engine does not track it.
  func committedState() throws -> CommittedState?
  /// Returns the number of documents that match a query, within its limit and offset.
  func count(_ query: Query, in collection: String) throws -> Int
  /// Returns the aggregates of a query's results, in the sort order of their groups.
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow]
  /// Passes the rows of ``aggregate(_:in:)`` to the closure, one at a time, until the closure returns `false`.
  /// An engine need not hold all of them in memory.
  func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws
  /// Returns the distinct values of a field among the query's results, in sort order.
  func distinct(_ field: FieldPath, _ query: Query, in collection: String) throws -> [DocumentValue]
  /// Returns how a query would be executed.
  func explain(_ query: Query, in collection: String) throws -> Explanation
  /// Returns the indexes of a collection, sorted by name.
  func indexes(in collection: String) throws -> [IndexDefinition]
  /// Returns the full-text indexes of a collection, sorted by name.
  func textIndexes(in collection: String) throws -> [FullTextIndexDefinition]
  /// Returns what is indexed in addition to those; ``IndexingPolicy/declared`` if the collection does not exist.
  func indexing(in collection: String) throws -> IndexingPolicy
  /// Returns the class names that documents are stored under, each once, sorted.
  func types(in collection: String) throws -> [String]
  /// Returns the settings of a collection; empty ones if the collection does not exist.
  func settings(of collection: String) throws -> CollectionSettings
  /// Returns every path that documents of the collection have ever contained, with the types observed there.
  func observedPaths(in collection: String) throws -> [ObservedPath]
  /// Returns the indexes that ``EngineWriter/beginIndex(_:in:)`` began and that are not complete. They appear in
  /// no other list, and no query uses them.
  func unfinishedIndexes() throws -> [PendingIndex]
  /// Returns the records stored by ``EngineWriter/setIndexLedger(_:of:)``.
  func indexLedger() throws -> [IndexCostRecord]
  /// Returns a metadata value, which is stored outside the collections; `nil` if there is none with this name.
  func metadata(_ name: String) throws -> DocumentValue?
  /// Returns the names of the metadata values.
  func metadataNames() throws -> [String]
}

/// A transaction in progress, valid only inside the block that received it and on that block's thread.
package protocol EngineWriter: EngineReader {
  /// Stores a new document and returns its row ID, which no document has had before.
  ///
  /// - Throws: ``StoreError/Code/duplicateKey``, also if the row ID requested for the document is taken,
  ///   ``StoreError/Code/uniqueViolation``. Nothing was stored, and the transaction continues.
  func insert(_ document: NewDocument, into collection: String) throws -> Int64
  /// Stores new documents in order, with the same outcome as ``insert(_:into:)``. An engine may be faster with
  /// batches of ``NewDocument/together`` documents.
  ///
  /// - Parameter rowIDs: Receives the row ID of each stored document, including those stored before one that is
  ///   rejected.
  /// - Throws: The same errors as for a single document. The documents before the rejected one were stored, and
  ///   the transaction continues.
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws
  /// The preferred number of new documents per call.
  var documentsTogether: Int { get }
  /// Stores a document under its key, replacing the existing document with that key, if any. The existing
  /// document's row ID and creation date are kept.
  func save(_ document: NewDocument, into collection: String) throws -> Int64
  /// Saves documents in order, with the same outcome as ``save(_:into:)-(NewDocument,_)``. An engine may be
  /// faster with batches.
  ///
  /// - Parameter rowIDs: As in ``insert(_:into:_:)``.
  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws
  /// Returns the row ID of the next new document. Neither it nor any larger row ID has ever been used, so within
  /// this transaction a caller may assign them in advance, for documents that refer to each other.
  func nextRowID(in collection: String) throws -> Int64
  /// Replaces the body of an existing document; returns `false` if it does not exist, or if its revision differs
  /// from ``NewDocument/replacedRevision``.
  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool
  /// Deletes one document and returns whether it existed.
  func delete(_ identity: Identity, from collection: String) throws -> Bool
  /// Deletes the documents that match a query and returns their number.
  func delete(_ query: Query, from collection: String) throws -> Int

  /// Creates a collection; does nothing if the same collection exists.
  func createCollection(_ description: CollectionDescription) throws
  /// Drops a collection with its documents and indexes, and returns whether it existed.
  func dropCollection(_ name: String) throws -> Bool
  /// Creates an index; does nothing if the same index exists.
  ///
  /// A declared index replaces an adaptive one: if the definitions are the same, the index is kept without being
  /// rebuilt; a different adaptive index with the same name is dropped.
  func createIndex(_ index: IndexDefinition, in collection: String) throws
  /// Begins an index that ``continueIndex(_:in:documents:)`` fills, and returns whether it is already complete,
  /// as it is in engines that create indexes of this kind in one step.
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool
  /// Adds up to the given number of documents to an index that was begun, and returns whether the index is
  /// complete. Queries use it once it is complete.
  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool
  /// Stores the store layer's records about possible indexes of a collection, replacing the previous ones. They
  /// are dropped with the collection.
  func setIndexLedger(_ rows: [IndexCostRecord], of collection: String) throws
  /// Drops an index of any kind, full-text indexes included, and returns whether it existed.
  func dropIndex(_ name: String, in collection: String) throws -> Bool
  /// Creates a full-text index; does nothing if the same index exists.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if a different index has the name,
  ///   ``StoreError/Code/unsupported`` without ``Capabilities/textIndexes``.
  func createTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws
  /// Sets what is indexed, for existing and future documents. Query results do not depend on it.
  ///
  /// - Parameter progress: Called with values from 0 to 1. It must not use the store; an error that it throws
  ///   rolls back the change.
  /// - Throws: ``StoreError/Code/unsupported`` for a policy that the engine does not support.
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws
  /// Rebuilds every index of a collection, for use after damage or writes by other programs.
  ///
  /// - Parameter progress: As in ``setIndexing(_:in:_:)``.
  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws
  /// Drops every index of a collection, resets its policy to ``IndexingPolicy/declared``, and returns the number
  /// of dropped definitions.
  @discardableResult
  func dropIndexes(in collection: String) throws -> Int
  /// Sets the settings of a collection, which apply to all later queries on every connection; creates the
  /// collection if it does not exist.
  func setSettings(_ settings: CollectionSettings, of collection: String) throws
  /// Stores a metadata value; `nil` removes the entry.
  func setMetadata(_ value: DocumentValue?, _ name: String) throws

  /// Runs a block in a savepoint: its changes are rolled back if it throws, while the transaction continues.
  func savepoint<Result>(_ work: () throws -> Result) throws -> Result
}

extension EngineWriter {
  package var documentsTogether: Int { NewDocument.together }

  package func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try save(document, into: collection)) }
  }

  package func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try insert(document, into: collection)) }
  }
}

/// The optional features of an engine.
package struct Capabilities: OptionSet, Sendable, Hashable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }
  /// User-supplied SQL statements, through ``SQLReader``.
  package static let sql = Capabilities(rawValue: 1)
  /// Indexes that reject a second document with the same values.
  package static let uniqueIndexes = Capabilities(rawValue: 2)
  /// Indexes with an entry for each element of an array.
  package static let elementIndexes = Capabilities(rawValue: 4)
  /// Indexes on elements that reject a second document with one of the same elements.
  package static let uniqueElementIndexes = Capabilities(rawValue: 512)
  /// ``Engine/put(_:newKey:replacing:into:_:)`` is faster than a transaction.
  package static let singleWrites = Capabilities(rawValue: 1024)
  /// Copies of the database while it is in use.
  package static let backup = Capabilities(rawValue: 8)
  /// Readers keep their snapshot while a writer works.
  package static let concurrentReads = Capabilities(rawValue: 16)
  /// Committed data persists after the process ends.
  package static let durable = Capabilities(rawValue: 32)
  /// ``IndexingPolicy/everything``.
  package static let everythingIndex = Capabilities(rawValue: 64)
  /// ``Engine/observeCommits(_:)``.
  package static let changes = Capabilities(rawValue: 128)
  /// ``EngineWriter/createTextIndex(_:in:)``.
  package static let textIndexes = Capabilities(rawValue: 256)
}
