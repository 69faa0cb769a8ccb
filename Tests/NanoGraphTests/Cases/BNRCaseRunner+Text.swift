// SPDX-License-Identifier: MIT

import NanoStoreModels

/// Full-text search.
extension BNRCaseRunner {
  /// Creates indexes of words, because only they ignore accents, as the original did. Its expressions are evaluated on
  /// the texts, so that they match anywhere.
  func prepareTextIndexes(_ type: any CaseObject.Type, isNeeded: Bool) throws {
    let name = type.collectionName
    guard isTextIndexed, passphrase.isEmpty, let fields = Original.indexedTexts[name],
      try isNeeded || context.insertedObjects.contains(where: { Swift.type(of: $0) == type })
    else { return }
    let collection = try store.createCollection(name, identity: .rowID)
    for field in fields { try collection.createFullTextIndex(field, tokens: .words) }
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
      // Not as faults of the query, which omit stored objects that the next save deletes.
      let context = try context
      return try context.search(type, query).objectIDs().map { context.fault($0) }
    }
    let rows = try open(type).map { (rowID: try originalRow(of: $0), object: $0) }
      .sorted { $0.rowID < $1.rowID }
    let found = rows.map(\.object)
    bind(step["bindFirst"]?.string, found.first)
    return [
      "isNil": false, "count": .int(Int64(found.count)),
      "rowIDs": .array(rows.map { .int($0.rowID) }),
      "sameAs": sameAs(found, like: step["expect"]?["sameAs"]),
      "hasContent": .bool(found.contains { !$0.isFault }),
    ]
  }
}
