// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

extension NanoStoreCaseRunner {
  /// Performs a step and returns its result under the names that expectations use.
  func perform(_ step: DocumentObject) throws -> DocumentObject {
    let op = step["op"]?.string ?? ""
    switch op {
    case _ where op.lowercased().contains("bag"): return try performBag(op, step)
    case "search": return try search(step)
    case "addedSearch": return try addedSearch(step)
    case "aggregate": return try aggregate(step)
    case "newObject", "set", "get", "unset", "unsetMany", "unsetAll", "merge", "objectState",
      "objectsEqual", "copyObject", "saveObject", "setOriginalClass":
      return try performObject(op, step)
    case "sql", "sqlObjects", "explain": return try performSQL(op, step)
    case "accessor": return try accessor(step)
    case "global": return try global(step)
    default: return try performStore(op, step)
    }
  }

  private func performStore(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    switch op {
    case "open":
      if store.isClosed { try store.reopen() }
      return ["ok": true]
    case "close":
      try store.close()
      return ["ok": true]
    case "isClosed": return ["value": .bool(store.isClosed)]
    case "filePath":
      switch location {
      case .memory: return ["value": ":memory:"]
      case .temporary: return ["value": ""]
      case .file: return ["value": testCase.fields["store"]?["path"] ?? .null]
      }
    case "describe":
      return ["nonEmpty": .bool(try !description(of: step["target"]?.string ?? "").isEmpty)]
    case "setSaveInterval":
      store.saveInterval = Int(step["value"]?.int ?? 1)
      return ["ok": true]
    case "storeState":
      return [
        "hasUnsavedChanges": .bool(store.hasUnsavedChanges),
        "saveInterval": .int(Int64(store.saveInterval)), "closed": .bool(store.isClosed),
      ]
    case "add", "addEach": return try add(op, step)
    case "remove":
      for name in strings(step["items"]) {
        if let bag = bags[name] {
          try store.deleteBag(key: bag.key)
        } else if let document = documents[name] {
          try objects.delete(document)
        } else {
          throw failure("there is no \(name)")
        }
      }
      return ["ok": true]
    case "removeKeys":
      let keys = try (step["keys"]?.array ?? []).compactMap { try value($0).string }
      guard !keys.isEmpty else { return ["ok": false] }
      try objects.delete(keys: keys)
      for bag in try store.bags(keys: keys) { try store.deleteBag(key: bag.key) }
      return ["ok": true]
    case "removeAll":
      try objects.deleteAll()
      for bag in try store.bags() { try store.deleteBag(key: bag.key) }
      return ["ok": true]
    case "save":
      try store.flush()
      return ["ok": true]
    case "discard":
      store.discardUnsavedChanges()
      return ["ok": true]
    case "begin":
      _ = try store.engine()
      return ["ok": false]
    case "commit", "rollback":
      // A transaction is a block; outside of one there is nothing to end.
      _ = try store.engine()
      return ["ok": .bool(store.isInTransaction)]
    case "fetchKeys":
      let keys = try (step["keys"]?.array ?? []).compactMap { try value($0).string }
      let found = try objects.get(keys: keys).compactMap(\.key) + store.bags(keys: keys).map(\.key)
      return [
        "count": .int(Int64(found.count)), "isList": true,
        "keys": .array(found.map { .string(names[$0] ?? $0) }),
      ]
    case "fetchClass": return try fetchClass(step)
    case "allClasses":
      // Documents of the cases have the class "plain", bags have none.
      let types = try objects.types() + (store.findBags().exists() ? ["bag"] : [])
      let classes = DocumentValue.array(types.map { .string($0) })
      return ["classes": classes, "set": classes, "count": .int(Int64(types.count))]
    case "countClass":
      let type = step["class"]?.string ?? ""
      let count = try type == "bag" ? store.bags().count : objects.find(type: type).count()
      return ["value": .int(Int64(count))]
    case "compact":
      try store.compact()
      return [:]
    case "integrityCheck": return ["ok": .bool(try store.verify().isEmpty)]
    case "backup":
      if step["compact"] == true { try store.compact() }
      try store.backup(to: path(step["path"]), replacing: true)
      return ["ok": true]
    case "openCopy":
      let copy = try Store(.file(path(step["path"])))
      let (documents, bags) = (try copy[Self.collection].count(), try copy.bags().count)
      return ["documents": .int(Int64(documents + bags)), "bags": .int(Int64(bags))]
    default:
      guard let result = try performTables(op, step) else {
        throw CaseFailure(testCase, unknownOperation: op)
      }
      return result
    }
  }

  func strings(_ value: DocumentValue?) -> [String] { (value?.array ?? []).compactMap(\.string) }

  private func add(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let items = strings(step["items"])
    guard !items.isEmpty else { return ["ok": false, "error": "error"] }
    for name in items { if let bag = bags[name] { try save(bag) { try store.save(bag) } } }
    let names = items.filter { documents[$0] != nil }
    if let name = items.first(where: { documents[$0] == nil && bags[$0] == nil }) {
      throw failure("there is no \(name)")
    }
    // A single call with several documents is a batch, unless the original buffered them.
    if op == "add", names.count > 1, names.count >= store.saveInterval || store.isInTransaction {
      let ids = try objects.save(names.compactMap { documents[$0] })
      for (name, id) in zip(names, ids) { documents[name] = try objects.get(rowID: id) }
    } else {
      for name in names {
        documents[name] = try objects.save(documents[name]!)
        unwritten.insert(name)
      }
    }
    return ["ok": true]
  }

  private func description(of target: String) throws -> String {
    if let bag = bags[target] { return "\(bag)" }
    if let document = documents[target] { return "\(document)" }
    switch target {
    case "store": return "\(store!)"
    case "search": return Search().json
    case "match": return Match.equalTo.words
    case "engine": return String(describing: try store.statistics())
    case "result": return String(describing: try store.sql("SELECT 1", SQLArguments()))
    case "sortDescriptor": return String(describing: try SearchOrdering("name"))
    case "predicate": return String(describing: SearchPredicate.value(.equalTo, "value"))
    case "expression":
      return try DocumentObject(encoding: SearchExpression(.value(.equalTo, "value"))).jsonString()
    default: throw failure("there is no \(target) to describe")
    }
  }

  private func fetchClass(_ step: DocumentObject) throws -> DocumentObject {
    let orderings = try self.orderings(step)
    let field = step["project"]?.string ?? ""
    let type = step["class"]?.string ?? ""
    let documents: [Document]
    if type == "bag" {
      let bags = try store.bags().map { try document(of: $0) }
      documents = sorted(bags, by: orderings) { $0[$1] ?? .null }
    } else {
      var search = Search(type: type)
      search.orderings = orderings
      documents = try search.documents(in: objects)
    }
    let found = try documents.map { (key: $0.key ?? "", object: try $0.object()) }
    let values = DocumentValue.array(found.map { $0.object[field] ?? .null })
    return [
      "count": .int(Int64(found.count)), "isList": true, "ordered": values, "projected": values,
      "keys": .array(found.map { .string(names[$0.key] ?? $0.key) }),
      "infos": .array(found.map { .object($0.object) }),
    ]
  }
}
