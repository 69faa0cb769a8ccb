// SPDX-License-Identifier: MIT

import NanoStore

extension NTJsonStoreCaseRunner {
  /// Nil for an operation of another kind.
  func performCache(_ op: String, _ step: DocumentObject) throws -> DocumentObject? {
    switch op {
    case "cacheSize": return ["value": .int(Int64(try collection(step).cacheSize))]
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

  /// Whether asking twice gives one document.
  private func identity(_ step: DocumentObject) throws -> DocumentObject {
    var first = try asked(step["first"], step)
    var isKept = true
    if step["keepFirst"]?.bool == false {
      first = nil
      isKept = try store().cacheUse.documents > 0
      // The cache has it still, so that it can be compared.
      if isKept { first = try asked(step["first"], step) }
    }
    guard let second = try asked(step["second"], step) else { throw failure("nothing is found") }
    let isSame = isKept && first.map { $0.hasSameStorage(as: second) } == true
    return ["same": .bool(isSame), "reparsed": .bool(!isSame)]
  }

  private func asked(_ question: DocumentValue?, _ step: DocumentObject) throws -> Document? {
    guard let (name, given) = question?.object?.first else { return nil }
    if name == "item" { return documents[given.string ?? ""] }
    var inner = given.object ?? [:]
    inner["collection"] = step["collection"] ?? "c"
    if name == "findOne" { return try query(inner).first() }
    let found = try query(inner).fetch()
    let index = Int(question?["index"]?.int ?? given["index"]?.int ?? 0)
    return found.indices.contains(index) ? found[index] : nil
  }
}
