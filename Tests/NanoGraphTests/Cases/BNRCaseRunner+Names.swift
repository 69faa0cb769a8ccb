// SPDX-License-Identifier: MIT

import NanoStoreModels

@testable import NanoLegacy

/// Values and objects stored under a name.
extension BNRCaseRunner {
  func performNames(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    let name = step["name"]?.string ?? ""
    switch op {
    case "putNamed": try put(Self.items(step), name)
    case "getNamed":
      return try items(named: name, step["types"]?.array?.map { try fieldType($0.string ?? "") })
    case "deleteNamed":
      guard try context.value(named: name) != nil else { return ["error": "notFound"] }
      try store.setMetadata(nil, name)
      namedNewObjects[name] = nil
      // An object that the context has named is not stored yet.
      if try context.value(named: name) != nil { try context.setValue(nil, named: name) }
    case "names": return ["set": .array(try context.names().map { .string($0) })]
    case "namedSongs": return try nameSongs(Int(step["n"]?.int ?? 0))
    case "namedSongsRead":
      let titles = try context.names().map {
        try context.object(named: $0, as: Original.Song.self)?.value("title") ?? .null
      }
      return ["titles": .array(titles)]
    case "roundTrip": return try roundTrip(step["items"]?.array ?? [])
    default: return nil
    }
    return ["ok": true]
  }

  private func nameSongs(_ count: Int) throws -> DocumentObject {
    for number in 0..<count {
      let song = Original.Song()
      song.title = "Untitled \(number)"
      try context.setObject(song, named: "Favorite:\(number)")
    }
    return ["ok": true, "count": .int(Int64(try context.names().count))]
  }

  /// Checks that a value that a buffer of the original can contain round-trips.
  private func roundTrip(_ items: [DocumentValue]) throws -> DocumentObject {
    let value = DocumentValue.array(items.compactMap { $0.object?.first?.value })
    try context.setValue(value, named: "buffer")
    try save()
    try close()
    return ["equal": .bool(try context.value(named: "buffer") == value)]
  }

  // MARK: Items

  /// Stores items immediately. New objects are referred to by the row IDs that the next save gives to them.
  private func put(_ items: [Item], _ name: String) throws {
    try store.setMetadata(storedValue(of: items), name)
    let objects = try items.flatMap { Self.references($0) }.map { try object($0) }
    namedNewObjects[name] = objects.contains { $0.anyID == nil } ? items : nil
  }

  /// Stores the references to objects that were new, because deleting other new objects changes their row IDs.
  func updateNamedNewObjects() throws {
    for (name, items) in namedNewObjects { try store.setMetadata(storedValue(of: items), name) }
    namedNewObjects = [:]
  }

  /// Returns the names of the objects that an item refers to.
  private static func references(_ item: Item) -> [String] {
    switch item.name {
    case "reference", "unknownReference", "array", "heteroArray":
      (item.value.array ?? [item.value]).compactMap(\.string)
    default: []
    }
  }

  /// Returns the value to store: a reference as the context stores objects with a name, or an array of all items.
  private func storedValue(of items: [Item]) throws -> DocumentValue {
    let values = try items.map { (item) throws -> DocumentValue in
      switch item.name {
      case "reference", "unknownReference": try reference(to: item.value.string)
      case "array", "heteroArray":
        .array(try (item.value.array ?? []).map { try reference(to: $0.string) })
      default: item.value
      }
    }
    let isReference = items.count == 1 && !Self.references(items[0]).isEmpty
    return isReference && values[0].object != nil ? values[0] : .array(values)
  }

  private func reference(to name: String?) throws -> DocumentValue {
    guard let name else { return .null }
    let object = try object(name)
    guard let row = try storedRow(of: object) else { return .null }
    return ["collection": .string(Swift.type(of: object).collectionName), "id": .int(row)]
  }

  /// Returns the items with a name, of these types. References are replaced by the names of the objects.
  private func items(
    named name: String, _ types: [BNRSchema.FieldType]?
  ) throws -> DocumentObject {
    guard let value = try context.value(named: name) else {
      return ["isNil": true, "items": .null]
    }
    guard let types else { return ["items": value, "isNil": false] }
    // The context stores a reference without an array.
    if case .reference(let className)? = types.first, types.count == 1, value.object != nil {
      let found = try namedObject(name, caseClass(className)) ?? referredObject(value, className)
      let item = found.flatMap { self.name(of: $0) }.map { DocumentValue.string($0) } ?? .null
      return ["items": [item], "isNil": .bool(found == nil)]
    }
    let values = value.array ?? [value]
    guard types.count <= values.count else { return ["error": "endOfBuffer", "isNil": true] }
    let items = try zip(values, types).map { try named($0, $1) }
    return ["items": .array(items), "isNil": false]
  }

  private func namedObject(
    _ name: String, _ type: any CaseObject.Type
  ) throws -> (any CaseObject)? {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> (any CaseObject)? {
      try context.object(named: name, as: type)
    }
    return try open(type)
  }

  /// Replaces the references of an item by the names of the objects; null if there is none.
  private func named(
    _ value: DocumentValue, _ type: BNRSchema.FieldType
  ) throws -> DocumentValue {
    func name(_ value: DocumentValue, _ className: String?) throws -> DocumentValue {
      let object = try referredObject(value, className)
      return object.flatMap { self.name(of: $0) }.map { .string($0) } ?? .null
    }
    return try value.mapReferences(type, name)
  }

  private func referredObject(
    _ value: DocumentValue, _ className: String?
  ) throws -> (any CaseObject)? {
    guard let className = className ?? value["collection"]?.string,
      let row = value["id"]?.int64
    else { return nil }
    return try objectToSave(row, className)
      ?? get(caseClass(className), storedRow: row, isLoaded: true)
  }

  private func caseClass(_ name: String) throws -> any CaseObject.Type {
    guard let type = classes[name] ?? Original.classes[name]?.first else {
      throw failure("there is no class \(name)")
    }
    return type
  }
}
