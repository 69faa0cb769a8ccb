// SPDX-License-Identifier: MIT

import NanoDocument

/// What is indexed in a collection.
public enum IndexingPolicy: String, Sendable, Hashable, CaseIterable {
  /// Only the declared and adaptive indexes.
  case declared
  /// Every scalar value of every document in addition, in the wildcard index, so that a condition on the value
  /// of any field is an index lookup. Each write costs several times as much.
  case everything
}

/// The defaults for engines without ``Capabilities/everythingIndex``.
extension EngineReader {
  /// Returns ``IndexingPolicy/declared``.
  public func indexing(in collection: String) throws -> IndexingPolicy { .declared }
}

extension EngineWriter {
  /// Throws ``StoreError/Code/unsupported`` for any policy other than ``IndexingPolicy/declared``.
  public func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    guard policy == .declared else {
      throw StoreError(
        .unsupported, "The engine does not support indexing of everything",
        [.capability: "everythingIndex"])
    }
  }

  /// Drops and recreates each index.
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
      for index in try fullTextIndexes(in: collection) {
        _ = try dropIndex(index.name, in: collection)
        try createFullTextIndex(index, in: collection)
      }
      try progress?(1)
    }
  }

  /// Drops each index, then resets the policy.
  public func dropIndexes(in collection: String) throws -> Int {
    try savepoint {
      let indexes = try indexes(in: collection)
      let fullTextIndexes = try fullTextIndexes(in: collection)
      for name in indexes.map(\.name) + fullTextIndexes.map(\.name) {
        _ = try dropIndex(name, in: collection)
      }
      // Checked first, because setting a policy would create the collection.
      if try indexing(in: collection) != .declared {
        try setIndexing(.declared, in: collection, nil)
      }
      return indexes.count + fullTextIndexes.count
    }
  }
}
