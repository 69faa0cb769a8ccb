// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
public import NanoEngine
public import NanoModel
public import NanoStoreCore

/// A query over the objects of a class, stored and new, whose results are objects of a context.
///
/// ```swift
/// let long = try context.find(\Song.seconds > 600).sorted(by: \.title).limit(20).fetch()
/// ```
///
/// Results include unsaved changes, as if the context had been saved before: new objects are found,
/// changed objects are evaluated and sorted by their current values, and deleted objects are
/// omitted. Without a sort order, objects are in the order of their row IDs, followed by new objects
/// in insertion order.
///
/// A query encodes each unsaved object of the class, so that its cost grows with their number; a
/// program that inserts many objects and queries in between should save regularly. If the class has
/// no unsaved objects, a query costs the same as one over documents. An unsaved object that cannot
/// be stored makes the query throw the error of a save, with the collection and the row ID, or with
/// its position among the unsaved objects of the class.
///
/// ``page(_:)-(Int)``, aggregates, `grouped`, `distinct` and full-text searches use stored values.
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
  /// ```swift
  /// let gin = try context.insert(Song("Gin", seconds: 700))
  /// try context.find(\Song.seconds > 600).fetch()         // contains gin, which is not saved
  /// ```
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/Code/typeMismatch`` with the collection, the
  ///   document and the field, and the errors of upgrades. ``StoreError/Code/valueNotStorable`` if
  ///   an unsaved object of the class contains a value that cannot be stored,
  ///   ``StoreError/Code/invalidArgument`` if one was changed although its content could not be
  ///   loaded, and ``StoreError/Code/unsupported`` if another program has inserted a document with a
  ///   row ID that is not positive.
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
  public func first() throws -> Object? {
    var first: Object?
    try upToFirst().each { object in
      first = object
      return false
    }
    return first
  }

  /// Returns a query for as many results as are necessary for the first one.
  func upToFirst() throws -> ObjectQuery {
    // Among stored values, the query also finds deleted objects, which are omitted from the results.
    let deleted = try considersUnsavedChanges() ? 0 : context.table(Object.self).deleted.count
    let limit = try models.documentQuery().query.limit
    return self.limit(Swift.min(deleted + 1, limit ?? deleted + 1))
  }

  /// Passes the results to a closure one by one until it returns false, without keeping stored
  /// results in memory.
  ///
  /// Unsaved objects are evaluated before the first call of the closure; its own changes do not
  /// affect the results, except that objects that it deletes are omitted.
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
    if _slowPath(try considersUnsavedChanges()) { return try eachMerged(body) }
    let table = context.table(Object.self)
    context.noteReading()
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
    if try considersUnsavedChanges() {
      try eachMergedResult { result in
        switch result {
        case .stored(let stored):
          do {
            let object = try table.materialize(stored, as: Object.self)
            if !object._$object.isDeleted { values.append(object) }
          } catch {
            skipped.append(SkippedDocument(stored, error))
          }
        case .unsaved(let content): appendOrSkip(content, &values, &skipped)
        }
        return true
      }
      return (values, skipped)
    }
    context.noteReading()
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

  func appendOrSkip(
    _ content: UnsavedMatch<Object>.Content, _ values: inout [Object],
    _ skipped: inout [SkippedDocument]
  ) {
    do {
      if let object = try object(content) { values.append(object) }
    } catch {
      guard case .document(let document) = content else { return }
      skipped.append(SkippedDocument(key: document.key, rowID: document.rowID ?? 0, error: error))
    }
  }

  /// Returns the results as faults, and unsaved objects as they are. Only row IDs are read, from an
  /// index if it covers the query; with unsaved objects of the class, documents are read.
  public func faults() throws -> [Object] {
    if try considersUnsavedChanges() { return try mergedFaults() }
    let table = context.table(Object.self)
    return try models.rowIDs().map { try table.existingObject($0, as: Object.self) }.filter {
      !$0._$object.isDeleted
    }
  }

  /// Returns the ids of the results in order. New objects have no id and are omitted, so that there
  /// can be fewer ids than the limit.
  public func objectIDs() throws -> [ObjectID<Object>] {
    if try considersUnsavedChanges() { return try mergedIDs() }
    return try models.rowIDs().map { ObjectID(rowID: $0) }
  }

  /// Returns the number of results, up to the limit if there is one.
  public func count() throws -> Int {
    try considersUnsavedChanges() ? try mergedCount() : try models.count()
  }
  /// Returns whether there are any results.
  public func exists() throws -> Bool {
    guard try considersUnsavedChanges() else { return try models.exists() }
    return try limit(Swift.min(1, models.documentQuery().query.limit ?? 1)).mergedCount() > 0
  }
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

  /// Returns a full-text search over the stored objects of a class, ranked by relevance; see
  /// ``ModelCollection/search(_:)-(String)``.
  ///
  /// Unsaved changes are not searched, since ranks depend on the text index of the store.
  public func search<Object: GraphObject>(
    _ type: Object.Type, _ text: String
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).search(text)) }

  /// Returns all objects of a class, ordered by row ID, followed by new objects in insertion order.
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
      // Others may have inserted a removed object again.
      live._$object.flags.isDisjoint(with: [.fault, .failed, .removed])
    {
      return live._$object.isDeleted ? nil : ObjectTable.downcast(live)
    }
    noteReading()
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
