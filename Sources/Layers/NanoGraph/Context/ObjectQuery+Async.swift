// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
public import NanoModel
public import NanoStoreCore

/// Asynchronous forms: the store is read on its own threads, and the objects are created in the
/// isolation of the context. Results include the unsaved changes at the time of the return. Canceling
/// the task interrupts the query.
extension ObjectQuery {
  /// The asynchronous form of ``fetch()``, which does not block the calling thread.
  public func fetch(isolation: isolated (any Actor)? = #isolation) async throws -> [Object] {
    try await contents().compactMap { try object($0) }
  }

  /// The asynchronous form of ``fetchSkippingFailures()``, which does not block the calling thread.
  public func fetchSkippingFailures(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (values: [Object], skipped: [SkippedDocument]) {
    var (values, skipped): ([Object], [SkippedDocument]) = ([], [])
    for content in try await contents() { appendOrSkip(content, &values, &skipped) }
    return (values, skipped)
  }

  private func contents(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [UnsavedMatch<Object>.Content] {
    let models = models
    if let found = try await readStored({ try models.documentQuery().fetch() }) {
      return found.map { .document($0) }
    }
    return try await mergedContents()
  }

  /// Reads stored results, again if a save of the context is completed in the meantime: it can store
  /// and delete what the read finds.
  ///
  /// - Returns: Nil if unsaved changes can affect the results.
  private func readStored<Result: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result? {
    for _ in 0..<Self.attempts {
      guard try !considersUnsavedChanges() else { return nil }
      let saves = context.saveCount
      let result = try await context.read(context.table(Object.self), work)
      if saves == context.saveCount { return try considersUnsavedChanges() ? nil : result }
    }
    return try considersUnsavedChanges() ? nil : work()
  }

  /// Returns the object of a document, or nil if the object is deleted.
  func object(_ document: Document) throws -> Object? {
    guard let object = try context.table(Object.self).materialize(document, as: Object.self) else {
      return nil
    }
    return object._$object.isDeleted ? nil : object
  }

  /// The asynchronous form of ``first()``, which does not block the calling thread.
  public func first(isolation: isolated (any Actor)? = #isolation) async throws -> Object? {
    let table = context.table(Object.self)
    while true {
      let deletions = table.deleted.count
      let results = try await upToFirst().fetch(isolation: isolation)
      if let first = results.first { return first }
      // A result that is deleted during the read is omitted, although others can follow it.
      guard table.deleted.count > deletions else { return nil }
    }
  }

  /// The asynchronous form of ``faults()``, which does not block the calling thread.
  public func faults(isolation: isolated (any Actor)? = #isolation) async throws -> [Object] {
    let models = models
    if let ids = try await readStored({ try models.rowIDs() }) {
      let table = context.table(Object.self)
      return try ids.map { try table.existingObject($0, as: Object.self) }.filter {
        !$0._$object.isDeleted
      }
    }
    return try await mergedContents().compactMap { try fault($0) }
  }

  /// The asynchronous form of ``objectIDs()``, which does not block the calling thread.
  public func objectIDs(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ObjectID<Object>] {
    let models = models
    if let ids = try await readStored({ try models.rowIDs() }) {
      return ids.map { ObjectID(rowID: $0) }
    }
    return try await mergedContents().compactMap { rowID($0).map { ObjectID(rowID: $0) } }
  }

  /// The asynchronous form of ``count()``, which does not block the calling thread.
  public func count(isolation: isolated (any Actor)? = #isolation) async throws -> Int {
    let models = models
    if let count = try await readStored({ try models.count() }) { return count }
    return try await mergedCount(isolation: isolation)
  }

  /// The asynchronous form of ``exists()``, which does not block the calling thread.
  public func exists(isolation: isolated (any Actor)? = #isolation) async throws -> Bool {
    let models = models
    if let exists = try await readStored({ try models.exists() }) { return exists }
    return try await limit(Swift.min(1, models.documentQuery().query.limit ?? 1))
      .mergedCount(isolation: isolation) > 0
  }
}

extension ObjectContext {
  /// The asynchronous form of ``all(_:)``, which does not block the calling thread.
  public func all<Object: GraphObject>(
    _ type: Object.Type, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Object] { try await find(type).fetch(isolation: isolation) }

  /// The asynchronous form of `get(_:)`, which does not block the calling thread.
  public func get<Object: GraphObject>(
    _ id: ObjectID<Object>, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Object? {
    let table = table(Object.self)
    if let live = table.live(id.rowID),
      // Others may have inserted a removed object again.
      live._$object.flags.isDisjoint(with: [.fault, .failed, .removed])
    {
      return live._$object.isDeleted ? nil : ObjectTable.downcast(live)
    }
    let documents = table.documents
    guard let document = try await read(table, { try documents.get(rowID: id.rowID) }) else {
      return nil
    }
    guard let object = try table.materialize(document, as: Object.self) else { return nil }
    return object._$object.isDeleted ? nil : object
  }

  /// The asynchronous form of ``get(_:key:)``, which does not block the calling thread.
  public func get<Object: GraphObject>(
    _ type: Object.Type, key: some ModelKey, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Object? {
    let documents = store[Object.self].documents
    guard let key = try key.documentKey?.description,
      let id = try await documents.get(key)?.rowID
    else { return nil }
    return try await get(ObjectID<Object>(rowID: id), isolation: isolation)
  }

  /// The asynchronous form of `get(_:)` for an object of any class, which does not block the
  /// calling thread.
  public func get(
    _ id: AnyObjectID, isolation: isolated (any Actor)? = #isolation
  ) async throws -> (any GraphObject)? {
    func open<Object: GraphObject>(
      _ type: Object.Type, isolation: isolated (any Actor)?
    ) async throws -> Object? {
      try await get(ObjectID<Object>(rowID: id.rowID), isolation: isolation)
    }
    return try await open(objectType(of: id), isolation: isolation)
  }

  /// The asynchronous form of `prefetch(_:of:)`, which does not block the calling thread.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, [Target]>, of objects: [Object],
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try await load(objects.flatMap { $0[keyPath: relationship] }, isolation: isolation)
  }

  /// The asynchronous form of `prefetch(_:of:)` for a to-one relationship, which does not block the
  /// calling thread.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, Target?>, of objects: [Object],
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try await load(objects.compactMap { $0[keyPath: relationship] }, isolation: isolation)
  }

  /// The asynchronous form of ``load(_:)``, which does not block the calling thread.
  public func load<Object: GraphObject>(
    _ objects: [Object], isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let table = table(Object.self)
    let ids = objects.filter(\.isFault).map { $0._$object.rowID }
    let documents = table.documents
    let found = try await read(table) {
      try documents.store.read { try ids.compactMap { try documents.get(rowID: $0) } }
    }
    for document in found { _ = try table.materialize(document, as: Object.self) }
  }
}
