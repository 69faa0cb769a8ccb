// SPDX-License-Identifier: MIT

/// The format of an export; see ``DocumentQuery/export(to:as:replacing:progress:onFailure:)``.
public enum ExportFormat: Sendable, Hashable {
  /// One document per line.
  case ndjson(JSONForm = .restorable)
  /// A JSON array with one document per line.
  case json(JSONForm = .restorable)
  /// Comma-separated values with a header row of field paths.
  ///
  /// `columns` are field paths, or `__key__` for the key; other metadata is refused. If nil, they
  /// are the key and all fields of the exported documents, which are then read twice, in the same
  /// snapshot. A field of a nested object has a column such as `address.city`. An array, or an
  /// object where other documents have a value, is JSON in its cell.
  case csv(columns: [String]? = nil, separator: Character = ",")

  /// Tab-separated values with all fields: ``csv(columns:separator:)`` with tabs.
  public static let tsv = ExportFormat.csv(separator: "\t")

  /// How JSON represents documents.
  public enum JSONForm: String, Sendable, Hashable, CaseIterable {
    /// Extended JSON with a header of metadata: an import restores the same documents with the same
    /// keys, types, versions and insertion times. Expirations are not included.
    case restorable
    /// Extended JSON without the header: fields only, with their types.
    case extended
    /// JSON without extensions: dates and data are strings, NaN and infinities null.
    case plain
    /// Extended JSON version 2 in canonical form, as `mongoimport` reads it. The key is the field
    /// `_id`, unless the document has one. Dates are rounded to milliseconds, and URLs are strings.
    case mongoDB
  }
}

/// The progress or result of an export.
public struct ExportReport: Sendable, Hashable {
  /// The number of exported documents.
  public internal(set) var documents = 0
  /// The number of documents that were passed to `onFailure` instead.
  public internal(set) var skipped = 0
  /// The number of bytes of the exported documents.
  public internal(set) var bytesWritten = 0
}
