// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
import NanoEngine
import NanoQuery
package import NanoStoreCore
import Synchronization

/// A collection as a database of the replication protocol: its documents with their revisions.
///
/// Programs use the collection as any other. Their changes get revisions when the database is used: the change feed of the
/// collection says what has changed.
package final class SyncDatabase: Sendable {
  package let collection: DocumentCollection
  package var store: Store { collection.store }
  /// The name of the collection.
  package let name: String
  /// The internal collection of ``RevisionRecord``.
  let records: String
  let stateKey: DocumentKey
  /// Reports changes that are made through this object.
  package let changeSignal = ChangeSignal()
  let revised = Mutex(RevisedChanges())
  /// Returns what makes the revision of an edit another one than that of an equal edit elsewhere.
  let distinction: @Sendable () -> Int64

  /// What follows the name of the collection in the keys of what sync stores beside its state.
  static let localInfix = "/_local/"
  static let conflictInfix = "/conflict/"
  static let securitySuffix = "/security"

  /// - Parameter distinction: Not random in tests that are repeated.
  /// - Throws: ``StoreError/Code/invalidName`` for an internal collection.
  package init(
    _ collection: DocumentCollection,
    distinction: @escaping @Sendable () -> Int64 = { .random(in: .min ... .max) }
  ) throws(StoreError) {
    try InternalCollection.refuse(collection.name)
    self.distinction = distinction
    self.collection = collection
    name = collection.name
    records = InternalCollection.revisions(of: collection.name).rawValue
    stateKey = try DocumentKey(collection.name.foldingASCII)
  }

  /// Returns whether the collection has revisions.
  package func isEnabled() throws -> Bool {
    try store.reading(.call) { reader in
      try state(reader) != nil && reader.feed(of: name) != nil
        && reader.keepsPreviousBodies(in: name)
    }
  }

  /// Makes the collection ready for replication. Does nothing if it is.
  ///
  /// - Parameter creates: Whether a collection that does not exist is created. If not, one that is dropped meanwhile is
  ///   not brought back.
  /// - Throws: ``StoreError/Code/notFound`` for a collection that does not exist and is not created;
  ///   ``StoreError/Code/valueNotStorable`` if a document has a field that the protocol reserves,
  ///   ``StoreError/Code/invalidName`` for a name with `/security` at the end, or with `/_local` or `/conflict` there or
  ///   before a slash, ``StoreError/Code/unsupported`` if the engine does not track changes. Nothing has changed.
  package func enable(creates: Bool = true) throws {
    if try isEnabled() { return }
    try checkName()
    try store.write(retries: Self.retries) {
      try store.writing { writer in
        // On a server, the list may otherwise contain a collection that another transaction is about to drop.
        try writer.prepare([TransactionUse(name, keys: nil)])
        if try writer.collections().allSatisfy({ $0.name.folded != name.folded }) {
          guard creates else {
            throw StoreError(.notFound, "The collection does not exist", [.collection: name])
          }
          try writer.createCollection(CollectionDescription(name: name, identity: .key))
        }
        try checkDocuments(writer)
        try forgetDropped(writer)
        let internals = [InternalCollection.syncState, .revisions(of: name)]
        let existing = Set(try writer.collections().map(\.name.folded))
        for collection in internals where !existing.contains(collection.rawValue.folded) {
          try writer.createCollection(collection.description)
        }
        for collection in [name, records] where try writer.feed(of: collection) == nil {
          try writer.setTracking(FeedState(timeline: FeedState.newTimeline()), of: collection)
        }
        if try !writer.keepsPreviousBodies(in: name) {
          try writer.setKeepsPreviousBodies(true, of: name)
        }
        if try state(writer) == nil {
          try setState(SyncState(uuid: UUID().uuidString.lowercased()), writer)
        }
      }
    }
  }

  /// Forgets the revisions of a collection that was dropped. Otherwise, its documents would be deleted in other stores.
  ///
  /// A collection whose tracking was turned off keeps the bodies of documents. A copy does not, and has the same feed.
  private func forgetDropped(_ writer: any EngineWriter) throws {
    guard let state = try existingState(writer), try !writer.keepsPreviousBodies(in: name) else {
      return
    }
    if let feed = try writer.feed(of: name), state.continues(feed) {
      return try connectCopies(state, writer)
    }
    try forget(writer)
  }

  /// Refuses a name with which the key of the state could be that of something else that belongs to another database.
  private func checkName() throws(StoreError) {
    guard Self.isPossible(name: name) else {
      throw StoreError(
        .invalidName, "The name of a synced collection has a part that sync uses",
        [.collection: name, .hint: "use a name without that part"])
    }
  }

  /// Whether a collection of this name can be synced.
  package static func isPossible(name: String) -> Bool {
    let folded = name.foldingASCII
    return !folded.hasExactSuffix(securitySuffix)
      && ![localInfix, conflictInfix].contains { "\(folded)/".contains(exactly: $0) }
  }

  private func existingState(_ reader: any EngineReader) throws -> SyncState? {
    let names = try reader.collections().map(\.name.folded)
    return names.contains(SyncState.collection.folded) ? try state(reader) : nil
  }

  /// Deletes what sync knows about the collection.
  func forget(_ writer: any EngineWriter) throws {
    _ = try writer.dropCollection(records)
    guard try existingState(writer) != nil else { return }
    // Not all keys that begin with the name and a slash: that may be the beginning of another name.
    let keys = try [Self.localInfix, Self.conflictInfix].flatMap {
      try stateKeys("\(stateKey)\($0)", writer)
    }
    for key in try keys.map({ try DocumentKey($0) }) + [securityKey, stateKey] {
      _ = try writer.delete(.key(key), from: SyncState.collection)
    }
  }

  /// Returns the names of the collections of a store that have revisions, sorted.
  package static func enabled(in store: Store) throws -> [String] {
    try store.collections().map(\.name).filter { name in
      try SyncDatabase(store[name]).isEnabled()
    }
  }

  /// How often a transaction is repeated that another one was in the way of. Arbitrary.
  static let retries = 20

  private func checkDocuments(_ reader: any EngineReader) throws {
    try reader.find(Query(), in: name) { stored in
      _ = try DocumentMapping.parts(of: Document(stored, in: name))
      return true
    }
  }
}

