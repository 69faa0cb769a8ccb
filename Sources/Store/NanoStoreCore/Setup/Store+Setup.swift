// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Makes the collection as a setup says, all of it or nothing. Doing it again does nothing, so that
  /// a program may do it whenever it starts.
  ///
  /// ```swift
  /// try people.apply(CollectionSetup(aliases: ["last": "[name.last]"], indexes: ["last DESC"]))
  /// ```
  ///
  /// Aliases count before indexes are read. Indexes that a setup does not mention stay.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents collide in an index that is to be
  ///   unique, ``StoreError/Code/invalidQuery`` if one has no fields,
  ///   ``StoreError/Code/alreadyExists`` if the collection has another identity. Nothing has changed.
  public func apply(_ setup: CollectionSetup) throws {
    try inTurn { try store.write { try write(setup) } }
    if let size = setup.cacheSize { cacheSize = size }
  }
  public func apply(_ setup: CollectionSetup) async throws {
    try await onWriter { try self.apply(setup) }
  }

  /// What a setup says of the file.
  fileprivate func write(_ setup: CollectionSetup) throws {
    try InternalCollection.refuse(name)
    try makeCollection(setup.identity)
    if let defaults = setup.defaults { try setDefaults(defaults) }
    if let aliases = setup.aliases { try setAliases(aliases) }
    for fields in setup.queryableFields { try addQueryableFields(fields) }
    for keys in setup.indexes { try createIndex(keys: keys) }
    for keys in setup.uniqueIndexes { try createIndex(keys: keys, unique: true) }
    for keys in setup.textIndexes { try createTextIndex(keys: keys, tokens: .words) }
    for keys in setup.substringIndexes { try createTextIndex(keys: keys, tokens: .substrings) }
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
  /// Makes collections as a setup says, all of it or nothing; see
  /// ``DocumentCollection/apply(_:)-(CollectionSetup)``.
  ///
  /// - Throws: As for each collection; ``StoreError/Code/invalidArgument`` if the setup names another
  ///   file than the one that the store was opened on. Nothing has changed.
  public func apply(_ setup: StoreSetup) throws {
    if setup.path != nil || setup.name != nil, !Optional(setup.file).isSame(as: file) {
      throw StoreError(
        .invalidArgument, "An open store cannot get another file",
        [.hint: "open a store with the setup", .path: setup.file])
    }
    let collections = setup.collections.sorted { $0.key.isBefore($1.key) }
    try write {
      for (name, setup) in collections { try self[name].write(setup) }
    }
    // Not undone by a transaction, so only when nothing can fail any more.
    for (name, setup) in collections {
      if let size = setup.cacheSize { self[name].cacheSize = size }
    }
  }
  public func apply(_ setup: StoreSetup) async throws {
    try await onWriter { try self.apply(setup) }
  }
}
