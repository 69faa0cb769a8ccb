// SPDX-License-Identifier: MIT

/// The notifications of an operation of a context, which are sent after it: an observer that reads objects finds all
/// of them changed, and the context at rest.
struct ContextUpdates {
  private struct Property: Hashable {
    let observers: ObjectIdentifier
    let path: AnyKeyPath
  }

  /// An end of a relationship of an observed object, with the objects that it had before the operation.
  struct Relationship {
    let object: any GraphObject
    let end: any RelationshipEnd
    let before: [ObjectIdentifier]
  }

  /// The number of operations that have begun and not ended, each within the one before.
  private(set) var depth = 0
  /// The epoch of inverse relationships when the operation began.
  private(set) var inverseEpoch = 0
  private var notifications: [() -> Void] = []
  private var properties: Set<Property> = []
  private var relationships: [Property: Relationship] = [:]
  /// The flags of observed objects before the operation.
  private var flags: [ObjectIdentifier: (observers: ObjectObservers, before: ObjectState.Flags)] =
    [:]
  /// The objects that were deleted or restored, and whether they were deleted before the operation.
  private var deletions: [ObjectIdentifier: (object: any GraphObject, wasDeleted: Bool)] = [:]
  /// The observed objects whose content was discarded, and whether they had any.
  var discarded: [(object: any GraphObject, hadContent: Bool)] = []

  var isActive: Bool { depth > 0 }

  mutating func begin(inverseEpoch: Int) {
    if depth == 0 { self.inverseEpoch = inverseEpoch }
    depth += 1
  }

  mutating func end() {
    depth -= 1
    guard depth == 0, !deletions.isEmpty || !relationships.isEmpty || !flags.isEmpty else { return }
    (deletions, relationships, flags) = ([:], [:], [:])
  }

  /// Notes the flags of an object before they change.
  mutating func note(_ observers: ObjectObservers, flags before: ObjectState.Flags) {
    let id = ObjectIdentifier(observers)
    if flags[id] == nil { flags[id] = (observers, before) }
  }

  /// The flags of observed objects that have changed.
  var changedFlags: [(observers: ObjectObservers, before: ObjectState.Flags)] {
    Array(flags.values)
  }

  /// Adds a notification, unless the operation has added it already.
  mutating func add(
    _ observers: ObjectObservers, _ path: AnyKeyPath, _ notification: @escaping () -> Void
  ) {
    // A notification retains the observers, so that no others have the same address meanwhile.
    let property = Property(observers: ObjectIdentifier(observers), path: path)
    if properties.insert(property).inserted {
      notifications.append { withExtendedLifetime(observers, notification) }
    }
  }

  mutating func takeNotifications() -> [() -> Void] {
    guard !notifications.isEmpty else { return [] }
    defer { (notifications, properties) = ([], []) }
    return notifications
  }

  // MARK: Relationships

  /// Notes the objects of a relationship before it changes. Whether observers are notified depends on the objects that
  /// it has after the operation.
  mutating func note(_ end: any RelationshipEnd, of object: any GraphObject) {
    guard isActive, let observers = object._$object.observers else { return }
    let property = Property(observers: ObjectIdentifier(observers), path: end.path)
    guard relationships[property] == nil else { return }
    let before = end.members(of: object).filter { !wasDeleted($0) }
    relationships[property] = Relationship(
      object: object, end: end, before: before.map { ObjectIdentifier($0) })
  }

  mutating func noteDeletion(of object: any GraphObject, wasDeleted: Bool) {
    let id = ObjectIdentifier(object)
    if isActive, deletions[id] == nil { deletions[id] = (object, wasDeleted) }
  }

  private func wasDeleted(_ object: any GraphObject) -> Bool {
    deletions[ObjectIdentifier(object)]?.wasDeleted ?? object._$object.isDeleted
  }

  var hasDeletions: Bool { !deletions.isEmpty }

