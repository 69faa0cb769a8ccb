// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
public import NanoEngine
public import NanoModel
public import NanoStoreCore

/// A question to the stored objects of a class, whose answers are the objects of a context.
///
/// ```swift
/// let long = try context.find(\Song.seconds > 600).sorted(by: \.title).limit(20).fetch()
/// ```
///
/// It is answered from what is stored: new objects are found once they are saved, changed ones by what they
/// were. Objects that are in memory with unsaved changes keep them; those that are deleted and not saved are
/// left out.
public struct ObjectQuery<Object: GraphObject> {
  @usableFromInline let context: ObjectContext
  /// The same question with plain values as answers.
  public let models: ModelQuery<Object>

  init(_ context: ObjectContext, _ models: ModelQuery<Object>) {
    self.context = context
    self.models = models
  }

  func changed(_ models: ModelQuery<Object>) -> ObjectQuery { ObjectQuery(context, models) }

  /// Only what fulfils this condition too, written with properties.
  public func `where`(
    _ condition: (ModelProperties<Object>) -> ModelCondition<Object>
  ) -> ObjectQuery { changed(models.where(condition)) }
  /// Only what fulfils this condition too.
  public func `where`(_ condition: ModelCondition<Object>) -> ObjectQuery {
    changed(models.where(condition))
  }
  /// Sorts by these properties, most important first, each with the smallest first.
  public func sorted(by keyPaths: any PartialKeyPath<Object> & Sendable...) -> ObjectQuery {
    changed(models.sorted(using: keyPaths.map { .forward($0) }))
  }
  /// Sorts by a property, in an order.
  public func sorted(
    by keyPath: any PartialKeyPath<Object> & Sendable, order: SortOrder
  ) -> ObjectQuery { changed(models.sorted(by: keyPath, order: order)) }
  /// Sorts by these orderings, most important first.
  public func sorted(using orderings: ModelOrdering<Object>...) -> ObjectQuery {
    changed(models.sorted(using: orderings))
  }
  /// At most this many, counted after sorting and after the offset.
  ///
  /// - Parameter offset: How many to skip first; nil keeps the one set before.
  public func limit(_ limit: Int?, offset: Int? = nil) -> ObjectQuery {
    changed(models.limit(limit, offset: offset))
  }

  /// What is found, in order.
  ///
  /// - Throws: ``StoreError``, among others ``StoreError/Code/typeMismatch`` with the collection, the document
  ///   and the field, and what an upgrade throws.
  @inlinable
  public func fetch() throws -> [Object] {
    var objects: [Object] = []
    try eachStored { object in
      objects.append(object)
      return true
    }
    return objects
  }

  /// The first one; nil if there is none.
  public func first() throws -> Object? { try limit(1).fetch().first }

  /// Shows one object after the other until the closure says false, without keeping them: memory stays what it
  /// is, however many there are.
  ///
  /// ```swift
  /// try context.find(Song.self).each { song in
  ///   song.title += "!"
  ///   return song.title != "Gin!"                 // stops here
  /// }
  /// ```
  ///
  /// - Throws: What the closure throws, which ends the query.
  @inlinable
  public func each(_ show: (Object) throws -> Bool) throws { try eachStored(show) }

  @inlinable
  func eachStored(_ show: (Object) throws -> Bool) throws {
    let table = context.table(Object.self)
    try models.documentQuery().showStored { stored in
      let object = try table.take(stored, as: Object.self)
      if _slowPath(object.isDeleted) { return true }
      return try show(object)
    }
  }

  /// Returns what is found, and skips documents that are no objects of the class.
  ///
  /// ```swift
  /// let (songs, skipped) = try context.find(Song.self).fetchSkippingFailures()
  /// for document in skipped { print(document.rowID, document.error) }
  /// ```
  ///
  /// - Returns: The objects in order, and the documents that were skipped, each with an error that names the
  ///   field.
  public func fetchSkippingFailures() throws -> (
    values: [Object], skipped: [SkippedDocument]
  ) {
    let table = context.table(Object.self)
    var (values, skipped): ([Object], [SkippedDocument]) = ([], [])
    try models.documentQuery().showStored { stored in
      do {
        let object = try table.take(stored, as: Object.self)
        if !object.isDeleted { values.append(object) }
      } catch {
        skipped.append(SkippedDocument(stored, error))
      }
      return true
    }
    return (values, skipped)
  }

