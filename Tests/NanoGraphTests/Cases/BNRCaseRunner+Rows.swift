// SPDX-License-Identifier: MIT

import NanoStoreModels

/// The row IDs as the original counts them.
struct OriginalRows {
  /// A place in the order in which new objects of a class were inserted.
  struct Place {
    weak var object: (any CaseObject)?
  }

  /// The objects of each class that were inserted since the last save, including deleted ones.
  var new: [String: [Place]] = [:]
  /// What must be added to the row IDs of a class, from a row ID on; 1 before the first of them.
  var offsets: [String: [(from: Int64, offset: Int64)]] = [:]
  /// The rows of each class that were saved without versions.
  var unversioned: [String: Set<Int64>] = [:]
}

/// Row IDs. The original gives them to objects that are inserted, also if they are never saved, and begins with 2. The
/// store gives them to objects that are saved, and begins with 1.
extension BNRCaseRunner {
  /// Notes the objects that were inserted since the last call.
  func noteNewObjects() throws {
    guard isOpen else { return }
    let known = Set(
      rows.new.values.joined().compactMap { place in place.object.map { ObjectIdentifier($0) } })
    for inserted in try context.insertedObjects {
      guard inserted.anyID == nil, !known.contains(ObjectIdentifier(inserted)),
        let object = inserted as? any CaseObject
      else { continue }
      rows.new[Swift.type(of: object).collectionName, default: []].append(.init(object: object))
    }
  }

  /// Returns the row ID that the store gives to the next object of a class, without changing the store.
  func nextRow(_ name: String) throws -> Int64 {
    let store = try store
    guard try store.collections().contains(where: { $0.name == name }) else { return 1 }
    return try store.write { try store[name].nextRowID() }
  }

  // MARK: The original's row IDs

  func originalRow(_ row: Int64, _ name: String) -> Int64 {
    row + (rows.offsets[name]?.last { $0.from <= row }?.offset ?? 1)
  }

  /// Returns the row ID in the store; nil if the original gave it to an object that was never saved.
  func storedRow(_ original: Int64, _ name: String) -> Int64? {
    let offsets = [1] + (rows.offsets[name] ?? []).map(\.offset)
    return offsets.lazy.map { original - $0 }.first { row in
      row > 0 && self.originalRow(row, name) == original
    }
  }

  /// Returns the row ID of an object, which need not be saved; 0 if it was not inserted.
  func originalRow(of object: any CaseObject) throws -> Int64 {
    let name = Swift.type(of: object).collectionName
    if let id = object.anyID { return originalRow(id.rowID, name) }
    try noteNewObjects()
    let place = rows.new[name]?.firstIndex { $0.object === object }
    return try place.map { originalRow(try nextRow(name), name) + Int64($0) } ?? 0
  }

  /// Returns the object with this row ID that is inserted but not saved.
  func newObject(_ original: Int64, _ name: String) throws -> (any CaseObject)? {
    try noteNewObjects()
    guard let new = rows.new[name] else { return nil }
    let place = Int(original - originalRow(try nextRow(name), name))
    guard new.indices.contains(place), let object = new[place].object, !object.isDeleted else {
      return nil
    }
    return object
  }

  // MARK: The row IDs of the next save

  /// Returns the new objects of a class that the next save stores, in the order of their row IDs.
  private func objectsToSave(_ name: String) throws -> [any CaseObject] {
    try noteNewObjects()
    return (rows.new[name] ?? []).compactMap(\.object).filter { !$0.isDeleted }
  }

  /// Returns the row ID of an object in the store, or the one that the next save gives to it.
  func storedRow(of object: any CaseObject) throws -> Int64? {
    if let id = object.anyID { return id.rowID }
    let name = Swift.type(of: object).collectionName
    let place = try objectsToSave(name).firstIndex { $0 === object }
    return try place.map { try nextRow(name) + Int64($0) }
  }

  /// Returns the object to which the next save gives this row ID in the store.
  func objectToSave(_ row: Int64, _ name: String) throws -> (any CaseObject)? {
    let objects = try objectsToSave(name)
    guard !objects.isEmpty else { return nil }
    let place = Int(row - (try nextRow(name)))
    return objects.indices.contains(place) ? objects[place] : nil
  }

  // MARK: Saves

  /// Saves, and keeps the row IDs that the original gave to new objects.
  func keepingRows(_ save: () throws -> Void) throws {
    try noteNewObjects()
    let context = try context
    // Without references to the objects: a save forgets those that are not used elsewhere.
    let touched = Set(
      (context.insertedObjects + context.changedObjects + context.deletedObjects)
        .map { Swift.type(of: $0).collectionName })
    let changed = context.changedObjects.compactMap { $0.anyID }
    var starts: [String: Int64] = [:]
    for name in touched.union(old.classes) { starts[name] = try nextRow(name) }
    try save()
    for (name, first) in starts {
      let next = try nextRow(name)
      let changedRows = changed.filter { $0.collection == name }.map(\.rowID)
      noteSaved(Set(first..<next).union(changedRows), name)
      // The original stores the last row ID of the classes that a save touches.
      if touched.contains(name) || next > first { keepRows(name, from: first, to: next) }
    }
  }

  private func keepRows(_ name: String, from first: Int64, to next: Int64) {
    let start = originalRow(first, name)
    let new = rows.new.removeValue(forKey: name) ?? []
    for (place, entry) in new.enumerated() {
      guard let row = entry.object?.anyID?.rowID, row >= first else { continue }
      setOriginalRow(start + Int64(place), of: row, name)
    }
    setOriginalRow(max(originalRow(next, name), start + Int64(new.count)), of: next, name)
  }

  private func setOriginalRow(_ original: Int64, of row: Int64, _ name: String) {
    guard originalRow(row, name) != original else { return }
    rows.offsets[name, default: []].removeAll { $0.from >= row }
    rows.offsets[name, default: []].append((row, original - row))
  }

  /// Notes whether saved rows begin with their version in the original.
  private func noteSaved(_ saved: Set<Int64>, _ name: String) {
    if old.isVersioned {
      rows.unversioned[name]?.subtract(saved)
    } else {
      rows.unversioned[name, default: []].formUnion(saved)
    }
  }

  /// Notes that all rows of a class were saved.
  func noteUpgraded(_ name: String) throws { noteSaved(Set(1..<(try nextRow(name))), name) }
}
