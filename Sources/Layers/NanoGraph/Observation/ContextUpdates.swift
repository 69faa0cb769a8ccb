// SPDX-License-Identifier: MIT

/// The notifications of an operation of a context, which are sent after it: an observer that reads objects finds all
/// of them changed, and the context at rest.
struct ContextUpdates {
  private struct Property: Hashable {
    let observers: ObjectIdentifier
    let path: AnyKeyPath
  }

  /// The number of operations that have begun and not ended, each within the one before.
  private(set) var depth = 0
  /// The epoch of inverse relationships when the operation began.
  private(set) var inverseEpoch = 0
  private var notifications: [() -> Void] = []
  private var properties: Set<Property> = []
  /// The objects that were deleted or restored.
  var deletions: Set<ObjectIdentifier> = []
  /// The observed objects whose content was discarded.
  var discarded: [any GraphObject] = []

  var isActive: Bool { depth > 0 }

  mutating func begin(inverseEpoch: Int) {
    if depth == 0 { self.inverseEpoch = inverseEpoch }
    depth += 1
  }

  mutating func end() { depth -= 1 }

  /// Adds a notification, unless the operation has added it already.
  mutating func add(
    _ observers: ObjectObservers, _ path: AnyKeyPath, _ notification: @escaping () -> Void
  ) {
    // A notification retains the registrar, so that no other observers have the same address meanwhile.
    let property = Property(observers: ObjectIdentifier(observers), path: path)
    if properties.insert(property).inserted {
      notifications.append { withExtendedLifetime(observers, notification) }
    }
  }

  mutating func takeNotifications() -> [() -> Void] {
    defer { (notifications, properties) = ([], []) }
    return notifications
  }
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
    }
    updates.end()
    guard !updates.isActive else { return }
    updates.deletions = []
    for notify in updates.takeNotifications() { notify() }
    noteStatus()
  }

  /// Whether any object of the context is observed.
  private var isObserving: Bool { allTables.contains { !$0.observers.isEmpty } }

  /// Reads the content of observed objects that was discarded, which notifies the observers of what is different.
  private func reloadDiscarded() {
    while let object = updates.discarded.popLast() {
      guard object._$object.isFault, let table = object._$object.table else { continue }
      do {
        if try !table.documentExists(object) { table.noteDeletedByOthers(object, isLoaded: true) }
      } catch {
        table.loadOrFail(object)
      }
    }
  }

  /// Relationships do not return deleted objects, although they contain them until the next save.
  private func noteRelationshipsWithDeleted() {
    guard !updates.deletions.isEmpty else { return }
    func isAffected(_ object: any GraphObject) -> Bool {
      updates.deletions.contains(ObjectIdentifier(object))
    }
    for table in allTables {
      for object in table.observedObjects {
        for relationship in table.relationships {
          var contains = false
          relationship.forEachResolved(of: object) { if isAffected($0) { contains = true } }
          if contains { relationship.notify(object) }
        }
        for inverse in table.inverses where inverse.cachedOwners(of: object).contains(where: isAffected) {
          inverse.notify(object)
        }
      }
    }
  }

  /// Reads the inverse relationships of observed objects if they may have changed.
  private func reloadInverses() {
    guard updates.inverseEpoch != inverseEpoch else { return }
    for table in allTables where !table.inverses.isEmpty {
      for object in table.observedObjects where !object._$object.isDeleted {
        for inverse in table.inverses { inverse.reload(object, in: self) }
      }
    }
  }
}

extension ObjectTable {
  /// The objects with observers.
  var observedObjects: [any GraphObject] { observers.values.compactMap(\.observers.object) }

  /// Records that an object was deleted or restored.
  func noteDeletion(of object: any GraphObject) {
    if context.updates.isActive { context.updates.deletions.insert(ObjectIdentifier(object)) }
  }
}
