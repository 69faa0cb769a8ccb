// SPDX-License-Identifier: MIT

import NanoStore

extension ProgramExecutor {
  /// Performs a call that writes documents; returns nil for other calls.
  func performWrite(_ call: Call) throws -> Outcome? {
    switch call {
    case .insert(let name, let object, let key):
      return .text(
        try text(keyed(key) { try store[name].insert(object, key: $0) }))
    case .save(let name, let object, let key):
      return .text(try text(keyed(key) { try store[name].save(object, key: $0) }))
    case .saveTyped(let name, let object, let key, let type, let version):
      let document = try keyed(key) { key in
        try store[name].write(
          .save, key: key.map { try DocumentKey($0) }, type: type, version: version
        ) { writer in writer.object(object) }
      }
      return .text(try text(document))
    case .saveText(let name, let json, let key):
      return .text(try text(store[name].save(json: json, key: key)))
    case .saveObject(let name, let figure): return .text(try text(store[name].save(figure)))
    case .insertDocument(let name, let given):
      let document = try keyed(given.key) { key in
        try store[name].insert(Document(given.object, key: key))
      }
      return .text(try text(document))
    case .insertAll(let name, let objects): return try insertAll(name, objects)
    case .writeAll(let name, let mode, let documents):
      let all = try documents.map { try Document($0.object, key: $0.key) }
      let collection = store[name]
      return .text(
        "\(try mode == .insert ? collection.insert(all) : collection.save(all))"
      )
    case .edit(let name, let target, let changes, let replacing):
      guard var document = try document(name, target) else { return .text("none") }
      for change in changes {
        switch change.operation {
        case .set(let value): document[change.path] = value
        case .remove: document[change.path] = nil
        default: break
        }
      }
      let collection = store[name]
      return .text(
        try text(replacing ? collection.replace(document) : collection.save(document)))
    case .update(let name, .key(let key), let changes):
      return .text(try text(store[name].update(key, changes)))
    case .update(let name, .rowID(let id), let changes):
      // The variant by row ID has no form that takes an array.
      return .count(
        try store[name].find(Condition.comparison(.attribute(.rowID), .equal, .value(.int(id))))
          .update(changes))
    case .updateFound(let name, let query, let changes):
      return .count(try store[name].find(query).update(changes))
    case .remove(let name, .key(let key)): return .flag(try store[name].delete(key))
    case .remove(let name, .rowID(let id)): return .flag(try store[name].delete(rowID: id))
    case .removeKeys(let name, let keys): return .count(try store[name].delete(keys: keys))
    case .removeFound(let name, let query): return .count(try store[name].find(query).delete())
    case .removeAll(let name): return .count(try store[name].deleteAll())
    default: return nil
    }
  }

  /// Writes one document with the specified key or a generated one.
  private func keyed(_ key: String?, _ write: (String?) throws -> Document) throws -> Document {
    if let key { return try write(key) }
    return try keyed { keys in
      let document = try write(keys?.first)
      return (document, [document.key])
    }
  }

  private func insertAll(_ name: String, _ objects: [DocumentObject]) throws -> Outcome {
    let ids = try keyed { keys in
      let collection = store[name]
      if let keys, keys.count == objects.count {
        let documents = try zip(objects, keys).map { try Document($0, key: $1) }
        return (try collection.insert(documents), [])
      }
      let ids = try collection.insert(objects)
      let made = try ids.map { try collection.get(rowID: $0)?.key }
      guard made.contains(where: { $0 != nil }) else { return (ids, []) }
      // A document that expires at once is invisible in both stores, so that its key does not matter.
      return (ids, zip(made, ids).map { $0 ?? "expired \($1)" })
    }
    return .text("\(ids)")
  }

  func document(_ name: String, _ target: Call.Target) throws -> Document? {
    switch target {
    case .key(let key): try store[name].get(key)
    case .rowID(let id): try store[name].get(rowID: id)
    }
  }
}
