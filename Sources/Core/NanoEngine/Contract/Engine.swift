// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoQuery

/// A database that stores documents: everything the store layer requires of it and knows about it.
///
/// Calls block until they finish; the store runs them on threads where blocking is harmless. A reader sees one
/// snapshot for the duration of its block. An error thrown from a write block, whether by the block itself or by
/// the engine, leaves the database as it was before the block.
///
/// Every call may throw the codes of ``DeclaredErrors/environment``, `CancellationError`, and the errors of the
/// closures that it calls, to which it may only add details. Other codes are declared by the call. Debug builds
/// check this and the other rules with a ``ContractCheckingEngine``.
///
/// Every engine passes the conformance suite in NanoTesting.
package protocol Engine: EngineMaintenance {
  /// The optional features that the engine supports.
  var capabilities: Capabilities { get }

  /// Runs a block on a snapshot. Several blocks may run concurrently with each other and with one writer.
  ///
  /// - Parameters:
  ///   - scope: Whether the block makes several calls that must see the same state.
  ///   - interruption: Makes the running statement fail with ``StoreError/Code/interrupted`` when it is
  ///     triggered from another thread.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a call inside a block that occupies the engine's only
  ///   connection, which would wait for itself.
  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result
  /// Passes a document to the closure and returns whether it exists. The fastest way to read a single document.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``; ``StoreError/Code/invalidArgument`` as in ``read(_:_:_:)``.
  func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool
  /// Passes the documents with the given keys to the closure, each once, in any order, all from one state.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``; ``StoreError/Code/invalidArgument`` as in ``read(_:_:_:)``.
  func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws

  /// The number of read blocks that can run concurrently at most; further ones wait for one of them to end. On a server,
  /// transactions count as well.
  var maximumReads: Int { get }

  /// Whether every transaction fails with ``StoreError/Code/readOnly``.
  var isReadOnly: Bool { get }

  /// Runs a block in a transaction, commits it when the block returns, and rolls it back when the block throws.
  ///
  /// At most ``concurrentWrites`` transactions run at a time. Others wait; for a transaction of another process at
  /// most for the busy timeout.
  ///
  /// - Parameter isolation: What the block may see of concurrent transactions. An engine may isolate it more.
  /// - Throws: ``StoreError/Code/locked`` also if the transaction conflicts with a concurrent one;
  ///   ``StoreError/Code/outcomeUnknown`` if the connection to a server was lost during the commit, which was
  ///   applied completely or not at all. After every other error, nothing was written.
  ///   ``StoreError/Code/invalidArgument`` for a call that would wait for itself;
  ///   ``StoreError/Code/uniqueViolation`` if an index that is being created rejects a document.
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result
  /// The number of transactions that a caller should run concurrently at most; 1 if each waits for the one before. More
  /// of them may wait for each other.
  var concurrentWrites: Int { get }

  /// Stores one document in its own transaction. The fastest way to write a single document.
  ///
  /// - Parameters:
  ///   - newKey: The key for a document without one, in collections whose documents have keys.
  ///   - replacing: Whether an existing document with the same key is replaced.
  /// - Returns: The row ID and the key; `nil` if the caller must use a transaction instead, either because the
  ///   engine has no faster method or because the document was rejected. In that case nothing was stored.
  /// - Throws: ``StoreError/Code/outcomeUnknown`` as in ``write(_:_:)``; ``StoreError/Code/notFound`` if the document
  ///   was stored and has been removed since; ``StoreError/Code/corruptDocument``, ``StoreError/Code/duplicateKey``,
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidKey``, ``StoreError/Code/invalidName``,
  ///   ``StoreError/Code/uniqueViolation``, ``StoreError/Code/valueNotStorable``.
  func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)?

  /// Replaces one document in its own transaction, if its revision is ``NewDocument/replacedRevision``, and its row ID
  /// ``NewDocument/rowID`` if that is given.
  ///
  /// - Returns: Whether it was replaced; `nil` if the caller must use a transaction instead, as for
  ///   ``put(_:newKey:replacing:into:_:)``.
  /// - Throws: ``StoreError/Code/outcomeUnknown`` as in ``write(_:_:_:)``; ``StoreError/Code/corruptDocument``,
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidKey``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/valueNotStorable``.
  func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool?

  /// Deletes one document in its own transaction.
  ///
  /// - Parameter references: A collection that may refer to documents. If it exists, the caller must use a transaction.
  /// - Returns: Whether the document existed; `nil` if the caller must use a transaction instead.
  /// - Throws: ``StoreError/Code/outcomeUnknown`` as in ``write(_:_:_:)``.
  func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool?

  /// Creates an index while transactions write to the collection, outside of a transaction.
  ///
  /// Queries use the index once it is complete. What an interrupted call leaves is no index, but may slow down writes
  /// and reject documents that violate it, until the next call for an index with the same name drops it.
  ///
  /// - Returns: `false` if the caller must use ``EngineTuningWriter/beginIndex(_:in:)`` instead. Nothing happened then.
  /// - Throws: ``StoreError/Code/outcomeUnknown`` as in ``write(_:_:_:)``; ``StoreError/Code/alreadyExists``,
  ///   ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``,
  ///   ``StoreError/Code/invalidPath``, ``StoreError/Code/uniqueViolation``, ``StoreError/Code/unsupported``.
  func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool

  /// Returns the blob with a digest, which stays readable until the object is closed or deallocated; `nil` if there is
  /// none.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` as in ``read(_:_:_:)``.
  func keepBlob(_ digest: BlobDigest, _ interruption: Interruption?) throws -> (any KeptBlob)?

  /// Calls a handler after every commit that changed documents, until the observation is canceled or
  /// deallocated.
  ///
  /// The handler is called soon after each commit, on a thread that writes or watches the file, and outside the
  /// engine's locks. The last report of a document is that of its last commit. It must be quick: the writer waits for
  /// it. The reported changes cover what changed and may cover more. Commits of other connections and processes are
  /// reported as ``Commit/everything``, after a delay that the engine defines. A caller that registers first and then
  /// reads misses nothing. Once the observation ends, and while there are no observers, writing costs nothing extra.
  ///
  /// - Throws: ``StoreError/Code/unsupported`` without ``Capabilities/changes``.
  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation

  /// The clock by which documents expire.
  var clock: any StoreClock { get }
  /// Whether documents of any collection may expire, as far as the engine knows: from opening, from its transactions that
  /// set an expiration, or from having read such a collection. Without, no timer is needed.
  var hasExpirations: Bool { get }
  /// The last commit of any connection, determined without reading the database; `nil` if that is not possible.
  ///
  /// If it is the same before and after a read, then the read saw what this commit left, and so does every read as
  /// long as it is the same.
  var lastCommit: CommitStamp? { get }

  /// Closes the database.
  ///
  /// Waits for running calls; later calls fail with ``StoreError/Code/closed``. Closing more than once has no
  /// effect.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a block of the same thread; the database stays open.
  func close() throws
}

extension StoreError {
  /// The error of every transaction of an engine that is read-only.
  package static var openedReadOnly: StoreError {
    StoreError(.readOnly, "The store was opened read-only")
  }
}

extension Engine {
  package var concurrentWrites: Int { 1 }
  package var isReadOnly: Bool { false }
  package var maximumReads: Int { capabilities.contains(.concurrentReads) ? .max : 1 }
  package var clock: any StoreClock { SystemClock() }
  package var hasExpirations: Bool { false }
  package var lastCommit: CommitStamp? { nil }

  /// Runs a block in a serializable transaction.
  package func write<Result>(
    _ interruption: Interruption?, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try write(.serializable, interruption, work)
  }

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

  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? { nil }

  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? { nil }

  package func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool { false }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try read(.call, interruption) { try $0.get(identity, in: collection, visit) }
  }
}
