// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

// Gives revisions to the changes that programs made to the collection.
extension SyncDatabase {
  func assign(
    _ rows: [FeedRow], _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    var known = try records(Set(rows.compactMap(\.key)), writer)
    var documents: [Int64: Document] = [:]
    // Others have revisions from another process, or from before this one was started.
    let changedRows = rows.filter { !$0.isDeleted && !Self.hasRevision($0, known) }.map(\.rowID)
      .sorted()
    let unreadable = try get(rowIDs: changedRows, writer) { stored in
      documents[stored.rowID] = Document(stored, in: name)
    }
    let hasPrevious = try hasPreviousBodies(writer)
    let formerKeys = try writer.formerKeys(ofRows: changedRows, in: name)
    var changed = OrderedKeys()
    func assignFormerKeys(ofRow rowID: Int64, withKey key: DocumentKey?) throws {
      var former = formerKeys[rowID].map { [$0] } ?? []
      if hasPrevious { former += try previousKey(ofRow: rowID, writer) }
      for other in former where other != key {
        try assignFormerKey(other, ofRow: rowID, &known, &changed, &state, writer)
      }
    }
    for row in rows {
      if row.isDeleted {
        state.forgetRowProblem(of: row)
        guard let key = row.key, var record = known[key] else {
          state.forgetProblem(of: row)
          continue
        }
        // Otherwise, a problem may be that of the loser of a conflict, or of a document that has the key now.
        guard record.row?.rowID == row.rowID else {
          if record.row == nil, try self.documents([key], writer).isEmpty {
            state.forgetProblem(of: row)
            if record.tree.winner?.isDeleted == false {
              try settle(&record, &state, writer)
              known[key] = record
              changed.insert(key)
            }
          }
          continue
        }
        state.forgetProblem(of: row)
        try assignDeletion(&record, &state, writer)
        known[key] = record
        changed.insert(key)
      } else if let error = unreadable[row.rowID] {
        state.forgetProblem(of: row)
        state.note(error, row.key?.description ?? "row \(row.rowID)")
        try assignFormerKeys(ofRow: row.rowID, withKey: row.key)
      } else if let document = documents[row.rowID] {
        state.forgetProblem(of: row)
        guard let key = document.header.key else {
          do {
            _ = try DocumentMapping.parts(of: document)
            // Only this is rolled back if a unique index rejects the stored form.
            try store.write { try addKey(document, writer) }
          } catch let error as StoreError where error.concernsDocument {
            state.note(error, "row \(row.rowID)")
          }
          continue
        }
        try assignFormerKeys(ofRow: row.rowID, withKey: key)
        // A row of another program may have a key that is read as another one, which finds no row or a different one.
        guard
          try document.revision != nil
            || self.documents([key], writer)[key]?.rowID == row.rowID
        else {
          state.note(Self.unusableKey, "row \(row.rowID)")
          continue
        }
        var record = known[key] ?? RevisionRecord(key)
        guard try assign(document, &record, &state, writer, hasPrevious: hasPrevious) else {
          continue
        }
        known[key] = record
        changed.insert(key)
      }
    }
    try save(changed.keys.compactMap { known[$0] }, writer)
  }

  /// Returns whether a record has the revision of a change.
  static func hasRevision(_ row: FeedRow, _ records: [DocumentKey: RevisionRecord]) -> Bool {
    let known = row.key.flatMap { records[$0]?.row }
    return row.isDeleted
      ? known?.rowID != row.rowID
      : row.revision != nil && known == RevisionRecord.Row(rowID: row.rowID, revision: row.revision)
  }

  /// Returns whether the content of any document from before a change is kept. If not, as in a store that begins to
  /// synchronize, none has to be looked up.
  func hasPreviousBodies(_ reader: any EngineReader) throws -> Bool {
    var found = false
    do {
      try reader.previousBodies(after: nil, limit: 1, in: name) { _ in found = true }
    } catch let error as StoreError where error.code == .corruptDocument {
      found = true
    }
    return found
  }

  /// Gives rows of other programs their stored form and a revision.
  func adopt(_ writer: any EngineWriter) throws {
    // The first use of a collection by a writer does.
    _ = try writer.nextRowID(in: name)
  }

  /// Documents without a key get one. The row is inserted again, since the key of a row is fixed, with the same ID, by which
  /// objects of a context know it.
  private func addKey(_ document: Document, _ writer: any EngineWriter) throws {
    guard let rowID = document.rowID else { return }
    let header = document.header
    // In stored form, which the row of another program need not have: it may have larger integers, or a name twice.
    var body = JSONWriter(capacity: 512)
    body.object(try document.object())
    if let failure = body.failure { throw failure }
    let expiration = try writer.expirations(ofRows: [rowID], in: name)[rowID]
    let key = try DocumentKey(UUID().uuidString.lowercased())
    _ = try writer.delete(.rowID(rowID), from: name)
    _ = try writer.insert(
      NewDocument(
        key: key, type: header.type, version: header.version,
        added: header.added ?? Clock.microseconds(), rowID: rowID, body: body.bytes), into: name)
    // A bag has a document with a key by its key.
    try store.moveReferences(from: .rowID(rowID), to: .key(key), of: name, writer)
    if let expiration { try writer.setExpirations([(rowID, expiration)], in: name) }
  }

