// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Writes the documents of an input to a collection in one transaction.
struct Importer {
  let collection: DocumentCollection
  let options: ImportOptions
  let progress: ((ImportReport) throws -> Void)?

  /// The name of the input, for errors.
  let name: String
  /// The number of input bytes; nil if unknown.
  let totalBytes: Int?

  /// - Throws: ``StoreError`` for the first invalid record, with its position. Nothing was imported.
  func run(_ source: any BatchSource) throws -> ImportReport {
    var report = ImportReport()
    report.totalBytes = totalBytes
    let batches = BatchPipeline(source)
    defer { batches.stop() }
    do {
      // Before the transaction, so that other connections do not wait for a pipe that is still empty.
      let first = try batches.next()
      return try collection.store.write {
        var batch = first
        var isFirst = true
        while true {
          if Interruption.current?.isTriggered == true { throw CancellationError() }
          try write(batch, isFirst: &isFirst, &report)
          report.bytesRead = batch.bytesRead
          try progress?(report)
          if batch.isLast { return report }
          batch = try batches.next()
        }
      }
    } catch let failure as RecordFailure {
      throw failure.located(in: name)
    }
  }

  private func write(
    _ batch: Batch, isFirst: inout Bool, _ report: inout ImportReport
  ) throws {
    if let failure = batch.failures.first(where: { $0.isFatal || !options.skipsInvalidRecords }) {
      // An earlier document may be rejected too, and its error takes precedence.
      let before = batch.documents.prefix { $0.place.record < failure.place.record }
      try write(before, batch, &report)
      throw failure
    }
    for failure in batch.failures { skip(failure, &report) }
    if isFirst, let first = batch.documents.first {
      try prepare(for: first.header)
      isFirst = false
    }
    try write(batch.documents[...], batch, &report)
  }

  /// Creates a collection identified by row IDs if the documents were exported from one.
  private func prepare(for header: Document.Header) throws {
    guard header.rowID != nil else { return }
    let exists = try collection.store.collections().contains {
      $0.name.folded == collection.name.folded
    }
    if !exists { try collection.store.createCollection(collection.name, identity: .rowID) }
  }

  private func write(
    _ documents: ArraySlice<IncomingDocument>, _ batch: Batch, _ report: inout ImportReport
  ) throws {
    guard !documents.isEmpty else { return }
    do {
      try store(documents, batch)
      report.documents += documents.count
    } catch let error as StoreError where error.isOfRecord {
      // The batch was rolled back as a whole; find the document that failed.
      try writeEach(documents, batch, &report)
    }
  }

  private func writeEach(
    _ documents: ArraySlice<IncomingDocument>, _ batch: Batch, _ report: inout ImportReport
  ) throws {
    for index in documents.indices {
      do {
        try store(documents[index...index], batch)
        report.documents += 1
      } catch let error as StoreError where error.isOfRecord {
        let failure = RecordFailure(place: documents[index].place, error: error)
        guard options.skipsInvalidRecords else { throw failure }
        skip(failure, &report)
      }
    }
  }

  private func store(_ documents: ArraySlice<IncomingDocument>, _ source: Batch) throws {
    let mode: WriteMode = options.replacesDocuments ? .save : .insert
    _ = try source.bodies.withUnsafeBytes { bodies in
      try collection.writeBatch(mode, capacity: documents.count) { batch, writer in
        for document in documents {
          writer.raw(UnsafeRawBufferPointer(rebasing: bodies[document.body]))
          let header = document.header
          try batch.add(
            &writer, key: header.key, type: header.type, version: header.version,
            added: header.added)
        }
      }
    }
  }

  private func skip(_ failure: RecordFailure, _ report: inout ImportReport) {
    report.skipped += 1
    guard report.skippedRecords.count < ImportReport.maximumErrors else { return }
    report.skippedRecords.append(failure.located(in: name))
  }
}

extension StoreError {
  /// Whether the error concerns only this record, so that others may still be stored.
  fileprivate var isOfRecord: Bool {
    switch code {
    case .invalidJSON, .invalidKey, .invalidArgument, .valueNotStorable, .documentTooLarge,
      .duplicateKey, .uniqueViolation, .typeMismatch, .corruptDocument:
      true
    // The name of a field, not that of the collection, which would be invalid for every record.
    case .invalidName: self[.field] != nil
    default: false
    }
  }
}
