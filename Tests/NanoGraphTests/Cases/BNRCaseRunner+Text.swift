// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Full-text search.
extension BNRCaseRunner {
  /// Creates substring indexes, because the original found words anywhere in a text.
  func prepareTextIndexes(_ type: any CaseObject.Type, isNeeded: Bool) throws {
    let name = type.collectionName
    guard isTextIndexed, passphrase.isEmpty, let fields = Original.indexedTexts[name],
      try isNeeded || context.insertedObjects.contains(where: { Swift.type(of: $0) == type })
    else { return }
    let collection = try store.createCollection(name, identity: .rowID)
    for field in fields { try collection.createFullTextIndex(field, tokens: .substrings) }
  }

  func search(
    _ type: any CaseObject.Type, _ step: DocumentObject
  ) throws -> DocumentObject {
    try prepareTextIndexes(type, isNeeded: true)
    guard try !store[type.collectionName].fullTextIndexes().isEmpty else {
      return ["isNil": true, "count": 0, "rowIDs": []]
    }
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
      "sameAs": sameAs(found, like: step["expect"]?["sameAs"]),
      "hasContent": .bool(found.contains { !$0.isFault }),
    ]
  }
}
