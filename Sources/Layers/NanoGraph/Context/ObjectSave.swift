// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoModel
import NanoStoreCore

/// A single save of a context: its writes, and the state of the objects after the commit.
final class ObjectSave {
  let context: ObjectContext
  // Unchecked here and below: private and used by one call after the other, and the exclusivity checks took a tenth of
  // the time of writing an object.
  @exclusivity(unchecked) private var writer = JSONWriter(capacity: 512)
  var conflicts: [ObjectConflict] = []
  /// The new revisions of stored objects; 0 if they must be read from the store.
  @exclusivity(unchecked) private var revisions: [(object: any GraphObject, revision: Int64)] = []
  @exclusivity(unchecked) private var postponed = PostponedWrites()
  /// Objects whose stored content differs from the content in memory.
  var stale: [any GraphObject] = []
  /// Objects whose documents were deleted by others and are not inserted again.
  var deletedByOthers: [(object: any GraphObject, isLoaded: Bool)] = []
  /// Objects that are kept although the context deleted them.
  private(set) var kept: Set<ObjectIdentifier> = []
  var references = RemovedReferences()
  /// Whether the context is notified of the next change of each unsaved object.
  var isWatching = false
  /// What the save deletes.
  private(set) var deletedIDs = DeletedIDs([])
  /// The objects whose documents the save has deleted and others had not.
  private(set) var deletedDocuments: Set<ObjectIdentifier> = []
  /// The fields with which a conflict keeps objects that the context deleted.
  var merged: [ObjectIdentifier: DocumentObject] = [:]

  init(_ context: ObjectContext) { self.context = context }

  /// The objects that the save deletes, and new ones that were deleted before it.
  var removedObjects: Set<ObjectIdentifier> {
    Set(
      context.allTables.lazy.flatMap { $0.deleted + $0.inserted.filter { $0._$object.isDeleted } }
        .map { ObjectIdentifier($0) }
    ).subtracting(kept)
  }

  /// Writes all changes, in an order in which unique index values are released before they are
  /// reused; objects that exchange values are postponed.
  func run() throws {
    var tables = context.allTables
    for table in tables where !table.counts.isEmpty { try table.prepare() }
    for table in tables { try writeDeletions(table) }
    deletedIDs = DeletedIDs(tables) { !kept.contains(ObjectIdentifier($0)) }
    if context.mayContainDeleted {
      references.begin(in: context)
      let deletions = context.pendingDeletions
      try removeReferences(tables)
      // Observers were notified of these changes, and may have made others.
      guard context.pendingDeletions == deletions else { throw Self.changedDuringSave }
      try context.insertReachable()
      tables = context.allTables
      for table in tables where !table.counts.isEmpty { try table.prepare() }
      isWatching = false
    }
    for table in tables {
      for object in table.deleted where kept.contains(ObjectIdentifier(object)) {
        try writeKept(object, table)
      }
    }
    try assignRowIDs(tables)
    for table in tables where table.counts.changed > 0 { try writeUpdates(table) }
    guard conflicts.isEmpty else { throw ObjectConflictError(conflicts: conflicts) }
    try postponed.write()
    for table in tables where table.counts.inserted > 0 { try writeInsertions(table) }
    try context.writeNamed()
    try readRevisions()
  }

  /// Several classes can have the same collection.
  private func assignRowIDs(_ tables: [ObjectTable]) throws {
    var next: [ExactName: Int64] = [:]
    for table in tables where table.counts.inserted > 0 {
      let name = table.documents.name.folded
      next[name] = try table.assignRowIDs(from: next[name] ?? table.documents.nextRowID())
    }
  }

  static var changedDuringSave: StoreError {
    StoreError(
      .invalidArgument, "Objects were changed by code that a save has called",
      [
        .hint:
          "return the fields to store from the closure of a conflict policy; delete objects after the save"
      ])
  }

  // MARK: Documents

  private func writeDeletions(_ table: ObjectTable) throws {
    for object in table.deleted {
      let id = object._$object.rowID
      let isCurrent = try LoadedContent.isCurrent(
        object._$object.revision, rowID: id, in: table.documents)
      if !isCurrent, try keeps(object, table) {
        kept.insert(ObjectIdentifier(object))
        continue
      }
      if try table.documents.delete(rowID: id), table.inverses.contains(where: { $0.rule == .deny })
      {
        deletedDocuments.insert(ObjectIdentifier(object))
      }
    }
  }

  private func writeUpdates(_ table: ObjectTable) throws {
    let hasKey = table.hasKey
    _ = try table.documents.writeBatch(.save, atomic: false) { batch, _ in
      for object in table.changed {
        let (flags, rowID, revision) = object._$object.stored
        guard !flags.contains(.deleted) else { continue }
        do {
          guard !flags.contains(.failed) else {
            try resolveUnloaded(object, table, batch)
            continue
          }
          if hasKey { try checkKey(object, table) }
          try writeUpdate(object, rowID, knownRevision: revision, table, batch)
        } catch let error as StoreError {
          throw error.adding(.collection, table.documents.name).adding(.rowID, "\(rowID)")
        }
      }
    }
  }