extension SyncDatabase {
  func state(_ reader: any EngineReader) throws -> SyncState? {
    var state: SyncState?
    try reader.get(.key(stateKey), in: SyncState.collection) { stored in
      state = SyncState(try Document(stored, in: SyncState.collection).object())
    }
    return state
  }

  func requireState(_ reader: any EngineReader) throws -> SyncState {
    guard let state = try state(reader) else { throw Self.notEnabled(name) }
    return state
  }

  /// Returns the state before a write; nil if the collection was dropped, which the write would create again.
  func enabledState(_ reader: any EngineReader) throws -> SyncState? {
    guard let state = try state(reader) else { return nil }
    // The state of a dropped collection stays. Only one that is set up again keeps previous bodies.
    return try reader.keepsPreviousBodies(in: name) ? state : nil
  }

  func requireEnabled(_ reader: any EngineReader) throws -> SyncState {
    guard let state = try enabledState(reader) else { throw Self.notEnabled(name) }
    return state
  }

  /// The operation of ``notEnabled(_:)``, which a server reports otherwise than other errors with its code.
  static let notEnabledOperation = "sync"

  package static func notEnabled(_ name: String) -> StoreError {
    StoreError(
      .invalidArgument, "The collection is not set up for sync",
      [.collection: name, .operation: notEnabledOperation, .hint: "call enableSync(for:)"])
  }

  /// The number of revisions that are kept for each leaf.
  package func revisionLimit() throws -> Int {
    try store.reading(.call) { try requireState($0).revisionLimit }
  }

  package func setRevisionLimit(_ limit: Int) throws {
    try store.write(retries: Self.retries) {
      try store.writing { writer in
        var state = try requireState(writer)
        state.revisionLimit = max(1, limit)
        try setState(state, writer)
      }
    }
  }

  /// Documents that are not synced, with the reason: they have fields that the protocol reserves, or cannot be read.
  package func problems() throws -> IDMap<String> {
    try store.reading(.call) { reader in
      var problems = IDMap<String>()
      for (key, reason) in try requireState(reader).problems { problems[key] = reason.string }
      return problems
    }
  }

  /// A random text that identifies the database as long as it exists.
  package func uuid() throws -> String { try store.reading(.call) { try requireState($0).uuid } }

  func setState(_ state: SyncState, _ writer: any EngineWriter) throws {
    try save(state.body, stateKey, into: SyncState.collection, writer)
  }

  @discardableResult
  func save(
    _ object: DocumentObject, _ key: DocumentKey, into collection: String,
    _ writer: any EngineWriter
  ) throws -> Int64 {
    var json = JSONWriter(capacity: 256)
    json.object(object)
    try json.checkStorable(limit: .max)
    return try writer.save(
      NewDocument(key: key, added: 0, body: json.bytes), into: collection)
  }

