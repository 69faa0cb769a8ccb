// SPDX-License-Identifier: MIT

import Logging
public import NanoDocument
public import NanoEngine
import Synchronization

/// A document database.
///
/// ```swift
/// let store = try Store(.file("~/library.db"))
/// let people = store["people"]
/// try people.save(["name": "Ada", "born": 1815], key: "ada")
/// ```
///
/// You can use a store from any thread and task. Every operation has a synchronous and an
/// asynchronous form. The asynchronous form never blocks the calling thread; canceling its task
/// interrupts the query.
public final class Store: Sendable {
  private struct State {
    var engine: (any Engine)?
    var pending = PendingDocuments()
  }
  private let state: Mutex<State>
  /// The absolute path of the database file, if there is one.
  ///
  /// It is nil for in-memory and temporary stores, and for other engines.
  public let file: String?
  private let open: @Sendable () throws -> any Engine
  let scheduler = Scheduler()
  let queues = QueueRegistry()
  /// Serializes flushes, so that no document is written twice.
  let flushing = Mutex(())
  let keys = KeyGenerator()
  let streams = OpenStreams()
  let types = TypeRegistry()
  /// Distributes commits to observers.
  let hub = ChangeHub()
  let cache = DocumentCache()
  let associatedObjects = AssociatedObjects()
  let references: any DocumentReferences
  /// Deletes expired documents.
  let sweeper: ExpirySweeper
  /// See ``droppedDefinitions``.
  let drops = Atomic(0)
  /// See ``allowsPeriodsInNames``.
  let refusesPeriods = Atomic(false)
  private let documentLimit = Atomic(JSONWriter.maximumDocumentSize)

  /// The maximum size of a document in bytes of JSON.
  ///
  /// Storing a larger document throws ``StoreError/Code/documentTooLarge``. The default, and the
  /// upper bound, is SQLite's limit of 1,000,000,000 bytes.
  public var maximumDocumentSize: Int {
    get { documentLimit.load(ordering: .relaxed) }
    set {
      documentLimit.store(
        min(max(0, newValue), JSONWriter.maximumDocumentSize), ordering: .relaxed)
    }
  }

  /// Creates and drops indexes automatically; nil if index tuning is off.
  let tuner: IndexTuner?
  let logger: Logger
  /// Logs unknown fields in queries; nil if these warnings are off.
  let unknownFieldWarnings: UnknownFieldWarnings?

  /// Opens a store on the engine that the closure creates. The closure is also called by each
  /// ``reopen()``.
  ///
  /// - Parameters:
  ///   - references: The references to documents that are removed with them.
  ///   - file: The absolute path of the database file, if there is one.
  ///   - tunesIndexes: Whether the engine reports executed queries to the observer, without which
  ///     there is no index tuning.
  package init(
    _ configuration: Configuration, references: any DocumentReferences, file: String? = nil,
    tunesIndexes: Bool = false,
    opening open: @escaping @Sendable (QueryObserver?) throws -> any Engine
  ) throws {
    let warmup = try DispatchWarmup()
    defer { warmup.wait() }
    self.file = file
    self.references = references
    sweeper = ExpirySweeper(hub, references)
    logger = configuration.logger
    let tuner =
      tunesIndexes && configuration.indexTuning != .off
      ? IndexTuner(configuration.indexTuning, logger) : nil
    let observer = tuner?.makeObserver()
    self.tuner = tuner
    unknownFieldWarnings =
      configuration.warnsAboutUnknownFields ? UnknownFieldWarnings(logger) : nil
    self.open = {
      let engine = try open(observer).checkedInDebugBuilds
      do { try EncryptionMarker.check(engine) } catch {
        try? engine.close()
        throw error
      }
      return engine
    }
    let engine = try self.open()
    state = Mutex(State(engine: engine))
    tuner?.start(engine)
    sweeper.start(engine)
    defaultCacheSize = configuration.documentCacheSize
    cacheLimit = configuration.documentCacheLimit
  }

