// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
public import NanoStoreCore

extension Store {
  /// Imports a store of NanoStore for Objective-C, NTJsonStore or BNRPersistence.
  ///
  /// ```swift
  /// let report = try library.importLegacy(from: URL(filePath: "People.nanostore"))
  /// report.imported                                     // 42
  /// for skipped in report.classes.flatMap(\.skippedRecords) { print(skipped.position, skipped.reason) }
  /// ```
  ///
  /// Documents keep their keys or row IDs, classes, versions, dates and the exact types of their
  /// values. Bags keep their names and order, relationships their order and identity, collections
  /// their indexes, defaults, aliases and metadata. What must be stored differently is counted in
  /// the report by kind of conversion.
  ///
  /// The old store is only read, and nothing is created next to it. If it has a write-ahead log or
  /// a journal, a copy in the temporary folder is read. Close the programs that use it. If it is
  /// damaged, every readable record is imported, and each unreadable one is listed with the reason.
  /// Memory use does not depend on the number of records, except for the keys of those that are found
  /// on pages without a table.
  ///
  /// By default, the import is one transaction. With ``LegacyImportOptions/isResumable``, it is
  /// committed in parts, and an import that ended early is resumed by the same call.
  ///
  /// - Parameters:
  ///   - url: The SQLite file, or the folder of BNRPersistence.
  ///   - options: Options for the import.
  ///   - progress: Called after each batch. It must not use the store. If it throws, the import
  ///     ends.
  /// - Returns: What was imported, converted and skipped.
  /// - Throws: ``StoreError/Code/notADatabase`` if no library that can be imported wrote the file,
  ///   ``StoreError/Code/cannotOpen`` if there is nothing or no permission to read it,
  ///   ``StoreError/Code/wrongKey`` if the passphrase is wrong or missing,
  ///   ``StoreError/Code/duplicateKey`` or ``StoreError/Code/alreadyExists`` if the target has a
  ///   document, bag, setting or metadata value that would be replaced, or an unfinished import of
  ///   another store or with other options,
  ///   ``StoreError/Code/uniqueViolation``, and errors of writing. After every error the target is
  ///   unchanged, unless the import is resumable.
  @discardableResult
  public func importLegacy(
    from url: URL, options: LegacyImportOptions = LegacyImportOptions(),
    progress: ((LegacyImportProgress) throws -> Void)? = nil
  ) throws -> LegacyImportReport {
    try options.validate()
    let source = try LegacyStore.source(url, options)
    try source.check()
    return try LegacyImporter(self, source, options, progress).run()
  }
  /// The asynchronous form of `importLegacy(from:options:progress:)`, which does not block the
  /// calling thread. Canceling the task ends the import at the next progress report.
  @discardableResult
  public func importLegacy(
    from url: URL, options: LegacyImportOptions = LegacyImportOptions(),
    progress: (@Sendable (LegacyImportProgress) throws -> Void)? = nil
  ) async throws -> LegacyImportReport {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await LegacyStore.onThread {
        try self.importLegacy(from: url, options: options) { done in
          if interruption.isTriggered { throw CancellationError() }
          try progress?(done)
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }
}