  private func writeUpdate(
    _ object: any GraphObject, _ id: Int64, knownRevision: Int64, _ table: ObjectTable,
    _ batch: DocumentBatch
  ) throws {
    let version = object.storedVersion
    switch try postponed.replace(
      batch, &writer, in: table.documents, rowID: id, content: knownRevision, version: version,
      { try Self.encode(object, to: &$0) })
    {
    case true?:
      let revision = knownRevision > 0 ? knownRevision.nextRevision ?? 0 : 0
      return revisions.append((object, revision))
    case nil: return revisions.append((object, 0))
    case false?: break
    }
    let mine = try fields(of: object)
    let fields: DocumentObject
    switch try resolveConflict(object, table, mine: mine) {
    case .keep: return try removeDeleted(fromStored: object, table, batch)
    case .overwrite: fields = mine
    case .write(let merged): fields = deletedIDs.removed(from: merged, table) ?? merged
    }
    if try replace(object, with: fields, version, table, batch) == false {
      // Inserted as a new document, so that it cannot overwrite a different document that has its
      // key now.
      try postponed.insert(
        table.documents, rowID: id, key: try object.documentKey, version: version
      ) { $0.object(fields) }
    }
    revisions.append((object, 0))
  }

  /// Replaces the stored fields of an object, whatever its revision. Returns whether it exists; `nil` if the write was
  /// postponed.
  func replace(
    _ object: any GraphObject, with fields: DocumentObject, _ version: Int64?,
    _ table: ObjectTable, _ batch: DocumentBatch
  ) throws -> Bool? {
    try postponed.replace(
      batch, &writer, in: table.documents, rowID: object._$object.rowID, version: version
    ) { $0.object(fields) }
  }

  private func checkKey(_ object: any GraphObject, _ table: ObjectTable) throws {
    guard let key = try object.documentKey else { return }
    try Self.checkKey(key, rowID: object._$object.rowID, in: table.documents)
  }

  /// Checks that the key of a stored object is unchanged.
  static func checkKey(
    _ key: DocumentKey, rowID: Int64, in documents: DocumentCollection
  ) throws {
    try documents.visit(rowID: rowID) { stored in
      guard stored.key != key else { return }
      throw StoreError(
        .invalidArgument, "The key of a stored object cannot change",
        [.hint: "insert a new object and delete this one"])
    }
  }

  /// Returns the fields that an object would be stored with.
  func fields(of object: any GraphObject) throws -> DocumentObject {
    try Self.encode(object, to: &writer)
    defer { writer.removeAll() }
    var reader = JSONReader(writer.bytes)
    return try reader.object()
  }

  private static func encode(_ object: any GraphObject, to writer: inout JSONWriter) throws {
    object.writeDocument(to: &writer)
    if let failure = writer.failure {
      writer.removeAll()
      throw failure
    }
  }

  private func writeInsertions(_ table: ObjectTable) throws {
    let collection = table.documents
    let hasKey = table.hasKey
    _ = try collection.writeBatch(
      .insert, capacity: table.counts.inserted, atomic: false
    ) { batch, writer in
      batch.acceptsGeneratedKeys = table.acceptsGeneratedKeys
      for object in table.inserted where !object._$object.isDeleted {
        do {
          object.writeDocument(to: &writer)
          try batch.add(
            &writer, key: hasKey ? try object.documentKey : nil, version: object.storedVersion,
            rowID: object._$object.rowID)
        } catch let error as StoreError {
          throw error.adding(.collection, collection.name)
        }
      }
    }
    guard table.hasReinserted else { return }
    // The revision of a document whose row ID was used before does not start at 1.
    for object in table.inserted where !object._$object.isDeleted && table.isInMap(object) {
      revisions.append((object, 0))
    }
  }

  /// Reads the unknown revisions, within the transaction: later, they could be those of other
  /// writers.
  private func readRevisions() throws {
    for index in revisions.indices where revisions[index].revision == 0 {
      let object = revisions[index].object
      guard let table = object._$object.table else { continue }
      revisions[index].revision =
        try table.documents.contentVersion(rowID: object._$object.rowID)?.revision ?? 0
    }
  }

  // MARK: Completion

  /// Updates the objects after the commit.
  func finish() {
    let isUndoEnabled = context.undoLog.isEnabled
    for (object, revision) in revisions {
      if isUndoEnabled, let table = object._$object.table {
        let (_, id, former) = object._$object.stored
        table.noteOwnSave(id, from: former, to: revision)
      }
      object._$object.noteSaved(revision)
    }
    for table in context.allTables { finish(table) }
  }

  private func finish(_ table: ObjectTable) {
    let isUndoEnabled = context.undoLog.isEnabled
    for object in table.deleted where !kept.contains(ObjectIdentifier(object)) {
      for relationship in table.relationships { relationship.dissolve(object) }
      object._$object.flags =
        object._$object.hasContent ? [.deleted, .removed] : .removedFault
      if isUndoEnabled { table.noteOwnDeletion(of: object) }
    }
    table.didSave()
    table.readGeneratedKeys()
    for object in stale where object._$object.table === table {
      table.discardContent(of: object)
      // What is stored is not, or not only, what the context has saved.
      if isUndoEnabled { table.ownRevisions[object._$object.rowID] = nil }
      context.inverseEpoch += 1
    }
    for (object, isLoaded) in deletedByOthers where object._$object.table === table {
      table.noteDeletedByOthers(object, isLoaded: isLoaded)
      context.inverseEpoch += 1
    }
  }
}

extension GraphObject {
  /// The version to store the document with: a newer version is kept.
  var storedVersion: Int64? {
    _$unknownFields.version(Self.storedVersion, in: Self.collectionName)
  }
}
