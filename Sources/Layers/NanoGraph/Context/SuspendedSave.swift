// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// An asynchronous save between its preparation and its completion, with the objects that it
/// stores. Confined to the context.
final class SuspendedSave {
  private struct Part {
    let table: ObjectTable
    var updates: [any GraphObject] = []
    /// The first of the context's new objects, with the row IDs of their documents.
    var insertions: [(object: any GraphObject, rowID: Int64)] = []
  }

  private let context: ObjectContext
  private(set) var plan = SavePlan()
  let progress = SaveProgress()
  private var parts: [Part] = []
  /// The objects that were changed after they were encoded.
  private var changed: Set<ObjectIdentifier> = []
  private let named: [ExactName: NamedChange]
  private let history: (done: [UndoGroup], undone: [UndoGroup])
  /// The epoch of inverse relationships when the save began.
  private let inverseEpoch: Int
  private lazy var newRowIDs = Dictionary(
    uniqueKeysWithValues: parts.lazy.flatMap(\.insertions).map {
      (ObjectIdentifier($0.object), $0.rowID)
    })

  /// Encodes all new and changed objects.
  ///
  /// - Parameter next: The next row IDs of collections with new objects.
  /// - Throws: ``SavePlan/Outdated`` if a row ID is missing; ``StoreError`` if an object cannot be
  ///   stored. The context is unchanged.
  init(_ context: ObjectContext, next: [ExactName: Int64]) throws {
    self.context = context
    var next = next
    named = context.namedChanges
    history = context.undoLog.history
    inverseEpoch = context.inverseEpoch
    let tables = context.allTables.filter { $0.counts.hasContent }
    defer { for table in tables { table.revertRowIDs() } }
    for table in tables where table.counts.inserted > 0 {
      let name = table.documents.name.folded
      guard let first = next[name] else { throw SavePlan.Outdated() }
      next[name] = try table.assignRowIDs(from: first)
    }
    for table in tables { try add(table) }
    for (name, change) in named.sorted(by: { $0.key < $1.key }) {
      plan.named.append((name.text, change.value))
    }
  }

  private func add(_ table: ObjectTable) throws {
    var part = Part(table: table)
    var encoded = SavePlan.Class(
      documents: table.documents, acceptsGeneratedKeys: table.acceptsGeneratedKeys)
    var writer = JSONWriter(capacity: 512)
    for object in table.changed {
      let state = (id: object._$object.rowID, revision: object._$object.revision)
      do {
        encoded.updates.append(
          SavePlan.Update(
            rowID: state.id, content: state.revision,
            key: table.hasKey ? try object.documentKey : nil, version: object.storedVersion,
            body: try Self.body(of: object, &writer)))
      } catch let error as StoreError {
        throw error.adding(.collection, table.documents.name).adding(.rowID, "\(state.id)")
      }
      part.updates.append(object)
    }
    for object in table.inserted {
      let id = object._$object.rowID
      do {
        encoded.insertions.append(
          SavePlan.Insertion(
            rowID: id, key: table.hasKey ? try object.documentKey : nil,
            version: object.storedVersion,
            body: try Self.body(of: object, &writer)))
      } catch let error as StoreError {
        throw error.adding(.collection, table.documents.name)
          .adding(.position, "document \(encoded.insertions.count + 1) of the batch")
      }
      part.insertions.append((object, id))
    }
    plan.classes.append(encoded)
    parts.append(part)
  }

  private static func body(
    of object: any GraphObject, _ writer: inout JSONWriter
  ) throws -> [UInt8] {
    defer { writer.removeAll() }
    object.writeDocument(to: &writer)
    if let failure = writer.failure { throw failure }
    return Array(writer.bytes)
  }

  /// Tracks changes of the objects from now on. New objects are found by their prospective row IDs,
  /// so that a query that reads their documents before the completion returns these instances.
  func begin() {
    for part in parts {
      for object in part.updates { object._$object.flags.rearm() }
      for (object, id) in part.insertions {
        object._$object.flags.rearm()
        part.table.map.insert(id, object.address)
      }
    }
  }

  func noteChanged(_ object: any GraphObject) { changed.insert(ObjectIdentifier(object)) }

  func newRowIDs(of table: ObjectTable) -> [Int64] {
    parts.first { $0.table === table }?.insertions.map(\.rowID) ?? []
  }

