// SPDX-License-Identifier: MIT

import NanoDocument
import NanoStoreCore

/// What a save does with objects whose documents others have changed or deleted.
extension ObjectSave {
  enum Resolution {
    case overwrite
    /// The stored version is kept, also if the conflict makes the save fail.
    case keep
    case write(DocumentObject)
  }

  /// Resolves a conflict by the context's policy.
  ///
  /// - Parameter mine: The fields to store; nil if the object is to be deleted.
  func resolveConflict(
    _ object: any GraphObject, _ table: ObjectTable, mine: DocumentObject?
  ) throws -> Resolution {
    switch context.conflictPolicy {
    case .fail:
      conflicts.append(try conflict(object, table, mine))
      return .keep
    // The stored version is not needed, and may be unreadable.
    case .overwrite: return .overwrite
    case .keepStored:
      keepStored(object, try conflict(object, table, mine))
      return .keep
    case .merge(let merge):
      let conflict = try conflict(object, table, mine)
      guard let merged = try withoutChanges({ try merge(conflict) }) else {
        keepStored(object, conflict)
        return .keep
      }
      stale.append(object)
      return .write(merged)
    }
  }

  /// Calls the closure of a policy, which cannot change objects: some of them are written already.
  private func withoutChanges<Result>(_ work: () throws -> Result) throws -> Result {
    if !isWatching {
      for table in context.allTables { table.watchUnsaved() }
      isWatching = true
    }
    let before = context.changeCount
    let result = try work()
    guard context.changeCount == before else { throw Self.changedDuringSave }
    return result
  }

  /// Resolves the conflict of an object that was changed although its content could not be loaded.
  /// Its other properties are placeholders, which are never stored.
  func resolveUnloaded(
    _ object: any GraphObject, _ table: ObjectTable, _ batch: DocumentBatch
  ) throws {
    let conflict = try conflict(object, table, try fields(of: object))
    if case .keepStored = context.conflictPolicy {
      keepStored(object, conflict)
      try removeDeleted(fromStored: object, table, batch)
    } else {
      conflicts.append(conflict)
    }
  }

  private func conflict(
    _ object: any GraphObject, _ table: ObjectTable, _ mine: DocumentObject?
  ) throws -> ObjectConflict {
    let id = object._$object.rowID
    let stored = try table.documents.get(rowID: id).map { try $0.object() }
    return ObjectConflict(
      id: AnyObjectID(collection: table.documents.name, rowID: id), mine: mine, stored: stored)
  }

  private func keepStored(_ object: any GraphObject, _ conflict: ObjectConflict) {
    guard conflict.isDeletedInStore else { return stale.append(object) }
    deletedByOthers.append((object, isLoaded: !object._$object.flags.contains(.failed)))
  }

  /// Returns whether a conflict keeps an object that the context deleted.
  func keeps(_ object: any GraphObject, _ table: ObjectTable) throws -> Bool {
    guard try table.documents.exists(rowID: object._$object.rowID) else { return false }
    switch try resolveConflict(object, table, mine: nil) {
    case .overwrite: return false
    case .keep: break
    // Written when it is known what the save deletes.
    case .write(let fields): merged[ObjectIdentifier(object)] = fields
    }
    return true
  }

  /// Writes an object that the context deleted and a conflict keeps, without references to what the save deletes.
  func writeKept(_ object: any GraphObject, _ table: ObjectTable) throws {
    var content: (fields: DocumentObject, version: Int64?)?
    if let fields = merged[ObjectIdentifier(object)] {
      content = (deletedIDs.removed(from: fields, table) ?? fields, object.storedVersion)
    } else {
      content = try storedWithoutDeleted(object, table)
    }
    guard let (fields, version) = content else { return }
    _ = try table.documents.writeBatch(.save, atomic: false) { batch, _ in
      _ = try replace(object, with: fields, version, table, batch)
    }
  }

  /// Returns the stored fields of an object without references to what the save deletes; nil if there are none.
  private func storedWithoutDeleted(
    _ object: any GraphObject, _ table: ObjectTable
  ) throws -> (fields: DocumentObject, version: Int64?)? {
    guard !deletedIDs.isEmpty,
      let stored = try table.documents.get(rowID: object._$object.rowID)
    else { return nil }
    return deletedIDs.removed(from: try stored.object(), table).map { ($0, stored.header.version) }
  }

  /// Removes references to what the save deletes from the document of a changed object that a conflict keeps as it is stored.
  func removeDeleted(
    fromStored object: any GraphObject, _ table: ObjectTable, _ batch: DocumentBatch
  ) throws {
    guard let (fields, version) = try storedWithoutDeleted(object, table) else { return }
    _ = try replace(object, with: fields, version, table, batch)
  }
}
