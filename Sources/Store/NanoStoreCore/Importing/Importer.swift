// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Writes the documents of an input to a collection in one transaction.
struct Importer {
  let collection: DocumentCollection
  let options: ImportOptions
  let progress: ((ImportReport) throws -> Void)?

  /// - Throws: ``RecordFailure`` for the first invalid record. Nothing was imported.
  func run(_ source: ByteSource) throws -> ImportReport {
    let reader = RecordReader(key: options.keyField, dialect: options.dialect)
    var report = ImportReport()
    report.totalBytes = source.size
    let batches = BatchPipeline(
      BatchSource(source, reader, maximumLength: options.maximumRecordLength))
    defer { batches.stop() }
    return try collection.store.write {
      var isFirst = true
      while true {
        let batch = try batches.next()
        if Interruption.current?.isTriggered == true { throw CancellationError() }
        if let failure = batch.failures.first(where: { $0.isFatal || !options.skipsInvalidRecords })
        {
          // An earlier document may be rejected too, and its error takes precedence.
          let before = batch.documents.prefix { $0.place.byte < failure.place.byte }
          try write(before, source, &report)
          throw failure
        }
        for failure in batch.failures { skip(failure, source, &report) }
        if isFirst, let first = batch.documents.first {
          try prepare(for: first.document)
          isFirst = false
        }
        try write(batch.documents[...], source, &report)
        report.bytesRead = batch.bytesRead
        try progress?(report)
        if batch.isLast { return report }
      }
    }
  }

  /// Creates a collection identified by row IDs if the documents were exported from one.
  private func prepare(for document: Document) throws {
    guard document.rowID != nil else { return }
    let exists = try collection.store.collections().contains {
      $0.name.folded == collection.name.folded
    }
    if !exists { try collection.store.createCollection(collection.name, identity: .rowID) }
  }

  private func write(
    _ documents: ArraySlice<IncomingDocument>, _ source: ByteSource, _ report: inout ImportReport
  ) throws {
    guard !documents.isEmpty else { return }
    do {
      try write(documents.map(\.document))
      report.documents += documents.count
    } catch let error as StoreError where error.isOfRecord {
      // The batch was rolled back as a whole; find the document that failed.
      try writeEach(documents, source, &report)
    }
  }

  private func writeEach(
    _ documents: ArraySlice<IncomingDocument>, _ source: ByteSource, _ report: inout ImportReport
  ) throws {
    for incoming in documents {
      do {
        try write([incoming.document])
        report.documents += 1
      } catch let error as StoreError where error.isOfRecord {
        let failure = RecordFailure(place: incoming.place, error: error)
        guard options.skipsInvalidRecords else { throw failure }
        skip(failure, source, &report)
      }
    }
  }

  private func write(_ documents: [Document]) throws {
    if options.replacesDocuments {
      try collection.save(documents)
    } else {
      try collection.insert(documents)
    }
  }

  private func skip(
    _ failure: RecordFailure, _ source: ByteSource, _ report: inout ImportReport
  ) {
    report.skipped += 1
    guard report.skippedRecords.count < ImportReport.maximumErrors else { return }
    report.skippedRecords.append(failure.located(in: source))
  }
}

extension StoreError {
  /// Whether the error concerns only this record, so that others may still be stored.
  fileprivate var isOfRecord: Bool {
    switch code {
    case .invalidJSON, .invalidKey, .invalidArgument, .valueNotStorable, .documentTooLarge,
      .duplicateKey, .uniqueViolation, .typeMismatch, .corruptDocument:
      true
    default: false
    }
  }
}
