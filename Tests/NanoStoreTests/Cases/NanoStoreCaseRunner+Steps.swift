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
      let bag = bags[step["target"]?.string ?? ""]
      return ["nonEmpty": .bool(!(bag.map(String.init(describing:)) ?? "\(store!)").isEmpty)]
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
      return [
        "count": .int(Int64(try objects.get(keys: keys).count + store.bags(keys: keys).count))
      ]
    case "fetchClass": return try fetchClass(step)
    case "allClasses":
      var types = try objects.types()
      if try !store.bags().isEmpty { types.append("bag") }
      return ["classes": .array(types.map { .string($0) })]
    case "countClass":
      let type = step["class"]?.string ?? ""
      let count = try type == "bag" ? store.bags().count : objects.find(type: type).count()
      return ["value": .int(Int64(count))]
    case "rebuildIndexes", "compact":
      if op == "compact" { try store.compact() }
      return ["ok": true]
    case "integrityCheck": return ["ok": .bool(try store.verify().isEmpty)]
    case "rowCount": return ["value": .int(Int64(try rowCount(step["table"]?.string ?? "")))]
    case "attributeRows": return try attributeRows(step)
    case "backup":
      if step["compact"] == true { try store.compact() }
      try store.backup(to: path(step["path"]), replacing: true)
      return ["ok": true]
    case "openCopy":
      let copy = try Store(.file(path(step["path"])))
      let (documents, bags) = (try copy[Self.collection].count(), try copy.bags().count)
      return ["documents": .int(Int64(documents + bags)), "bags": .int(Int64(bags))]
    default: throw CaseFailure(description: "\(testCase.id): unsupported operation \"\(op)\"")
    }
  }

  func strings(_ value: DocumentValue?) -> [String] { (value?.array ?? []).compactMap(\.string) }

  private func add(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let items = strings(step["items"])
    guard !items.isEmpty else { return ["ok": false, "error": "error"] }
    for name in items { if let bag = bags[name] { try store.save(bag) } }
    let names = items.filter { documents[$0] != nil }
    // A single call with several documents is a batch.
    if op == "add", names.count > 1 {
      let ids = try objects.save(names.compactMap { documents[$0] })
      for (name, id) in zip(names, ids) { documents[name] = try objects.get(rowID: id) }
    } else {
      for name in names { documents[name] = try objects.save(documents[name]!) }
    }
    return ["ok": true]
  }

  private func fetchClass(_ step: DocumentObject) throws -> DocumentObject {
    let orderings = try self.orderings(step)
    let field = step["project"]?.string ?? ""
    let type = step["class"]?.string ?? ""
    let found: [DocumentObject]
    if type == "bag" {
      let bags = try store.bags().map {
        ["name": $0.name.map { .string($0) } ?? .null] as DocumentObject
      }
      found = bags.sorted { ValueOrder.compare($0["name"] ?? .null, $1["name"] ?? .null) < 0 }
    } else {
      var search = Search(type: type)
      search.orderings = orderings
      found = try search.documents(in: objects).map { try $0.object() }
    }
    return [
      "count": .int(Int64(found.count)), "ordered": .array(found.map { $0[field] ?? .null }),
    ]
  }

  /// Returns the number of written rows, ignoring pending saves.
  private func rowCount(_ table: String) throws -> Int {
    let bags = try store.engine().read(.call, nil) { try $0.count(Query(), in: "nano_bags") }
    guard table == "documents" else {
      return try objects.fetch().reduce(0) { try $0 + leaves($1.object()).count }
    }
    let documents: Int
    if store.isInTransaction {
      documents = try objects.count()
    } else {
      documents = try store.engine().read(.call, nil) {
        try $0.count(Query(), in: Self.collection)
      }
    }
    return documents + bags
  }

  private func leaves(_ object: DocumentObject) -> [Leaf] { Leaves.all(in: .object(object)) }

  private func attributeRows(_ step: DocumentObject) throws -> DocumentObject {
    let key = try value(step["key"] ?? .null).string ?? ""
    let rows: [Leaf]
    if let bag = try store.bag(key: key) {
      // The original stored a bag as a document with these attributes.
      let representation = try bag.representation()
      rows = leaves(representation).map { leaf in
        let names = ["name": "Name", "key": "NSFKey", "members": "NSFObjectKeys"]
        let name = names[leaf.path.components[0]] ?? leaf.path.description
        return Leaf(path: FieldPath("NSF_Private_NSFNanoBag_\(name)"), value: leaf.value)
      }
    } else {
      rows = leaves(try objects.get(key)?.object() ?? [:])
    }
    return [
      "count": .int(Int64(rows.count)),
      "attributes": .array(rows.map { .string($0.path.description) }),
      "datatypes": .array(rows.map { .string(SQLDatatype(of: $0.value).rawValue) }),
    ]
  }
}
