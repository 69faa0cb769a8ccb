// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
public import NanoEngine
public import NanoModel
public import NanoStoreCore

/// A query over the stored objects of a class, whose results are objects of a context.
///
/// ```swift
/// let long = try context.find(\Song.seconds > 600).sorted(by: \.title).limit(20).fetch()
/// ```
///
/// Conditions are evaluated on stored values: new objects are found once they are saved, and
/// changed objects by their stored values. Objects in memory keep their unsaved changes. Objects
/// with an unsaved deletion are omitted.
public struct ObjectQuery<Object: GraphObject> {
  @usableFromInline let context: ObjectContext
  /// The same query with plain values as results.
  public let models: ModelQuery<Object>

  init(_ context: ObjectContext, _ models: ModelQuery<Object>) {
    self.context = context
    self.models = models
  }

  func changed(_ models: ModelQuery<Object>) -> ObjectQuery { ObjectQuery(context, models) }

  /// Adds a condition on properties, which results must also satisfy.
  public func `where`(
    _ condition: (ModelProperties<Object>) -> ModelCondition<Object>
  ) -> ObjectQuery { changed(models.where(condition)) }
  /// Adds a condition, which results must also satisfy.
  public func `where`(_ condition: ModelCondition<Object>) -> ObjectQuery {
    changed(models.where(condition))
  }
  /// Sorts by properties in ascending order, most significant first.
  public func sorted(by keyPaths: any PartialKeyPath<Object> & Sendable...) -> ObjectQuery {
    changed(models.sorted(using: keyPaths.map { .forward($0) }))
  }
  /// Sorts by a property in the given order.
  public func sorted(
    by keyPath: any PartialKeyPath<Object> & Sendable, order: SortOrder
  ) -> ObjectQuery { changed(models.sorted(by: keyPath, order: order)) }
  /// Sorts by orderings, most significant first.
  public func sorted(using orderings: ModelOrdering<Object>...) -> ObjectQuery {
    changed(models.sorted(using: orderings))
  }
  /// Limits the number of results, after sorting and after the offset.
  ///
  /// - Parameter offset: The number of results to skip; nil keeps the current offset.
  public func limit(_ limit: Int?, offset: Int? = nil) -> ObjectQuery {
    changed(models.limit(limit, offset: offset))
  }

  /// Returns the results in order.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/Code/typeMismatch`` with the collection, the
  ///   document and the field, and the errors of upgrades.
  @inlinable
  public func fetch() throws -> [Object] {
    var objects: [Object] = []
    try eachStored { object in
      objects.append(object)
      return true
    }
    return objects
  }

  /// Returns the first result, or nil if there is none.
  public func first() throws -> Object? { try limit(1).fetch().first }

  /// Passes the results to a closure one by one until it returns false, in constant memory.
  ///
  /// ```swift
  /// try context.find(Song.self).each { song in
  ///   song.title += "!"
  ///   return song.title != "Gin!"                 // stops here
  /// }
  /// ```
  ///
  /// - Throws: Errors of the closure, which end the query.
  @inlinable
  public func each(_ body: (Object) throws -> Bool) throws { try eachStored(body) }

  @inlinable
  func eachStored(_ body: (Object) throws -> Bool) throws {
    let table = context.table(Object.self)
    try models.documentQuery().visitStored { stored in
      let object = try table.materialize(stored, as: Object.self)
      if _slowPath(object._$object.isDeleted) { return true }
      return try body(object)
    }
  }

  /// Returns the results and skips documents that do not decode as the class.
  ///
  /// ```swift
  /// let (songs, skipped) = try context.find(Song.self).fetchSkippingFailures()
  /// for document in skipped { print(document.rowID, document.error) }
  /// ```
  ///
  /// - Returns: The objects in order, and the skipped documents, each with an error that names the
  ///   field.
  public func fetchSkippingFailures() throws -> (
    values: [Object], skipped: [SkippedDocument]
  ) {
    let table = context.table(Object.self)
    var (values, skipped): ([Object], [SkippedDocument]) = ([], [])
    try models.documentQuery().visitStored { stored in
      do {
        let object = try table.materialize(stored, as: Object.self)
        if !object._$object.isDeleted { values.append(object) }
      } catch {
        skipped.append(SkippedDocument(stored, error))
      }
      return true
    }
    return (values, skipped)
  }

  /// Returns the results as faults. Only row IDs are read, from an index if it covers the query.
  public func faults() throws -> [Object] {
    let table = context.table(Object.self)
    return try models.rowIDs().map { table.existingObject($0, as: Object.self) }.filter {
      !$0._$object.isDeleted
    }
  }

