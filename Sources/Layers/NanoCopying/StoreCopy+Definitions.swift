// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

// Collections, definitions and metadata.
extension StoreCopy {
  /// Creates the collections and the checkpoint in one transaction.
  ///
  /// - Throws: An error if the target is not suitable for this copy, or does not support a
  ///   definition. The target is unchanged.
  func prepare(_ collections: [CollectionDescription]) throws {
    try target.write(nil) { writer in
      let known = try writer.metadata(CopyCheckpoint.name).flatMap { CopyCheckpoint($0) }
      isContinued = known.map { $0.isOfSameSource(as: checkpoint) } ?? false
      let isEmpty = try writer.collections().isEmpty && writer.metadataNames().isEmpty
      guard isEmpty || isContinued || options.replacing else {
        throw StoreError(
          .alreadyExists,
          known == nil
            ? "The target is not empty"
            : "The target is an unfinished copy of another store",
          [.hint: "copy into an empty store, or replace the contents of this one"])
      }
      if isContinued {
        try removeOthers(collections, writer)
      } else {
        try removeEverything(writer)
      }
      try writer.createCollections(collections)
      if !isContinued {
        for collection in collections { try requireSupport(collection.name, writer) }
      }
      // The current incarnations; those of dropped collections are obsolete.
      try writer.setMetadata(checkpoint.value, CopyCheckpoint.name)
    }
  }

  private func removeEverything(_ writer: any EngineWriter) throws {
    for collection in try writer.collections() { _ = try writer.dropCollection(collection.name) }
    for name in try writer.metadataNames() { try writer.setMetadata(nil, name) }
  }

  /// Drops collections and indexes that the source no longer has, and all expirations and change feeds. A unique index
  /// could reject documents, and documents would expire that the source has given a later expiration.
  private func removeOthers(
    _ collections: [CollectionDescription], _ writer: any EngineWriter
  ) throws {
    let expected = Dictionary(
      collections.map { ($0.name.folded, $0) }, uniquingKeysWith: { $1 })
    for collection in try writer.collections() {
      guard let same = expected[collection.name.folded], same.identity == collection.identity
      else {
        _ = try writer.dropCollection(collection.name)
        continue
      }
      let name = collection.name
      var settings = try writer.settings(of: name)
      if settings.expiration != nil {
        settings.expiration = nil
        try writer.setSettings(settings, of: name)
      }
      try removeExpirations(of: name, writer)
      // Replaced documents are no changes. The entries of the source follow at the end.
      try writer.setTracking(nil, of: name)
      let definitions = try CollectionDefinitions(of: name, source)
      for index in try writer.indexes(in: name)
      where !definitions.indexes.contains(where: {
        $0.name.hasSameBytes(as: index.name) && $0.hasSameEntries(as: index)
      }) { _ = try writer.dropIndex(index.name, in: name) }
      for index in try writer.fullTextIndexes(in: name)
      where !definitions.fullTextIndexes.contains(index) {
        _ = try writer.dropIndex(index.name, in: name)
      }
    }
  }
}

extension StoreCopy {
  /// Ends a savepoint whose changes are discarded.
  private struct Undone: Error {}

  /// Creates each definition in the still empty collection, and rolls it back.
  private func requireSupport(_ collection: String, _ writer: any EngineWriter) throws {
    // Not skipped with others: the documents would never expire in the copy.
    if try source.expiringCollections().contains(where: { $0.folded == collection.folded }),
      let error = try refusal(writer, { try $0.setExpirations([(1, .max)], in: collection) })
    {
      throw error.adding(.collection, collection)
    }
    guard !options.skippingUnsupported else { return }
    for definition in try CollectionDefinitions(of: collection, source).all {
      if let error = try refusal(writer, { try definition.make($0, collection) }) {
        throw error.adding(.collection, collection).adding(.index, definition.name)
      }
    }
    if let feed = try source.feed(of: collection),
      let error = try refusal(writer, { try $0.setTracking(feed, of: collection) })
    {
      throw error.adding(.collection, collection)
    }
  }

  /// Makes a change and rolls it back. Returns the error if the engine does not support it.
  func refusal(
    _ writer: any EngineWriter, _ change: (any EngineWriter) throws -> Void
  ) throws -> StoreError? {
    do {
      try writer.savepoint {
        try change(writer)
        throw Undone()
      }
      return nil
    } catch is Undone {
      return nil
    } catch let error as StoreError where error.code == .unsupported {
      return error
    }
  }

  /// Applies the settings and indexes of the source's collection to the target's.
  func define(_ collection: String) throws {
    progress.collection = collection
    let settings = try source.settings(of: collection)
    let definitions = try CollectionDefinitions(of: collection, source)
    try target.write(nil) { writer in
      if try writer.settings(of: collection) != settings {
        try writer.setSettings(settings, of: collection)
      }
      if definitions.policy == .declared, try writer.indexing(in: collection) != .declared {
        try writer.setIndexing(.declared, in: collection, nil)
      }
      // In the same transaction: by the rule alone, documents may have expired that have a later expiration.
      try copyExpirations(of: collection, writer)
    }
    for definition in definitions.all {
      do {
        try target.write(nil) { try definition.make($0, collection) }
      } catch let error as StoreError {
        guard error.code == .unsupported, options.skippingUnsupported else {
          throw error.adding(.collection, collection).adding(.index, definition.name)
        }
        omit(definition.name, of: collection, error)
      }
      try reportProgress()
    }
    try copyFeed(of: collection)
  }

  func copyMetadata() throws {
    let expected = Set(try source.metadataNames().map { ExactName($0) })
      .subtracting(CollectionDefinitions.ownNames)
    try target.write(nil) { writer in
      for name in try writer.metadataNames().map({ ExactName($0) })
      where !expected.contains(name) && !CollectionDefinitions.ownNames.contains(name) {
        try writer.setMetadata(nil, name.text)
      }
      for name in expected.sorted().map(\.text) {
        try writer.setMetadata(try source.metadata(name), name)
      }
    }
  }
}
