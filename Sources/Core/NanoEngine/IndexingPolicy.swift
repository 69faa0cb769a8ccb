// SPDX-License-Identifier: MIT

import NanoDocument

/// What of a collection is indexed.
public enum IndexingPolicy: String, Sendable, Hashable, CaseIterable {
  /// What indexes were made for.
  case declared
  /// Every leaf of every document as well: a search by value over any attribute is a look-up. Costs
  /// several times as much at each write.
  case everything
}

/// What engines without ``Capabilities/everythingIndex`` do.
extension EngineReader {
  public func indexing(in collection: String) throws -> IndexingPolicy { .declared }
}

extension EngineWriter {
  public func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    guard policy == .declared else {
      throw StoreError(
        .unsupported, "The engine cannot index everything", [.capability: "everythingIndex"])
    }
  }

  /// Drops each index and makes it again.
  public func rebuildIndexes(
    in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    try savepoint {
      let indexes = try indexes(in: collection)
      for (number, index) in indexes.enumerated() {
        try progress?(Double(number) / Double(indexes.count))
        _ = try dropIndex(index.name, in: collection)
        try createIndex(index, in: collection)
      }
      for index in try textIndexes(in: collection) {
        _ = try dropIndex(index.name, in: collection)
        try createTextIndex(index, in: collection)
      }
      try progress?(1)
    }
  }

  public func dropIndexes(in collection: String) throws -> Int {
    try savepoint {
      let indexes = try indexes(in: collection)
      let textIndexes = try textIndexes(in: collection)
      for name in indexes.map(\.name) + textIndexes.map(\.name) {
        _ = try dropIndex(name, in: collection)
      }
      // Asked first, since saying it would make a collection.
      if try indexing(in: collection) != .declared {
        try setIndexing(.declared, in: collection, nil)
      }
      return indexes.count + textIndexes.count
    }
  }
}
