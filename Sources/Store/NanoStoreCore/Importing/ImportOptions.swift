// SPDX-License-Identifier: MIT

public import NanoDocument

/// Options for ``DocumentCollection/importDocuments(from:options:progress:)``.
public struct ImportOptions: Sendable, Hashable {
  /// The format of the file.
  public var format: ImportFormat
  /// The field that contains the key of each document, a string or an integer.
  ///
  /// If nil, keys are generated, except for exported documents, which keep theirs.
  public var keyField: FieldPath?
  /// Whether a document replaces an existing one with the same key, whose insertion date stays. If false, it is an
  /// invalid record.
  public var replacesDocuments: Bool
  /// Whether invalid records are skipped and counted. If false, the first one ends the import.
  public var skipsInvalidRecords: Bool
  /// The dialect of ``ImportFormat/json``: whether objects such as `{"$date": …}` become values; see
  /// docs/EXTENDED-JSON.md.
  public var dialect: JSONDialect
  /// The maximum length of a record in bytes. A longer one ends the import, which bounds memory
  /// use: a bracket or quote is probably missing.
  public var maximumRecordLength: Int

  /// Eight times the maximum document size of MongoDB. Arbitrary.
  public static let defaultMaximumRecordLength = 128 << 20

  /// Creates options.
  public init(
    format: ImportFormat = .json, keyField: FieldPath? = nil, replacesDocuments: Bool = false,
    skipsInvalidRecords: Bool = false, dialect: JSONDialect = .extended,
    maximumRecordLength: Int = ImportOptions.defaultMaximumRecordLength
  ) {
    self.format = format
    self.keyField = keyField
    self.replacesDocuments = replacesDocuments
    self.skipsInvalidRecords = skipsInvalidRecords
    self.dialect = dialect
    self.maximumRecordLength = maximumRecordLength
  }
}

/// The progress or result of an import.
public struct ImportReport: Sendable, Hashable {
  /// The number of stored documents.
  public internal(set) var documents = 0
  /// The number of skipped records.
  public internal(set) var skipped = 0
  /// The errors of the first 100 skipped records, each with `record`, `line` and `byteOffset`.
  public internal(set) var skippedRecords: [StoreError] = []
  /// The number of bytes read from the file.
  public internal(set) var bytesRead = 0
  /// The size of the file in bytes; nil if unknown, as for a pipe.
  public internal(set) var totalBytes: Int?

  /// The maximum number of recorded errors. Arbitrary, so that a file of invalid records does not
  /// fill the memory.
  static let maximumErrors = 100
}
