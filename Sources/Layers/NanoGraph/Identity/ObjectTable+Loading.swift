// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine
import NanoModel
import NanoStoreCore

/// Decoding documents into objects.
extension ObjectTable {
  /// Returns the object of a stored document. Content in memory is kept if it is current, and
  /// unsaved changes are always kept.
  @inlinable
  func materialize<Object: GraphObject>(_ stored: StoredDocument, as type: Object.Type) throws
    -> Object
  {
    if let pointer = map[stored.rowID] {
      let object = Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
      try refresh(object, stored)
      return object
    }
    guard _fastPath(stored.rowID > 0) else { throw unsupportedRow(stored.rowID) }
    let object = Object(_$fault: ())
    try fill(object, stored)
    add(object, stored.rowID, .watched)
    if _slowPath(!removed.isEmpty) { removed.remove(stored.rowID) }
    return object
  }

  /// Returns the object of an existing row, which another context may have restored.
  func existingObject<Object: GraphObject>(_ id: Int64, as type: Object.Type) throws -> Object {
    guard id > 0 else { throw unsupportedRow(id) }
    if !removed.isEmpty { removed.remove(id) }
    let object = object(id, as: type)
    if object._$object.flags.contains(.removed) { noteRestoredByOthers(object) }
    return object
  }

  /// Returns the object of an existing row, as ``existingObject(_:as:)`` does.
  func anyExistingObject(_ id: Int64) throws -> any GraphObject {
    func open<Object: GraphObject>(_ type: Object.Type) throws -> any GraphObject {
      try existingObject(id, as: type)
    }
    return try open(self.type)
  }

  /// Returns the error of a document that only another program can have inserted: negative row IDs are
  /// the numbers of new objects.
  @usableFromInline @inline(never)
  func unsupportedRow(_ id: Int64) -> StoreError {
    StoreError(
      .unsupported, "An object cannot have a row ID that is not positive",
      [
        .collection: documents.name, .rowID: "\(id)",
        .hint: "insert the document again without a row ID",
      ])
  }

  /// Returns the object of a document that was read earlier, or nil if the document was deleted
  /// since.
  func materialize<Object: GraphObject>(_ document: Document, as type: Object.Type) throws
    -> Object?
  {
    let header = document.header
    guard let rowID = header.rowID else {
      throw StoreError(.corruptDocument, "A stored document has no row ID")
    }
    guard rowID > 0 else { throw unsupportedRow(rowID) }
    context.noteReading()
    let isRemoved = live(rowID)?._$object.flags.contains(.removed) ?? removed.contains(rowID)
    if isRemoved, try !documents.exists(rowID: rowID) { return nil }
    if let existing = live(rowID), let revision = header.revision,
      existing._$object.isClean, existing._$object.revision > revision
    {
      // Saved or reloaded in the meantime, unless others have inserted or adopted the document: then any revision can
      // follow.
      if try documents.contentVersion(rowID: rowID)?.revision == existing._$object.revision {
        let object: Object = Self.downcast(existing)
        return object
      }
      var current: Object?
      try documents.visit(rowID: rowID) { current = try materialize($0, as: type) }
      return current
    }
    return try document.withBytes { bytes in
      try DocumentKey.withBorrowed(header.key) { key in
        try materialize(
          StoredDocument(
            rowID: rowID, key: key, type: nil, version: header.version, added: header.added,
            revision: header.revision, body: bytes), as: type)
      }
    }
  }

  @usableFromInline
  func refresh<Object: GraphObject>(_ object: Object, _ stored: StoredDocument) throws {
    let flags = object._$object.flags
    // Another context may have restored a removed object.
    guard flags.contains(.removed) || flags.isDisjoint(with: [.changed, .deleted, .inserted]) else {
      return
    }
    let isSame =
      object._$object.revision != LoadedContent.unknown
      && object._$object.revision == LoadedContent.number(of: stored)
    guard !isSame || !flags.isDisjoint(with: [.fault, .failed, .removed]) else { return }
    guard object._$object.isObserved || flags.contains(.removed) else {
      return try refill(object, stored)
    }
    try context.updating { try refill(object, stored) }
  }

  private func refill<Object: GraphObject>(_ object: Object, _ stored: StoredDocument) throws {
    let flags = object._$object.flags
    try fill(object, stored)
    object._$object.flags = .watched
    if !removed.isEmpty { removed.remove(stored.rowID) }
    if flags.contains(.removed) { context.updates.noteDeletion(of: object, wasDeleted: true) }
    // The relationships of the object may have changed in the store.
    if !flags.contains(.fault), relationships.contains(where: { $0.inverse != nil }) {
      context.updating { context.inverseEpoch += 1 }
    }
  }

  @inlinable @inline(__always)
  func fill<Object: GraphObject>(_ object: Object, _ stored: StoredDocument) throws {
    if _fastPath((stored.version ?? 1) == version) {
      var reader = JSONReader(stored.body)
      do throws(StoreError) {
        try object._$fill(&reader, stored.borrowedKey)
      } catch {
        throw located(error, stored, Object.self)
      }
    } else {
      try fillOtherVersion(object, stored)
    }
    object._$object.revision = stored.revision ?? unadoptedContent(stored)
    if _slowPath(context.readsUncommitted) { noteUncommitted(stored) }
  }