  /// What is found, as faults: only row ids are read, from an index if one answers the question.
  public func faults() throws -> [Object] {
    let table = context.table(Object.self)
    return try models.rowIDs().map { table.found($0, as: Object.self) }.filter { !$0.isDeleted }
  }

  /// The ids of what is found, in order.
  public func objectIDs() throws -> [ObjectID<Object>] {
    try models.rowIDs().map { ObjectID(rowID: $0) }
  }

  /// How many are stored that the question finds.
  public func count() throws -> Int { try models.count() }
  /// Whether any is stored that the question finds.
  public func exists() throws -> Bool { try models.exists() }
}

extension ObjectContext {
  /// The objects of a class that fulfil a condition.
  public func find<Object: GraphObject>(
    _ condition: ModelCondition<Object>
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).find(condition)) }

  /// All objects of a class.
  public func find<Object: GraphObject>(_ type: Object.Type) -> ObjectQuery<Object> {
    ObjectQuery(self, models(Object.self).find())
  }

  /// The objects of a class that fulfil a condition written with properties.
  ///
  /// ```swift
  /// try context.find(Playlist.self) { $0.songs.contains(song) }.fetch()
  /// ```
  public func find<Object: GraphObject>(
    _ type: Object.Type, _ condition: (ModelProperties<Object>) -> ModelCondition<Object>
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).find(condition)) }

  /// The objects of a class for which a predicate is true; see ``ModelCollection/find(_:)-(Predicate<M>)``.
  public func find<Object: GraphObject>(_ predicate: Predicate<Object>) -> ObjectQuery<Object> {
    ObjectQuery(self, models(Object.self).find(predicate))
  }

  /// The objects of a class whose texts are found, best first; see
  /// ``ModelCollection/search(_:)-(String)``.
  public func search<Object: GraphObject>(
    _ type: Object.Type, _ text: String
  ) -> ObjectQuery<Object> { ObjectQuery(self, models(Object.self).search(text)) }

  /// All stored objects of a class, by row id.
  @inlinable
  public func all<Object: GraphObject>(_ type: Object.Type) throws -> [Object] {
    try find(type).fetch()
  }

  /// The object with this id, with its content; nil if there is none or it is deleted.
  ///
  /// - Throws: ``StoreError``.
  public func get<Object: GraphObject>(_ id: ObjectID<Object>) throws -> Object? {
    let table = table(Object.self)
    if let live = table.live(id.rowID),
      live._$object.flags.isDisjoint(with: [.fault, .failed])
    {
      return live.isDeleted ? nil : unsafeDowncast(live, to: Object.self)
    }
    var found: Object?
    try table.documents.show(rowID: id.rowID) { found = try table.take($0, as: Object.self) }
    return found.flatMap { $0.isDeleted ? nil : $0 }
  }

  /// The object of a document's key; nil if there is none or it is deleted.
  public func get<Object: GraphObject>(
    _ type: Object.Type, key: some ModelKey
  ) throws -> Object? {
    guard let key = try key.documentKey?.description,
      let id = try models(Object.self).documents.get(key)?.rowID
    else { return nil }
    return try get(ObjectID<Object>(rowID: id))
  }

  /// The object of any class with this id; nil if there is none.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the context does not know the class; see
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
        .invalidArgument, "A collection holds objects of no class that the context knows",
        [.collection: id.collection, .hint: "register the class"])
    }
    return table.type
  }

  /// The object with this id without looking at the store: a fault, unless it is in memory.
  public func fault<Object: GraphObject>(_ id: ObjectID<Object>) -> Object {
    table(Object.self).object(id.rowID, as: Object.self)
  }

  /// Loads the content of faults, all in one read.
  public func load<Object: GraphObject>(_ objects: [Object]) throws {
    let ids = objects.filter(\.isFault).map { $0._$object.rowID }
    if !ids.isEmpty { try table(Object.self).load(ids) }
  }

  /// Loads the objects that others relate to, all in one read.
  ///
  /// ```swift
  /// let lists = try context.all(Playlist.self)
  /// try context.prefetch(\.songs, of: lists)
  /// ```
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, [Target]>, of objects: [Object]
  ) throws { try load(objects.flatMap { $0[keyPath: relationship] }) }

  /// Loads the objects that others relate to, all in one read.
  public func prefetch<Object: GraphObject, Target: GraphObject>(
    _ relationship: KeyPath<Object, Target?>, of objects: [Object]
  ) throws { try load(objects.compactMap { $0[keyPath: relationship] }) }
}
