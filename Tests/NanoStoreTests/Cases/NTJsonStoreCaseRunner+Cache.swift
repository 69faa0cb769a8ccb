// SPDX-License-Identifier: MIT

import NanoStore

extension NTJsonStoreCaseRunner {
  /// Performs a cache operation; returns nil for operations of other kinds.
  func performCache(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "cacheSize": return ["value": .int(Int64(try collection(step).cacheSize ?? -1))]
    case "setCacheSize":
      try collection(step).cacheSize = Int(step["value"]?.int ?? 0)
      return ["ok": true]
    case "flushCache":
      try collection(step).flushCache()
      return ["ok": true]
    case "isCurrent":
      if let json = step["json"] {
        return ["value": .bool(try store().isCurrent(Document(object(json))))]
      }
      return ["value": .bool(try store().isCurrent(item(step)))]
    case "identity": return try identity(step)
    default: return nil
    }
  }

  /// Returns whether two reads yield the same document instance.
  private func identity(_ step: DocumentObject) throws -> DocumentObject {
    var first = try document(for: step["first"], step)
    var isKept = true
    if step["keepFirst"]?.bool == false {
      // A document that the case has bound stays in use.
      let bound = first.flatMap { first in
        documents.values.first { $0.hasSameStorage(as: first) }
      }
      first = bound
      if bound == nil {
        isKept = try keepsDocuments(collection(step))
        // The document is still cached; read it again to compare it.
        if isKept { first = try document(for: step["first"], step) }
      }
    }
    guard let second = try document(for: step["second"], step) else {
      throw failure("the second read found no document")
    }
    let isSame = isKept && first.map { $0.hasSameStorage(as: second) } == true
    return ["same": .bool(isSame), "reparsed": .bool(!isSame)]
  }

  /// Returns whether the cache holds documents of a collection, which are released.
  private func keepsDocuments(_ collection: DocumentCollection) throws -> Bool {
    // The store counts the documents of all its collections.
    let before = try store().cacheUse.documents
    collection.flushCache()
    return try store().cacheUse.documents < before
  }

  private func document(for read: DocumentValue?, _ step: DocumentObject) throws -> Document? {
    guard let (name, given) = read?.object?.first else { return nil }
    if name == "item" { return documents[given.string ?? ""] }
    var inner = given.object ?? [:]
    inner["collection"] = step["collection"] ?? "c"
    if name == "findOne" { return try query(inner).first() }
    let found = try query(inner).fetch()
    let index = Int(read?["index"]?.int ?? given["index"]?.int ?? 0)
    return found.indices.contains(index) ? found[index] : nil
  }
}
