// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine

extension DocumentQuery {
  /// Exports the matching documents to a file.
  ///
  /// ```swift
  /// try films.find(Field("year") < 1980).sorted(by: "title").export(to: file, as: .csv())
  /// try films.find().export(to: file, replacing: true) { print($0.documents, "documents") }
  /// ```
  ///
  /// The documents are from one snapshot and written one by one, so that memory use does not depend
  /// on their number, except inside a ``Store/write(retries:isolation:_:)-(_,_,()->_)`` block. The file is created
  /// atomically: it is complete or does not exist. While it is written, it has a temporary name next
  /// to its own, which a killed process leaves behind.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - format: The format. ``DocumentCollection/importDocuments(from:options:progress:)`` restores
  ///     the default format exactly.
  ///   - replacing: Whether an existing file may be replaced.
  ///   - progress: Called after each 1,000 documents and at the end. If it throws, the export ends.
  ///   - onFailure: Called with each document that an import could not restore unchanged, such as
  ///     one with duplicate names, which only other programs write. If nil, such a document ends the
  ///     export with its error.
  /// - Returns: The number of exported documents and bytes.
  /// - Throws: ``StoreError/Code/alreadyExists`` if a file exists and must not be replaced,
  ///   ``StoreError/Code/invalidArgument`` if it is a file of the store itself, or if a column of CSV
  ///   is metadata other than the key,
  ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/full``, ``StoreError/Code/inputOutput``,
  ///   ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidPath`` if the format is CSV and
  ///   a field has an empty name, and the errors of the query. No file was created, and an existing
  ///   file is unchanged.
  @discardableResult
  public func export(
    to file: URL, as format: ExportFormat = .ndjson(), replacing: Bool = false,
    progress: ((ExportReport) throws -> Void)? = nil,
    onFailure: ((SkippedDocument) throws -> Void)? = nil
  ) throws -> ExportReport {
    guard file.isFileURL else {
      throw StoreError(
        .invalidArgument, "Documents can be exported only to files", [.path: file.absoluteString])
    }
    let target = try ExportFile(path: file.path, replacing: replacing, of: collection.store)
    let report = try Exporter(query: self, format: format, onFailure, progress) { bytes in
      try target.write(bytes)
    }.run()
    try target.finish()
    return report
  }
  /// The asynchronous form of `export(to:as:replacing:progress:onFailure:)`, which does not block the
  /// calling thread. Canceling the task ends the export; no file is created.
  @discardableResult
  public func export(
    to file: URL, as format: ExportFormat = .ndjson(), replacing: Bool = false,
    progress: (@Sendable (ExportReport) throws -> Void)? = nil,
    onFailure: (@Sendable (SkippedDocument) throws -> Void)? = nil
  ) async throws -> ExportReport {
    try await onReader {
      try $0.export(
        to: file, as: format, replacing: replacing, progress: progress, onFailure: onFailure)
    }
  }

  /// Exports the matching documents to a closure, in chunks of about 64 kB; see
  /// ``export(to:as:replacing:progress:onFailure:)``.
  ///
  /// ```swift
  /// try films.find().export(as: .json(.plain)) { chunk in response.append(chunk) }
  /// ```
  ///
  /// - Throws: Also an error thrown by the closure, which ends the export.
  @discardableResult
  public func export(
    as format: ExportFormat = .ndjson(), progress: ((ExportReport) throws -> Void)? = nil,
    onFailure: ((SkippedDocument) throws -> Void)? = nil, to write: (Data) throws -> Void
  ) throws -> ExportReport {
    try withoutActuallyEscaping(write) { write in
      try Exporter(query: self, format: format, onFailure, progress) { bytes in
        try write(Data(bytes))
      }.run()
    }
  }
  /// The asynchronous form of `export(as:progress:onFailure:to:)`, which does not block the calling
  /// thread. The closure runs on a thread of the store. Canceling the task ends the export.
  @discardableResult
  public func export(
    as format: ExportFormat = .ndjson(),
    progress: (@Sendable (ExportReport) throws -> Void)? = nil,
    onFailure: (@Sendable (SkippedDocument) throws -> Void)? = nil,
    to write: @escaping @Sendable (Data) throws -> Void
  ) async throws -> ExportReport {
    try await onReader {
      try $0.export(as: format, progress: progress, onFailure: onFailure, to: write)
    }
  }
}