  func isDeletedOrRestored(_ object: any GraphObject) -> Bool {
    deletions[ObjectIdentifier(object)] != nil
  }

  /// The relationships that have other objects than before the operation.
  func changedRelationships() -> [Relationship] {
    relationships.values.filter { relationship in
      let after = relationship.end.members(of: relationship.object)
        .filter { !$0._$object.isDeleted }
      return relationship.before != after.map { ObjectIdentifier($0) }
    }
  }
}

/// A relationship or its inverse.
protocol RelationshipEnd {
  /// The property that observers of this end read.
  var path: AnyKeyPath { get }
  /// Returns the objects in memory, including deleted ones.
  func members(of object: any GraphObject) -> [any GraphObject]
  func notify(_ object: any GraphObject)
}

extension ObjectContext {
  /// Performs an operation, and then notifies the observers of what it has changed.
  func updating<Result>(_ work: () throws -> Result) rethrows -> Result {
    updates.begin(inverseEpoch: inverseEpoch)
    defer { finishUpdating() }
    return try work()
  }

  private func finishUpdating() {
    if updates.depth == 1, isObserving {
      reloadDiscarded()
      noteRelationshipsWithDeleted()
      reloadInverses()
      for relationship in updates.changedRelationships() {
        relationship.end.notify(relationship.object)
      }
      for (observers, before) in updates.changedFlags {
        guard let object = observers.object else { continue }
        observers.notifyOfFlags(from: before, to: object._$object.flags)
      }
    }
    updates.end()
    guard !updates.isActive else { return }
    for notify in updates.takeNotifications() { notify() }
    noteStatus()
    invalidateLiveQueries()
  }

  /// Whether any object of the context is observed.
  private var isObserving: Bool { allTables.contains { !$0.observers.isEmpty } }

  /// Reads the content of observed objects that was discarded, which notifies the observers of what is different.
  private func reloadDiscarded() {
    while let (object, hadContent) = updates.discarded.popLast() {
      guard object._$object.isFault, let table = object._$object.table else { continue }
      do {
        // The content is still in memory, so that the object can be inserted again.
        if try !table.documentExists(object) {
          table.noteDeletedByOthers(object, isLoaded: hadContent)
        }
      } catch {
        table.loadOrFail(object)
      }
    }
  }

  /// Relationships do not return deleted objects, although they contain them until the next save.
  private func noteRelationshipsWithDeleted() {
    guard updates.hasDeletions else { return }
    forEachObservedEnd { object, end in
      if end.members(of: object).contains(where: updates.isDeletedOrRestored) {
        updates.note(end, of: object)
      }
    }
  }

  /// Reads the inverse relationships of observed objects if they may have changed.
  private func reloadInverses() {
    guard updates.inverseEpoch != inverseEpoch else { return }
    for table in allTables where !table.inverses.isEmpty {
      for object in table.observedObjects {
        for inverse in table.inverses { inverse.reload(object, in: self) }
      }
    }
  }

  private func forEachObservedEnd(_ body: (any GraphObject, any RelationshipEnd) -> Void) {
    for table in allTables {
      let ends: [any RelationshipEnd] = table.relationships + table.inverses
      guard !ends.isEmpty else { continue }
      for object in table.observedObjects { for end in ends { body(object, end) } }
    }
  }
}

extension ObjectTable {
  /// The objects with observers.
  var observedObjects: [any GraphObject] { observers.values.compactMap(\.observers.object) }
}

extension GraphObject {
  /// Notes the objects of a relationship before they are replaced. Called by generated code.
  public func _$willReplace<Storage: RelationshipStorage>(_ property: KeyPath<Self, Storage>) {
    guard let table = _$object.table, table.context.updates.isActive,
      let relationship = table.relationships.first(where: { $0.path == property })
    else { return _$notify(property) }
    table.context.updates.note(relationship, of: self)
  }
}
