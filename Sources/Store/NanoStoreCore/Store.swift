// SPDX-License-Identifier: MIT

package import Logging
public import NanoDocument
public import NanoEngine
import Synchronization

/// A database of documents: what you open, and where collections come from.
///
/// ```swift
/// let store = try Store(.file("~/library.db"))
/// let people = store["people"]
/// try people.save(["name": "Ada", "born": 1815], key: "ada")
/// ```
///
/// A store may be used from any thread and task. Every call exists twice, for synchronous code and
/// with `await`; the second kind never blocks the thread of the caller, and cancelling its task
/// stops the query.
public final class Store: Sendable {
  private struct State {
    var engine: (any Engine)?
    var pending = PendingDocuments()
  }
  private let state: Mutex<State>
  /// The file that the store was opened on, as an absolute path; nil for those in memory and in
  /// temporary files, and on other engines.
  public let file: String?
  private let open: @Sendable () throws -> any Engine
  let scheduler = Scheduler()
  let queues = QueueRegistry()
  /// One flush at a time, so that no document is written twice.
  let flushing = Mutex(())
  let keys = KeyGenerator()
  let types = TypeRegistry()
  /// Who observes what is committed.
  let hub = ChangeHub()
  let cache = DocumentCache()
  let companions = AssociatedObjects()
  /// See ``droppedDefinitions``.
  let drops = Atomic(0)
  /// See ``allowsPeriodsInNames``.
  let refusesPeriods = Atomic(false)
  private let documentLimit = Atomic(JSONWriter.maximumDocumentSize)

  /// Bytes of JSON that a document may have; one that is larger is refused with
  /// ``StoreError/Code/documentTooLarge``. SQLite's own limit, 1,000,000,000, unless it is lowered.
  public var maximumDocumentSize: Int {
    get { documentLimit.load(ordering: .relaxed) }
    set {
      documentLimit.store(
        min(max(0, newValue), JSONWriter.maximumDocumentSize), ordering: .relaxed)
    }
  }

  /// Makes and drops indexes; nil if that is off.
  let tuner: IndexTuner?
  let tuningLogger: Logger
  /// Logs unknown fields of queries; nil if that is off.
  let unknownFieldWarnings: UnknownFieldWarnings?

  /// Opens a store on an engine, which the closure makes, now and whenever the store is reopened.
  package convenience init(opening open: @escaping @Sendable () throws -> any Engine) throws {
    try self.init(file: nil, opening: open)
  }

  package convenience init(
    file: String?, opening open: @escaping @Sendable () throws -> any Engine
  ) throws {
    try self.init(
      file: file, indexTuning: .off,
      logger: Logger(label: "NanoStore") { _ in SwiftLogNoOpLogHandler() }
    ) { _ in try open() }
  }

  /// As ``init(opening:)``, on an engine that tells of its queries to whom it is given.
  ///
  /// - Parameters:
  ///   - indexTuning: What the store does about indexes that nobody declared.
  ///   - logger: Gets what it did and why.
  ///   - warnsAboutUnknownFields: Whether it logs fields that queries use and that no document has.
  package convenience init(
    indexTuning: IndexTuning, logger: Logger, warnsAboutUnknownFields: Bool = false,
    opening open: @escaping @Sendable (QueryObserver?) throws -> any Engine
  ) throws {
    try self.init(
      file: nil, indexTuning: indexTuning, logger: logger,
      warnsAboutUnknownFields: warnsAboutUnknownFields, opening: open)
  }

  package init(
    file: String?, indexTuning: IndexTuning, logger: Logger,
    warnsAboutUnknownFields: Bool = false,
    opening open: @escaping @Sendable (QueryObserver?) throws -> any Engine
  ) throws {
    try DispatchWarmup.ensure()
    self.file = file
    let tuner = indexTuning == .off ? nil : IndexTuner(indexTuning, logger)
    let observer = tuner?.makeObserver()
    self.tuner = tuner
    tuningLogger = logger
    unknownFieldWarnings = warnsAboutUnknownFields ? UnknownFieldWarnings(logger) : nil
    self.open = {
      let engine = try open(observer)
      do { try EncryptionMarker.check(engine) } catch {
        try? engine.close()
        throw error
      }
      return engine
    }
    let engine = try self.open()
    state = Mutex(State(engine: engine))
    tuner?.start(engine)
  }

  /// The collection of this name. Nothing is looked up or made before it is used: reading one that
  /// does not exist finds nothing, the first write makes it.
  public subscript(name: String) -> DocumentCollection {
    DocumentCollection(store: self, name: name)
  }

  @available(
    *, unavailable,
    message:
      "a collection of Codable values has a name: use store[\"people\"] with save(_:key:), get(_:as:) and find().decoded(as:); or mark the type '@Model' and import NanoStoreModels"
  )
  public subscript<Value>(type: Value.Type) -> DocumentCollection {
    DocumentCollection(store: self, name: "\(type)")
  }

  /// The engine, for what the store does not offer itself.
  ///
  /// - Throws: ``StoreError/Code/closed``.
  package func engine() throws(StoreError) -> any Engine {
    guard let engine = state.withLock({ $0.engine }) else {
      throw Self.closed
    }
    return engine
  }
  private static let closed = StoreError(.closed, "The store is closed")

  /// The engine, and whether saved documents are not written yet.
  func engineAndBuffer() throws(StoreError) -> (any Engine, Bool) {
    let (engine, isEmpty) = state.withLock {
      ($0.engine, $0.pending.isEmpty || !$0.pending.isShown)
    }
    guard let engine else { throw StoreError(.closed, "The store is closed") }
    return (engine, !isEmpty)
  }

