// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

func store(_ store: Store, _ other: Store) async throws {
  print(try await store.collections())
  try await store.createCollection("recipes")
  let menus = try await store.createCollections(["soups", "salads"])
  print(menus.map(\.name))
  let recipes = try await store.createCollection("rows", identity: .rowID)
  print(recipes.name, try await store.metadata("theme") as Any, try await store.metadataNames())
  try await store.setMetadata("dark", "theme")
  try await store.setMetadata(nil, "theme")
  try await store.compact()
  print(try await store.verify(), try await store.statistics())
  try await store.flush()
  try await store.apply(StoreSetup(path: "recipes.db"))
  try await store.finishQueued()  // does not throw without await
  try await store.finishQueued(["recipes"], within: .seconds(1))  // does not throw without await
  try await store.deleteOperationIDs(before: Date())
  print(try await store.indexAdvice(), try await store.indexUses(in: "recipes"))
  try await store.applyIndexAdvice()
  try await store.finishIndexTuning()
}

func cache(_ store: Store, _ document: Document) async throws {
  print(await store.isCurrent(document))
}

func progress(_ store: Store, _ other: Store) async throws {
  try await store.backup(to: "copy.db")
  try await store.backup(to: "copy.db", replacing: true) { print($0) }
  try await store.backup(to: "copy.db") { done in
    let percent = done * 100
    print(percent)
  }
  try await store.copy(to: other)
  try await store.copy(to: other, CopyOptions(replacing: true))
  try await store.copy(to: other) { print($0) }
  try await store.copy(to: other) { progress in
    guard progress.total > 0 else { return }
    print(progress.documents)
  }
  print(try await store.compare(with: other), try await store.compare(with: other) { print($0) })
  try await Store.recover(from: "damaged.db", to: "saved.db")
  try await Store.recover(from: "damaged.db", to: "saved.db") { print($0) }
}

func transactions(_ store: Store, _ recipes: DocumentCollection) async throws {
  try await store.write { try recipes.insert(["title": "Soup"]) }
  try await store.write(retries: 3) { try recipes.insert(["title": "Stew"]) }
  try await store.write(isolation: .readCommitted) { try recipes.insert(["title": "Broth"]) }
  try await store.write {
    try recipes.insert(["title": "Soup"])
    try recipes.insert(["title": "Stew"])
  }
  let key = try await store.write {
    let soup = try recipes.insert(["title": "Soup"])
    try recipes.delete("stew")
    return soup.key
  }
  print(key ?? "")
  let (all, count) = try await store.read { (try recipes.fetch(), try recipes.count()) }
  print(all, count)
  print(try await store.read(.stale) { try recipes.count() })
  try await store.read {
    print(try recipes.count())
    print(try recipes.count())
  }
  let first = try await store.read {
    let first = try recipes.find().first()
    return first?.key
  }
  print(first ?? "")
}

func sql(_ store: Store, _ recipes: DocumentCollection, _ minutes: Int, _ title: String)
  async throws
{
  for row in try await store.sql("SELECT 1") { print(row) }
  print(try await store.sql("SELECT ?, ?", 5, "text"), try await store.sql("SELECT ?", minutes))
  print(try await store.sql("SELECT ?, ?", SQLArguments([5, "text"])))
  print(try await store.sql("SELECT :a", SQLArguments(named: ["a": 5])))
  try await store.execute("DELETE FROM mine")
  try await store.execute("DELETE FROM mine WHERE a = ? OR b = ?", minutes, title)
  try await store.execute("DELETE FROM mine WHERE a = ?", SQLArguments([5]))
  print(try await store.tables(), try await store.explain(sql: "SELECT 1"))
  print(try await recipes.documents(sql: "SELECT * FROM recipes"))
  print(try await recipes.documents(sql: "SELECT * FROM recipes WHERE a = ?", minutes))
  print(try await recipes.documents(sql: "SELECT * FROM recipes WHERE a = ?", SQLArguments([5])))
}
