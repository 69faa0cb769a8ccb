// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Applies a configuration to the collection atomically. Applying it again does nothing, so a
  /// program can apply it whenever it starts.
  ///
  /// ```swift
  /// try people.apply(CollectionSetup(aliases: ["last": "[name.last]"], indexes: ["last DESC"]))
  /// ```
  ///
  /// Aliases are set before indexes are parsed. Indexes that the setup does not mention are kept.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents collide in a unique index,
  ///   ``StoreError/Code/invalidQuery`` if an index has no fields,
  ///   ``StoreError/Code/alreadyExists`` if the collection has a different identity. Nothing has
  ///   changed.
  public func apply(_ setup: CollectionSetup) throws {
    try inTurn { try store.write { try write(setup) } }
    if let size = setup.cacheSize { cacheSize = size }
  }
  /// The asynchronous form of `apply(_:)`, which does not block the calling thread.
  public func apply(_ setup: CollectionSetup) async throws {
    try await onWriter { try self.apply(setup) }
  }

  /// Applies the parts of a setup that are stored in the database.
  fileprivate func write(_ setup: CollectionSetup) throws {
    try InternalCollection.refuse(name)
    try makeCollection(setup.identity)
    if let defaults = setup.defaults { try setDefaults(defaults) }
    if let aliases = setup.aliases { try setAliases(aliases) }
    for fields in setup.queryableFields { try addQueryableFields(fields) }
    for keys in setup.indexes { try createIndex(keys: keys) }
    for keys in setup.uniqueIndexes { try createIndex(keys: keys, unique: true) }
    for keys in setup.textIndexes { try createFullTextIndex(keys: keys, tokens: .words) }
    for keys in setup.substringIndexes { try createFullTextIndex(keys: keys, tokens: .substrings) }
    if let tracking = setup.changeTracking { try setChangeTracking(tracking) }
    if let rule = setup.expiration { try setExpirationRule(rule) }
  }

  private func makeCollection(_ identity: CollectionIdentity?) throws {
    try store.writing { writer in
      let known = try writer.collections().contains { $0.name.folded == name.folded }
      if known, identity == nil { return }
      try writer.createCollection(CollectionDescription(name: name, identity: identity ?? .key))
    }
  }
}

extension Store {
  /// Applies a configuration to the collections of the store atomically; see
  /// ``DocumentCollection/apply(_:)-(CollectionSetup)``.
  ///
  /// - Throws: The errors for each collection; ``StoreError/Code/invalidArgument`` if the setup
  ///   names a different file than the one that the store was opened on. Nothing has changed.
  public func apply(_ setup: StoreSetup) throws {
    if setup.path != nil || setup.name != nil, !Optional(setup.file).hasSameBytes(as: file) {
      throw StoreError(
        .invalidArgument, "The setup names a different file than that of the open store",
        [.hint: "open a store with the setup", .path: setup.file])
    }
    let collections = setup.collections.sorted { $0.key.isBefore($1.key) }
    try write {
      for (name, setup) in collections { try self[name].write(setup) }
    }
    // Cache sizes are not transactional, so they are set last, when nothing can fail anymore.
    for (name, setup) in collections {
      if let size = setup.cacheSize { self[name].cacheSize = size }
    }
  }
  /// The asynchronous form of `apply(_:)`, which does not block the calling thread.
  public func apply(_ setup: StoreSetup) async throws {
    try await onWriter { try self.apply(setup) }
  }
}
