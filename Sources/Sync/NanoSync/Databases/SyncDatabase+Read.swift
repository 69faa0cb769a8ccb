// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// A document with its revisions, of one snapshot.
package struct DocumentRevisions: Sendable {
  let record: RevisionRecord
  /// The content of the winning revision, if it is in the collection.
  let winning: RevisionRecord.Content?
  /// Whether the stored document cannot be read.
  private let isDamaged: Bool
  /// Determined once: a document can have thousands of leaves, each of which is compared with it.
  private let winnerID: RevisionID?

  fileprivate init(
    _ record: RevisionRecord, winning: RevisionRecord.Content?, isDamaged: Bool
  ) {
    self.record = record
    self.winning = winning
    self.isDamaged = isDamaged
    winnerID = record.tree.winner?.id
  }

  package var id: String { record.id.description }
  package var tree: RevisionTree { record.tree }
  package var leaves: [RevisionTree.Leaf] { record.tree.leaves }

  /// Returns a revision with its content; nil if the content is not known.
  package subscript(_ id: RevisionID) -> SyncDocument? {
    guard record.tree.contains(id) else { return nil }
    let content: RevisionRecord.Content
    if let winning, record.row != nil, id == winnerID {
      content = winning
    } else if let kept = record.bodies[id] {
      content = kept
    } else if record.tree.isDeleted(id) {
      content = RevisionRecord.Content(body: [:])
    } else {
      return nil
    }
    return record.document(id, content)
  }

  /// The winning revision with its content.
  package var winner: SyncDocument? { winnerID.flatMap { self[$0] } }

  /// Whether a revision cannot be read. The feed does not tell: a disk may have damaged it.
  package func isUnreadable(_ id: RevisionID) -> Bool {
    isDamaged && id == winnerID
  }
}

extension SyncDatabase {
  /// Returns documents with all their revisions, by ID. Unknown ones are omitted.
  package func revisions(_ ids: [String]) throws -> IDMap<DocumentRevisions> {
    let keys = Set(ids.compactMap { try? DocumentKey($0) })
    return try consistently(keys, Self.revisions)
  }

  static func revisions(
    _ records: [DocumentKey: RevisionRecord], _ documents: [DocumentKey: Document]
  ) -> IDMap<DocumentRevisions> {
    var found = IDMap<DocumentRevisions>()
    for (key, record) in records where !record.tree.isEmpty {
      var (winning, isDamaged) = (RevisionRecord.Content?.none, false)
      if record.row != nil, let document = documents[key] {
        // A document that cannot be synced, or read, must not keep others from being read.
        do throws(StoreError) {
          winning = RevisionRecord.Content(
            body: try DocumentMapping.parts(of: document).body, attachments: record.attachments)
        } catch {
          isDamaged = error.code != .valueNotStorable
        }
      }
      found[key.description] = DocumentRevisions(record, winning: winning, isDamaged: isDamaged)
    }
    return found
  }

  /// Returns a former revision with the content of its attachments, as far as the store still has it.
  package func restoringAttachments(of document: SyncDocument) throws -> SyncDocument {
    let missing = document.attachments.indices.filter { document.attachments[$0].content == nil }
    guard !missing.isEmpty else { return document }
    return try store.reading(.call) { reader in
      var document = document
      var lengths = BlobLengths()
      for index in missing {
        // It was removed if the store was compacted since.
        guard let content = document.attachments[index].formerContent,
          let length = try lengths.length(of: content, reader)
        else { continue }
        document.attachments[index].length = length
        document.attachments[index].content = Attachment(
          digest: content.digest, length: length, contentType: content.contentType)
      }
      return document
    }
  }

  /// How often a snapshot is read again in which a document has no revision so far. Arbitrary.
  private static let attempts = 4

