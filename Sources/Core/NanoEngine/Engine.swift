// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoQuery

/// Where documents are kept: what the store layer asks of a database, and all it knows of one.
///
/// Calls block until they are done; the store runs them on threads where that does no harm. A
/// reader sees one snapshot for as long as its block runs. An error thrown by a write block, its
/// own or one of the engine's, leaves the database as it was before the block.
///
/// Every engine passes the conformance suite in NanoTesting.
package protocol Engine: AnyObject, Sendable {
  /// What this engine can do beyond the contract's core.
  var capabilities: Capabilities { get }

  /// Runs a block on a snapshot. Several may run at once, beside one writer.
  ///
  /// - Parameters:
  ///   - scope: Whether the block makes more than one call that must see the same state.
  ///   - interruption: Makes the running statement fail with ``StoreError/Code/interrupted`` when
  ///     it is triggered from another thread.
  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result

  /// Shows one document and says whether there is one: the shortest way to a single document.
  func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool

  /// Shows the documents with these keys as one state has them, each once and in any order.
  func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws

  /// Runs a block in a transaction that is committed when the block returns and rolled back when it
  /// throws. One runs at a time; another waits, at most for the busy timeout where the other one
  /// belongs to another process.
  func write<Result>(
    _ interruption: Interruption?, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result

  /// Stores one document in a transaction of its own: the shortest way to write.
  ///
  /// - Parameters:
  ///   - newKey: The key of a document without one, where documents have keys.
  ///   - replacing: Whether a document that has the key is replaced.
  /// - Returns: The row id and the key; nil if a transaction must do it, be it because the engine has no
  ///   shorter way or because the document is refused. Nothing was stored then.
  func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)?

  /// Calls a handler for every commit that changed documents, until the observation is cancelled or
  /// let go of.
  ///
  /// It is called in the order of commits, soon after each, on a thread that writes or watches the
  /// file, and outside of the engine's locks. It must be quick: whoever wrote waits for it. What it
  /// is told covers what changed and may cover more. Commits of other connections and processes come
  /// as ``Commit/everything``, after as long as the engine says. Who registers first and reads then
  /// misses nothing. Afterwards, and without observers, writing costs what it did.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` without ``Capabilities/changes``,
  ///   ``StoreError/Code/closed``.
  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation

  /// Gives unused space back to the file system.
  func compact() throws
  /// Copies the database as it is at this moment, while it stays in use.
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws
  /// What is damaged or inconsistent; empty if all is well.
  func verify() throws -> [VerificationProblem]
  /// Sizes, counts and settings of the database.
  func statistics() throws -> EngineStatistics

  /// Lets go of the database. Calls that run are waited for, later ones fail with
  /// ``StoreError/Code/closed``; a second close does nothing.
  func close() throws
}

extension Engine {
  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws {
    try read(.snapshot, interruption) { try $0.get(keys: keys, in: collection, show) }
  }

  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? { nil }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try read(.call, interruption) { try $0.get(identity, in: collection, show) }
  }
}

