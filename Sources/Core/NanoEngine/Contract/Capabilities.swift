// SPDX-License-Identifier: MIT

/// The optional features of an engine.
package struct Capabilities: OptionSet, Sendable, Hashable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }
  /// User-supplied SQL statements, through ``SQLReader``.
  package static let sql = Capabilities(rawValue: 1)
  /// Indexes that reject a second document with the same values.
  package static let uniqueIndexes = Capabilities(rawValue: 2)
  /// Indexes with an entry for each element of an array.
  package static let elementIndexes = Capabilities(rawValue: 4)
  /// Indexes on elements that reject a second document with one of the same elements.
  package static let uniqueElementIndexes = Capabilities(rawValue: 512)
  /// ``Engine/put(_:newKey:replacing:into:_:)`` is faster than a transaction.
  package static let singleWrites = Capabilities(rawValue: 1024)
  /// Copies of the database while it is in use.
  package static let backup = Capabilities(rawValue: 8)
  /// Readers keep their snapshot while a writer works.
  package static let concurrentReads = Capabilities(rawValue: 16)
  /// Committed data persists after the process ends.
  package static let durable = Capabilities(rawValue: 32)
  /// ``IndexingPolicy/everything``.
  package static let everythingIndex = Capabilities(rawValue: 64)
  /// ``Engine/observeCommits(_:)``.
  package static let changes = Capabilities(rawValue: 128)
  /// ``EngineFeedReader`` and ``EngineFeedWriter``.
  package static let changeTracking = Capabilities(rawValue: 2048)
  /// ``EngineBlobReader`` and ``EngineBlobWriter``.
  package static let blobs = Capabilities(rawValue: 1 << 20)
  /// ``EngineExpiryReader`` and ``EngineExpiryWriter``.
  package static let expiration = Capabilities(rawValue: 4096)
  /// ``EngineIndexWriter/createFullTextIndex(_:in:)``.
  package static let fullTextIndexes = Capabilities(rawValue: 256)
}
