// SPDX-License-Identifier: MIT

import NanoDocument

/// Collections, indexes, settings, metadata, and adaptive indexing.
extension CheckedWriter {
  func createCollections(_ descriptions: [CollectionDescription]) throws {
    try checked { check in
      try writer.createCollections(descriptions)
      let isValid = descriptions.allSatisfy { (try? StoredNames.validate($0)) != nil }
      check.require(isValid, .acceptedInvalidName)
    }
  }

  func dropCollection(_ name: String) throws -> Bool {
    try checked { _ in
      defer { noteDropped(name) }
      return try writer.dropCollection(name)
    }
  }

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    try checked { check in
      try writer.setSettings(settings, of: collection)
      noteWritten(to: collection, check)
    }
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try checked { check in
      try writer.setMetadata(value, name)
      let isValid = (try? StoredNames.validate(nil, name: name)) != nil
      check.require(isValid, .acceptedInvalidName)
    }
  }

  func requireDecimals() throws { try checked { _ in try writer.requireDecimals() } }

  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    try checked { check in
      try writer.createIndex(index, in: collection)
      requireValid(index.name, in: collection, check)
    }
  }

  func dropIndex(_ name: String, in collection: String) throws -> Bool {
    try checked { _ in try writer.dropIndex(name, in: collection) }
  }

  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    try checked { check in
      try writer.createFullTextIndex(index, in: collection)
      requireValid(index.name, in: collection, check)
    }
  }

  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    try checked { check in
      try writer.setIndexing(policy, in: collection, progress.map(check.progress))
    }
  }

  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {
    try checked { check in
      try writer.rebuildIndexes(in: collection, progress.map(check.progress))
    }
  }

  @discardableResult
  func dropIndexes(in collection: String) throws -> Int {
    try checked { $0.requireCount(try writer.dropIndexes(in: collection), limit: nil) }
  }

  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    try checked { check in
      let isComplete = try writer.beginIndex(index, in: collection)
      requireValid(index.name, in: collection, check)
      return isComplete
    }
  }

  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool {
    try checked { _ in try writer.continueIndex(name, in: collection, documents: documents) }
  }

  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {
    try checked { _ in try writer.setIndexCostRecords(rows, of: collection) }
  }

  private func requireValid(_ index: String, in collection: String, _ check: ContractCheck) {
    noteWritten(to: collection, check)
    let isValid = (try? StoredNames.validate(.index, name: index)) != nil
    check.require(isValid, .acceptedInvalidName)
  }
}