  private static let unusableKey = StoreError(
    .invalidKey,
    "A document cannot be synced: its key has no stored form, or another document has it")

  /// Passes a document as it was before it was changed to a closure, unless it does not decrypt.
  ///
  /// - Returns: Whether it is kept.
  private func previousBody(
    ofRow rowID: Int64, _ writer: any EngineWriter, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    do {
      return try writer.previousBody(ofRow: rowID, in: name, show)
    } catch let error as StoreError where error.code == .corruptDocument {
      return true
    }
  }

  /// The key that a document had before it was changed.
  private func previousKey(
    ofRow rowID: Int64, _ writer: any EngineWriter
  ) throws -> [DocumentKey] {
    var keys: [DocumentKey] = []
    _ = try previousBody(ofRow: rowID, writer) { if let key = $0.key { keys = [key] } }
    return keys
  }

  /// The keys under which a row may have been known, the present one included.
  func formerKeys(ofRow rowID: Int64, _ writer: any EngineWriter) throws -> [DocumentKey] {
    let former = try writer.formerKeys(ofRows: [rowID], in: name)[rowID]
    return try (former.map { [$0] } ?? []) + previousKey(ofRow: rowID, writer)
  }

  /// A document that got another key, or whose row is another document now, is deleted under the former key.
  private func assignFormerKey(
    _ former: DocumentKey, ofRow rowID: Int64, _ known: inout [DocumentKey: RevisionRecord],
    _ changed: inout OrderedKeys, _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    guard var record = try known[former] ?? record(former, writer), record.row?.rowID == rowID
    else { return }
    try assignDeletion(&record, &state, writer)
    known[former] = record
    changed.insert(former)
  }

  /// Gives a revision to a document unless it is the one that the record has.
  ///
  /// - Parameter hasPrevious: Whether content from before changes may be kept.
  /// - Returns: Whether the record changed.
  func assign(
    _ document: Document, _ record: inout RevisionRecord, _ state: inout SyncState,
    _ writer: any EngineWriter, hasPrevious: Bool = true
  ) throws -> Bool {
    guard let rowID = document.rowID else { return false }
    let row = RevisionRecord.Row(rowID: rowID, revision: document.revision)
    guard
      try record.row != row || hasPrevious && isChangedForeign(document.revision, rowID, writer)
    else { return false }
    let key = record.id.description
    let parts: DocumentMapping.Parts
    do {
      parts = try DocumentMapping.parts(of: document)
    } catch {
      state.note(error, key)
      return false
    }
    if state.problems[key] != nil { state.problems[key] = nil }
    let parent = parent(ofDocument: record)
    let attachments = try attachments(parts.contents, record, parent, writer)
    let identities = attachments.map(\.identity)
    var previous: DocumentObject?
    if hasPrevious, let former = try takePrevious(record, rowID, writer) {
      // An edit without a change, such as by encryption with a new key, would win against changes and deletions elsewhere.
      if try former.hasSameContent(as: document), identities == record.attachments.map(\.identity) {
        record.row = row
        return true
      }
      previous = keep(former, &record)
    }
    // Two stores that both add 1 have added 2. Documents that both insert, such as imported ones, are the same.
    let isEdit = parent?.isDeleted == false
    let isDistinct = isEdit && ThreeWayMerge.mayCount(previous ?? [:], parts.body)
    let body = try SyncJSON.plain(parts.body)
    add(childOf: parent?.id, to: &record.tree, isDeleted: false) {
      RevisionID(
        parent: parent?.id, isDeleted: false, body: body, attachments: identities,
        distinction: $0 ?? (isDistinct ? distinction() : nil))
    }
    record.stem(to: state.revisionLimit)
    record.attachments = attachments
    record.row = row
    return true
  }

  /// Returns whether a row that stays foreign, without a revision in the store, has changed: its previous body is removed
  /// when it gets a revision here.
  private func isChangedForeign(
    _ revision: Int64?, _ rowID: Int64, _ writer: any EngineWriter
  ) throws -> Bool {
    try revision == nil && previousBody(ofRow: rowID, writer) { _ in }
  }

  /// Returns the revision that a document follows.
  ///
  /// If it was deleted and inserted again, that is the deletion: the winner may be the loser of a conflict, which stays one.
  private func parent(ofDocument record: RevisionRecord) -> RevisionTree.Leaf? {
    guard let winner = record.tree.winner, !winner.isDeleted, record.row == nil,
      let deletion = record.tree.leaves.first(where: \.isDeleted),
      deletion.id.generation >= winner.id.generation
    else { return record.tree.winner }
    return deletion
  }

  /// Returns the document that the winning revision was, and which the engine need not keep any longer; nil if it is not
  /// known.
  private func takePrevious(
    _ record: RevisionRecord, _ rowID: Int64, _ writer: any EngineWriter
  ) throws -> Document? {
    var previous: Document?
    let isKept = try previousBody(ofRow: rowID, writer) { previous = Document($0, in: name) }
    guard isKept else { return nil }
    try writer.removePreviousBodies(ofRows: [rowID], in: name)
    guard let previous, let winner = record.tree.winner, !winner.isDeleted, let row = record.row,
      row.rowID == rowID, row.revision == previous.revision || row.revision == nil
    else { return nil }
    return previous
  }

