// SPDX-License-Identifier: MIT

public import NanoDocument

/// The format of a file to import; see ``ImportOptions/format``.
public enum ImportFormat: Sendable, Hashable {
  /// A JSON array, one document per line, or concatenated documents, in plain or Extended JSON,
  /// including exports of NanoStore.
  case json
  /// JSON written by `mongoexport`, in version 1 or 2 of Extended JSON: like ``json``, but the key of
  /// a document is its field `_id`, unless ``ImportOptions/keyField`` names a different one.
  case mongoDB
  /// Comma-separated values with a header row.
  case csv(CSVOptions = CSVOptions())

  /// Tab-separated values with a header row: ``csv(_:)`` with tabs.
  public static let tsv = ImportFormat.csv(CSVOptions(separator: "\t"))
}

/// How a CSV file is read.
///
/// The file is UTF-8, quoted as in RFC 4180. The header row contains field paths: the column
/// `address.city` becomes the field `city` of the object `address`. A column `__key__` contains the
/// keys. A field that is not in quotes becomes a number, Boolean, null or date if writing that value
/// gives the same text; `007`, `+1`, `1.50` and `NaN` stay strings. docs/IMPORTING-AND-EXPORTING.md
/// lists the rules.
///
/// ```swift
/// // zip,city,lat
/// // 02134,Boston,42.35                 {"zip":"02134","city":"Boston","lat":42.35}
/// let options = CSVOptions(separator: ";", textColumns: ["phone"])
/// ```
public struct CSVOptions: Sendable, Hashable {
  /// What a field without any characters, not even quotes, becomes. `""` is always an empty string.
  public enum EmptyField: String, Sendable, Hashable, CaseIterable {
    /// The document does not have the field.
    case missing
    /// The field is null.
    case null
    /// The field is an empty string.
    case text
  }

  /// The character between two fields, such as a comma, semicolon, bar or tab. Not a character that
  /// numbers, dates, words or quotes contain.
  public var separator: Character
  /// Whether fields become numbers, Booleans, nulls and dates. If false, all of them are strings.
  public var infersTypes: Bool
  /// The columns whose fields are always strings.
  public var textColumns: [FieldPath]
  /// Whether fields in quotes are also converted, for files in which all fields have quotes.
  public var infersQuotedFields: Bool
  /// What an empty field becomes.
  public var emptyFields: EmptyField
  /// Whether a row may have fewer fields than the header; the others are then missing. If false, it
  /// is an invalid record. A row with more fields than the header always is.
  public var acceptsShortRows: Bool

  /// Creates options; the defaults are those of RFC 4180.
  public init(
    separator: Character = ",", infersTypes: Bool = true, textColumns: [FieldPath] = [],
    infersQuotedFields: Bool = false, emptyFields: EmptyField = .missing,
    acceptsShortRows: Bool = false
  ) {
    self.separator = separator
    self.infersTypes = infersTypes
    self.textColumns = textColumns
    self.infersQuotedFields = infersQuotedFields
    self.emptyFields = emptyFields
    self.acceptsShortRows = acceptsShortRows
  }
}

extension Character {
  /// The separator of a CSV file as a byte.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if it cannot separate fields.
  func separatorByte() throws(StoreError) -> UInt8 {
    let isUsable = !isLetter && !isNumber && !isNewline && !"\"-+.:\0".contains(self)
    guard let byte = asciiValue, isUsable else {
      throw StoreError(
        .invalidArgument, "A character cannot separate fields",
        [.expected: "a comma, semicolon, bar, tab or similar ASCII character"])
    }
    return byte
  }
}