  /// Returns the collection with this name.
  ///
  /// Nothing is looked up or created until the collection is used. Reading a collection that does
  /// not exist finds no documents; the first write creates it. Every use of an internal collection,
  /// such as `nano_bags`, throws ``StoreError/Code/invalidName``.
  public subscript(name: String) -> DocumentCollection {
    let collection = DocumentCollection(store: self, name: name)
    guard let reserved = InternalCollection(named: name) else { return collection }
    return collection.failing(with: reserved.refusal)
  }

  /// Returns an internal collection, which layers read. Writes through it are refused as well.
  package func internalCollection(_ collection: InternalCollection) -> DocumentCollection {
    DocumentCollection(store: self, name: collection.rawValue)
  }

  /// Unavailable: collections are addressed by name. The diagnostic names the alternatives.
  @available(
    *, unavailable,
    message:
      "a collection of Codable values has a name: use store[\"people\"] with save(_:key:), get(_:as:) and find().decoded(as:); or mark the type '@Model' and import NanoStoreModels"
  )
  public subscript<Value>(type: Value.Type) -> DocumentCollection {
    DocumentCollection(store: self, name: "\(type)")
  }

  /// Returns the engine, for operations that the store does not offer itself.
  ///
  /// - Throws: ``StoreError/Code/closed``.
  package func engine() throws(StoreError) -> any Engine {
    guard let engine = state.withLock({ $0.engine }) else {
      throw Self.closed
    }
    return engine
  }
  private static let closed = StoreError(.closed, "The store is closed")

  /// Returns the engine, and whether saved documents are still buffered.
  func engineAndBuffer() throws(StoreError) -> (any Engine, Bool) {
    let (engine, isEmpty) = state.withLock {
      ($0.engine, $0.pending.isEmpty || !$0.pending.isShown)
    }
    guard let engine else { throw StoreError(.closed, "The store is closed") }
    return (engine, !isEmpty)
  }

  /// Whether the store is closed. A closed store can be reopened with ``reopen()``.
  public var isClosed: Bool { state.withLock { $0.engine == nil } }

  /// Closes the store and releases the database.
  ///
  /// Waits for queued calls, writes buffered documents and waits for running calls first. When
  /// called from a queued call, it does not wait for other queued calls; they fail. Later calls
  /// throw ``StoreError/Code/closed``, and loops over ``LiveSequence`` end. A loop over a
  /// ``DocumentStream`` whose documents are not all read yet throws ``StoreError/Code/closed``.
  /// Closing a closed store does nothing.
  ///
  /// - Throws: An error from writing the buffered documents, which are then lost; the store is
  ///   closed nevertheless. ``StoreError/Code/invalidArgument`` inside a read or write block, which
  ///   still needs the store; the store then stays open.
  public func close() throws {
    try requireNoTransaction()
    if QueueContext.current == nil { waitForQueued() }
    while !isClosed {
      let flushed = Result { try flush() }
      let engine = state.withLock { state -> (any Engine)? in
        // Another thread buffered more documents in the meantime.
        if case .success = flushed, !state.pending.isEmpty { return nil }
        defer { state.engine = nil }
        state.pending.removeAll()
        return state.engine
      }
      guard let engine else { continue }
      streams.endAll(with: Self.closed)
      tuner?.stop()
      sweeper.stop()
      hub.end(engine)
      // Also ends observations that found the engine before it was removed.
      defer { hub.end(engine) }
      cache.removeAll()
      try engine.close()
      try flushed.get()
    }
  }

  /// Reopens a closed store. Does nothing if the store is open.
  ///
  /// A file store has its contents again; in-memory and temporary stores start empty.
  public func reopen() throws {
    try state.withLock { state in
      guard state.engine == nil else { return }
      let engine = try open()
      state.engine = engine
      // The database may be empty, or another one.
      noteDroppedDefinition()
      tuner?.start(engine)
      sweeper.start(engine)
    }
  }

  deinit { try? close() }

  /// Buffers a saved document and returns whether the buffer is full.
  func collect(_ entry: PendingDocuments.Entry) throws(StoreError) -> Bool {
    try state.withLock { state throws(StoreError) in
      guard state.engine != nil else { throw Self.closed }
      state.pending.add(entry)
      return state.pending.count >= state.pending.interval
    }
  }

