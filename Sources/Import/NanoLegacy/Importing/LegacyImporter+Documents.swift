// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension LegacyImporter {
  /// A stored document with the key or row ID of one to import.
  private struct Existing {
    let rowID: Int64
    let type: String?
    let revision: Int64?
  }

  /// Writes the pending documents.
  func writeDocuments() throws {
    guard let name = pending.collection, !pending.entries.isEmpty else { return }
    let position = position(of: name)
    let collection = store[name]
    let entries = withoutEarlierVersions()
    let existing = try existing(entries, in: collection)
    var new: [PendingRecords.Entry] = []
    for entry in entries {
      if let found = Self.identity(of: entry).flatMap({ existing[$0] }) {
        if try shouldInsert(entry, instead: found, of: collection, position) { new.append(entry) }
      } else {
        new.append(entry)
      }
    }
    try insert(new, into: collection, position)
  }

  private static func identity(of entry: PendingRecords.Entry) -> Identity? {
    entry.key.map(Identity.key) ?? entry.rowID.map(Identity.rowID)
  }

  /// Returns the entries, of those with the same key only the last one.
  private func withoutEarlierVersions() -> [PendingRecords.Entry] {
    var last: [DocumentKey: Int] = [:]
    for (index, entry) in pending.entries.enumerated() {
      guard let key = entry.key else { continue }
      if last.updateValue(index, forKey: key) != nil {
        change(entry.origin.className, pending.collection) { $0.add(.duplicateKey) }
      }
    }
    guard last.count < pending.entries.count else { return pending.entries }
    var rows: Set<Int64> = []
    return pending.entries.enumerated().compactMap { index, entry in
      if let key = entry.key { return last[key] == index ? entry : nil }
      guard let rowID = entry.rowID, !rows.insert(rowID).inserted else { return entry }
      skip(entry, Self.sameRow)
      return nil
    }
  }

  private func existing(
    _ entries: [PendingRecords.Entry], in collection: DocumentCollection
  ) throws -> [Identity: Existing] {
    let keys = entries.compactMap(\.key?.description)
    let rows = entries.filter { $0.key == nil }.compactMap(\.rowID)
    var found: [Identity: Existing] = [:]
    func add(_ condition: Condition, isByRowID: Bool) throws {
      try collection.find(condition).visitStored { stored in
        let identity: Identity? =
          isByRowID ? Identity.rowID(stored.rowID) : stored.key.map(Identity.key)
        guard let identity else { return true }
        found[identity] = Existing(
          rowID: stored.rowID, type: stored.type, revision: stored.revision)
        return true
      }
    }
    if !keys.isEmpty { try add(.key(in: keys), isByRowID: false) }
    if !rows.isEmpty {
      try add(
        .membership(.attribute(.rowID), rows.map { .value(.int($0)) }), isByRowID: true)
    }
    return found
  }

  /// Decides what happens to a document whose key or row ID exists. Returns whether it must be
  /// inserted.
  private func shouldInsert(
    _ entry: PendingRecords.Entry, instead found: Existing, of collection: DocumentCollection,
    _ position: Int
  ) throws -> Bool {
    // What others have changed since is theirs.
    if checkpoint.collections[position].documents.contains(found.rowID), found.revision == 1 {
      guard let key = entry.key else {
        skip(entry, Self.sameRow)
        return false
      }
      // An earlier row of the old store with the same key.
      change(found.type ?? NanoStoreSource.plainClass, collection.name) { $0.imported -= 1 }
      change(entry.origin.className, collection.name) { $0.add(.duplicateKey) }
      try collection.delete(key.description)
      return true
    }
    switch options.existing {
    case .fail: throw Self.exists(entry, collection.name)
    case .skip: skip(entry, "the target has a document with the same key or row ID")
    case .replace: try replace(entry, found.rowID, in: collection)
    }
    return false
  }

  static let sameRow = "another record has the same row ID"

  private static func exists(_ entry: PendingRecords.Entry, _ collection: String) -> StoreError {
    let error = StoreError(
      .duplicateKey, "The target has a document with the key or row ID of an imported one",
      [
        .collection: collection,
        .hint: "replace or skip existing documents, or use an empty target",
      ])
    guard let key = entry.key else { return error.adding(.rowID, "\(entry.rowID ?? 0)") }
    return error.adding(.key, key.description)
  }

  private func replace(
    _ entry: PendingRecords.Entry, _ rowID: Int64, in collection: DocumentCollection
  ) throws {
    do {
      let document = pending.withBody(of: entry) { body in
        Document(
          Document.Header(
            collection: collection.name, rowID: rowID, key: entry.key, type: entry.type,
            version: entry.version, added: entry.added), copying: body)
      }
      try collection.replace(document)
      change(entry.origin.className, collection.name) { $0.imported += 1 }
    } catch let error as StoreError where error.isOfRecord {
      skip(entry, error.reason)
    }
  }

  private func insert(
    _ entries: [PendingRecords.Entry], into collection: DocumentCollection, _ position: Int
  ) throws {
    guard !entries.isEmpty else { return }
    do {
      try insertBatch(entries, into: collection, position)
    } catch let error as StoreError where error.isOfRecord || error.code == .uniqueViolation {
      guard entries.count > 1 else { return try reject(entries[0], error, collection.name) }
      // The batch was rolled back as a whole; find the documents that fail.
      for entry in entries { try insert([entry], into: collection, position) }
    }
  }

  private func insertBatch(
    _ entries: [PendingRecords.Entry], into collection: DocumentCollection, _ position: Int
  ) throws {
    var entries = entries
    if identity(of: collection) == .key {
      for index in entries.indices where entries[index].key == nil {
        entries[index].key = try DocumentKey(UUID().uuidString.lowercased())
      }
    }
    let rowIDs = try collection.writeBatch(.insert, capacity: entries.count) { batch, writer in
      for entry in entries {
        pending.withBody(of: entry) { writer.raw($0) }
        try batch.add(
          &writer, key: entry.key, type: entry.type, version: entry.version, added: entry.added,
          rowID: entry.rowID)
      }
    }
    try verify(entries, rowIDs, in: collection)
    for entry in entries { change(entry.origin.className, collection.name) { $0.imported += 1 } }
    if let least = rowIDs.min(), let most = rowIDs.max(), entries[0].rowID != nil {
      // A range, since the old store may have many gaps. It comes in the order of row IDs, and the store assigns higher ones.
      checkpoint.collections[position].documents.add(least...most)
    } else {
      checkpoint.collections[position].documents.add(rowIDs)
    }
  }

  /// Compares what is stored of documents with what was read.
  private func verify(
    _ entries: [PendingRecords.Entry], _ rowIDs: [Int64], in collection: DocumentCollection
  ) throws {
    // Queries do not return expired documents.
    guard try collection.expirationRule() == nil else { return }
    let isByRowID = entries[0].rowID != nil
    var stored: [Int64: ContentDigest] = [:]
    let condition = Condition.membership(.attribute(.rowID), rowIDs.map { .value(.int($0)) })
    try collection.find(condition).visitStored { document in
      stored[document.rowID] = ContentDigest(document, isByRowID: isByRowID)
      return true
    }
    for (entry, rowID) in zip(entries, rowIDs) where stored[rowID] != pending.digest(of: entry) {
      throw StoreError(
        .database, "An imported document differs from that of the old store",
        [
          .collection: collection.name, .rowID: "\(rowID)",
          .hint: "remove triggers that change inserted documents",
        ])
    }
  }

  private func identity(of collection: DocumentCollection) -> CollectionIdentity? {
    source.collections.first { $0.name.hasSameBytes(as: collection.name) }?.identity
  }

  private func reject(
    _ entry: PendingRecords.Entry, _ error: StoreError, _ collection: String
  ) throws {
    guard error.code != .uniqueViolation || options.existing == .skip else {
      throw error.removing(.position).adding(.collection, collection)
    }
    skip(entry, error.reason)
  }

  private func skip(_ entry: PendingRecords.Entry, _ reason: String) {
    skip(
      entry.origin.className, pending.collection,
      LegacyImportReport.Skipped(
        position: entry.origin.position, key: entry.key?.description, reason: reason))
  }
}

extension LegacyImportReport.Class {
  mutating func add(_ kind: LegacyConversion) { conversions[kind, default: 0] += 1 }
}

extension StoreError {
  /// Whether the error concerns only one document, so that others may still be stored.
  fileprivate var isOfRecord: Bool {
    switch code {
    case .invalidJSON, .invalidKey, .invalidName, .invalidArgument, .valueNotStorable,
      .documentTooLarge, .typeMismatch, .corruptDocument:
      true
    default: false
    }
  }
}
