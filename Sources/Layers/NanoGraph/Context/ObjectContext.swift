// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
public import NanoStoreCore

/// A graph of objects over a store: each document has one instance, which is loaded on first access
/// and saved with the whole graph.
///
/// ```swift
/// let context = ObjectContext(store)
/// let road = try context.insert(Playlist(title: "Road"))
/// road.songs.append(Song(title: "Gin"))
/// try context.save()                                  // stores both in one transaction
/// road.title = "Street"
/// try context.undo()
/// road.title                                          // "Road"
/// ```
///
/// The context holds objects weakly unless they have unsaved changes. When the context is
/// deallocated, unsaved changes are lost; objects that are still referenced can be read. A context
/// and its objects belong to the actor or thread that created them: they are not `Sendable`, which
/// the compiler enforces. Several contexts can use one store, each with its own instances; a save
/// detects changes that other contexts saved in the meantime, see ``conflictPolicy``.
public final class ObjectContext {
  /// The store of the objects.
  public let store: Store
  /// The policy for objects that were changed in the store since the context read them.
  public var conflictPolicy = ConflictPolicy.fail
  /// Called with objects whose content could not be loaded when a property was read. Their
  /// properties have placeholder values (``GraphObject/load()``), which are never saved: if such an
  /// object is changed, the next save reports a conflict. Also called with references to objects of classes that are not
  /// registered, which are missing from relationships to any class but kept.
  public var loadFailureHandler: ((AnyObjectID, any Error) -> Void)?
  /// Notified when objects are inserted and deleted, before they change, and after undo or redo
  /// changes them.
  public weak var observer: (any ObjectContextObserver)? { didSet { isObserved = true } }

  private var tables: [ObjectIdentifier: ObjectTable] = [:]
  private var tablesByName: [ExactName: ObjectTable] = [:]
  /// A cache of the most recently used table.
  @exclusivity(unchecked) private var last: (type: ObjectIdentifier, table: ObjectTable)?
  /// The tables in registration order, so that saves write in a deterministic order.
  private(set) var allTables: [ObjectTable] = []

  /// Incremented when cached inverse relationships may be out of date.
  @exclusivity(unchecked) var inverseEpoch = 1
  /// The number of deleted objects that relationships can still contain until the next save.
  @exclusivity(unchecked) @usableFromInline var pendingDeletions = 0
  /// Whether a relationship can contain an object whose deletion was already saved: undo restored it, or it was added.
  @exclusivity(unchecked) @usableFromInline var restoredReferenceToDeleted = false
  /// Whether a save removed objects whose documents other connections had deleted, and which
  /// relationships can still contain.
  @exclusivity(unchecked) @usableFromInline var hasLostObjects = false
  @exclusivity(unchecked) var undoLog: UndoLog
  var isInUndoGroup = false
  /// New objects whose inverse relationships are not updated yet.
  var linkQueue: [(any GraphObject, ObjectTable)] = []
  var namedChanges: [ExactName: NamedChange] = [:]
  /// The asynchronous save that is waiting for the store.
  var suspendedSave: SuspendedSave?
  var saveTurns = SaveTurns()
  /// The number of completed saves, for queries that are suspended while a save completes.
  var saveCount = 0
  /// The number of rollbacks, for asynchronous saves that have not begun to write.
  var rollbackCount = 0
  /// Incremented when an object is changed, inserted, deleted or restored.
  @exclusivity(unchecked) var changeCount = 0
  /// The number of asynchronous reads that have not ended. Following the store waits for them.
  var pendingReads = 0
  /// Whether a write block is running in which the context has read documents.
  @exclusivity(unchecked) @usableFromInline var readsUncommitted = false
  /// Whether writes that the context has read were rolled back in a transaction that has not ended.
  var hasRolledBack = false
  var streams = ObjectEventStreams()
  /// Whether an observer or an event stream was ever added.
  @exclusivity(unchecked) var isObserved = false
  /// Whether properties can be observed, and the context follows the store.
  @usableFromInline let isLive: Bool
  let sensor = TrackingSensor()
  @exclusivity(unchecked) var updates = ContextUpdates()
  var observers: ContextObservers?
  @exclusivity(unchecked) var liveQueries = LiveQueries()
  var follower: Task<Void, Never>?
  var startFollowing: AsyncStream<CommitSubscription?>.Continuation?

