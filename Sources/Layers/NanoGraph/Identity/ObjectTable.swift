// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
public import NanoStoreCore

/// The objects of a class in a context: the live objects by row ID, and the objects to save.
@usableFromInline
final class ObjectTable {
  /// Valid while an object refers to the table: the context detaches all objects before it is
  /// deallocated.
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var context: ObjectContext
  @usableFromInline let documents: DocumentCollection
  let type: any GraphObject.Type
  /// The version of documents that need no upgrade.
  @usableFromInline let version: Int64
  /// Whether a property is the key of documents.
  let hasKey: Bool
  /// Returns whether objects without a key can have a generated one.
  let acceptsGeneratedKeys: @Sendable () -> Bool
  let relationships: [StoredRelationship]
  let inverses: [InverseRelationship]
  /// 1 if reads of objects are reported to observers, or else 0.
  @usableFromInline let observable: UInt8
  let sensor: TrackingSensor
  /// The observers of objects, by their own identity.
  @exclusivity(unchecked) var observers: [ObjectIdentifier: ObjectObservers.Unowned] = [:]
  /// Whether a relationship without an inverse can contain objects that are not inserted yet.
  let hasUnlinkedTargets: Bool

  // Exclusivity checks are disabled here and below: nothing that runs during a modification
  // accesses the same property, and the checks took a tenth of the time of inserting objects.
  @exclusivity(unchecked) @usableFromInline var map = IdentityMap()
  /// The new objects in insertion order, including deleted ones. The id of a new object is the
  /// negative of its number, which is its position counted across all saves.
  @exclusivity(unchecked) var inserted: [any GraphObject] = []
  /// Whether some of ``inserted`` had row IDs before the current save: they may be in the map.
  var hasReinserted = false
  /// The stored objects with changes, retained until they are saved.
  @exclusivity(unchecked) var changed: [any GraphObject] = []
  /// The stored objects to delete.
  var deleted: [any GraphObject] = []
  @exclusivity(unchecked) var counts = PendingCounts()
  /// The number of new objects in earlier saves, from which numbering continues.
  var insertedBefore = 0
  /// The row IDs that new objects of earlier saves received, by number, while undo may need them; 0
  /// for objects that were never saved.
  var rowIDsOfInserted: [Int64] = []
  /// New objects that were deleted before a save, by number, while they are referenced.
  var formerNew: [Int64: WeakObject] = [:]
  /// Row IDs whose deletion was saved, while undo may restore them.
  @usableFromInline var removed: Set<Int64> = []
  /// The revisions of objects that this context has changed or deleted in the store, for undo to detect changes by others.
  var ownRevisions: [Int64: OwnRevisions] = [:]
  /// What changed objects had read in write blocks that were rolled back, by row ID: another commit can have the revision.
  var rolledBackContent: [Int64: (revision: Int64, hash: Int64)] = [:]
  /// The most recently resolved list: accessing two of its objects suggests that the others follow.
  var neighbors = Neighbors()
  /// The relationship whose related objects were accessed last, by the property's key path.
  var lastRelationship: (keyPath: AnyKeyPath, relationship: StoredRelationship)?
  /// The value of ``Store/droppedDefinitions`` when the indexes were created.
  var preparedEpoch: Int?
  /// The number of followed commits that changed documents of the class, for reads that are suspended meanwhile.
  var followedCommits = 0
  /// The former names of relationships that documents have had.
  var observedNames = ObservedFormerNames()
  /// Saved objects whose generated keys are to be read.
  var keyless: [any GraphObject] = []
  /// The amount by which the current save has raised the revisions in memory.
  var raisedRevisions: Int64 = 0

  init<Object: GraphObject>(_ context: ObjectContext, _ type: Object.Type) {
    self.context = context
    self.type = type
    observable = context.isLive ? 1 : 0
    sensor = context.sensor
    version = Int64(type.modelVersion)
    hasKey = type.modelFields.contains { $0.traits.contains(.key) }
    acceptsGeneratedKeys = type.acceptsGeneratedKeys
    relationships = type._$relationships.map(\.erased)
    inverses = type._$inverses.map(\.erased)
    hasUnlinkedTargets = relationships.contains { $0.inverse == nil }
    let documents = context.store.documents(of: type)
    self.documents =
      GraphDefinitions.problem(of: type).map { documents.failing(with: $0) } ?? documents
  }

