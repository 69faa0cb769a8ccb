// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Fetching all objects, one object, and enumeration.
extension BNRCaseRunner {
  func performFetching(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "all":
      let objects = try stored(type(step))
      bind(step["bindFirst"]?.string, objects.first)
      return try summary(of: objects, wanted: step["expect"]?.object ?? [:])
    case "object":
      let object = try get(
        type(step), step["rowID"]?.int64 ?? 0, isLoaded: step["fetchContent"]?.bool ?? true)
      bind(step["bind"]?.string, object)
      guard let object else { return ["isNil": true, "found": false, "sameAs": .null] }
      return [
        "isNil": false, "found": true, "hasContent": .bool(!object.isFault),
        "sameAs": sameAs([object], like: step["expect"]?["sameAs"]),
        "fields": .object(
          DocumentObject(
            try (step["expect"]?.object?["fields"]?.object ?? [:]).map {
              ($0.name, try value($0.name, of: object))
            })),
      ]
    case "enumerate": return try enumerate(type(step), step)
    case "sharedSongIdentical":
      let lists = try stored(Original.Playlist.self)
      return ["value": .bool(areSharedTargetsIdentical(lists))]
    case "textSearch": return try search(type(step), step)
    case "hasContent":
      let path = step["path"]?.string ?? step["object"]?.string ?? ""
      return ["value": .bool(try !target(of: path).isFault)]
    case "path":
      let (object, field) = try walk(
        step["path"]?.string ?? "", from: step["object"]?.string.map { try self.object($0) },
        entersLast: true)
      // The path ends at a reference to no object.
      if let field, Swift.type(of: object).toOneFields.contains(field) {
        return ["isNil": true, "value": .null, "sameAs": .null, "hasContent": false]
      }
      var result: DocumentObject = [
        "isNil": false, "sameAs": sameAs([object], like: step["expect"]?["sameAs"]),
        "hasContent": .bool(!object.isFault),
      ]
      guard let field else {
        result["value"] = .string(name(of: object) ?? "")
        return result
      }
      let value = try value(field, of: object)
      result["value"] = value
      result["isNil"] = .bool(value.isNull)
      result["orderedTitles"] = try titles(along: step)
      return result
    case "same", "identical":
      let paths = (step["paths"] ?? step["objects"])?.array?.compactMap(\.string) ?? []
      let objects = try paths.map { try target(of: $0) }
      return ["value": .bool(objects.allSatisfy { $0 === objects[0] })]
    default: return nil
    }
  }

  /// Returns the stored objects as the original does, including objects that the next save deletes.
  func stored(_ type: any CaseObject.Type) throws -> [any CaseObject] {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> [any CaseObject] {
      let deleted = try deleted(type)
      let stored = try context.all(type).filter { $0.objectID != nil }
      return (stored + deleted).sorted {
        ($0.objectID?.rowID ?? 0) < ($1.objectID?.rowID ?? 0)
      }
    }
    return try open(type)
  }

  /// Returns the stored objects that the next save deletes.
  private func deleted<Object: CaseObject>(_ type: Object.Type) throws -> [Object] {
    try context.deletedObjects.compactMap { $0 as? Object }
  }

  /// Returns the object with a row ID of the original. New and deleted objects keep it until they are saved.
  func get(
    _ type: any CaseObject.Type, _ rowID: Int64, isLoaded: Bool
  ) throws -> (any CaseObject)? {
    let name = type.collectionName
    if let new = try newObject(rowID, name) { return new }
    guard let row = storedRow(rowID, name) else { return nil }
    return try get(type, storedRow: row, isLoaded: isLoaded)
  }

  func get(
    _ type: any CaseObject.Type, storedRow rowID: Int64, isLoaded: Bool
  ) throws -> (any CaseObject)? {
    func open<Object: CaseObject>(_ type: Object.Type) throws -> (any CaseObject)? {
      let id = ObjectID<Object>(rowID: rowID)
      if let deleted = try deleted(type).first(where: { $0.objectID == id }) { return deleted }
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
      case "sameAs": result[name] = sameAs(objects, like: wanted)
      case "sharedSongIdentical": result[name] = .bool(areSharedTargetsIdentical(objects))
      case "fields": result[name] = .object(try wanted.mapFields { .array(try all($0)) })
      case "fieldsSorted":
        result[name] = .object(
          try wanted.mapFields { field in
            .array(try all(field).sorted(like: wanted.object?[field] ?? .null))
          })
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
          try objects.map { try titles(of: $0.targets("songs")).first ?? .null }
            .sorted(like: wanted))
      case _ where name.hasSuffix("Set"):
        let values = Set(try all(String(name.dropLast(3))))
        let range = Set((0..<Int64(objects.count)).map { DocumentValue.int($0) })
        // A case gives a range as text, and other values as an array.
        result[name] =
          wanted.string != nil && values == range
          ? .string("0..<\(objects.count)") : .array(Array(values).sorted(like: wanted))
      case _ where name.hasSuffix("sAll"):
        let values = Set(try all(String(name.dropLast(4))))
        result[name] = values.count == 1 ? values.first : .array(Array(values))
      // The check rejects expectations without a result.
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
      var visited: Set<ObjectID<Object>> = []
      func visit(_ object: Object) throws -> Bool {
        // The original enumerates stored objects.
        guard let id = object.objectID, visited.insert(id).inserted else { return true }
        invocations += 1
        isAllOfClass = isAllOfClass && Swift.type(of: object) == type && !object.isFault
        for action in actions { try perform(action, on: object) }
        return invocations < end
      }
      try context.find(type).each(visit)
      // They include those that the next save deletes, which a query omits.
      for object in try deleted(type) where invocations < end { _ = try visit(object) }
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
  /// Sorts the values in the order of a different list, for values without a defined order.
  func sorted(like wanted: DocumentValue) -> [DocumentValue] {
    DocumentValue.isSameSet(wanted, .array(self)) ? wanted.array ?? [] : self
  }
}