  /// Creates a context.
  ///
  /// A context that is created on an actor, such as the main actor, follows the store: objects without unsaved changes
  /// receive what other contexts, collection methods and processes commit. A context that is created elsewhere does
  /// not, since nothing could call it back there; use ``refreshAll()``.
  ///
  /// - Parameters:
  ///   - undoLevels: The number of groups of changes that can be undone. 0 disables undo, which saves time and memory
  ///     for imports.
  ///   - isLive: Whether properties of the objects can be observed, and the context follows the store. Without,
  ///     reading a property takes less time, since it is not reported.
  public init(
    _ store: Store, undoLevels: Int = 100, isLive: Bool = true,
    isolation: isolated (any Actor)? = #isolation
  ) {
    self.store = store
    isSuccessor = false
    self.isLive = isLive
    undoLog = UndoLog(levels: max(0, undoLevels))
    store.writeSavesImmediately()
    if isLive, isolation != nil { follow(isolation) }
  }

  /// Creates a successor that serves the objects of a deallocated context.
  private init(succeeding context: ObjectContext) {
    store = context.store
    loadFailureHandler = context.loadFailureHandler
    undoLog = UndoLog(levels: 0)
    isSuccessor = true
    isLive = context.isLive
    (tables, tablesByName, allTables) = (context.tables, context.tablesByName, context.allTables)
    inverseEpoch = context.inverseEpoch + 1
  }

  /// Objects can outlive their context, which Swift releases after its last use. They remain
  /// readable: an internal successor context serves them until the last one is deallocated.
  deinit {
    guard !isSuccessor else { return }
    follower?.cancel()
    // The context is not there for observers to read from.
    updates.begin(inverseEpoch: inverseEpoch)
    releaseUnsaved()
    guard allTables.contains(where: { $0.map.count > 0 }) else { return }
    let successor = ObjectContext(succeeding: self)
    // No observer is notified that caches are emptied.
    successor.updates.begin(inverseEpoch: 0)
    for table in allTables {
      table.context = successor
      table.dissolveAll()
    }
    successor.updates = ContextUpdates()
    successor.retainedSelf = successor
    successor.releaseSuccessorIfUnused()
  }

  /// Whether relationships can contain deleted objects.
  @usableFromInline var mayContainDeleted: Bool {
    hasPendingDeletions || hasLostObjects
  }
  /// Whether the next save removes references to deleted objects from stored documents.
  var hasPendingDeletions: Bool { pendingDeletions > 0 || restoredReferenceToDeleted }
  /// Whether this context is the successor of a deallocated one and cannot save. Relationships then
  /// keep no strong references, since no context remains to break reference cycles.
  @usableFromInline let isSuccessor: Bool
  private var retainedSelf: ObjectContext?

  func releaseSuccessorIfUnused() {
    if allTables.allSatisfy({ $0.map.count == 0 }) { retainedSelf = nil }
  }

  private func releaseUnsaved() {
    for table in allTables {
      for object in table.inserted { table.release(object) }
      table.forgetUnsaved()
    }
    undoLog.removeAll()
    streams.finish()
  }
}

@available(
  *, unavailable,
  message: "a context and its objects belong to the actor or thread that created them"
)
extension ObjectContext: Sendable {}

extension ObjectContext {
  /// Registers classes, for relationships to objects of any class.
  ///
  /// Classes that are used with the context, and the classes of their relationships, are registered
  /// automatically. The order does not matter.
  public func register(_ types: any GraphObject.Type...) {
    for type in types { _ = table(for: type) }
  }