  /// Reads records together with their documents, in a state in which each document has a revision.
  private func consistently<Result>(
    _ keys: Set<DocumentKey>,
    _ work: ([DocumentKey: RevisionRecord], [DocumentKey: Document]) throws -> Result
  ) throws -> Result {
    for _ in 0..<Self.attempts {
      try catchUp()
      let read = try store.read {
        try store.reading(.snapshot) { reader in
          (
            try completeRecords(keys, reader),
            try documents(keys.filter { !RevisionRecord.isHidden($0) }, reader)
          )
        }
      }
      if Self.areConsistent(keys, read.0, read.1) { return try work(read.0, read.1) }
    }
    // Other programs keep changing them: in a transaction of our own.
    let read = try revising { writer in
      var state = try requireEnabled(writer)
      try adopt(writer)
      var pending = PendingRecords(
        try records(keys, writer),
        documents: try documents(keys.filter { !RevisionRecord.isHidden($0) }, writer))
      for key in keys where !RevisionRecord.isHidden(key) {
        do {
          _ = try pending.record(key, &state, self, writer)
        } catch let error as StoreError where error.concernsDocument {
          // It is among the problems, and must not keep others from being read.
        }
      }
      try save(pending.changed, writer)
      try setState(state, writer)
      return (
        try completeRecords(keys, writer),
        try documents(keys.filter { !RevisionRecord.isHidden($0) }, writer)
      )
    }
    return try work(read.0, read.1)
  }

  /// Returns records whose attachments are as the store has them, with their length and without content that it lacks: a
  /// document may refer to content that arrives later, or never, and state any length.
  private func completeRecords(
    _ keys: Set<DocumentKey>, _ reader: any EngineReader
  ) throws -> [DocumentKey: RevisionRecord] {
    var found = try records(keys, reader)
    var lengths = BlobLengths()
    for (key, var record) in found {
      try lengths.complete(&record, reader)
      found[key] = record
    }
    return found
  }

  /// Whether all documents are those to which the newest revisions were given.
  static func areConsistent(
    _ keys: Set<DocumentKey>, _ records: [DocumentKey: RevisionRecord],
    _ documents: [DocumentKey: Document]
  ) -> Bool {
    keys.allSatisfy { key in
      guard !RevisionRecord.isHidden(key) else { return true }
      let row = documents[key].flatMap { document in
        document.rowID.map { RevisionRecord.Row(rowID: $0, revision: document.revision) }
      }
      // A document that cannot be synced has no record.
      return records[key]?.row == row
        || documents[key].map { (try? DocumentMapping.parts(of: $0)) == nil } ?? false
    }
  }

  /// Returns the revisions that the database lacks, and the leaves from which they may descend, by ID.
  package func missingRevisions(
    _ asked: IDMap<[RevisionID]>
  ) throws -> IDMap<MissingRevisions> {
    try catchUp()
    let keys = asked.ids.compactMap { try? DocumentKey($0) }
    let known = try store.read { try store.reading(.snapshot) { try records(keys, $0) } }
    var result = IDMap<MissingRevisions>()
    for (id, revisions) in asked {
      let tree = (try? DocumentKey(id)).flatMap { known[$0]?.tree } ?? RevisionTree()
      let missing = Set(revisions.filter { !tree.contains($0) }).sorted()
      guard let highest = missing.last else { continue }
      result[id] = MissingRevisions(
        missing: missing,
        ancestors: tree.leaves.map(\.id).filter { $0.generation < highest.generation })
    }
    return result
  }
}

/// The revisions of a document that a database lacks.
package struct MissingRevisions: Sendable, Hashable {
  /// In ascending order.
  package var missing: [RevisionID]
  /// Leaves from which they may descend.
  package var ancestors: [RevisionID]

  package init(missing: [RevisionID], ancestors: [RevisionID] = []) {
    self.missing = missing
    self.ancestors = ancestors
  }
}

extension RevisionTree {
  /// Whether a revision deletes the document.
  func isDeleted(_ id: RevisionID) -> Bool { nodes.last { $0.id == id }?.isDeleted ?? false }
}
