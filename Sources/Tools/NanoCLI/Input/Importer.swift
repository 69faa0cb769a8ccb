// SPDX-License-Identifier: MIT

import NanoStore

/// Writes the documents of an input into a collection, all of them in one transaction.
struct Importer {
  let collection: DocumentCollection
  let replaces: Bool
  let skipsBad: Bool
  /// Told after each batch, and of each record that is left out.
  var progress: (Counts) -> Void = { _ in }
  var skipped: (RecordFailure) -> Void = { _ in }

  struct Counts {
    var documents = 0
    var skipped = 0
    var bytes = 0
  }

  /// - Throws: ``RecordFailure`` for the first bad record. Nothing was imported then.
  func run(_ batches: BatchPipeline) throws -> Counts {
    var counts = Counts()
    defer { batches.stop() }
    return try collection.store.write {
      var isFirst = true
      while true {
        let batch = try batches.next()
        if let failure = batch.failures.first(where: { $0.isFatal || !skipsBad }) {
          // A document before it may be refused too, and comes first then.
          let before = batch.documents.prefix { $0.place.byte < failure.place.byte }
          try write(before, &counts)
          throw failure
        }
        for failure in batch.failures { leaveOut(failure, &counts) }
        if isFirst, let first = batch.documents.first {
          try prepare(for: first.document)
          isFirst = false
        }
        try write(batch.documents[...], &counts)
        counts.bytes = batch.bytesRead
        progress(counts)
        if batch.isLast { return counts }
      }
    }
  }

  /// An export of a collection known by row ids becomes such a collection again.
  private func prepare(for document: Document) throws {
    guard document.rowID != nil else { return }
    let exists = try collection.store.collections().contains {
      $0.name.folded == collection.name.folded
    }
    if !exists { try collection.store.createCollection(collection.name, identity: .rowID) }
  }

  private func write(_ documents: ArraySlice<IncomingDocument>, _ counts: inout Counts) throws {
    guard !documents.isEmpty else { return }
    do {
      try write(documents.map(\.document))
      counts.documents += documents.count
    } catch let error as StoreError where error.isOfRecord {
      // The batch was undone as a whole: which document was it?
      try writeEach(documents, &counts)
    }
  }

  private func writeEach(
    _ documents: ArraySlice<IncomingDocument>, _ counts: inout Counts
  ) throws {
    for incoming in documents {
      do {
        try write([incoming.document])
        counts.documents += 1
      } catch let error as StoreError where error.isOfRecord {
        let failure = RecordFailure(place: incoming.place, error: error)
        guard skipsBad else { throw failure }
        leaveOut(failure, &counts)
      }
    }
  }

  private func write(_ documents: [Document]) throws {
    if replaces {
      try collection.save(documents)
    } else {
      try collection.insert(documents)
    }
  }

  private func leaveOut(_ failure: RecordFailure, _ counts: inout Counts) {
    counts.skipped += 1
    skipped(failure)
  }
}

extension StoreError {
  /// Whether another record might be stored all the same.
  fileprivate var isOfRecord: Bool {
    switch code {
    case .invalidJSON, .invalidKey, .invalidArgument, .valueNotStorable, .documentTooLarge,
      .duplicateKey, .uniqueViolation, .typeMismatch, .corruptDocument:
      true
    default: false
    }
  }
}
