// SPDX-License-Identifier: MIT

import Logging
package import NanoDocument
package import NanoEngine
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
      "a collection of Codable values has a name: use store[\"people\"] with save(_:key:), get(_:as:) and find().decoded(as:); or mark the type '@Model' and import NanoStoreModels; a '@Model' type has this member in store[T.self].documents"
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
      guard let engine = state.engine else { throw Self.closed }
      guard !engine.isReadOnly else { throw StoreError.openedReadOnly }
      state.pending.add(entry)
      return state.pending.count >= state.pending.interval
    }
  }

  /// Removes the last save of a document from the buffer. Returns false if another thread has written it.
  func withdraw(_ collection: String, _ key: DocumentKey) -> Bool {
    flushing.withLock { _ in
      withPending { pending in
        guard let entry = pending.entry(collection, key) else { return false }
        pending.remove([entry])
        return true
      }
    }
  }

  func withPending<Result>(_ work: (inout PendingDocuments) throws -> Result) rethrows -> Result {
    try state.withLock { try work(&$0.pending) }
  }
}
