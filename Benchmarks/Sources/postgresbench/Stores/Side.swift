// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStore

/// One of the two engines: its stores, and the collections that scenarios share.
final class Side {
  let members: MemberSet
  /// As it is by default, without an index that was not asked for.
  let store: Store
  /// The one whose commits are on the disk when they are done.
  let durable: Store
  private var filled: [String: DocumentCollection] = [:]

  init(_ members: MemberSet, store: Store, durable: Store) {
    self.members = members
    self.store = store
    self.durable = durable
  }

  /// All members, with indexes on city, age and score. Nobody changes them.
  func people() throws -> DocumentCollection {
    try collection("people") { try Self.makeFieldIndexes($0) }
  }

  /// The same for writing.
  func rewritten() throws -> DocumentCollection {
    try collection("rewritten") { try Self.makeFieldIndexes($0) }
  }

  /// All members, with indexes on the elements of tags and on the words of bio.
  func indexed() throws -> DocumentCollection {
    try collection("indexed") { collection in
      try collection.createIndex("tags", elements: true)
      try collection.createTextIndex("bio")
    }
  }

  /// An empty collection with indexes on city, age and score, in place of the one that was there.
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
    // A server may have it from an earlier run.
    try collection.drop()
    try prepare(collection)
    for batch in members.batches(members.documents) { try collection.insert(batch) }
    // As after a while, when either has cleaned up and knows its values.
    try store.compact()
    filled[name] = collection
    return collection
  }
}
