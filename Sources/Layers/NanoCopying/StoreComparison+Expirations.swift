// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension StoreComparison {
  /// Compares when the documents of a collection expire.
  func compareExpirations(of collection: String) throws {
    let expiring = try source.expiringCollections() + target.expiringCollections()
    guard expiring.contains(where: { $0.folded == collection.folded }) else { return }
    var query = Query()
    query.fields = []
    var rowIDs: [Int64] = []
    var differences = 0
    func compare() throws {
      let expected = try source.expirations(ofRows: rowIDs, in: collection)
      let found = try target.expirations(ofRows: rowIDs, in: collection)
      differences += rowIDs.count { expected[$0] != found[$0] }
      rowIDs.removeAll(keepingCapacity: true)
    }
    try source.find(query, in: collection) { document in
      rowIDs.append(document.rowID)
      if rowIDs.count == 1_000 { try compare() }
      return true
    }
    try compare()
    if differences > 0 { note(collection, "\(differences) documents expire at other times") }
  }
}