  /// Removes a deallocated object. New objects are not in the map.
  @usableFromInline
  func forget(_ rowID: Int64) {
    guard rowID > 0 else { return }
    map.remove(rowID)
    if context.isSuccessor { context.releaseSuccessorIfUnused() }
  }
}

/// A weak reference to an object.
struct WeakObject {
  weak var object: (any GraphObject)?
  init(_ object: any GraphObject) { self.object = object }
}

extension GraphObject {
  /// The address of the object.
  @inlinable
  var address: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged<AnyObject>.passUnretained(self).toOpaque())
  }
}

/// The numbers of objects to save.
struct PendingCounts: Equatable {
  var inserted = 0
  var changed = 0
  var deleted = 0

  var isEmpty: Bool { self == PendingCounts() }
}

extension ObjectTable {
  /// Returns the unique instance for a row ID: the live object, or a new fault.
  @inlinable
  func object<Object: GraphObject>(_ id: Int64, as type: Object.Type) -> Object {
    if _fastPath(id > 0) {
      if let pointer = map[id] {
        return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
      }
      return makeFault(id, type)
    }
    return newObject(id, type)
  }

  @inlinable
  func makeFault<Object: GraphObject>(_ id: Int64, _ type: Object.Type) -> Object {
    let object = Object(_$fault: ())
    let isRemoved = _slowPath(!removed.isEmpty) && removed.contains(id)
    add(object, id, isRemoved ? .removedFault : [.fault, .watched])
    return object
  }

  @inlinable @inline(__always)
  func add<Object: GraphObject>(_ object: Object, _ id: Int64, _ flags: ObjectState.Flags) {
    object._$object.table = self
    object._$object.rowID = id
    object._$object.observable = observable
    if _slowPath(object._$object.isObserved) { object._$object.observers?.move(to: self) }
    object._$object.flags = flags
    map.insert(id, object.address)
  }

  /// Returns an object of a table as its class. The context looks tables up by the class of their objects, which is
  /// final, so a checked cast could not fail.
  @inline(__always)
  static func downcast<Object: GraphObject>(_ object: any GraphObject) -> Object {
    unsafeDowncast(object, to: Object.self)
  }

  /// Returns the object with a number, which was new when the number was recorded.
  @usableFromInline
  func newObject<Object: GraphObject>(_ number: Int64, _ type: Object.Type) -> Object {
    let id = currentID(number)
    if id > 0 { return object(id, as: type) }
    if let existing = live(id) { return Self.downcast(existing) }
    // Deleted before it was saved. Undo may restore it.
    let object = Object(_$fault: ())
    object._$object.rowID = id
    object._$object.flags = .removedFault
    formerNew[id] = WeakObject(object)
    return object
  }

  /// Returns the unique instance for a row ID or for the number of a new object.
  func anyObject(_ id: Int64) -> any GraphObject {
    func open<Object: GraphObject>(_ type: Object.Type) -> any GraphObject {
      object(id, as: type)
    }
    return open(self.type)
  }

  /// Returns the instance for an id if it is in memory.
  func live(_ id: Int64) -> (any GraphObject)? {
    let id = currentID(id)
    guard id > 0 else {
      let position = position(id)
      if inserted.indices.contains(position) { return inserted[position] }
      // Unless it was inserted into another context since.
      let former = formerNew[id]?.object
      return former?._$object.table == nil ? former : nil
    }
    func open<Object: GraphObject>(_ type: Object.Type, _ pointer: UnsafeRawPointer)
      -> any GraphObject
    {
      Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
    }
    return map[id].map { open(self.type, $0) }
  }

  /// Returns all instances in memory.
  func allLive() -> [any GraphObject] {
    map.rowIDs().compactMap { live($0) } + inserted.filter { $0._$object.rowID < 0 }
  }

  // MARK: Numbers of new objects

  func number(at position: Int) -> Int64 { -Int64(insertedBefore + position + 1) }
  /// Numbers read from a document can have any value, including the minimum, whose negation would
  /// overflow.
  private func position(_ number: Int64) -> Int { Self.index(number) &- insertedBefore }
  static func index(_ number: Int64) -> Int { Int(0 &- number) &- 1 }

  /// Returns the row ID that a new object has received since, or the id unchanged.
  func currentID(_ id: Int64) -> Int64 {
    guard id < 0, rowIDsOfInserted.indices.contains(Self.index(id)) else { return id }
    let current = rowIDsOfInserted[Self.index(id)]
    return current == 0 ? id : currentID(current)
  }
}
