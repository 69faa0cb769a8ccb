// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

/// Records that a transaction changes, and the documents that it has to store for them.
struct PendingRecords {
  var records: [DocumentKey: RevisionRecord]
  /// The documents of the collection, as far as they have been read.
  private var documents: [DocumentKey: Document]
  /// Documents to be stored, with the content of the winning revisions.
  private var saved: [DocumentKey: SyncDocument] = [:]
  /// The stored form of revisions, as far as it was needed before.
  private var mapped: [DocumentKey: (revision: RevisionID, document: Document)] = [:]
  private var deleted: Set<DocumentKey> = []
  private var changedKeys = OrderedKeys()
  /// In the order in which they were changed.
  var changed: [RevisionRecord] { changedKeys.keys.compactMap { records[$0] } }

  init(
    _ records: [DocumentKey: RevisionRecord], documents: [DocumentKey: Document] = [:]
  ) {
    self.records = records
    self.documents = documents
  }

  /// Returns the record of a document, whose state in the collection has a revision.
  mutating func record(
    _ key: DocumentKey, _ state: inout SyncState, _ database: SyncDatabase,
    _ writer: any EngineWriter
  ) throws -> RevisionRecord {
    var record = records[key] ?? RevisionRecord(key)
    guard saved[key] == nil, !deleted.contains(key), !record.isHidden else { return record }
    if let document = documents[key] {
      if let rowID = document.rowID, record.row?.rowID != rowID {
        try assignFormerKeys(ofRow: rowID, except: key, &state, database, writer)
      }
      if try database.assign(document, &record, &state, writer) { changedKeys.insert(key) }
      // What has no revision must not be replaced: it would be lost. The row of a foreign document does not tell.
      if document.revision == nil { _ = try DocumentMapping.parts(of: document) }
      guard record.row?.rowID == document.rowID, record.row?.revision == document.revision else {
        _ = try DocumentMapping.parts(of: document)
        throw SyncDatabase.conflict(key.description)
      }
    } else if record.row != nil {
      // A program deleted it, and the feed has not been read so far.
      try database.assignDeletion(&record, &state, writer)
      changedKeys.insert(key)
      documents[key] = try database.documents([key], writer)[key]
    }
    records[key] = record
    return record
  }

  /// A row to which another program has given another key, or that is another document now, is deleted under the former key.
  /// Only the previous body tells, which the row loses when it gets a revision.
  private mutating func assignFormerKeys(
    ofRow rowID: Int64, except key: DocumentKey, _ state: inout SyncState,
    _ database: SyncDatabase, _ writer: any EngineWriter
  ) throws {
    for former in try database.formerKeys(ofRow: rowID, writer) where former != key {
      guard saved[former] == nil, !deleted.contains(former),
        var record = try records[former] ?? database.record(former, writer),
        record.row?.rowID == rowID
      else { continue }
      try database.assignDeletion(&record, &state, writer)
      records[former] = record
      changedKeys.insert(former)
      // The loser of a conflict may be the document now.
      documents[former] = try database.documents([former], writer)[former]
    }
  }

  /// Returns the content of the winning revision if it is live.
  func winningContent(_ record: RevisionRecord) throws -> RevisionRecord.Content? {
    guard let winner = record.tree.winner else { return nil }
    if let staged = saved[record.id] {
      return RevisionRecord.Content(body: staged.body, attachments: staged.attachments)
    }
    if let content = record.bodies[winner.id] { return content }
    guard record.row != nil, let document = documents[record.id] else { return nil }
    return RevisionRecord.Content(
      body: try DocumentMapping.parts(of: document).body, attachments: record.attachments)
  }