  /// Whether the store is closed; it can be reopened.
  public var isClosed: Bool { state.withLock { $0.engine == nil } }

  /// Waits for what is queued, writes what is buffered, waits for calls that run, and lets go of the
  /// database. In a queued call it waits for none that is queued: they fail. Later calls fail with
  /// ``StoreError/Code/closed``, loops over ``LiveSequence`` end. Closing twice does nothing.
  ///
  /// - Throws: An error of writing what is buffered, which is then lost; the store is closed all the
  ///   same. ``StoreError/Code/invalidArgument`` inside of a read or write block, which needs the
  ///   store; it stays open then.
  public func close() throws {
    try requireNoTransaction()
    if QueueContext.current == nil { waitForQueued() }
    while !isClosed {
      let flushed = Result { try flush() }
      let engine = state.withLock { state -> (any Engine)? in
        // Another thread has collected more meanwhile.
        if case .success = flushed, !state.pending.isEmpty { return nil }
        defer { state.engine = nil }
        state.pending.removeAll()
        return state.engine
      }
      guard let engine else { continue }
      tuner?.stop()
      hub.end(engine)
      // Also those that found the engine still there.
      defer { hub.end(engine) }
      cache.removeAll()
      try engine.close()
      try flushed.get()
    }
  }

  /// Opens a closed store again; does nothing if it is open. What a file held is there again, memory
  /// and temporary stores begin empty.
  public func reopen() throws {
    try state.withLock { state in
      guard state.engine == nil else { return }
      let engine = try open()
      state.engine = engine
      tuner?.start(engine)
    }
  }

  deinit { try? close() }

  /// Collects a saved document and says whether enough are there to be written.
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
  /// The collections that exist, by name, without those that the store keeps for itself.
  public func collections() throws -> [CollectionDescription] {
    try reading(.call) { try $0.collections().filter { !$0.isInternal } }
  }
  public func collections() async throws -> [CollectionDescription] {
    try await onReader { try self.collections() }
  }

  /// Makes a collection that is known by row ids alone, or by keys; does nothing if it is there.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if it is there with another identity,
  ///   ``StoreError/Code/invalidName``.
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
  @discardableResult
  public func createCollection(
    _ name: String, identity: CollectionIdentity = .key
  ) async throws -> DocumentCollection {
    try await onWriter { try self.createCollection(name, identity: identity) }
  }

  /// A value kept beside the collections, nil if there is none of this name. All names are the
  /// program's: what the store keeps here of its own, if it is encrypted, nobody sees. Only an unfinished
  /// copy has a mark of the store's, `nano_copy`.
  public func metadata(_ name: String) throws -> DocumentValue? {
    try reading(.call) { try $0.metadata(name) }
  }
  public func metadata(_ name: String) async throws -> DocumentValue? {
    try await onReader { try self.metadata(name) }
  }

  /// Keeps a value beside the collections; nil removes it.
  public func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try writing { try $0.setMetadata(value, name) }
  }
  public func setMetadata(_ value: DocumentValue?, _ name: String) async throws {
    try await onWriter { try self.setMetadata(value, name) }
  }

  /// The names under which values are kept beside the collections, sorted.
  public func metadataNames() throws -> [String] { try reading(.call) { try $0.metadataNames() } }
  public func metadataNames() async throws -> [String] {
    try await onReader { try self.metadataNames() }
  }
}

extension Store {
  /// Gives space that nothing uses back to the file system; needs as much free space meanwhile.
  public func compact() throws { try outsideTransaction { try $0.compact() } }
  public func compact() async throws { try await scheduler.run { try self.compact() } }

  /// Copies the store as it is at this moment, while it stays in use. The copy is there whole or not
  /// at all.
  ///
  /// - Parameters:
  ///   - path: A file, or a folder, in which the copy has the name of the store's file, "store.db" for
  ///     a store that has none. Its tilde is expanded.
  ///   - replacing: Whether a file that is there may be replaced.
  ///   - progress: Called with 0...1; throwing from it ends the backup and leaves nothing behind.
  /// - Throws: ``StoreError/Code/alreadyExists`` if a file is there and must not be replaced.
  public func backup(
    to path: String, replacing: Bool = false, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try outsideTransaction {
      try $0.backup(
        to: BackupDestination(path: path, replacing: replacing), progress: progress)
    }
  }
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

  /// What is damaged in the database or does not agree with the documents; empty if all is well.
  public func verify() throws -> [VerificationProblem] {
    try outsideTransaction { try $0.verify() }
  }
  public func verify() async throws -> [VerificationProblem] {
    try await scheduler.run { try self.verify() }
  }

  /// Sizes, counts and settings of the database.
  public func statistics() throws -> EngineStatistics {
    var statistics = try outsideTransaction { try $0.statistics() }
    statistics.collections.removeAll { InternalCollection(named: $0.name) != nil }
    return statistics
  }
  public func statistics() async throws -> EngineStatistics {
    try await scheduler.run { try self.statistics() }
  }

  private func outsideTransaction<Result>(
    _ work: (any Engine) throws -> Result
  ) throws -> Result {
    try requireNoTransaction()
    try flush()
    return try work(engine())
  }

  func requireNoTransaction() throws(StoreError) {
    guard TransactionContext.current(of: self) == nil else {
      throw StoreError(
        .invalidArgument, "This cannot be done inside a transaction",
        [.hint: "call it outside of read and write blocks"])
    }
  }
}