  /// Returns the row ID of a new object whose document is stored, although the object does not have
  /// it yet.
  func committedRowID(of object: any GraphObject) -> Int64? {
    guard object._$object.rowID < 0, progress.committed != nil else { return nil }
    return newRowIDs[ObjectIdentifier(object)]
  }

  /// Reverts ``begin()`` after a save that stored nothing.
  func cancel() {
    for part in parts {
      for (_, id) in part.insertions { part.table.map.remove(id) }
    }
    let new = Set(parts.lazy.flatMap(\.insertions).map { ObjectIdentifier($0.object) })
    guard !new.isEmpty else { return }
    // The row IDs are those of other documents, which another writer has inserted in the meantime.
    context.updating {
      let types = parts.filter { !$0.insertions.isEmpty }.map(\.table.type)
      context.discardContent { relationship in
        types.contains { relationship.target == nil || relationship.target == $0 }
      } orObject: {
        new.contains(ObjectIdentifier($0))
      }
      context.inverseEpoch += 1
    }
  }

  /// Updates the objects after the commit. Objects that were changed or deleted in the meantime
  /// remain so, based on the stored revision.
  ///
  /// - Parameter revisions: Those that the plan returned.
  func complete(_ revisions: SavePlan.Revisions) {
    context.updating { completeAll(revisions) }
    context.notifySaved()
  }

  private func completeAll(_ revisions: SavePlan.Revisions) {
    for (part, revisions) in zip(parts, revisions) {
      for object in part.updates {
        let id = object._$object.rowID
        completeUpdate(
          object, revisions[id] ?? object._$object.revision.nextRevision ?? 0, part.table)
      }
      part.table.changed.removeAll { !$0._$object.flags.contains(.changed) }
      completeInsertions(part)
      part.table.readGeneratedKeys()
    }
    // Inverses that were loaded in the meantime lack what other contexts have added to new objects.
    if context.inverseEpoch != inverseEpoch { context.inverseEpoch += 1 }
    for (name, change) in named where context.namedChanges[name]?.isSame(as: change) ?? false {
      context.namedChanges[name] = nil
    }
    context.undoLog.didSave(history)
    context.saveCount += 1
  }

  private func completeUpdate(
    _ object: any GraphObject, _ revision: Int64, _ table: ObjectTable
  ) {
    if context.undoLog.isEnabled {
      table.noteOwnSave(object._$object.rowID, from: object._$object.revision, to: revision)
    }
    object._$object.revision = revision
    let isUnchanged = !changed.contains(ObjectIdentifier(object))
    if object._$object.isDeleted {
      // Restoring the object must not count it as changed.
      if isUnchanged { object._$object.flags.remove(.changed) }
    } else if isUnchanged {
      object._$object.flags = .watched
      table.counts.changed -= 1
      table.noteGeneratedKey(of: object)
    }
  }

  private func completeInsertions(_ part: Part) {
    guard !part.insertions.isEmpty else { return }
    let table = part.table
    for (object, id) in part.insertions {
      object._$object.rowID = id
      object._$object.revision = 1
      let flags = object._$object.flags
      table.removed.remove(id)
      if flags.contains(.deleted) {
        table.deleted.append(object)
        table.counts.deleted += 1
        let isChanged = changed.contains(ObjectIdentifier(object))
        object._$object.flags = flags.intersection(.watched)
          .union(isChanged ? [.deleted, .changed] : .deleted)
        // Counted as changed if the deletion is undone.
        if isChanged { table.changed.append(object) }
        continue
      }
      table.counts.inserted -= 1
      guard changed.contains(ObjectIdentifier(object)) else {
        object._$object.flags = .watched
        table.noteGeneratedKey(of: object)
        continue
      }
      object._$object.flags = flags.intersection([.watched, .recorded]).union(.changed)
      table.changed.append(object)
      table.counts.changed += 1
    }
    // Numbers are positions among all objects inserted since the context was created.
    let count = part.insertions.count
    if context.undoLog.isEnabled {
      while table.rowIDsOfInserted.count < table.insertedBefore { table.rowIDsOfInserted.append(0) }
      table.rowIDsOfInserted += part.insertions.map(\.rowID)
    }
    table.inserted.removeFirst(count)
    table.insertedBefore += count
  }
}

extension NamedChange {
  fileprivate func isSame(as other: NamedChange) -> Bool {
    switch (self, other) {
    case (.value(let a), .value(let b)): a == b
    case (.object(let a), .object(let b)): a === b
    default: false
    }
  }
}
