// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
public import NanoStoreCore

/// A graph of objects over a store: one instance for each document, loaded when it is looked at, and saved as a
/// whole.
///
/// ```swift
/// let context = ObjectContext(store)
/// let road = try context.insert(Playlist(title: "Road"))
/// road.songs.append(Song(title: "Gin"))
/// try context.save()                                  // both, in one transaction
/// road.title = "Street"
/// try context.undo()
/// road.title                                          // "Road"
/// ```
///
/// Clean objects live as long as someone holds them; those with unsaved changes are kept. When the context goes,
/// unsaved changes are lost, and objects that someone holds can still be read. A context and its
/// objects belong to whoever made them, an actor or a thread: neither is `Sendable`, and the compiler keeps
/// them apart. Several contexts may work on one store, each with its own instances; what another one saves
/// meanwhile is found when it matters, see ``conflictPolicy``.
public final class ObjectContext {
  /// Where the objects are kept.
  public let store: Store
  /// What is done with a change of an object that was changed in the store meanwhile.
  public var conflictPolicy = ConflictPolicy.fail
  /// Called with objects whose content could not be loaded when a property was read. They show first values and
  /// are never saved: if one is changed, the next save reports a conflict.
  public var loadFailureHandler: ((AnyObjectID, any Error) -> Void)?
  /// Told before objects are inserted, changed and deleted, and after undoing changed them.
  public weak var observer: (any ObjectContextObserver)? { didSet { isObserved = true } }

  private var tables: [ObjectIdentifier: ObjectTable] = [:]
  private var tablesByName: [ExactName: ObjectTable] = [:]
  /// The one that was asked for last.
  @exclusivity(unchecked) private var last: (type: ObjectIdentifier, table: ObjectTable)?
  /// In the order in which they were registered, so that saves write in the same order each time.
  private(set) var allTables: [ObjectTable] = []

  /// Goes up when what inverse relationships know may not be so any more.
  @exclusivity(unchecked) var inverseEpoch = 1
  /// Deleted objects that relationships may still hold until the next save.
  @exclusivity(unchecked) @usableFromInline var pendingDeletions = 0
  /// Whether undoing gave an object a relationship to one whose deletion was saved before.
  @exclusivity(unchecked) @usableFromInline var hasUndoneToGone = false
  /// Whether a save removed objects from the context because others had deleted their documents, to which
  /// relationships may still lead.
  @exclusivity(unchecked) @usableFromInline var hasLostObjects = false
  @exclusivity(unchecked) var undoLog: UndoLog
  var isInUndoGroup = false
  /// New objects whose relationships are still to be told of.
  var linkQueue: [(any GraphObject, ObjectTable)] = []
  var namedChanges: [ExactName: NamedChange] = [:]
  var streams = ObjectEventStreams()
  /// Whether anybody ever wanted to be told.
  @exclusivity(unchecked) var isObserved = false

  /// - Parameter undoLevels: Groups of changes that can be undone; 0 to note none, which saves time and memory
  ///   for imports.
  public init(_ store: Store, undoLevels: Int = 100) {
    self.store = store
    isOutlived = false
    undoLog = UndoLog(levels: max(0, undoLevels))
  }

  /// One that serves the objects of another that is gone.
  private init(outliving context: ObjectContext) {
    store = context.store
    loadFailureHandler = context.loadFailureHandler
    undoLog = UndoLog(levels: 0)
    isOutlived = true
    (tables, tablesByName, allTables) = (context.tables, context.tablesByName, context.allTables)
    inverseEpoch = context.inverseEpoch + 1
  }

  /// Objects may be held for longer than their context, which Swift lets go of after its last use. They can still
  /// be read then: another context, of which nobody knows, serves them as long as there are any.
  deinit {
    guard !isOutlived else { return }
    dropUnsaved()
    guard allTables.contains(where: { $0.map.count > 0 }) else { return }
    let successor = ObjectContext(outliving: self)
    for table in allTables {
      table.context = successor
      table.dissolveAll()
    }
    successor.itself = successor
    successor.outlivedObjectWent()
  }

