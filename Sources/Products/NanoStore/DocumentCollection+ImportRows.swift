// SPDX-License-Identifier: MIT

public import Foundation
import NanoSQLite

/// The rows of another program's SQLite file that become documents; see
/// ``NanoStoreCore/DocumentCollection/importRows(_:fromSQLite:options:keepsNulls:progress:)``.
public enum SQLiteRows: Sendable, Hashable {
  /// All columns of a table or view.
  case table(String)
  /// The results of a query, without parameters.
  case query(String)
}

extension DocumentCollection {
  /// Imports the rows of a table, view or query of another SQLite file in one transaction.
  ///
  /// ```swift
  /// try people.importRows(.table("person"), fromSQLite: file, options: ImportOptions(keyField: "id"))
  /// try people.importRows(
  ///   .query("SELECT id, street AS 'address.street' FROM person"), fromSQLite: file)
  /// ```
  ///
  /// Each column becomes a field; the column `address.city` becomes the field `city` of the object
  /// `address`, and a column `__key__` the key. Values keep their types: blobs become data. The file
  /// is read from one snapshot, including its write-ahead log, and never changed.
  ///
  /// - Parameters:
  ///   - rows: The table, view or query.
  ///   - file: The SQLite file.
  ///   - options: ``ImportOptions/keyField``, ``ImportOptions/replacesDocuments`` and
  ///     ``ImportOptions/skipsInvalidRecords`` apply.
  ///   - keepsNulls: Whether NULL becomes a null field. If false, the document does not have the
  ///     field.
  ///   - progress: Called after each batch. It cannot use the store. If it throws, the import ends.
  /// - Returns: The number of imported documents, and the skipped rows.
  /// - Throws: For a row that cannot be stored, its error with the details `record`, which starts at
  ///   one, and `path`; ``StoreError/Code/notFound`` if there is no such table,
  ///   ``StoreError/Code/database`` for a query that is not valid, ``StoreError/Code/invalidCSV`` if
  ///   two columns denote the same field, ``StoreError/Code/cannotOpen``,
  ///   ``StoreError/Code/notADatabase``. After every error the collection is unchanged.
  @discardableResult
  public func importRows(
    _ rows: SQLiteRows, fromSQLite file: URL, options: ImportOptions = ImportOptions(),
    keepsNulls: Bool = false, progress: ((ImportReport) throws -> Void)? = nil
  ) throws -> ImportReport {
    guard file.isFileURL else {
      throw StoreError(
        .invalidArgument, "Rows can be imported only from files", [.path: file.absoluteString])
    }
    let found =
      switch rows {
      case .table(let name): try ForeignRows(of: name, in: file.path, .current)
      case .query(let text): try ForeignRows(query: text, in: file.path, .current)
      }
    defer { found.close() }
    let source = RowSource(
      name: file.path, columns: found.columns, keepsNulls: keepsNulls, next: found.next)
    return try importDocuments(from: source, options, progress: progress)
  }
  /// The asynchronous form of `importRows(_:fromSQLite:options:keepsNulls:progress:)`, which does not
  /// block the calling thread. Canceling the task ends the import; nothing is stored.
  @discardableResult
  public func importRows(
    _ rows: SQLiteRows, fromSQLite file: URL, options: ImportOptions = ImportOptions(),
    keepsNulls: Bool = false, progress: (@Sendable (ImportReport) throws -> Void)? = nil
  ) async throws -> ImportReport {
    try await onWriter(repeatable: false) {
      try self.importRows(
        rows, fromSQLite: file, options: options, keepsNulls: keepsNulls, progress: progress)
    }
  }
}
