// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
import NanoStoreCore

/// One save of a context: what is written in the transaction, and what objects are to know afterwards.
final class ObjectSave {
  private let context: ObjectContext
  private var writer = JSONWriter(capacity: 512)
  private var conflicts: [ObjectConflict] = []
  /// The revisions of stored objects afterwards; 0 where they are to be looked up.
  private var revisions: [(object: any GraphObject, revision: Int64)] = []
  /// Objects whose content in the store is not the one in memory.
  private var stale: [any GraphObject] = []

  init(_ context: ObjectContext) { self.context = context }

  /// Writes everything, in an order in which values of unique indexes are given up before they are taken.
  func run() throws {
    let tables = context.allTables
    if context.mayHoldGone {
      let isAlone = context.undoLog.open.records.isEmpty
      defer { if isAlone { context.undoLog.mergeOpen() } }
      try removeReferences(tables)
    }
    for table in tables where !table.counts.isEmpty { try table.prepare() }
    for table in tables where table.counts.inserted > 0 { try table.giveRowIDs() }
    for table in tables { try writeDeletions(table) }
    for table in tables where table.counts.changed > 0 { try writeUpdates(table) }
    guard conflicts.isEmpty else { throw ObjectConflictError(conflicts: conflicts) }
    for table in tables where table.counts.inserted > 0 { try writeInsertions(table) }
    try context.writeNamed()
  }

  // MARK: References to deleted objects

  private func removeReferences(_ tables: [ObjectTable]) throws {
    for owners in tables where !owners.relationships.isEmpty {
      for object in owners.unsaved { removeGone(from: object, owners.relationships) }
    }
    for targets in tables where !targets.deleted.isEmpty {
      let ids = targets.deleted.map { $0._$object.rowID }
      for owners in tables {
        for relationship in owners.relationships
        where relationship.target == nil || relationship.target == targets.type {
          try removeStored(ids, of: targets, relationship, owners)
        }
      }
    }
  }

  private func removeGone(from owner: any GraphObject, _ relationships: [StoredRelationship]) {
    for relationship in relationships {
      var holdsGone = false
      relationship.forEachKnown(of: owner) { if $0.isGone { holdsGone = true } }
      if holdsGone { relationship.remove(from: owner, in: context) { $0.isGone } }
    }
  }

  /// Also from documents of objects that are not in memory.
  private func removeStored(
    _ ids: [Int64], of targets: ObjectTable, _ relationship: StoredRelationship,
    _ owners: ObjectTable
  ) throws {
    for start in stride(from: 0, to: ids.count, by: Self.idsPerQuestion) {
      let some = Array(ids[start..<min(start + Self.idsPerQuestion, ids.count)])
      let found = try owners.documents.find(relationship.condition(for: some, in: targets))
        .rowIDs()
      let faults = found.filter { owners.live($0)?.isFault ?? true }
      let alive = faults.map { owners.anyObject($0) }
      try owners.load(faults)
      for id in found {
        let owner = owners.anyObject(id)
        if !owner.isGone { relationship.remove(from: owner, in: context) { $0.isGone } }
      }
      _ = alive
    }
  }

  /// Arbitrary: statements of this length are still short.
  private static let idsPerQuestion = 500

  // MARK: Documents

  private func writeDeletions(_ table: ObjectTable) throws {
    for object in table.deleted {
      let id = object._$object.rowID
      let known = object._$object.revision
      if known != 0, try table.documents.contentVersion(rowID: id)?.revision != known {
        guard try settle(object, table, mine: nil) != nil else { continue }
      }
      try table.documents.remove(rowID: id)
    }
  }

  private func writeUpdates(_ table: ObjectTable) throws {
    let hasKey = table.hasKey
    _ = try table.documents.writeBatch(.save, atomic: false) { batch, _ in
      for object in table.changed where !object.isGone {
        do {
          if hasKey { try checkKey(object, table) }
          try writeUpdate(object, table, batch)
        } catch let error as StoreError {
          throw error.adding(.collection, table.documents.name)
            .adding(.rowID, "\(object._$object.rowID)")
        }
      }
    }
  }