  func withPending<Result>(_ work: (inout PendingDocuments) throws -> Result) rethrows -> Result {
    try state.withLock { try work(&$0.pending) }
  }
}

extension Store {
  /// Returns the existing collections, sorted by name, without the store's internal ones.
  public func collections() throws -> [CollectionDescription] {
    try reading(.call) { try $0.collections().filter { !$0.isInternal } }
  }
  /// The asynchronous form of `collections()`, which does not block the calling thread.
  public func collections() async throws -> [CollectionDescription] {
    try await onReader { try self.collections() }
  }

  /// Creates a collection whose documents have keys or only row IDs. Does nothing if it exists.
  ///
  /// - Returns: The collection.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the collection exists with a different
  ///   identity, ``StoreError/Code/invalidName``.
  @discardableResult
  public func createCollection(
    _ name: String, identity: CollectionIdentity = .key
  ) throws -> DocumentCollection {
    try InternalCollection.refuse(name)
    try writing(atomic: true) {
      try $0.createCollection(CollectionDescription(name: name, identity: identity))
    }
    return self[name]
  }
  /// The asynchronous form of `createCollection(_:identity:)`, which does not block the calling
  /// thread.
  @discardableResult
  public func createCollection(
    _ name: String, identity: CollectionIdentity = .key
  ) async throws -> DocumentCollection {
    try await onWriter { try self.createCollection(name, identity: identity) }
  }

  /// Creates several collections in one transaction, each as
  /// `createCollection(_:identity:)` does.
  ///
  /// Faster than one call for each if there are hundreds, because SQLite reads the definitions of all
  /// existing collections to create another one: 10,000 collections take seconds instead of minutes.
  ///
  /// ```swift
  /// let tenants = try store.createCollections((1...10_000).map { "tenant-\($0)" })
  /// tenants[41].name    // "tenant-42"
  /// ```
  ///
  /// - Returns: The collections, in the order of the names.
  /// - Throws: ``StoreError/Code/alreadyExists`` if one of the collections exists with a different
  ///   identity, ``StoreError/Code/invalidName``. None is created then.
  @discardableResult
  public func createCollections(
    _ names: [String], identity: CollectionIdentity = .key
  ) throws -> [DocumentCollection] {
    for name in names { try InternalCollection.refuse(name) }
    try writing(atomic: true) {
      try $0.createCollections(names.map { CollectionDescription(name: $0, identity: identity) })
    }
    return names.map { self[$0] }
  }
  /// The asynchronous form of `createCollections(_:identity:)`, which does not block the calling
  /// thread.
  @discardableResult
  public func createCollections(
    _ names: [String], identity: CollectionIdentity = .key
  ) async throws -> [DocumentCollection] {
    try await onWriter { try self.createCollections(names, identity: identity) }
  }

  /// Returns the metadata value with this name, or nil if there is none.
  ///
  /// Metadata is stored beside the collections. All names belong to the program: the metadata of an
  /// encrypted store is not visible here. The only exception is `nano_copy`, which marks an
  /// unfinished copy.
  public func metadata(_ name: String) throws -> DocumentValue? {
    try reading(.call) { try $0.metadata(name) }
  }
  /// The asynchronous form of `metadata(_:)`, which does not block the calling thread.
  public func metadata(_ name: String) async throws -> DocumentValue? {
    try await onReader { try self.metadata(name) }
  }

  /// Sets or removes a metadata value. Nil and a null value remove it.
  ///
  /// A null value is never stored, because Swift reads the `nil` of an expression such as
  /// `isOn ? nil : value` as the literal of a null ``/NanoDocument/DocumentValue``.
  ///
  /// ```swift
  /// try store.setMetadata("dark", "theme")
  /// try store.setMetadata(usesDefault ? nil : theme, "theme")  // removes it if usesDefault is true
  /// ```
  public func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try writing { try $0.setMetadata(value == .null ? nil : value, name) }
  }
  /// The asynchronous form of `setMetadata(_:_:)`, which does not block the calling thread.
  public func setMetadata(_ value: DocumentValue?, _ name: String) async throws {
    try await onWriter { try self.setMetadata(value, name) }
  }

  /// Returns the names of all metadata values, sorted.
  public func metadataNames() throws -> [String] { try reading(.call) { try $0.metadataNames() } }
  /// The asynchronous form of `metadataNames()`, which does not block the calling thread.
  public func metadataNames() async throws -> [String] {
    try await onReader { try self.metadataNames() }
  }
}