  @usableFromInline
  func table<Object: GraphObject>(_ type: Object.Type) -> ObjectTable {
    let id = ObjectIdentifier(type)
    if let last, last.type == id { return last.table }
    let table = tables[id] ?? make(type)
    last = (id, table)
    return table
  }

  func table(for type: any GraphObject.Type) -> ObjectTable {
    func open<Object: GraphObject>(_ type: Object.Type) -> ObjectTable { table(type) }
    return open(type)
  }

  /// Returns the collection of a class, whose operations throw if the class definition is invalid.
  func models<Object: GraphObject>(_ type: Object.Type) -> ModelCollection<Object> {
    ModelCollection(table(type).documents)
  }

  func table(named collection: String) -> ObjectTable? { tablesByName[ExactName(collection)] }

  private func make<Object: GraphObject>(_ type: Object.Type) -> ObjectTable {
    let table = ObjectTable(self, type)
    tables[ObjectIdentifier(type)] = table
    tablesByName[ExactName(type.collectionName)] = table
    allTables.append(table)
    beginFollowing()
    // Registers the classes that can relate to this one, which deletions must update.
    for relationship in table.relationships {
      if let target = relationship.target { _ = self.table(for: target) }
    }
    for inverse in table.inverses { _ = self.table(for: inverse.owner) }
    return table
  }

  /// The new objects that are not saved yet.
  public var insertedObjects: [any GraphObject] {
    allTables.flatMap { $0.inserted.filter { !$0._$object.isDeleted } }
  }
  /// The stored objects with unsaved changes.
  public var changedObjects: [any GraphObject] {
    allTables.flatMap { $0.changed.filter { !$0._$object.isDeleted } }
  }
  /// The stored objects that the next save deletes.
  public var deletedObjects: [any GraphObject] { allTables.flatMap(\.deleted) }

  func didFailToLoad(_ id: AnyObjectID, _ error: any Error) { loadFailureHandler?(id, error) }

  /// Detaches all objects from the context. Unsaved changes are lost.
  ///
  /// Objects keep their loaded content, but no longer refer to the context or to each other, which
  /// breaks reference cycles. Deallocating a context breaks these cycles too.
  public func close() {
    settleSave()
    rollbackCount += 1
    follower?.cancel()
    updating { detachAll() }
    observers = nil
    streams.finish()
  }

  private func detachAll() {
    for table in allTables {
      for object in table.allLive() + table.inserted + table.changed + table.deleted {
        table.release(object)
      }
      table.forgetAll()
    }
    undoLog.removeAll()
    namedChanges = [:]
    pendingDeletions = 0
  }
}

extension ObjectTable {
  /// Detaches an object from the context.
  func release(_ object: any GraphObject) {
    for relationship in relationships { relationship.dissolve(object) }
    for inverse in inverses { inverse.dissolve(object) }
    detach(object)
    object._$object.flags.remove([.inserted, .changed])
    // Before a change in place, a fault still receives its placeholders.
    if !object.isFault { object._$object.flags.remove(.watched) }
  }

  func detach(_ object: any GraphObject) {
    // An object whose deletion was undone is registered by its row ID.
    if isInMap(object) { map.remove(object._$object.rowID) }
    object._$object.table = nil
    object._$object.observers?.move(to: nil)
  }

  /// Replaces the objects in relationships by their row IDs.
  func dissolveAll() {
    guard !relationships.isEmpty || !inverses.isEmpty else { return }
    for object in map.rowIDs().compactMap({ live($0) }) {
      for relationship in relationships { relationship.dissolve(object) }
      for inverse in inverses { inverse.dissolve(object) }
    }
  }

  func forgetAll() {
    map.removeAll()
    forgetUnsaved()
  }

  func forgetUnsaved() {
    inserted = []
    changed = []
    deleted = []
    counts = PendingCounts()
    insertedBefore = 0
    forgetNumbers()
    neighbors = Neighbors()
  }
}
