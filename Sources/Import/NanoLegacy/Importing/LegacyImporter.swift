// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

/// Writes the records of an old store to a store, in one transaction or in many.
///
/// Confined to the thread that runs it.
final class LegacyImporter {
  let store: Store
  let source: any LegacySource
  let options: LegacyImportOptions
  private let notify: ((LegacyImportProgress) throws -> Void)?
  var checkpoint: ImportCheckpoint
  var pending = PendingRecords()
  /// The insertion time of documents whose own is unknown.
  let importTime = Int64(Date().timeIntervalSince1970 * 1e6)
  /// The positions of collections and classes in the checkpoint, by folded and by exact name.
  private var collectionPositions: [ExactName: Int] = [:]
  private var classPositions: [ExactName: Int] = [:]

  init(
    _ store: Store, _ source: any LegacySource, _ options: LegacyImportOptions,
    _ notify: ((LegacyImportProgress) throws -> Void)?
  ) {
    self.store = store
    self.source = source
    self.options = options
    self.notify = notify
    checkpoint = ImportCheckpoint(
      source: source.fingerprint, options: options.fingerprint(source.kind),
      report: LegacyImportReport(kind: source.kind))
  }

  func run() throws -> LegacyImportReport {
    if let value = try store.metadata(ImportCheckpoint.name) { try resume(from: value) }
    return options.isResumable ? try importAll() : try store.write { try importAll() }
  }

  private func resume(from value: DocumentValue) throws {
    guard options.isResumable, let stored = ImportCheckpoint(value),
      stored.source.hasSameBytes(as: checkpoint.source),
      stored.options.hasSameBytes(as: checkpoint.options)
    else {
      throw StoreError(
        .alreadyExists,
        "The target has an unfinished import of a different store, or with different options",
        [
          .hint:
            "finish it with the unchanged store and the same options, or remove the metadata "
            + ImportCheckpoint.name
        ])
    }
    checkpoint = stored
    checkpoint.report.isResumed = true
    for (position, state) in stored.collections.enumerated() {
      collectionPositions[state.name.folded] = position
    }
    for (position, result) in stored.report.classes.enumerated() {
      classPositions[ExactName(result.name)] = position
    }
  }

  private func importAll() throws -> LegacyImportReport {
    if !checkpoint.report.isResumed { try commit { try prepare() } }
    try report(nil)
    while checkpoint.section < source.sectionCount { try importSection() }
    try commit(isLast: true) { try finish() }
    checkpoint.report.notes = source.notes
    return checkpoint.report
  }

  /// Runs a block in a transaction of its own together with the checkpoint, or in the transaction
  /// of the whole import.
  private func commit(isLast: Bool = false, _ work: () throws -> Void) throws {
    guard options.isResumable else { return try work() }
    try store.write {
      try work()
      // With `?:`, a nil literal would be the value null.
      let value: DocumentValue? = if isLast { .none } else { try checkpoint.value() }
      try store.setMetadata(value, ImportCheckpoint.name)
    }
  }

  private func importSection() throws {
    let section = checkpoint.section
    let done = checkpoint.records
    var records = 0
    try source.read(section) { record in
      records += 1
      guard records > done else { return }
      if let collection = record.collection, !pending.isOf(collection) { try flush(records - 1) }
      try process(record)
      if pending.count >= options.batchDocuments || pending.byteCount >= options.batchBytes {
        try flush(records)
        try report(record.className)
      }
    }
    checkpoint.section = section + 1
    try flush(0)
    try report(nil)
  }

  /// Writes what was read up to a record.
  private func flush(_ records: Int) throws {
    checkpoint.records = records
    try commit {
      try writeDocuments()
      try writeBags()
    }
    pending.removeAll()
  }

  func report(_ className: String?) throws {
    guard let notify else { return }
    try notify(
      LegacyImportProgress(
        className: className, imported: checkpoint.report.imported,
        skipped: checkpoint.report.skipped, fraction: source.fraction))
  }
}

extension LegacyImporter {
  /// Decodes a record and adds it to what is to be written.
  private func process(_ record: LegacyRecord) throws {
    let content: LegacyContent
    do throws(LegacyFailure) {
      content = try record.content()
    } catch {
      return skip(
        record.className, record.collection,
        LegacyImportReport.Skipped(position: record.position, key: error.key, reason: error.reason))
    }
    if !content.notes.isEmpty {
      change(record.className, record.collection) { $0.add(content.notes) }
    }
    // A bag with fields of its own is also a document.
    let collection = record.collection ?? source.collections.first?.name
    if let document = content.document, let collection {
      let reason = pending.add(
        document, PendingRecords.Origin(record), collection, importTime: importTime)
      if let reason {
        skip(
          record.className, collection,
          LegacyImportReport.Skipped(
            position: record.position, key: document.key?.description, reason: reason))
      }
    }
    if let bag = content.bag { pending.add(bag, PendingRecords.Origin(record)) }
  }

  func skip(_ className: String, _ collection: String?, _ record: LegacyImportReport.Skipped) {
    change(className, collection) { result in
      result.skipped += 1
      if result.skippedRecords.count < LegacyImportReport.maximumListed {
        result.skippedRecords.append(record)
      }
    }
  }

  /// Changes the result of a class.
  func change(
    _ className: String, _ collection: String?, _ change: (inout LegacyImportReport.Class) -> Void
  ) {
    let name = ExactName(className)
    let position: Int
    if let known = classPositions[name] {
      position = known
    } else {
      position = checkpoint.report.classes.count
      checkpoint.report.classes.append(
        LegacyImportReport.Class(name: className, collection: collection))
      classPositions[name] = position
    }
    change(&checkpoint.report.classes[position])
  }

  /// The position of a collection's state in the checkpoint.
  func position(of collection: String) -> Int {
    if let known = collectionPositions[collection.folded] { return known }
    checkpoint.collections.append(ImportCheckpoint.Collection(name: collection))
    collectionPositions[collection.folded] = checkpoint.collections.count - 1
    return checkpoint.collections.count - 1
  }
}

extension LegacyImportReport.Class {
  mutating func add(_ notes: ConversionNotes) {
    for (kind, count) in notes.counts { conversions[kind, default: 0] += count }
  }
}
