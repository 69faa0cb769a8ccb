// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

extension DocumentCollection {
  /// Stores the documents of a JSON file, all of them in one transaction.
  ///
  /// ```swift
  /// let report = try films.importDocuments(from: file, options: ImportOptions(keyField: "title")) {
  ///   print($0.documents, "documents")
  /// }
  /// report.documents     // 42
  /// ```
  ///
  /// The file holds an array, a document on each line, or documents one after the other, in plain JSON or
  /// Extended JSON (docs/EXTENDED-JSON.md). Documents that `nanostore export` wrote keep their keys, types,
  /// versions and moments. The file may be of any size: it is read in parts, on another thread, and at most
  /// three batches of 1,000 documents or 8 MB are in memory.
  ///
  /// Cancelling the task of the `await` form ends the import between two batches.
  ///
  /// - Parameter progress: Called after each batch. It cannot use the store; what it throws ends the import.
  /// - Throws: For a record that cannot be stored, its error with the details `record` and `line`, which
  ///   count from one, `byteOffset` and `path`: ``StoreError/Code/invalidJSON``,
  ///   ``StoreError/Code/duplicateKey``, ``StoreError/Code/uniqueViolation`` and others.
  ///   ``StoreError/Code/cannotOpen`` or ``StoreError/Code/inputOutput`` if the file cannot be read, or any
  ///   error of writing. After every error the collection is as it was before the call: no document of the
  ///   file is stored, and a collection that did not exist still does not.
  @discardableResult
  public func importDocuments(
    from file: URL, options: ImportOptions = ImportOptions(),
    progress: ((ImportReport) throws -> Void)? = nil
  ) throws -> ImportReport {
    guard file.isFileURL else {
      throw StoreError(
        .invalidArgument, "Documents are imported from files only", [.path: file.absoluteString])
    }
    return try importDocuments(from: ByteSource(path: file.path), options, progress: progress)
  }
  @discardableResult
  public func importDocuments(
    from file: URL, options: ImportOptions = ImportOptions(),
    progress: (@Sendable (ImportReport) throws -> Void)? = nil
  ) async throws -> ImportReport {
    try await onWriter(repeatable: false) {
      try self.importDocuments(from: file, options: options, progress: progress)
    }
  }

  /// As ``importDocuments(from:options:progress:)``, from a file or the standard input.
  package func importDocuments(
    from source: ByteSource, _ options: ImportOptions, progress: ((ImportReport) throws -> Void)?
  ) throws -> ImportReport {
    try InternalCollection.refuse(name)
    try options.keyField?.validate()
    do {
      return try Importer(collection: self, options: options, progress: progress).run(source)
    } catch let failure as RecordFailure {
      throw failure.located(in: source)
    }
  }
}