  @usableFromInline @inline(never)
  func unadoptedContent(_ stored: StoredDocument) -> Int64 { LoadedContent.number(of: stored) }

  @usableFromInline @inline(never)
  func located<Object: GraphObject>(
    _ error: StoreError, _ stored: StoredDocument, _ type: Object.Type
  ) -> StoreError {
    ModelDecoder<Object>(documents.name).located(error, stored.body, stored.key, stored.rowID)
  }

  @usableFromInline @inline(never)
  func fillOtherVersion<Object: GraphObject>(_ object: Object, _ stored: StoredDocument) throws {
    let content = StoredContent(
      key: stored.borrowedKey, version: stored.version, body: stored.body)
    do throws(StoreError) {
      try ModelDecoder<Object>(documents.name).withFieldsOfToday(content) {
        (reader, key) throws(StoreError) in try object._$fill(&reader, key)
      }
    } catch {
      throw located(error, stored, Object.self)
    }
    if (stored.version ?? 1) > version {
      object._$unknownFields.keep(version: stored.version ?? 1)
    }
  }

  // MARK: Faults

  /// Records the row IDs of a list that was resolved to objects, for prefetching.
  @usableFromInline
  func noteList(_ ids: [Int64]) { neighbors = Neighbors(ids) }

  /// Loads a fault, together with its neighbors from the second access to a list on.
  func loadContent(of object: any GraphObject) throws {
    let id = object._$object.rowID
    guard id > 0, !object._$object.flags.isDisjoint(with: [.fault, .failed]) else { return }
    let others =
      neighbors.isEmpty
      ? [] : neighbors.toLoad(with: id).filter { $0 != id && live($0)?.isFault ?? false }
    if others.isEmpty { try load(id) } else { try load(id, with: others) }
    guard !object._$object.flags.isDisjoint(with: [.fault, .failed]) else { return }
    if object._$object.flags.contains(.changed), try documents.get(rowID: id) != nil {
      throw StoreError(
        .invalidArgument, "An object was changed although its content could not be loaded",
        [
          .collection: documents.name, .rowID: "\(id)",
          .hint: "roll back the context, and load the object again",
        ])
    }
    throw StoreError(
      .notFound, "The document of an object no longer exists",
      [.collection: documents.name, .rowID: "\(id)"])
  }

  /// Loads the content of existing objects in one read transaction.
  func load(_ ids: [Int64]) throws {
    try context.store.read { for id in ids { try load(id) } }
  }

  /// Loads the content of an existing object and of its neighbors in one read transaction. A neighbor that cannot be
  /// loaded remains a fault, so that the error is reported when it is accessed.
  private func load(_ id: Int64, with neighbors: [Int64]) throws {
    try context.store.read {
      try load(id)
      for neighbor in neighbors { try? load(neighbor) }
    }
  }

  private func load(_ id: Int64) throws {
    context.noteReading()
    func open<Object: GraphObject>(_ type: Object.Type) throws {
      try documents.visit(rowID: id) { stored in _ = try materialize(stored, as: type) }
    }
    try open(self.type)
  }

  /// Loads the content of an object, and returns whether its document exists.
  func documentExists(_ object: any GraphObject) throws -> Bool {
    do {
      try loadContent(of: object)
      return true
    } catch let error as StoreError where error.code == .notFound {
      return false
    }
  }

  /// Loads the content of an object for a property, which cannot throw.
  func loadOrFail(_ object: any GraphObject) {
    do {
      try loadContent(of: object)
    } catch {
      // The object receives placeholder values, which are never saved. Changes are tracked so that
      // the save reports them.
      object._$fillWithFirstValues()
      object._$object.flags.remove(.fault)
      object._$object.flags.insert(.failed)
      // The deletion of a removed object is committed.
      if !object._$object.flags.contains(.removed) {
        noteUncommittedLoss(of: object._$object.rowID)
      }
      context.didFailToLoad(
        AnyObjectID(collection: documents.name, rowID: object._$object.rowID), error)
    }
  }
}

extension DocumentCollection {
  /// Returns whether a row exists. The document is read only if there is no revision, as after a write by another
  /// program.
  func exists(rowID: Int64) throws -> Bool {
    if try contentVersion(rowID: rowID) != nil { return true }
    return try visit(rowID: rowID) { _ in }
  }
}

/// The row IDs of the most recently resolved list, for prefetching its objects.
@usableFromInline
struct Neighbors {
  private var ids: [Int64] = []
  private var wasAccessed = false
  private var position = 0

  init() {}
  init(_ ids: [Int64]) { self.ids = ids }

  var isEmpty: Bool { ids.isEmpty }

  /// The number of objects to load together. Arbitrary: large enough to amortize a read, small
  /// enough to cause no noticeable delay.
  @usableFromInline static var batch: Int { 100 }

  /// Returns the id and those that follow it in the list, starting with the second access to the
  /// list.
  mutating func toLoad(with id: Int64) -> [Int64] {
    guard let found = ids[position...].firstIndex(of: id) ?? ids.firstIndex(of: id) else {
      return [id]
    }
    position = found
    guard wasAccessed else {
      wasAccessed = true
      return [id]
    }
    return Array(ids[found..<min(ids.count, found + Self.batch)])
  }
}