  private func writeUpdate(
    _ object: any GraphObject, _ table: ObjectTable, _ batch: DocumentBatch
  ) throws {
    let id = object._$object.rowID
    let known = object._$object.revision
    try encode(object)
    let version = object.storedVersion
    if try batch.replace(
      &writer, rowID: id, revision: known == 0 ? nil : known, version: version)
    {
      return revisions.append((object, known == 0 ? 0 : known + 1))
    }
    try encode(object)
    var reader = JSONReader(writer.bytes)
    let mine = try reader.object()
    writer.removeAll()
    guard let fields = try settle(object, table, mine: mine) else { return }
    writer.object(fields)
    if try !batch.replace(&writer, rowID: id, revision: nil, version: version) {
      writer.object(fields)
      try batch.add(&writer, key: try object.documentKey, version: version, rowID: id)
    }
    revisions.append((object, 0))
  }

  /// Settles which fields are to be written over a version that nobody here has read; nil if none are. Of an
  /// object that is to be deleted they only say that it is.
  private func settle(
    _ object: any GraphObject, _ table: ObjectTable, mine: DocumentObject?
  ) throws -> DocumentObject? {
    let id = object._$object.rowID
    let stored = try table.documents.get(rowID: id).map { try $0.object() }
    if mine == nil, stored == nil { return [:] }
    let conflict = ObjectConflict(
      id: AnyObjectID(collection: table.documents.name, rowID: id), mine: mine, stored: stored)
    switch context.conflictPolicy {
    case .fail:
      conflicts.append(conflict)
      return nil
    case .overwrite: return mine ?? [:]
    case .keepStored:
      stale.append(object)
      return nil
    case .merge(let merge):
      stale.append(object)
      return try merge(conflict)
    }
  }

  /// The key of a stored document does not change.
  private func checkKey(_ object: any GraphObject, _ table: ObjectTable) throws {
    guard let key = try object.documentKey else { return }
    try table.documents.show(rowID: object._$object.rowID) { stored in
      guard stored.key != key else { return }
      throw StoreError(
        .invalidArgument, "The key of a stored object cannot change",
        [.hint: "insert another object and delete this one"])
    }
  }

  private func encode(_ object: any GraphObject) throws {
    object.writeDocument(to: &writer)
    if let failure = writer.failure {
      writer.removeAll()
      throw failure
    }
  }

  private func writeInsertions(_ table: ObjectTable) throws {
    let collection = table.documents
    _ = try collection.writeBatch(
      .insert, capacity: table.counts.inserted, atomic: false
    ) { batch, writer in
      for object in table.inserted where !object.isGone {
        do {
          object.writeDocument(to: &writer)
          try batch.add(
            &writer, key: try object.documentKey, version: object.storedVersion,
            rowID: object._$object.rowID)
        } catch let error as StoreError {
          throw error.adding(.collection, collection.name)
        }
      }
    }
  }

  // MARK: Afterwards

  /// What the objects of a class know once everything is stored.
  func finish(_ table: ObjectTable) {
    for object in table.deleted {
      for relationship in table.relationships { relationship.dissolve(object) }
      object._$object.flags = [.deleted, .removed]
      if context.undoLog.isEnabled { table.removed.insert(object._$object.rowID) }
    }
    for (object, revision) in revisions where object._$object.table === table {
      object._$object.revision =
        revision != 0
        ? revision
        : (try? table.documents.contentVersion(rowID: object._$object.rowID)?.revision) ?? 0
    }
    table.didSave()
    for object in stale where object._$object.table === table {
      object._$object.flags = []
      table.removed.remove(object._$object.rowID)
      table.makeFault(object)
    }
    if stale.contains(where: { $0._$object.table === table }) { context.inverseEpoch += 1 }
  }
}

extension GraphObject {
  /// The version to store its document with, which stays a newer one.
  fileprivate var storedVersion: Int64? { _$unknownFields.version(Self.storedVersion) }
}
