// SPDX-License-Identifier: MIT

import NanoModel

/// The objects of a to-many relationship, created when they are accessed.
///
/// A property that is a relationship has an array as its value, so reading it creates an object for each element,
/// even though their contents are not loaded. This collection creates only the objects that are accessed. Reading
/// its elements in order loads those that follow in growing steps, up to 100 in one read, and does not retain the
/// objects before them:
/// ```swift
/// let songs = road.related(\.songs)
/// songs.count                                      // 100,000, without creating a song
/// songs.first?.title                               // creates and loads one song
/// for song in songs { seconds += song.seconds }    // at most 100 songs are in memory
/// ```
///
/// The collection has the elements that the relationship had when it was created. Like the objects, it belongs to the
/// actor or thread that uses their context; it keeps the context alive.
public struct RelatedObjects<Target: GraphObject>: RandomAccessCollection {
  @usableFromInline
  enum Content {
    case objects([Target])
    case rowIDs([Int64], LoadedElements<Target>)
  }
  @usableFromInline let content: Content

  init(_ objects: [Target]) { content = .objects(objects) }

  init(_ ids: [Int64], in context: ObjectContext) {
    content = .rowIDs(ids, LoadedElements(context))
  }

  /// Zero.
  @inlinable public var startIndex: Int { 0 }
  /// The number of objects.
  @inlinable public var endIndex: Int {
    switch content {
    case .objects(let objects): objects.count
    case .rowIDs(let ids, _): ids.count
    }
  }

  /// Returns an object, which is a fault unless it is in memory or follows one that was accessed before.
  @inlinable
  public subscript(position: Int) -> Target {
    switch content {
    case .objects(let objects): objects[position]
    case .rowIDs(let ids, let loaded): loaded.object(at: position, in: ids)
    }
  }
}

extension GraphObject {
  /// Returns the objects of a to-many relationship without creating them; see ``RelatedObjects``.
  ///
  /// Objects that are in memory as elements of the relationship, because its property was read or changed, are
  /// returned as they are. This applies to inverse relationships too.
  ///
  /// ```swift
  /// road.related(\.songs).last?.title    // "Gin", and no other song is loaded
  /// ```
  public func related<Target: GraphObject>(
    _ relationship: any KeyPath<Self, [Target]> & Sendable
  ) -> RelatedObjects<Target> {
    guard let context = _$object.table?.context, !context.isSuccessor,
      let stored = _$object.table?.relationship(at: relationship)
    else { return RelatedObjects(self[keyPath: relationship]) }
    var ids = stored.readRowIDs(self)
    guard !ids.isEmpty else { return RelatedObjects(self[keyPath: relationship]) }
    if context.mayContainDeleted {
      let targets = context.table(Target.self)
      ids.removeAll(where: targets.isDeleted)
    }
    return RelatedObjects(ids, in: context)
  }
}

extension ObjectTable {
  /// Returns the relationship that is stored for a property.
  fileprivate func relationship<Owner: GraphObject>(
    at keyPath: any PartialKeyPath<Owner> & Sendable
  ) -> StoredRelationship? {
    // A key path that a program writes is one instance, so that it is rarely necessary to compare key paths.
    if let last = lastRelationship, last.keyPath === keyPath { return last.relationship }
    guard let name = Owner.fieldName(of: keyPath) else { return nil }
    let found = relationships.first { $0.name == name }
    if let found { lastRelationship = (keyPath, found) }
    return found
  }

  /// Returns whether an object is deleted, saved or not, as far as the context knows.
  fileprivate func isDeleted(_ id: Int64) -> Bool {
    if let object = live(id) { return object._$object.isDeleted }
    return id < 0 || removed.contains(id)
  }

  /// Loads those objects that are faults. A failure is reported when the content is accessed.
  @usableFromInline
  func prefetch(_ objects: [any GraphObject]) {
    let ids = objects.filter { $0.isFault && $0._$object.rowID > 0 }.map { $0._$object.rowID }
    if !ids.isEmpty { try? load(ids) }
  }
}

/// The elements of a list that were accessed last, retained so that those loaded together remain in memory.
@usableFromInline
final class LoadedElements<Target: GraphObject> {
  @usableFromInline let context: ObjectContext
  @usableFromInline var start = 0
  @usableFromInline var objects: [Target] = []

  init(_ context: ObjectContext) { self.context = context }

  @inlinable
  func object(at position: Int, in ids: [Int64]) -> Target {
    let offset = position - start
    if offset >= 0, offset < objects.count { return objects[offset] }
    let table = context.table(Target.self)
    let isNext = offset == objects.count && !objects.isEmpty
    start = position
    guard isNext else {
      objects = [table.object(ids[position], as: Target.self)]
      return objects[0]
    }
    // Doubled while elements are read in order, so that a few of them cost little and many amortize a read.
    let end = Swift.min(position + Swift.min(objects.count * 2, Neighbors.batch), ids.count)
    objects = ids[position..<end].map { table.object($0, as: Target.self) }
    table.prefetch(objects)
    return objects[0]
  }
}