  /// Keeps the content of the winning revision, which the document no longer has, and returns it.
  private func keep(_ previous: Document, _ record: inout RevisionRecord) -> DocumentObject? {
    guard let winner = record.tree.winner, let parts = try? DocumentMapping.parts(of: previous)
    else { return nil }
    record.keepAncestor(
      winner.id, RevisionRecord.Content(body: parts.body, attachments: record.attachments))
    return parts.body
  }

  /// Gives a revision to the deletion of a document by a program.
  func assignDeletion(
    _ record: inout RevisionRecord, _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    guard let winner = record.tree.winner, !winner.isDeleted else { return }
    add(childOf: winner.id, to: &record.tree, isDeleted: true) {
      RevisionID(
        parent: winner.id, isDeleted: true, body: [:], attachments: [], distinction: $0)
    }
    record.stem(to: state.revisionLimit)
    if let row = record.row { try writer.removePreviousBodies(ofRows: [row.rowID], in: name) }
    record.row = nil
    record.attachments = []
    // The loser of a conflict is the document now, unless a program has saved another one, whose own change follows.
    guard record.tree.winner?.isDeleted == false, try documents([record.id], writer).isEmpty else {
      return
    }
    try settle(&record, &state, writer)
  }

  /// Stores the winner of a record as its document.
  private func settle(
    _ record: inout RevisionRecord, _ state: inout SyncState, _ writer: any EngineWriter
  ) throws {
    var pending = PendingRecords([record.id: record])
    do {
      // Only this is rolled back if, for example, a unique index rejects it: the record then has its content.
      try store.write {
        try pending.settle(record.id, self, writer)
        try pending.finish(self, &state, writer)
      }
      if let settled = pending.records[record.id] { record = settled }
    } catch let error as StoreError where error.concernsDocument {
      state.note(error, record.id.description)
    }
  }

  /// Gives deletions to the documents that are gone, after the feed began again.
  func assignMissing(_ state: inout SyncState, _ writer: any EngineWriter) throws {
    // In pages of the records' feed, since there may be millions. Those that are saved move to its end, and have no row then.
    var cursor = FeedCursor.start
    while true {
      let rows = try writer.feedRows(
        after: cursor, limit: Self.changesPerTransaction, settledOnly: false, in: records
      ).rows
      guard !rows.isEmpty else { return }
      for row in rows { cursor.advance(row) }
      let found = try records(Set(rows.compactMap(\.key)), writer)
      var existing: [Int64: DocumentKey] = [:]
      let unreadable = try get(
        rowIDs: found.values.compactMap(\.row?.rowID).sorted(), writer
      ) { existing[$0.rowID] = $0.key }
      var changed: [RevisionRecord] = []
      for (_, var record) in found {
        guard let row = record.row, existing[row.rowID] != record.id, unreadable[row.rowID] == nil
        else { continue }
        try assignDeletion(&record, &state, writer)
        changed.append(record)
      }
      try save(changed, writer)
    }
  }
}

/// Keys in the order in which they were added first.
struct OrderedKeys {
  private(set) var keys: [DocumentKey] = []
  private var known: Set<DocumentKey> = []

  mutating func insert(_ key: DocumentKey) {
    if known.insert(key).inserted { keys.append(key) }
  }
}

extension SyncState {
  /// Whether the feed has all changes since the position. That of a backup continues the one it was made of.
  func continues(_ feed: FeedState) -> Bool {
    (timeline == feed.timeline || timeline == feed.origin)
      && feed.hasDeletions(after: cursor, floor: floor)
  }

  /// The number of documents whose problem is reported. Arbitrary.
  private static let maximumProblems = 100

  /// A document that still cannot be synced is noted again.
  mutating func forgetProblem(of row: FeedRow) {
    guard !problems.isEmpty else { return }
    forgetRowProblem(of: row)
    if let key = row.key?.description, problems[key] != nil { problems[key] = nil }
  }

  /// Forgets the problem of a row without a usable key, which is that of no other document.
  mutating func forgetRowProblem(of row: FeedRow) {
    guard !problems.isEmpty else { return }
    let name = "row \(row.rowID)"
    if problems[name] != nil { problems[name] = nil }
  }

  mutating func note(_ error: StoreError, _ key: String) {
    guard problems.count < Self.maximumProblems || problems[key] != nil else { return }
    problems[key] = .string(error.message + (error[.field].map { " (\($0))" } ?? ""))
  }
}

extension Document {
  /// Whether a later version of the document has the same fields, class and version.
  fileprivate func hasSameContent(as later: Document) throws -> Bool {
    let (header, other) = (header, later.header)
    guard header.key == other.key, header.type == other.type, header.version == other.version else {
      return false
    }
    return try withBytes { body in try later.withBytes { body.elementsEqual($0) } }
  }
}
