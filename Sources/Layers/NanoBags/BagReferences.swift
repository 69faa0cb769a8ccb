// SPDX-License-Identifier: MIT

package import NanoEngine
import NanoQuery
import NanoStoreCore

/// Removes documents that are removed from the store from all bags, and keeps those that get a key in their bags.
package struct BagReferences: DocumentReferences {
  package init() {}

  package var use: TransactionUse { TransactionUse(Membership.collection, keys: []) }

  package func exist(_ reader: any EngineReader) throws -> Bool {
    // A collection that does not exist is reported with keys as its identity.
    try reader.identity(of: Membership.collection) == .rowID
  }

  package func exist(to collection: String, _ reader: any EngineReader) throws -> Bool {
    let query = Query(Membership.isOf(collection.foldingASCII), limit: 1)
    return try reader.count(query, in: Membership.collection) > 0
  }

  package func remove(
    to documents: [Identity], of collection: String, _ writer: any EngineWriter
  ) throws {
    try BagMemberships(writer).forget(documents.map { BagMember(collection, $0) })
  }

  package func move(
    from old: Identity, to new: Identity, of collection: String, _ writer: any EngineWriter
  ) throws {
    try BagMemberships(writer).move(
      from: BagMember(collection, old), to: BagMember(collection, new))
  }

  package func removeAll(to collection: String, _ writer: any EngineWriter) throws {
    try BagMemberships(writer).forget(collection: collection)
  }
}