extension Store {
  /// Deletes the content of attachments that no document refers to, and returns unused space to the
  /// file system. Temporarily needs as much free space as the database occupies.
  ///
  /// - Parameter attachmentLease: How long content that ``addAttachment(_:contentType:)-(AttachmentSource,_)`` stored
  ///   is kept although no document refers to it, while the process that added it is running.
  public func compact(attachmentLease: Duration = .seconds(3_600)) throws {
    try outsideTransaction { engine in
      let isLocal = file != nil || !engine.capabilities.contains(.durable)
      try BlobCollector(engine, isLocal: isLocal, lease: attachmentLease).run()
      try engine.compact()
    }
  }
  /// The asynchronous form of `compact(attachmentLease:)`, which does not block the calling thread.
  public func compact(attachmentLease: Duration = .seconds(3_600)) async throws {
    try await scheduler.run { try self.compact(attachmentLease: attachmentLease) }
  }

  /// Copies the database to a file while it stays in use.
  ///
  /// The copy is a snapshot of the store and is created atomically: it is complete or does not
  /// exist.
  ///
  /// - Parameters:
  ///   - path: A file, or a folder. In a folder, the copy has the name of the store's file, or
  ///     "store.db" if the store has none. A leading tilde is expanded.
  ///   - replacing: Whether an existing file may be replaced.
  ///   - progress: Called with values from 0 to 1. If it throws, the backup ends and leaves nothing
  ///     behind.
  /// - Throws: ``StoreError/Code/alreadyExists`` if a file exists and must not be replaced.
  public func backup(
    to path: String, replacing: Bool = false, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try outsideTransaction {
      try $0.backup(
        to: BackupDestination(path: path, replacing: replacing), progress: progress)
    }
  }
  /// The asynchronous form of `backup(to:replacing:progress:)`, which does not block the calling
  /// thread.
  ///
  /// Canceling the task ends the backup, throws `CancellationError` and leaves nothing behind.
  public func backup(
    to path: String, replacing: Bool = false,
    progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    let interruption = Interruption()
    try await withTaskCancellationHandler {
      try await scheduler.run {
        try self.backup(to: path, replacing: replacing) { done in
          if interruption.isTriggered { throw CancellationError() }
          try progress?(done)
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// Returns the problems found in the database: damage, indexes that disagree with the documents, and attachments
  /// whose content is damaged or missing. Empty if there are none.
  public func verify() throws -> [VerificationProblem] {
    try outsideTransaction { engine in
      let problems = try engine.verify()
      guard engine.capabilities.contains(.blobs) else { return problems }
      return try problems
        + engine.read(.snapshot, Interruption.current) { try BlobVerification($0).problems() }
    }
  }
  /// The asynchronous form of `verify()`, which does not block the calling thread.
  public func verify() async throws -> [VerificationProblem] {
    try await scheduler.run { try self.verify() }
  }

  /// Returns sizes, counts and settings of the database.
  public func statistics() throws -> EngineStatistics {
    var statistics = try outsideTransaction { try $0.statistics() }
    statistics.collections.removeAll { InternalCollection(named: $0.name) != nil }
    return statistics
  }
  /// The asynchronous form of `statistics()`, which does not block the calling thread.
  public func statistics() async throws -> EngineStatistics {
    try await scheduler.run { try self.statistics() }
  }

  /// Runs long work on a thread of its own, beside reads and writes.
  package func onMaintenanceThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await scheduler.run(work)
  }

  func outsideTransaction<Result>(
    _ work: (any Engine) throws -> Result
  ) throws -> Result {
    try requireNoTransaction()
    try flush()
    return try work(engine())
  }

  package func requireNoTransaction() throws(StoreError) {
    guard TransactionContext.current(of: self) == nil else {
      throw StoreError(
        .invalidArgument, "This operation is not allowed inside a transaction",
        [.hint: "call it outside of read and write blocks"])
    }
  }
}
