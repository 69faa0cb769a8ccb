// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel
public import NanoStoreCore

/// The same with `await`: the store is read on its own threads, and the objects are made where the context
/// belongs. Cancelling the task stops the query.
extension ObjectQuery {
  /// What is found, in order.
  public func fetch(isolation: isolated (any Actor)? = #isolation) async throws -> [Object] {
    try await documents().compactMap { try object($0) }
  }

  /// Returns what is found, and skips documents that are no objects of the class.
  public func fetchSkippingFailures(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (values: [Object], skipped: [SkippedDocument]) {
    var (values, skipped): ([Object], [SkippedDocument]) = ([], [])
    for document in try await documents() {
      do {
        if let object = try object(document) { values.append(object) }
      } catch {
        skipped.append(
          SkippedDocument(key: document.key, rowID: document.rowID ?? 0, error: error))
      }
    }
    return (values, skipped)
  }

  private func documents(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Document] {
    let models = models
    return try await models.collection.documents.onReader {
      try models.documentQuery().fetch()
    }
  }

  /// The object of a document that was read; nil if it is deleted.
  func object(_ document: Document) throws -> Object? {
    guard let object = try context.table(Object.self).take(document, as: Object.self) else {
      return nil
    }
    return object.isDeleted ? nil : object
  }

  /// The first one; nil if there is none.
  public func first(isolation: isolated (any Actor)? = #isolation) async throws -> Object? {
    try await limit(1).fetch(isolation: isolation).first
  }

  /// What is found, as faults: only row ids are read, from an index if one answers the question.
  public func faults(isolation: isolated (any Actor)? = #isolation) async throws -> [Object] {
    let models = models
    let ids = try await models.rowIDs()
    let table = context.table(Object.self)
    return ids.map { table.found($0, as: Object.self) }.filter { !$0.isDeleted }
  }

  /// The ids of what is found, in order.
  public func objectIDs(
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [ObjectID<Object>] {
    let models = models
    return try await models.rowIDs().map { ObjectID(rowID: $0) }
  }

  /// How many are stored that the question finds.
  public func count(isolation: isolated (any Actor)? = #isolation) async throws -> Int {
    let models = models
    return try await models.count()
  }

  /// Whether any is stored that the question finds.
  public func exists(isolation: isolated (any Actor)? = #isolation) async throws -> Bool {
    let models = models
    return try await models.exists()
  }
}

extension ObjectContext {
  /// All stored objects of a class, by row id.
  public func all<Object: GraphObject>(
    _ type: Object.Type, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Object] { try await find(type).fetch(isolation: isolation) }

  /// The object with this id, with its content; nil if there is none or it is deleted.
  public func get<Object: GraphObject>(
    _ id: ObjectID<Object>, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Object? {
    let table = table(Object.self)
    if let live = table.live(id.rowID),
      live._$object.flags.isDisjoint(with: [.fault, .failed])
    {
      return live.isDeleted ? nil : unsafeDowncast(live, to: Object.self)
    }
    let documents = table.documents
    guard let document = try await documents.get(rowID: id.rowID) else { return nil }
    guard let object = try table.take(document, as: Object.self) else { return nil }
    return object.isDeleted ? nil : object
  }

  /// The object of a document's key; nil if there is none or it is deleted.
  public func get<Object: GraphObject>(
    _ type: Object.Type, key: some ModelKey, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Object? {
    let documents = store[Object.self].documents
    guard let key = try key.documentKey?.description,
      let id = try await documents.get(key)?.rowID
    else { return nil }
    return try await get(ObjectID<Object>(rowID: id), isolation: isolation)
  }

  /// The object of any class with this id; nil if there is none.
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

  /// Loads the objects that others relate to, all in one read.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, [Target]>, of objects: [Object],
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try await load(objects.flatMap { $0[keyPath: relationship] }, isolation: isolation)
  }

  /// Loads the objects that others relate to, all in one read.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, Target?>, of objects: [Object],
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try await load(objects.compactMap { $0[keyPath: relationship] }, isolation: isolation)
  }

  /// Loads the content of faults, all in one read.
  public func load<Object: GraphObject>(
    _ objects: [Object], isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let table = table(Object.self)
    let ids = objects.filter(\.isFault).map { $0._$object.rowID }
    let documents = table.documents
    let found = try await documents.onReader {
      try documents.store.read { try ids.compactMap { try documents.get(rowID: $0) } }
    }
    for document in found { _ = try table.take(document, as: Object.self) }
  }
}
