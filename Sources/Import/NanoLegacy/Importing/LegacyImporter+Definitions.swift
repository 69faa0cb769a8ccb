// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension LegacyImporter {
  /// Creates the collections, and checks their settings and the metadata.
  func prepare() throws {
    for definition in source.collections {
      let collection = try store.createCollection(
        definition.name, identity: definition.identity)
      try reserveRowIDs(of: definition, in: collection)
      change(definition.className, definition.name) { $0.add(definition.notes) }
      if options.existing == .fail { try requireCompatible(definition, collection) }
    }
    guard options.existing == .fail else { return }
    for (name, value) in source.metadata {
      if let known = try store.metadata(name), known != value { throw Self.exists(name) }
    }
  }

  private func requireCompatible(
    _ definition: LegacyCollection, _ collection: DocumentCollection
  ) throws {
    let (defaults, aliases) = (try collection.defaults(), try collection.aliases())
    let settings = definition.settings
    guard
      defaults.isEmpty || settings.defaults.isEmpty || defaults == settings.defaults,
      aliases.isEmpty || settings.aliases.isEmpty
        || aliases.byExactName == settings.aliases.byExactName
    else {
      throw StoreError(
        .alreadyExists, "The target has other defaults or aliases for an imported collection",
        [
          .collection: definition.name,
          .hint: "replace or skip existing settings, or use an empty target",
        ])
    }
  }

  private static func exists(_ name: String) -> StoreError {
    StoreError(
      .alreadyExists, "The target has another metadata value with the name of an imported one",
      [.key: name, .hint: "replace or skip existing values, or use an empty target"])
  }

  /// Creates indexes, settings and metadata.
  func finish() throws {
    for definition in source.collections { try define(definition) }
    for (name, value) in source.metadata {
      if options.existing == .skip, try store.metadata(name) != nil { continue }
      try store.setMetadata(value, name)
      checkpoint.report.metadata += 1
    }
  }
}

extension LegacyImporter {
  private func define(_ definition: LegacyCollection) throws {
    let collection = store[definition.name]
    try applySettings(of: definition, to: collection)
    for index in definition.indexes { try create(index, definition, in: collection) }
    for field in definition.textIndexes {
      try defining(definition) {
        try collection.createFullTextIndex(field.description, tokens: .substrings)
      }
    }
  }

  private func applySettings(
    of definition: LegacyCollection, to collection: DocumentCollection
  ) throws {
    let settings = definition.settings
    let isKept = options.existing == .skip
    if !settings.defaults.isEmpty, try !isKept || collection.defaults().isEmpty {
      try collection.setDefaults(settings.defaults)
    }
    if !settings.aliases.isEmpty, try !isKept || collection.aliases().isEmpty {
      try collection.setAliases(settings.aliases)
    }
    guard !settings.queryableFields.isEmpty else { return }
    let keys = IndexDefinition(columns: settings.queryableFields.map { .init($0) }).keys
    try defining(definition) { try collection.addQueryableFields(keys) }
  }

  private func create(
    _ index: LegacyCollection.Index, _ definition: LegacyCollection,
    in collection: DocumentCollection
  ) throws {
    let keys = IndexDefinition(columns: index.keys).keys
    try defining(definition) {
      do {
        try collection.createIndex(keys: keys, unique: index.isUnique)
      } catch let error as StoreError
        where error.code == .uniqueViolation || index.isUnique && error.code == .unsupported
      {
        try collection.createIndex(keys: keys)
        change(definition.className, definition.name) { $0.add(.indexNotUnique) }
      }
    }
  }

  /// Creates a definition, or counts it if the store does not support it.
  private func defining(_ definition: LegacyCollection, _ create: () throws -> Void) throws {
    do {
      try create()
    } catch let error as StoreError
      where [
        .unsupported, .invalidQuery, .invalidPath, .invalidArgument, .invalidName, .alreadyExists,
      ]
      .contains(error.code)
    {
      change(definition.className, definition.name) { $0.add(.droppedDefinition) }
    }
  }

  /// Prevents the target from assigning row IDs that the old store has used.
  private func reserveRowIDs(
    of definition: LegacyCollection, in collection: DocumentCollection
  ) throws {
    // If the highest row ID of all is taken, there is no next one, and nothing to reserve.
    guard let highest = definition.highestRowID, highest > 0, highest < .max,
      let next = try? store.write({ try collection.nextRowID() }), next <= highest
    else { return }
    try store.write {
      // Engines never reuse the row IDs of rows that existed.
      _ = try collection.writeBatch(.insert) { batch, writer in
        writer.literal("{}")
        try batch.add(&writer, rowID: highest)
      }
      try collection.delete(rowID: highest)
    }
  }
}
