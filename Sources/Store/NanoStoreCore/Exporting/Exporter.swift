// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Writes the results of a query in a format, one document after another.
final class Exporter {
  private let query: DocumentQuery
  private let format: ExportFormat
  private let onFailure: ((SkippedDocument) throws -> Void)?
  private let progress: ((ExportReport) throws -> Void)?
  private let sink: (UnsafeRawBufferPointer) throws -> Void
  private var report = ExportReport()
  private var writer = JSONWriter(capacity: chunkSize)

  /// The number of bytes that are passed on together; larger chunks are no faster.
  private static let chunkSize = 1 << 16
  /// The number of documents between two calls of `progress`; arbitrary, a few milliseconds.
  private static let progressInterval = 1_000

  init(
    query: DocumentQuery, format: ExportFormat, _ onFailure: ((SkippedDocument) throws -> Void)?,
    _ progress: ((ExportReport) throws -> Void)?,
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) {
    self.query = query
    self.format = format
    self.onFailure = onFailure
    self.progress = progress
    self.sink = sink
  }

  func run() throws -> ExportReport {
    switch format {
    case .ndjson(let form):
      let text = try JSONExport(form, query.collection)
      try each { document in
        try text.write(document, to: &writer)
        writer.byte(UInt8(ascii: "\n"))
      }
    case .json(let form):
      let text = try JSONExport(form, query.collection)
      writer.literal("[")
      try each { document in
        writer.literal(report.documents == 0 ? "\n" : ",\n")
        try text.write(document, to: &writer)
      }
      writer.literal(report.documents == 0 ? "]\n" : "\n]\n")
    case .csv(let columns, let separator): try writeTable(columns, try separator.separatorByte())
    }
    try flush()
    try progress?(report)
    return report
  }

  private func writeTable(_ columns: [String]?, _ separator: UInt8) throws {
    guard let columns else {
      // Both passes read the same snapshot.
      return try query.collection.store.read {
        let found = FoundColumns()
        try eachWhole { document in
          guard let object = try? selected(document).object() else { return }
          found.add(object, hasKey: document.key != nil)
        }
        let table = CSVExport(try found.columns(), separator)
        table.writeHeader(to: &writer)
        try each { try table.write($0, to: &writer) }
      }
    }
    let table = CSVExport(try columns.map { try CSVExport.Column($0) }, separator)
    table.writeHeader(to: &writer)
    guard let fields = query.query.fields, table.hasPositions else {
      return try each { try table.write($0, to: &writer) }
    }
    // The elements of a selected document move up if elements before them are not selected.
    try eachWithWhole { document, whole in
      try table.write(document, selection: (try whole.object(), fields), to: &writer)
    }
  }

  private func each(_ write: (Document) throws -> Void) throws {
    try eachWithWhole { document, _ in try write(document) }
  }

  /// Writes each document, except for those that cannot be written.
  ///
  /// - Parameter write: Receives the document with the selected fields, and with all of them.
  private func eachWithWhole(_ write: (Document, Document) throws -> Void) throws {
    try eachWhole { document in
      let start = writer.count
      do {
        try write(selected(document), document)
        if let failure = writer.failure { throw failure }
        report.documents += 1
      } catch let error as StoreError where error.code == .corruptDocument && onFailure != nil {
        writer.truncate(to: start)
        report.skipped += 1
        try onFailure?(
          SkippedDocument(key: document.key, rowID: document.rowID ?? 0, error: error))
      }
      if writer.count >= Self.chunkSize { try flush() }
      if (report.documents + report.skipped).isMultiple(of: Self.progressInterval) {
        try progress?(report)
      }
    }
  }

  /// Passes documents with all their fields: selecting some fails if the body is not JSON, which concerns only that
  /// document.
  private func eachWhole(_ visit: (Document) throws -> Void) throws {
    // Without fields, the bodies are not even read.
    guard query.query.fields?.isEmpty == false else { return try query.each(visit) }
    // Checks the selected fields as well.
    try query.validate()
    try query.changed { $0.fields = nil }.each(visit)
  }

  private func selected(_ document: Document) throws -> Document {
    guard let fields = query.query.fields, !fields.isEmpty else { return document }
    return try document.selecting(fields)
  }

  private func flush() throws {
    if Interruption.current?.isTriggered == true { throw CancellationError() }
    guard writer.count > 0 else { return }
    try writer.withBytes { try sink($0) }
    report.bytesWritten += writer.count
    writer.removeAll()
  }
}

/// Writes documents as JSON in one of the forms.
private struct JSONExport {
  private let form: ExportFormat.JSONForm
  private let isByRowID: Bool

  init(_ form: ExportFormat.JSONForm, _ collection: DocumentCollection) throws {
    self.form = form
    isByRowID =
      try form == .restorable
      && collection.store.collections().contains {
        $0.name.folded == collection.name.folded && $0.identity == .rowID
      }
  }

  func write(_ document: Document, to writer: inout JSONWriter) throws(StoreError) {
    switch form {
    case .restorable:
      try ExportMetadata.write(document, isByRowID: isByRowID, to: &writer)
    case .extended:
      try ExportMetadata.fields(of: document).withUnsafeBytes { writer.raw($0) }
    case .plain:
      // Refuses documents that have no exact form, like the others.
      _ = try ExportMetadata.fields(of: document)
      writer.text(.object(try document.object()), dialect: .plain)
    case .mongoDB:
      _ = try ExportMetadata.fields(of: document)
      MongoDBText.write(try document.object(), key: document.key, rowID: document.rowID, &writer)
    }
  }
}