extension EngineReader {
  package func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    for key in Set(keys) { try get(.key(key), in: collection, show) }
  }

  package func findInAnyOrder(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    try find(query, in: collection, show)
  }

  package func findRanked(
    _ query: Query, in collection: String, _ show: (StoredDocument, Double) throws -> Bool
  ) throws {
    try find(query, in: collection) { try show($0, 0) }
  }

  package func textIndexes(in collection: String) throws -> [FullTextIndexDefinition] { [] }

  package func highestRowID(in collection: String) throws -> Int64? { nil }

  package func aggregate(
    _ query: AggregateQuery, in collection: String, _ show: (AggregateRow) throws -> Bool
  ) throws {
    for row in try aggregate(query, in: collection) where try !show(row) { return }
  }

  package func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ show: (StoredContent) throws -> Bool
  ) throws {
    try find(query, in: collection) { stored in
      try show(
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

/// How much one read block sees of a single state.
public enum ReadScope: Sendable, Hashable {
  /// Each call in the block sees one state, perhaps not the same one.
  case call
  /// All of them see the same one.
  case snapshot
  /// All of them see the same one, which may be one of some time ago: an engine with replicas asks these.
  case stale
}

/// A snapshot, valid inside the block that was given it and on its thread.
package protocol EngineReader: AnyObject {
  /// The collections that exist, by name.
  func collections() throws -> [CollectionDescription]
  /// What documents of a collection are known by; a key if there is no such collection yet.
  func identity(of collection: String) throws -> CollectionIdentity
  /// Shows one document and says whether there is one.
  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool
  /// Shows the documents with these keys, each once and in any order.
  func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws
  /// Shows each document that a query finds, in order, until the closure says false. A collection
  /// that does not exist is empty.
  func find(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws
  /// As ``find(_:in:_:)``, but what a query finds by row id may come in any order, for a caller that
  /// keeps it all and sorts it in less time than a database needs.
  func findInAnyOrder(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws
  /// As ``find(_:in:_:)``, with the rank of each document in the query's search by text: the larger, the
  /// better it fits. It is 0 where no index of tokens found the document.
  func findRanked(
    _ query: Query, in collection: String, _ show: (StoredDocument, Double) throws -> Bool
  ) throws
  /// Shows of what ``find(_:in:_:)`` shows only what values are made of, which takes less time where nobody
  /// asks for more. Without keys every ``StoredContent/key`` is none.
  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ show: (StoredContent) throws -> Bool
  ) throws
  /// The largest row id that a document of the collection ever had, be it removed since; 0 if there never
  /// was one, nil if the engine does not tell.
  func highestRowID(in collection: String) throws -> Int64?
  /// The row ids of what a query finds, in order. An engine that finds them in an index does not
  /// touch the documents.
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult
  /// What the row of this id holds at present; nil if there is none, another program wrote it, or the
  /// engine does not tell.
  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion?
  /// What this reader sees, once it has read something; nil while it takes part in a transaction that
  /// may be undone, and if the engine does not tell.
  func committedState() throws -> CommittedState?
  /// How many documents a query finds, within its page.
  func count(_ query: Query, in collection: String) throws -> Int
  /// Aggregates over what a query finds, in the sort order of their groups.
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow]
  /// Shows the rows of ``aggregate(_:in:)`` one after the other until the closure says false. An engine need
  /// not have them all in memory.
  func aggregate(
    _ query: AggregateQuery, in collection: String, _ show: (AggregateRow) throws -> Bool
  ) throws
  /// The distinct values that a field reaches, in sort order.
  func distinct(_ field: FieldPath, _ query: Query, in collection: String) throws -> [DocumentValue]
  /// How a query would run.
  func explain(_ query: Query, in collection: String) throws -> Explanation
  /// The indexes of a collection, by name.
  func indexes(in collection: String) throws -> [IndexDefinition]
  /// The text indexes of a collection, by name.
  func textIndexes(in collection: String) throws -> [FullTextIndexDefinition]
  /// What is indexed beside them; ``IndexingPolicy/declared`` if there is no such collection.
  func indexing(in collection: String) throws -> IndexingPolicy
  /// The names of classes that documents are stored as, each once, sorted.
  func types(in collection: String) throws -> [String]
  /// What its questions are asked with; empty ones if there is no such collection.
  func settings(of collection: String) throws -> CollectionSettings
  /// Every path that documents of the collection ever held, with the types seen there.
  func observedPaths(in collection: String) throws -> [ObservedPath]
  /// Indexes that ``EngineWriter/beginIndex(_:in:)`` began and nothing has finished yet. They are in no
  /// other list, and no query uses them.
  func unfinishedIndexes() throws -> [PendingIndex]
  /// What ``EngineWriter/setIndexLedger(_:of:)`` keeps.
  func indexLedger() throws -> [IndexCostRecord]
  /// A value kept beside the collections; nil if there is none of this name.
  func metadata(_ name: String) throws -> DocumentValue?
  /// The names under which values are kept.
  func metadataNames() throws -> [String]
}

/// A transaction in progress, valid inside the block that was given it and on its thread.
package protocol EngineWriter: EngineReader {
  /// Stores a new document and gives its row id, never one that was used before.
  ///
  /// - Throws: ``StoreError/Code/duplicateKey``, also where the row id that it is to have is taken,
  ///   ``StoreError/Code/uniqueViolation``. Nothing was stored, and the transaction goes on.
  func insert(_ document: NewDocument, into collection: String) throws -> Int64
  /// Stores new documents one after the other, with the same outcome as by ``insert(_:into:)``. An engine
  /// may do it in less time for ``NewDocument/together`` of them.
  ///
  /// - Parameter rowIDs: Gets the row id of each document, also of those before one that is refused.
  /// - Throws: As for a single one. Those before it were stored, and the transaction goes on.
  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws
  /// How many new documents are best handed over by one call.
  var documentsTogether: Int { get }
  /// Stores a document under its key, in place of the one that has it. Its row id and the moment at
  /// which it was added stay.
  func save(_ document: NewDocument, into collection: String) throws -> Int64
  /// Saves documents one after the other, with the same outcome as by ``save(_:into:)-(NewDocument,_)``. An
  /// engine may do it in less time.
  ///
  /// - Parameter rowIDs: As in ``insert(_:into:_:)``.
  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws
  /// The row id of the next new document. Nor had any document one of those that follow: in this
  /// transaction a caller may say them beforehand, for documents that mention each other.
  func nextRowID(in collection: String) throws -> Int64
  /// Replaces the body of a document that exists; false if it does not, or is of another revision than
  /// ``NewDocument/replacedRevision``.
  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool
  /// Removes one document and says whether there was one.
  func delete(_ identity: Identity, from collection: String) throws -> Bool
  /// Removes what a query finds and says how many.
  func delete(_ query: Query, from collection: String) throws -> Int

  /// Makes a collection; does nothing if the same one exists.
  func createCollection(_ description: CollectionDescription) throws
  /// Removes a collection with its documents and indexes, and says whether there was one.
  func dropCollection(_ name: String) throws -> Bool
  /// Does nothing if the same index exists. A declared index takes the place of an adaptive one: of the
  /// same one without making it again, and of another one that has its name.
  func createIndex(_ index: IndexDefinition, in collection: String) throws
  /// Begins an index that ``continueIndex(_:in:documents:)`` fills, and says whether it is complete
  /// already, as it is where the engine makes indexes of this kind in one step.
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool
  /// Adds so many more documents to an index that was begun, and says whether it is complete. It is used
  /// from then on.
  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool
  /// Keeps what the store layer knows of possible indexes of a collection, in place of what it kept
  /// before. It goes with the collection.
  func setIndexLedger(_ rows: [IndexCostRecord], of collection: String) throws
  /// Removes an index, be it a text index, and says whether there was one.
  func dropIndex(_ name: String, in collection: String) throws -> Bool
  /// Does nothing if the same text index exists.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if another index has the name,
  ///   ``StoreError/Code/unsupported`` without ``Capabilities/textIndexes``.
  func createTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws
  /// Says what is indexed, for the documents that are there and those to come. Answers are the same
  /// either way.
  ///
  /// - Parameter progress: Called with 0...1. It must not use the store; an error that it throws
  ///   undoes the change.
  /// - Throws: ``StoreError/Code/unsupported`` for a policy that the engine does not have.
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws
  /// Makes every index of a collection anew, as after damage or writes of other programs.
  ///
  /// - Parameter progress: As in ``setIndexing(_:in:_:)``.
  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws
  /// Removes every index of a collection, goes back to ``IndexingPolicy/declared``, and says how
  /// many definitions were removed.
  @discardableResult
  func dropIndexes(in collection: String) throws -> Int
  /// Says what questions to a collection are asked with, from the next question on and for every
  /// connection; makes the collection if there is none.
  func setSettings(_ settings: CollectionSettings, of collection: String) throws
  /// Nil removes the entry.
  func setMetadata(_ value: DocumentValue?, _ name: String) throws

  /// Runs a block whose changes are undone if it throws, while the transaction goes on.
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

/// What an engine can do beyond the contract's core.
package struct Capabilities: OptionSet, Sendable, Hashable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }
  /// SQL statements of the caller, through ``SQLReader``.
  package static let sql = Capabilities(rawValue: 1)
  /// Indexes that refuse a second document with the same values.
  package static let uniqueIndexes = Capabilities(rawValue: 2)
  /// Indexes with an entry for each element of an array.
  package static let elementIndexes = Capabilities(rawValue: 4)
  /// Indexes on elements that refuse a second document with one of them.
  package static let uniqueElementIndexes = Capabilities(rawValue: 512)
  /// ``Engine/put(_:newKey:replacing:into:_:)`` is shorter than a transaction.
  package static let singleWrites = Capabilities(rawValue: 1024)
  /// Copies of the database while it is in use.
  package static let backup = Capabilities(rawValue: 8)
  /// Readers see their snapshot while a writer works.
  package static let concurrentReads = Capabilities(rawValue: 16)
  /// What is written is still there after the process has ended.
  package static let durable = Capabilities(rawValue: 32)
  /// ``IndexingPolicy/everything``.
  package static let everythingIndex = Capabilities(rawValue: 64)
  /// ``Engine/observeCommits(_:)``.
  package static let changes = Capabilities(rawValue: 128)
  /// ``EngineWriter/createTextIndex(_:in:)``.
  package static let textIndexes = Capabilities(rawValue: 256)
}