  func record(_ key: DocumentKey, _ reader: any EngineReader) throws -> RevisionRecord? {
    var record: RevisionRecord?
    try reader.get(.key(key), in: records) { record = try RevisionRecord($0, in: records) }
    return record
  }

  func records(
    _ keys: some Collection<DocumentKey>, _ reader: any EngineReader
  ) throws -> [DocumentKey: RevisionRecord] {
    var found: [DocumentKey: RevisionRecord] = [:]
    try reader.get(keys: Array(keys), in: records) { stored in
      let record = try RevisionRecord(stored, in: records)
      found[record.id] = record
    }
    return found
  }

  /// Returns the stored documents by key. One that does not decrypt has no content, which reading its fields reports.
  func documents(
    _ keys: some Collection<DocumentKey>, _ reader: any EngineReader
  ) throws -> [DocumentKey: Document] {
    let keys = Array(keys)
    var found: [DocumentKey: Document] = [:]
    func show(_ stored: StoredDocument) {
      if let key = stored.key { found[key] = Document(stored, in: name) }
    }
    let unreadable = try Self.unreadable(keys) { try reader.get(keys: $0, in: name, show) }
    for key in unreadable.keys {
      found[key] = Document(
        Document.Header(collection: name, key: key),
        copying: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return found
  }

  /// Passes the documents with row IDs, which are ascending, to a closure, some of them perhaps twice.
  ///
  /// - Returns: The errors of those that do not decrypt, by row ID.
  func get(
    rowIDs: [Int64], _ reader: any EngineReader, _ show: (StoredDocument) throws -> Void
  ) throws -> [Int64: StoreError] {
    try Self.unreadable(rowIDs) { try reader.get(rowIDs: $0, in: name, show) }
  }

  /// Reads documents together, or in ever smaller parts if one does not decrypt: it must not keep others from being read.
  ///
  /// - Returns: The errors of those that do not decrypt.
  private static func unreadable<ID: Hashable>(
    _ ids: [ID], _ read: ([ID]) throws -> Void
  ) throws -> [ID: StoreError] {
    do {
      try read(ids)
      return [:]
    } catch let error as StoreError where error.code == .corruptDocument {
      guard ids.count > 1 else { return ids.first.map { [$0: error] } ?? [:] }
      let middle = ids.count / 2
      return try unreadable(Array(ids[..<middle]), read)
        .merging(unreadable(Array(ids[middle...]), read)) { first, _ in first }
    }
  }

  func save(_ records: [RevisionRecord], _ writer: any EngineWriter) throws {
    let (kept, removed) = (
      records.filter { !$0.tree.isEmpty }, records.filter { $0.tree.isEmpty }
    )
    for record in removed { _ = try writer.delete(.key(record.id), from: self.records) }
    // In one call, which a server answers at once.
    var (bytes, ends) = ([UInt8](), [Int]())
    for record in kept {
      var json = JSONWriter(capacity: 256)
      json.object(record.body)
      if json.failure != nil || json.count > RevisionRecord.maximumLength {
        var smaller = record
        smaller.limitAncestors()
        json.removeAll()
        json.object(smaller.body)
      }
      try json.checkStorable(limit: .max)
      bytes.append(contentsOf: json.bytes)
      ends.append(bytes.count)
    }
    if !kept.isEmpty {
      try bytes.withUnsafeBytes { bytes in
        var (documents, start) = ([NewDocument](), 0)
        for (record, end) in zip(kept, ends) {
          documents.append(
            NewDocument(
              key: record.id, added: 0, body: UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
          start = end
        }
        var rowIDs: [Int64] = []
        for batch in stride(from: 0, to: documents.count, by: writer.preferredBatchSize) {
          let end = min(batch + writer.preferredBatchSize, documents.count)
          try writer.save(Array(documents[batch..<end]), into: self.records, &rowIDs)
        }
        try requireLast(rowIDs, writer)
      }
    }
    for record in records { try noteConflict(record, writer) }
  }
}

extension RevisionRecord {
  init(_ stored: StoredDocument, in collection: String) throws {
    guard let key = stored.key else {
      throw StoreError(
        .corruptDocument, "A record of revisions has no key", [.rowID: "\(stored.rowID)"])
    }
    try self.init(key, try Document(stored, in: collection).object())
  }
}