  /// Returns the ids of the results in order.
  public func objectIDs() throws -> [ObjectID<Object>] {
    try models.rowIDs().map { ObjectID(rowID: $0) }
  }

  /// Returns the number of stored results.
  public func count() throws -> Int { try models.count() }
  /// Returns whether there are any stored results.
  public func exists() throws -> Bool { try models.exists() }
}

extension ObjectContext {
  /// Returns a query with a condition on a class.
  public func find<Object: GraphObject>(
    _ condition: ModelCondition<Object>
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).find(condition)) }

  /// Returns a query for all objects of a class.
  public func find<Object: GraphObject>(_ type: Object.Type) -> ObjectQuery<Object> {
    ObjectQuery(self, models(Object.self).find())
  }

  /// Returns a query with a condition on the properties of a class.
  ///
  /// ```swift
  /// try context.find(Playlist.self) { $0.songs.contains(song) }.fetch()
  /// ```
  public func find<Object: GraphObject>(
    _ type: Object.Type, _ condition: (ModelProperties<Object>) -> ModelCondition<Object>
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).find(condition)) }

  /// Returns a query with a Foundation predicate; see ``ModelCollection/find(_:)-(Predicate<M>)``.
  public func find<Object: GraphObject>(_ predicate: Predicate<Object>) -> ObjectQuery<Object> {
    ObjectQuery(self, models(Object.self).find(predicate))
  }

  /// Returns a full-text search over the objects of a class, ranked by relevance; see
  /// ``ModelCollection/search(_:)-(String)``.
  public func search<Object: GraphObject>(
    _ type: Object.Type, _ text: String
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).search(text)) }

  /// Returns all stored objects of a class, ordered by row ID.
  @inlinable
  public func all<Object: GraphObject>(_ type: Object.Type) throws -> [Object] {
    try find(type).fetch()
  }

  /// Returns the object with this id and loads its content, or returns nil if there is none or it
  /// is deleted.
  ///
  /// - Throws: ``StoreError``.
  public func get<Object: GraphObject>(_ id: ObjectID<Object>) throws -> Object? {
    let table = table(Object.self)
    if let live = table.live(id.rowID),
      live._$object.flags.isDisjoint(with: [.fault, .failed])
    {
      return live._$object.isDeleted ? nil : ObjectTable.downcast(live)
    }
    var found: Object?
    try table.documents.visit(rowID: id.rowID) {
      found = try table.materialize($0, as: Object.self)
    }
    return found.flatMap { $0._$object.isDeleted ? nil : $0 }
  }

  /// Returns the object whose document has this key, or nil if there is none or it is deleted.
  public func get<Object: GraphObject>(
    _ type: Object.Type, key: some ModelKey
  ) throws -> Object? {
    guard let key = try key.documentKey?.description,
      let id = try models(Object.self).documents.get(key)?.rowID
    else { return nil }
    return try get(ObjectID<Object>(rowID: id))
  }

  /// Returns the object of any class with this id, or nil if there is none.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the class is not registered; see
  ///   ``register(_:)``.
  public func get(_ id: AnyObjectID) throws -> (any GraphObject)? {
    func open<Object: GraphObject>(_ type: Object.Type) throws -> Object? {
      try get(ObjectID<Object>(rowID: id.rowID))
    }
    return try open(objectType(of: id))
  }

  func objectType(of id: AnyObjectID) throws(StoreError) -> any GraphObject.Type {
    guard let table = table(named: id.collection) else {
      throw StoreError(
        .invalidArgument, "No registered class uses the collection",
        [.collection: id.collection, .hint: "register the class"])
    }
    return table.type
  }

  /// Returns the object with this id without reading from the store: as a fault, unless it is in
  /// memory.
  public func fault<Object: GraphObject>(_ id: ObjectID<Object>) -> Object {
    table(Object.self).object(id.rowID, as: Object.self)
  }

  /// Loads the content of faults in one read transaction.
  public func load<Object: GraphObject>(_ objects: [Object]) throws {
    let ids = objects.filter(\.isFault).map { $0._$object.rowID }
    if !ids.isEmpty { try table(Object.self).load(ids) }
  }

  /// Loads the related objects of several objects in one read transaction.
  ///
  /// ```swift
  /// let lists = try context.all(Playlist.self)
  /// try context.prefetch(\.songs, of: lists)
  /// ```
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, [Target]>, of objects: [Object]
  ) throws { try load(objects.flatMap { $0[keyPath: relationship] }) }

  /// Loads the related objects of a to-one relationship in one read transaction.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, Target?>, of objects: [Object]
  ) throws { try load(objects.compactMap { $0[keyPath: relationship] }) }
}
