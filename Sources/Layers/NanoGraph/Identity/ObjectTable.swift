// SPDX-License-Identifier: MIT

import NanoDocument
import NanoModel
public import NanoStoreCore

/// The objects of one class in a context: those that are alive by row id, and those that are to be saved.
@usableFromInline
final class ObjectTable {
  /// The context keeps its tables, and takes them out of all objects before it goes.
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var context: ObjectContext
  @usableFromInline let documents: DocumentCollection
  let type: any GraphObject.Type
  /// Of the documents that need no upgrade.
  @usableFromInline let version: Int64
  /// Whether a property is the key of documents.
  let hasKey: Bool
  let relationships: [StoredRelationship]
  let inverses: [InverseRelationship]

  // Unchecked here and below: nothing that runs while one of these changes comes back to it, and the checks
  // took a tenth of the time of inserting objects.
  @exclusivity(unchecked) @usableFromInline var map = IdentityMap()
  /// New objects in the order in which they were inserted; one that was deleted meanwhile keeps its place. A
  /// new object has as its id the negative number of its place, counted over all saves.
  @exclusivity(unchecked) var inserted: [any GraphObject] = []
  /// Stored objects with changes, kept alive until they are saved.
  @exclusivity(unchecked) var changed: [any GraphObject] = []
  /// Stored objects that are to be deleted.
  var deleted: [any GraphObject] = []
  @exclusivity(unchecked) var counts = PendingCounts()
  /// New objects of earlier saves, from which their numbers go on.
  var insertedBefore = 0
  /// The row ids that new objects of earlier saves got, by place, as long as undoing may ask for them; 0 for
  /// those that were never saved.
  var rowIDsOfInserted: [Int64] = []
  /// New objects that were deleted before a save, by number, as long as someone holds them.
  var formerNew: [Int64: WeakObject] = [:]
  /// Row ids whose deletion was saved, as long as undoing may bring them back.
  @usableFromInline var removed: Set<Int64> = []
  /// The revisions that stored objects had when this context saved them last, for undoing to see what others
  /// wrote since; -1 if it kept what others had written.
  var savedRevisions: [Int64: Int64] = [:]
  /// The list that objects were made for last: who looks at two of them is likely to look at all.
  var neighbours = Neighbours()
  /// What ``Store/droppedDefinitions`` was when indexes were made.
  var preparedAt: Int?
  /// By how much the save under way has raised the revisions that objects know.
  var raisedRevisions: Int64 = 0

  init<Object: GraphObject>(_ context: ObjectContext, _ type: Object.Type) {
    self.context = context
    self.type = type
    version = Int64(type.modelVersion)
    hasKey = type.modelFields.contains { $0.traits.contains(.key) }
    relationships = type._$relationships.map(\.erased)
    inverses = type._$inverses.map(\.erased)
    let documents = context.store.documents(of: type)
    self.documents = GraphDefinitions.problem(of: type).map { documents.refusing($0) } ?? documents
  }

  /// An object goes. New ones are not in the map.
  @usableFromInline
  func forget(_ rowID: Int64) {
    guard rowID > 0 else { return }
    map.remove(rowID)
    if context.isOutlived { context.outlivedObjectWent() }
  }
}

/// An object that is not kept alive.
struct WeakObject {
  weak var object: (any GraphObject)?
  init(_ object: any GraphObject) { self.object = object }
}

extension GraphObject {
  /// Where it is in memory.
  @inlinable
  var address: UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged<AnyObject>.passUnretained(self).toOpaque())
  }
}

/// How many objects are to be saved.
struct PendingCounts: Equatable {
  var inserted = 0
  var changed = 0
  var deleted = 0

  var isEmpty: Bool { self == PendingCounts() }
}

extension ObjectTable {
  /// The one instance for a row id: the one that is alive, or a new fault.
  @inlinable
  func object<Object: GraphObject>(_ id: Int64, as type: Object.Type) -> Object {
    if _fastPath(id > 0) {
      if let known = map[id] { return Unmanaged<Object>.fromOpaque(known).takeUnretainedValue() }
      return makeFault(id, type)
    }
    return newObject(id, type)
  }

  @inlinable
  func makeFault<Object: GraphObject>(_ id: Int64, _ type: Object.Type) -> Object {
    let object = Object(_$fault: ())
    let isRemoved = _slowPath(!removed.isEmpty) && removed.contains(id)
    add(object, id, isRemoved ? [.fault, .deleted, .removed] : [.fault, .watched])
    return object
  }

  @inlinable @inline(__always)
  func add<Object: GraphObject>(_ object: Object, _ id: Int64, _ flags: ObjectState.Flags) {
    object._$object.table = self
    object._$object.rowID = id
    object._$object.flags = flags
    map.insert(id, object.address)
  }

  /// An object that was new when its number was written down.
  @usableFromInline
  func newObject<Object: GraphObject>(_ number: Int64, _ type: Object.Type) -> Object {
    let id = currentID(number)
    if id > 0 { return object(id, as: type) }
    if let known = live(id) { return unsafeDowncast(known, to: type) }
    // It was deleted before it was saved. Undoing may bring it back.
    let object = Object(_$fault: ())
    object._$object.rowID = id
    object._$object.flags = [.fault, .deleted, .removed]
    formerNew[id] = WeakObject(object)
    return object
  }

  /// The one instance for a row id or a number of a new object.
  func anyObject(_ id: Int64) -> any GraphObject {
    func open<Object: GraphObject>(_ type: Object.Type) -> any GraphObject {
      object(id, as: type)
    }
    return open(self.type)
  }

  /// The instance for an id, if there is one in memory.
  func live(_ id: Int64) -> (any GraphObject)? {
    let id = currentID(id)
    guard id > 0 else {
      let place = place(id)
      if inserted.indices.contains(place) { return inserted[place] }
      // Unless it was inserted somewhere else since.
      let former = formerNew[id]?.object
      return former?._$object.table == nil ? former : nil
    }
    func open<Object: GraphObject>(_ type: Object.Type, _ known: UnsafeRawPointer)
      -> any GraphObject
    {
      Unmanaged<Object>.fromOpaque(known).takeUnretainedValue()
    }
    return map[id].map { open(self.type, $0) }
  }

  /// Every instance in memory.
  func allLive() -> [any GraphObject] {
    map.rowIDs().compactMap { live($0) } + inserted.filter { $0._$object.rowID < 0 }
  }

  // MARK: Numbers of new objects

  func number(ofPlace place: Int) -> Int64 { -Int64(insertedBefore + place + 1) }
  /// A stored number may be any, also the smallest one, which has no opposite.
  private func place(_ number: Int64) -> Int { Self.index(number) &- insertedBefore }
  static func index(_ number: Int64) -> Int { Int(0 &- number) &- 1 }

  /// The row id that a new object got since; otherwise what is given.
  func currentID(_ id: Int64) -> Int64 {
    guard id < 0, rowIDsOfInserted.indices.contains(Self.index(id)) else { return id }
    let current = rowIDsOfInserted[Self.index(id)]
    return current == 0 ? id : currentID(current)
  }
}
