// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Imports the documents of a JSON or CSV file in one transaction.
  ///
  /// ```swift
  /// let report = try films.importDocuments(from: file, options: ImportOptions(keyField: "title")) {
  ///   print($0.documents, "documents")
  /// }
  /// report.documents     // 42
  /// try films.importDocuments(from: table, options: ImportOptions(format: .csv()))
  /// ```
  ///
  /// A JSON file contains an array, one document per line, or concatenated documents, in plain JSON
  /// or Extended JSON (docs/EXTENDED-JSON.md); ``CSVOptions`` describes CSV. Documents written by
  /// `nanostore export` keep their keys, types, versions and insertion times. The file may be of any
  /// size: it is read in chunks, on another thread, and at most three batches of 1,000 documents or
  /// 8 MB are in memory.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - options: Options for the import, such as the format of the file.
  ///   - progress: Called after each batch. It cannot use the store. If it throws, the import ends.
  /// - Returns: The number of imported documents, and the skipped records.
  /// - Throws: For a record that cannot be stored, its error with the details `record` and `line`,
  ///   which start at one, `byteOffset` and `path`: ``StoreError/Code/invalidJSON``,
  ///   ``StoreError/Code/invalidCSV``, ``StoreError/Code/duplicateKey``,
  ///   ``StoreError/Code/uniqueViolation`` and others. The header of a CSV file is record 0.
  ///   ``StoreError/Code/cannotOpen`` or ``StoreError/Code/inputOutput`` if the file cannot be
  ///   read, or any error of writing. After every error the collection is unchanged: no document of
  ///   the file is stored, and a collection that did not exist still does not.
  @discardableResult
  public func importDocuments(
    from file: URL, options: ImportOptions = ImportOptions(),
    progress: ((ImportReport) throws -> Void)? = nil
  ) throws -> ImportReport {
    guard file.isFileURL else {
      throw StoreError(
        .invalidArgument, "Documents can be imported only from files", [.path: file.absoluteString])
    }
    return try importDocuments(from: ByteSource(path: file.path), options, progress: progress)
  }
  /// The asynchronous form of `importDocuments(from:options:progress:)`, which does not block the
  /// calling thread. Canceling the task ends the import between two batches; nothing is stored.
  @discardableResult
  public func importDocuments(
    from file: URL, options: ImportOptions = ImportOptions(),
    progress: (@Sendable (ImportReport) throws -> Void)? = nil
  ) async throws -> ImportReport {
    try await onWriter(repeatable: false) {
      try self.importDocuments(from: file, options: options, progress: progress)
    }
  }

  /// Imports documents from a file or the standard input; see
  /// ``importDocuments(from:options:progress:)``.
  package func importDocuments(
    from source: ByteSource, _ options: ImportOptions, progress: ((ImportReport) throws -> Void)?
  ) throws -> ImportReport {
    try InternalCollection.refuse(name)
    try options.keyField?.validate()
    return try Importer(
      collection: self, options: options, progress: progress, name: source.name,
      totalBytes: source.size
    ).run(ParsedBatches(source, options.parser()))
  }

  /// Imports the rows of a table that an engine reads.
  package func importDocuments(
    from rows: RowSource, _ options: ImportOptions, progress: ((ImportReport) throws -> Void)?
  ) throws -> ImportReport {
    try InternalCollection.refuse(name)
    try options.keyField?.validate()
    return try Importer(
      collection: self, options: options, progress: progress, name: rows.name, totalBytes: nil
    ).run(RowBatches(rows, keyField: options.keyField))
  }
}

extension ImportOptions {
  func parser() throws(StoreError) -> any RecordParser {
    switch format {
    case .json:
      JSONRecordParser(
        RecordReader(key: keyField, dialect: dialect), maximumLength: maximumRecordLength)
    case .mongoDB:
      JSONRecordParser(
        RecordReader(key: keyField ?? "_id", dialect: .extended),
        maximumLength: maximumRecordLength)
    case .csv(let options):
      try CSVParser(options, keyField: keyField, maximumLength: maximumRecordLength)
    }
  }
}
