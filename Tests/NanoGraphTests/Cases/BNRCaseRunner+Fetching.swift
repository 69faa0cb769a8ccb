// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Fetching all objects, one object, enumeration, full-text search and relationships.
extension BNRCaseRunner {
  func performFetching(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "all":
      let objects = try stored(type(step))
      bind(step["bindFirst"]?.string, objects.first)
      return try summary(of: objects, wanted: step["expect"]?.object ?? [:])
    case "object":
      let object = try get(
        type(step), (step["rowID"]?.int64 ?? 0) - 1,
        isLoaded: step["fetchContent"]?.bool ?? true)
      bind(step["bind"]?.string, object)
      guard let object else { return ["isNil": true, "found": false] }
      return [
        "isNil": false, "found": true, "hasContent": .bool(!object.isFault),
        "fields": .object(
          DocumentObject(
            try (step["expect"]?.object?["fields"]?.object ?? [:]).map {
              ($0.name, try value($0.name, of: object))
            })),
      ]
    case "enumerate": return try enumerate(type(step), step)
    case "textSearch": return try search(type(step), step)
    case "hasContent":
      let path = step["path"]?.string ?? step["object"]?.string ?? ""
      return ["value": .bool(try !walk(path, from: nil).object.isFault)]
    case "path":
      let (object, field) = try walk(
        step["path"]?.string ?? "", from: step["object"]?.string.map { try self.object($0) })
      guard let field else { return ["value": .string(name(of: object) ?? ""), "isNil": false] }
      return ["value": try value(field, of: object), "orderedTitles": try titles(along: step)]
    case "same", "identical":
      let paths = (step["paths"] ?? step["objects"])?.array?.compactMap(\.string) ?? []
      let objects = try paths.map { try walk($0, from: nil).object }
      return ["value": .bool(objects.allSatisfy { $0 === objects[0] })]
    default: return nil
    }
  }

  /// Returns the stored objects as the original does, including objects that the next save deletes.
  func stored(_ type: any CaseObject.Type) throws -> [any CaseObject] {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> [any CaseObject] {
      let deleted = try context.deletedObjects.compactMap { $0 as? Object }
      return (try context.all(type) + deleted).sorted {
        ($0.objectID?.rowID ?? 0) < ($1.objectID?.rowID ?? 0)
      }
    }
    return try open(type)
  }

  private func get(
    _ type: any CaseObject.Type, _ rowID: Int64, isLoaded: Bool
  ) throws -> (any CaseObject)? {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> (any CaseObject)? {
      let id = ObjectID<Object>(rowID: rowID)
      if isLoaded { return try context.get(id) }
      // A fault is returned whether or not the document exists.
      let isThere = try store[type.collectionName].contentVersion(rowID: rowID) != nil
      return isThere ? try context.fault(id) : nil
    }
    return try open(type)
  }

  // MARK: Summaries

  private func summary(
    of objects: [any CaseObject], wanted: DocumentObject
  ) throws -> DocumentObject {
    var result: DocumentObject = [
      "ok": true, "isNil": false, "count": .int(Int64(objects.count)), "orderOfPlaylists": "any",
      "hasContent": .bool(objects.allSatisfy { !$0.isFault }),
    ]
    func all(_ field: String) throws -> [DocumentValue] {
      try objects.map { try value(field, of: $0) }
    }
    for (name, wanted) in wanted where result[name] == nil {
      switch name {
      case "fields": result[name] = .object(try wanted.mapFields { .array(try all($0)) })
      case "fieldsSorted":
        result[name] = .object(try wanted.mapFields { .array(try all($0).sortedAsText()) })
      case "countWithSuffix":
        result[name] = .object(
          try wanted.mapFields { field in
            let values = try all(field).compactMap(\.string)
            return .object(
              (wanted.object?[field] ?? .null).mapFields { suffix in
                .int(Int64(values.filter { $0.hasSuffix(suffix) }.count))
              })
          })
      case "songTitles": result[name] = .array(try titles(of: objects.first?.targets("songs")))
      case "firstSongTitles":
        result[name] = .array(
          try objects.map { try titles(of: $0.targets("songs")).first ?? .null }.sortedAsText(
            like: wanted))
      case _ where name.hasSuffix("Set"):
        let numbers = Set(try all(String(name.dropLast(3))).compactMap(\.int64))
        let isRange = numbers == Set(0..<Int64(objects.count))
        result[name] =
          isRange ? .string("0..<\(objects.count)") : .array(numbers.sorted().map { .int($0) })
      case _ where name.hasSuffix("sAll"):
        let values = Set(try all(String(name.dropLast(4))))
        result[name] = values.count == 1 ? values.first : .array(Array(values))
      default: break
      }
    }
    return result
  }

  private func titles(of objects: [any CaseObject]?) throws -> [DocumentValue] {
    try (objects ?? []).map { try value("title", of: $0) }
  }

  // MARK: Enumeration

  private func enumerate(
    _ type: any CaseObject.Type, _ step: DocumentObject
  ) throws -> DocumentObject {
    let actions = (step["each"]?.array ?? []).compactMap(\.string)
    let end = step["stopAfter"]?.int ?? .max
    var invocations: Int64 = 0
    var isAllOfClass = true
    func open<Object: CaseObject>(_ type: Object.Type) throws {
      try context.find(type).each { object in
        invocations += 1
        isAllOfClass = isAllOfClass && Swift.type(of: object) == type && !object.isFault
        for action in actions { try perform(action, on: object) }
        return invocations < end
      }
    }
    try open(type)
    return ["ok": true, "invocations": .int(invocations), "allOfClass": .bool(isAllOfClass)]
  }

  /// Performs an action such as `willUpdate`, `delete`, `append "1" to name` or `set name to "x"`.
  private func perform(_ action: String, on object: any CaseObject) throws {
    let words = action.split(separator: " ").map { String($0.filter { $0 != "\"" }) }
    switch (words.first, words.count) {
    case ("willUpdate", _): object.touch()
    case ("delete", _): try context.delete(object)
    case ("append", 4):
      let text = object.value(words[3])?.string ?? ""
      object.setValue(words[3], .string(text + words[1]))
    case ("set", 4): object.setValue(words[1], .string(words[3]))
    default: throw failure("the runner does not know \"\(action)\"")
    }
  }

  // MARK: Full text

  /// Creates substring indexes, because the original found words anywhere in a text.
  func prepareTextIndexes(_ type: any CaseObject.Type, isNeeded: Bool) throws {
    let name = type.collectionName
    guard isTextIndexed, passphrase.isEmpty, let fields = Original.indexedTexts[name],
      try isNeeded || context.insertedObjects.contains(where: { Swift.type(of: $0) == type })
    else { return }
    let collection = try store.createCollection(name, identity: .rowID)
    for field in fields { try collection.createFullTextIndex(field, tokens: .substrings) }
  }

  private func search(
    _ type: any CaseObject.Type, _ step: DocumentObject
  ) throws -> DocumentObject {
    try prepareTextIndexes(type, isNeeded: true)
    guard try !store[type.collectionName].fullTextIndexes().isEmpty else { return ["isNil": true] }
    let query = FullTextQuery.field(
      FieldPath(step["key"]?.string ?? ""),
      FullTextQuery(bnrExpression: step["expression"]?.string ?? ""))
    func open<Object: CaseObject>(_ type: Object.Type) throws -> [any CaseObject] {
      try context.search(type, query).faults()
    }
    let found = try open(type).sorted { ($0.originalRowID ?? 0) < ($1.originalRowID ?? 0) }
    bind(step["bindFirst"]?.string, found.first)
    return [
      "isNil": false, "count": .int(Int64(found.count)),
      "rowIDs": .array(found.map { DocumentValue($0.originalRowID ?? 0) }),
      "hasContent": .bool(found.contains { !$0.isFault }),
    ]
  }

  // MARK: Relationships

  /// Resolves a path such as `l2.songs[0].title` to its last object and property.
  private func walk(
    _ path: String, from start: (any CaseObject)?
  ) throws -> (object: any CaseObject, field: String?) {
    var parts = path.split(separator: ".").map { String($0) }
    var object: any CaseObject
    if let start { object = start } else { object = try self.object(parts.removeFirst()) }
    for (place, part) in parts.enumerated() {
      let pieces = part.split(separator: "[").map { String($0) }
      let targets = object.targets(pieces[0])
      if let targets, pieces.count == 2 || (targets.count == 1 && place + 1 < parts.count) {
        let index = pieces.count == 2 ? Int(pieces[1].dropLast()) ?? 0 : 0
        guard targets.indices.contains(index) else { throw failure("\(part) has no \(index)") }
        object = targets[index]
      } else {
        guard place + 1 == parts.count else { throw failure("\(part) leads nowhere") }
        return (object, part)
      }
    }
    return (object, nil)
  }

  private func titles(along step: DocumentObject) throws -> DocumentValue {
    guard let owner = step["object"]?.string else { return .null }
    return .array(try titles(of: try object(owner).targets("songs")))
  }
}

extension DocumentValue {
  /// Returns an object with the same names and mapped values.
  func mapFields(_ value: (String) throws -> DocumentValue) rethrows -> DocumentObject {
    DocumentObject(try (object ?? [:]).map { ($0.name, try value($0.name)) })
  }
}

extension [DocumentValue] {
  func sortedAsText() -> [DocumentValue] { sorted { $0.jsonString() < $1.jsonString() } }

  /// Sorts the values in the order of a different list, for values without a defined order.
  func sortedAsText(like wanted: DocumentValue) -> [DocumentValue] {
    DocumentValue.isSameSet(wanted, .array(self)) ? wanted.array ?? [] : self
  }
}
