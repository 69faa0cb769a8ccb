// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What there is beside documents.
extension StoreCopy {
  /// Makes the collections and leaves the mark, in one transaction.
  ///
  /// - Throws: If the target is not for this copy, or cannot have what the source has. It is as it was.
  func prepare(_ collections: [CollectionDescription]) throws {
    try target.write(nil) { writer in
      let known = try writer.metadata(CopyCheckpoint.name).flatMap { CopyCheckpoint($0) }
      isContinued = known.map { $0.isOfSameSource(as: mark) } ?? false
      let isEmpty = try writer.collections().isEmpty && writer.metadataNames().isEmpty
      guard isEmpty || isContinued || options.replacing else {
        throw StoreError(
          .alreadyExists,
          known == nil
            ? "The target holds something already"
            : "The target is an unfinished copy of another store",
          [.hint: "copy into an empty store, or replace what is there"])
      }
      if isContinued {
        try removeOthers(collections, writer)
      } else {
        try removeEverything(writer)
      }
      for collection in collections {
        do { try writer.createCollection(collection) } catch let error as StoreError {
          throw error.adding(.collection, collection.name)
        }
        if !isContinued { try requireSupport(collection.name, writer) }
      }
      // As they are now; those of collections that were dropped are of no use.
      try writer.setMetadata(mark.value, CopyCheckpoint.name)
    }
  }

  private func removeEverything(_ writer: any EngineWriter) throws {
    for collection in try writer.collections() { _ = try writer.dropCollection(collection.name) }
    for name in try writer.metadataNames() { try writer.setMetadata(nil, name) }
  }

  /// Removes the collections and indexes that the source does not have any more. A unique one would refuse
  /// documents.
  private func removeOthers(
    _ collections: [CollectionDescription], _ writer: any EngineWriter
  ) throws {
    let wanted = Dictionary(
      collections.map { ($0.name.folded, $0) }, uniquingKeysWith: { $1 })
    for collection in try writer.collections() {
      guard let same = wanted[collection.name.folded], same.identity == collection.identity
      else {
        _ = try writer.dropCollection(collection.name)
        continue
      }
      let name = collection.name
      let definitions = try CollectionDefinitions(of: name, source)
      for index in try writer.indexes(in: name)
      where !definitions.indexes.contains(where: {
        $0.name.isSame(as: index.name) && $0.isSame(as: index)
      }) { _ = try writer.dropIndex(index.name, in: name) }
      for index in try writer.textIndexes(in: name) where !definitions.textIndexes.contains(index) {
        _ = try writer.dropIndex(index.name, in: name)
      }
    }
  }
}

extension StoreCopy {
  /// Ends a savepoint whose changes nobody wants.
  private struct Undone: Error {}

  /// Makes each definition in the collection, which is empty still, and takes it back.
  private func requireSupport(_ collection: String, _ writer: any EngineWriter) throws {
    guard !options.skippingUnsupported else { return }
    for definition in try CollectionDefinitions(of: collection, source).all {
      do {
        try attempt(definition, collection, writer)
      } catch let error as StoreError where error.code == .unsupported {
        throw error.adding(.collection, collection).adding(.index, definition.name)
      }
    }
  }

  /// Why the engine cannot have a definition; nil if it can.
  func refusal(
    of definition: CollectionDefinitions.Definition, _ collection: String,
    _ writer: any EngineWriter
  ) throws -> String? {
    do {
      try attempt(definition, collection, writer)
      return nil
    } catch let error as StoreError where error.code == .unsupported {
      return error.message
    }
  }

  /// Makes a definition and takes it back.
  private func attempt(
    _ definition: CollectionDefinitions.Definition, _ collection: String, _ writer: any EngineWriter
  ) throws {
    do {
      try writer.savepoint {
        try definition.make(writer, collection)
        throw Undone()
      }
    } catch is Undone {}
  }

  /// Gives the target's collection the settings and indexes of the source's.
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
    }
    for definition in definitions.all {
      do {
        try target.write(nil) { try definition.make($0, collection) }
      } catch let error as StoreError {
        guard error.code == .unsupported, options.skippingUnsupported else {
          throw error.adding(.collection, collection).adding(.index, definition.name)
        }
        leftOut.append(
          CopyReport.LeftOut(
            collection: collection, definition: definition.name, reason: error.message))
      }
      try tell()
    }
  }

  func copyMetadata() throws {
    let wanted = Set(try source.metadataNames().map { ExactName($0) })
      .subtracting(CollectionDefinitions.ownNames)
    try target.write(nil) { writer in
      for name in try writer.metadataNames().map({ ExactName($0) })
      where !wanted.contains(name) && !CollectionDefinitions.ownNames.contains(name) {
        try writer.setMetadata(nil, name.text)
      }
      for name in wanted.sorted().map(\.text) {
        try writer.setMetadata(try source.metadata(name), name)
      }
    }
  }
}
