// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

func indexes(_ recipes: DocumentCollection) async throws {
  let index = try await recipes.createIndex("minutes", "title", unique: true)
  try await recipes.createIndex("title")
  try await recipes.createIndex(paths: ["title"], name: "byTitle")
  try await recipes.createIndex(index)
  try await recipes.createIndex(keys: "title, -minutes")
  try await recipes.dropIndex("byTitle")
  print(try await recipes.indexes(), try await recipes.observedPaths())
  try await recipes.createFullTextIndex("title", "steps", tokens: .words)
  try await recipes.createFullTextIndex(fields: ["title"])
  print(try await recipes.fullTextIndexes())
  try await recipes.setIndexing(.everything)
  try await recipes.setIndexing(.everything) { print($0) }
  try await recipes.setIndexing(.everything) { done in
    let percent = done * 100
    print(percent)
  }
  print(try await recipes.indexing())
  try await recipes.rebuildIndexes()
  try await recipes.rebuildIndexes { print($0) }
  let dropped = try await recipes.dropIndexes()
  try await recipes.restoreIndexes(dropped)
  try await recipes.restoreIndexes(dropped) { print($0) }
  try await recipes.drop()
}

func settings(_ recipes: DocumentCollection) async throws {
  try await recipes.setDefaults(["minutes": 10])
  print(try await recipes.defaults(), try await recipes.aliases())
  try await recipes.setAliases(["time": "minutes"])
  print(try await recipes.queryableFields())
  try await recipes.addQueryableFields("title, minutes")
  try await recipes.apply(CollectionSetup())
  try await recipes.setExpirationRule(.field("until", after: .seconds(1)))
  print(try await recipes.expirationRule() as Any)
  try await recipes.setExpiration(.now, of: "toast")
  try await recipes.setExpiration(nil, rowID: 1)
  print(try await recipes.expiration(of: "toast") as Any)
  print(try await recipes.expiration(rowID: 1) as Any)
  try await recipes.store.deleteExpired()
  try await recipes.setChangeTracking(.on)
  print(try await recipes.changeTracking())
  print(try await recipes.changes(since: nil, limit: 10))
  try await recipes.pruneTombstones(before: .distantPast)
  try await recipes.finishQueued()  // does not throw without await
  try await recipes.finishQueued(within: .seconds(1))  // does not throw without await
}