  /// Whether relationships may hold objects that are gone.
  @usableFromInline var mayHoldGone: Bool {
    pendingDeletions > 0 || hasUndoneToGone || hasLostObjects
  }
  /// Whether nobody can save any more. Relationships then keep no objects, since nobody would take circles of
  /// them apart.
  @usableFromInline let isOutlived: Bool
  private var itself: ObjectContext?

  func outlivedObjectWent() {
    if allTables.allSatisfy({ $0.map.count == 0 }) { itself = nil }
  }

  private func dropUnsaved() {
    for table in allTables {
      for object in table.inserted { table.release(object) }
      table.forgetUnsaved()
    }
    undoLog.removeAll()
    streams.finish()
  }
}

@available(*, unavailable, message: "a context and its objects stay where they were made")
extension ObjectContext: Sendable {}

extension ObjectContext {
  /// Makes classes known, for relationships to objects of any class. Classes that are used with the context, or
  /// that relationships of such classes mention, are known already. The order does not matter.
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

  /// The documents of a class as its table has them, which refuses those of a class that cannot be used.
  func models<Object: GraphObject>(_ type: Object.Type) -> ModelCollection<Object> {
    ModelCollection(table(type).documents)
  }

  func table(named collection: String) -> ObjectTable? { tablesByName[ExactName(collection)] }

  private func make<Object: GraphObject>(_ type: Object.Type) -> ObjectTable {
    let table = ObjectTable(self, type)
    tables[ObjectIdentifier(type)] = table
    tablesByName[ExactName(type.collectionName)] = table
    allTables.append(table)
    // Deleting an object has to know who may relate to it.
    for relationship in table.relationships {
      if let target = relationship.target { _ = self.table(for: target) }
    }
    for inverse in table.inverses { _ = self.table(for: inverse.owner) }
    return table
  }

  /// Whether anything would be saved.
  public var hasUnsavedChanges: Bool {
    !namedChanges.isEmpty || allTables.contains { !$0.counts.isEmpty }
  }

  /// New objects that are not saved yet.
  public var insertedObjects: [any GraphObject] {
    allTables.flatMap { $0.inserted.filter { !$0.isDeleted } }
  }
  /// Stored objects with changes that are not saved yet.
  public var changedObjects: [any GraphObject] {
    allTables.flatMap { $0.changed.filter { !$0.isDeleted } }
  }
  /// Stored objects that the next save deletes.
  public var deletedObjects: [any GraphObject] { allTables.flatMap(\.deleted) }

  func didFailToLoad(_ id: AnyObjectID, _ error: any Error) { loadFailureHandler?(id, error) }

  /// Lets go of all objects: they keep the content that they have, know no context any more, and let go of each
  /// other, so that those in a circle do not keep themselves alive. Unsaved changes are lost. What goes away
  /// does this by itself.
  public func close() {
    for table in allTables {
      for object in table.allLive() + table.inserted + table.changed + table.deleted {
        table.release(object)
      }
      table.forgetAll()
    }
    undoLog.removeAll()
    namedChanges = [:]
    pendingDeletions = 0
    streams.finish()
  }
}

extension ObjectTable {
  /// Takes the context out of an object.
  func release(_ object: any GraphObject) {
    for relationship in relationships { relationship.dissolve(object) }
    for inverse in inverses { inverse.dissolve(object) }
    detach(object)
    object._$object.flags.remove([.watched, .inserted, .changed])
  }

  func detach(_ object: any GraphObject) {
    // One that had been deleted and came back is known by its row id.
    if isInMap(object) { map.remove(object._$object.rowID) }
    object._$object.table = nil
  }

  /// Relationships go back to row ids.
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
    neighbours = Neighbours()
  }
}