  /// Replaces a record, and moves the content of the former winner out of the document if there is another one. Of former
  /// leaves, only the newest keep their content.
  mutating func replace(
    _ old: RevisionRecord, with new: RevisionRecord, _ database: SyncDatabase,
    _ writer: any EngineWriter
  ) throws {
    var new = new
    let winner = new.tree.winner
    if let before = old.tree.winner, !before.isDeleted, !old.isHidden, before.id != winner?.id,
      new.tree.contains(before.id), let content = try winningContent(old)
    {
      new.bodies[before.id] = content
    }
    new.trimAncestors()
    records[new.id] = new
    changedKeys.insert(new.id)
    if old.tree.winner?.id != winner?.id || old.tree.winner?.isDeleted != winner?.isDeleted {
      try settle(new.id, database, writer)
    }
  }

  /// Makes the winning revision the document.
  mutating func settle(
    _ key: DocumentKey, _ database: SyncDatabase, _ writer: any EngineWriter
  ) throws {
    guard var record = records[key], !record.isHidden else { return }
    changedKeys.insert(key)
    guard let winner = record.tree.winner, !winner.isDeleted else {
      if record.row != nil || saved[key] != nil { deleted.insert(key) }
      saved[key] = nil
      record.row = nil
      record.attachments = []
      records[key] = record
      return
    }
    guard let content = record.bodies[winner.id] else {
      throw StoreError(
        .corruptDocument, "The content of a revision is missing", [.key: key.description])
    }
    deleted.remove(key)
    record.bodies[winner.id] = nil
    record.attachments = content.attachments
    records[key] = record
    saved[key] = SyncDocument(
      id: key.description, revision: winner.id, body: content.body,
      attachments: content.attachments)
  }

  /// Rejects what the store cannot hold.
  mutating func check(_ document: SyncDocument) throws {
    if let field = document.body.first(where: { DocumentMapping.isReserved($0.name) })?.name {
      throw StoreError(
        .valueNotStorable, "A field that begins with an underscore is reserved for the protocol",
        [.field: field, .key: document.id, .hint: "rename the field"])
    }
    let stored = try DocumentMapping.document(document)
    // References to attachments are resolved later.
    if document.attachments.isEmpty, let key = stored.header.key {
      mapped[key] = (document.revision, stored)
    }
  }

  /// Returns the stored form of a revision.
  private func stored(_ key: DocumentKey) throws -> Document? {
    guard let document = saved[key] else { return nil }
    if document.attachments.isEmpty, let mapped = mapped[key],
      mapped.revision == document.revision
    {
      return mapped.document
    }
    return try DocumentMapping.document(document)
  }

  /// Stores the documents.
  mutating func finish(
    _ database: SyncDatabase, _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    let former = (Array(saved.keys) + deleted).compactMap { documents[$0]?.rowID }
    for key in deleted { try database.collection.delete(key.description) }
    if !saved.isEmpty {
      try database.collection.save(changedKeys.keys.compactMap { try stored($0) })
      var rows: [Int64] = []
      var unseen = saved
      try writer.get(keys: Array(saved.keys), in: database.name) { stored in
        guard let key = stored.key else { return }
        unseen[key] = nil
        records[key]?.row = RevisionRecord.Row(rowID: stored.rowID, revision: stored.revision)
        rows.append(stored.rowID)
      }
      // What was replaced is among the records.
      if try !former.isEmpty || database.hasPreviousBodies(writer) {
        try writer.removePreviousBodies(ofRows: Array(Set(rows + former)), in: database.name)
      }
      for (key, document) in unseen {
        try expire(key, document, database, &state, writer)
      }
    } else if !former.isEmpty {
      try writer.removePreviousBodies(ofRows: former, in: database.name)
    }
    for key in Array(saved.keys) + deleted { documents[key] = nil }
    saved = [:]
    deleted = []
  }

  /// Gives a deletion to a document that had expired when it was stored, by the collection's rule: no read returns it.
  private mutating func expire(
    _ key: DocumentKey, _ document: SyncDocument, _ database: SyncDatabase,
    _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    guard var record = records[key] else { return }
    record.row = nil
    try database.assignDeletion(&record, &state, writer)
    record.keepAncestor(
      document.revision,
      RevisionRecord.Content(body: document.body, attachments: document.attachments))
    records[key] = record
  }
}
