// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// One of the two engines: its stores, and the collections that scenarios share.
final class Side {
  let members: MemberSet
  /// The store with the default configuration, without adaptive indexing.
  let store: Store
  /// The store whose commits are flushed to disk.
  let durable: Store
  private var filled: [String: DocumentCollection] = [:]

  init(_ members: MemberSet, store: Store, durable: Store) {
    self.members = members
    self.store = store
    self.durable = durable
  }

  /// All members, with indexes on city, age and score. Read-only.
  func people() throws -> DocumentCollection {
    try collection("people") { try Self.makeFieldIndexes($0) }
  }

  /// All members, with the same indexes, for writes.
  func rewritten() throws -> DocumentCollection {
    try collection("rewritten") { try Self.makeFieldIndexes($0) }
  }

  /// All members, with an element index on tags and a full-text index on bio.
  func indexed() throws -> DocumentCollection {
    try collection("indexed") { collection in
      try collection.createIndex("tags", elements: true)
      try collection.createFullTextIndex("bio")
    }
  }

  /// Returns an empty collection with indexes on city, age and score, which replaces an existing one.
  func fresh() throws -> DocumentCollection {
    let collection = store["fresh"]
    try collection.drop()
    try Self.makeFieldIndexes(collection)
    return collection
  }

  static func makeFieldIndexes(_ collection: DocumentCollection) throws {
    for field in ["city", "age", "score"] { try collection.createIndex(field) }
  }

  private func collection(
    _ name: String, _ prepare: (DocumentCollection) throws -> Void
  ) throws -> DocumentCollection {
    if let known = filled[name] { return known }
    let collection = store[name]
    // A server may have the collection from an earlier run.
    try collection.drop()
    try prepare(collection)
    for batch in members.batches(members.documents) { try collection.insert(batch) }
    // Brings both engines into a steady state, with cleanup done and statistics collected.
    try store.compact()
    filled[name] = collection
    return collection
  }
}
