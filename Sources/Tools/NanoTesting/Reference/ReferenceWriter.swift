// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A transaction with its own copy of the state, which replaces the engine's state on commit.
final class ReferenceWriter: ReferenceReader, EngineWriter {
  /// Returns nil, because the changes of the transaction may be rolled back.
  override func committedState() throws -> CommittedState? { nil }

  var expiry = ExpiryLog()

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    sweep(collection)
    var found = try collectionForWriting(collection)
    var stored = try ReferenceDocument(document, rowID: document.rowID ?? found.lastRowID + 1)
    guard found.position(of: .rowID(stored.rowID)) == nil else {
      throw StoreError.duplicateRowID(stored.rowID, in: found.description.name)
    }
    if let key = stored.key, found.position(of: .key(key)) != nil {
      throw StoreError.duplicateKey(key, in: found.description.name)
    }
    try found.checkUnique(stored)
    // The row ID may have been used before.
    if stored.rowID <= found.lastRowID { stored.revision = .random(in: 2..<1 << 52) }
    let position = found.documents.firstIndex { $0.rowID > stored.rowID }
    found.documents.insert(stored, at: position ?? found.documents.endIndex)
    found.lastRowID = max(found.lastRowID, stored.rowID)
    try found.observe(stored.object)
    state[collection] = found
    try applyRule(to: stored.rowID, in: collection)
    return stored.rowID
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    sweep(collection)
    guard let key = document.key,
      let found = state[collection], let position = found.position(of: .key(key))
    else { return try insert(document, into: collection) }
    try replace(at: position, with: document, in: collection)
    return found.documents[position].rowID
  }

  /// Skips row IDs, as an engine with concurrent writers does for documents that were rejected or rolled back.
  func skipRowIDs(through last: Int64?, in collection: String) {
    guard let last, var found = state[collection], found.lastRowID < last else { return }
    found.lastRowID = last
    state[collection] = found
  }

  func nextRowID(in collection: String) throws -> Int64 {
    try collectionForWriting(collection).lastRowID + 1
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    sweep(collection)
    guard let position = state[collection]?.position(of: identity) else { return false }
    if let found = state[collection]?.documents[position],
      !document.mayReplace(rowID: found.rowID, revision: found.revision)
    {
      return false
    }
    try replace(at: position, with: document, in: collection)
    return true
  }

  private func replace(at position: Int, with document: NewDocument, in collection: String) throws {
    guard var found = state[collection] else { return }
    let stored = try found.documents[position].replaced(by: document)
    try found.checkUnique(stored)
    found.documents[position] = stored
    try found.observe(stored.object)
    state[collection] = found
    try applyRule(to: stored.rowID, in: collection)
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    sweep(collection)
    guard let position = state[collection]?.position(of: identity) else { return false }
    state[collection]?.documents.remove(at: position)
    return true
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    let ids = Set(try found(by: query, in: collection).map(\.rowID))
    state[collection]?.documents.removeAll { ids.contains($0.rowID) }
    return ids.count
  }

  func createCollections(_ descriptions: [CollectionDescription]) throws {
    for description in descriptions { try create(description) }
  }

  private func create(_ description: CollectionDescription) throws {
    try StoredNames.validate(description)
    let name = description.name
    guard let existing = state[name] else {
      state[name] = ReferenceCollection(description: description)
      return
    }
    guard existing.description.identity == description.identity else {
      throw StoreError.collectionExists(existing.description)
    }
  }

  func createIfNeeded(_ name: String) throws { _ = try collectionForWriting(name) }

  private func collectionForWriting(_ name: String) throws -> ReferenceCollection {
    try state[name]
      ?? {
        try createCollection(CollectionDescription(name: name))
        return state[name]!
      }()
  }

  func dropCollection(_ name: String) throws -> Bool {
    guard state[name] != nil else { return false }
    state[name] = nil
    return true
  }

  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    try StoredNames.validate(.index, name: index.name)
    try index.validate()
    sweep(collection)
    var found = try collectionForWriting(collection)
    if let existing = found.indexes.first(where: { $0.name.hasSameBytes(as: index.name) }) {
      guard existing.hasSameEntries(as: index) else {
        throw StoreError.indexExists(index.name, in: collection)
      }
      return
    }
    guard !found.fullTextIndexes.contains(where: { $0.name.hasSameBytes(as: index.name) }) else {
      throw StoreError.fullTextIndexExists(index.name, in: collection)
    }
    found.indexes.append(index)
    guard try found.documents.allSatisfy({ try found.violation(by: $0) == nil }) else {
      throw StoreError(
        .uniqueViolation, "Documents have equal values, so the index cannot be unique",
        [.collection: collection, .index: index.name])
    }
    state[collection] = found
  }

  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    try StoredNames.validate(.index, name: index.name)
    try index.validate()
    var found = try collectionForWriting(collection)
    if found.fullTextIndexes.contains(index) { return }
    let names = found.fullTextIndexes.map(\.name) + found.indexes.map(\.name)
    guard !names.containsExactly(index.name) else {
      throw StoreError.indexExists(index.name, in: collection)
    }
    found.fullTextIndexes.append(index)
    state[collection] = found
  }

  func dropIndex(_ name: String, in collection: String) throws -> Bool {
    if let position = state[collection]?.fullTextIndexes.firstIndex(where: {
      $0.name.hasSameBytes(as: name)
    }) {
      state[collection]?.fullTextIndexes.remove(at: position)
      return true
    }
    guard
      let position = state[collection]?.indexes.firstIndex(where: { $0.name.hasSameBytes(as: name) }
      )
    else {
      return false
    }
    state[collection]?.indexes.remove(at: position)
    return true
  }

  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    var found = try collectionForWriting(collection)
    found.indexing = policy
    try savepoint {
      state[collection] = found
      try progress?(1)
    }
  }

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    try settings.validate()
    var found = try collectionForWriting(collection)
    let hasNewRule = found.settings.expiration != settings.expiration
    found.settings = settings
    state[collection] = found
    if hasNewRule { try setExpirationRule(of: collection) }
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    try StoredNames.validate(nil, name: name)
    state.metadata[ExactName(name)] = value
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    let (before, swept) = (state, expiry.swept)
    do {
      return try work()
    } catch {
      (state, expiry.swept) = (before, swept)
      throw error
    }
  }
}
